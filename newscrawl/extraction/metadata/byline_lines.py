"""Authors in a line of its own below the headline, by the words of authorship of many languages.

A line is cut where a word of authorship or of help (pictures, editing, source) stands: whoever is
behind the first is an author. It may hold nothing but names, roles, places and agencies.
"""

import re
from functools import lru_cache
from typing import Final

from newscrawl.extraction.metadata import names
from newscrawl.extraction.metadata.vocabulary import any_of, words

MAX_WORDS_OF_NAME: Final = 4
MAX_BEFORE_LABEL: Final = 8
MAX_BESIDE_NAME: Final = 2
"""Ours: words of a name, letters of the agency before 记者, and roles, agencies and
places behind the names of a line."""

_AUTHORSHIP: Final = words("bylines", "authorship")
_AUTHORSHIP_CJK: Final = words("bylines", "authorship_cjk")
_AUTHORS: Final = frozenset((*_AUTHORSHIP, *_AUTHORSHIP_CJK))
_PICTURES: Final = frozenset({"images", "image", "getty", "photo", "photos", "pictures"})
_OPENINGS: Final = frozenset(
    label.split()[0].rstrip(".:")
    for name in ("authorship", "assistance")
    for label in words("bylines", name)
)
_OPENING: Final = re.compile(r"\W?([^\s:：=|՝.,/&]+)")
_AGENCIES: Final = frozenset(words("bylines", "agencies"))
_AND: Final = (
    r"(?:\s*[,&+/]\s*|\s+(?:and|und|et|y|e|og|och|en|i|a|и|і|й|та|ve|və|và|dan|és|ja|și|şi|un|ir|eta|dhe|και|"
    r"และ|और|এবং|اور)\s+|\s+(?=ו[\u05d0-\u05ea]|و[\u0621-\u064a]))"
)
_SPACED: Final = any_of((*_AUTHORSHIP, *words("bylines", "assistance")))
_OF_ARTICLE: Final = any_of(words("bylines", "of_article"))
_LABEL: Final = re.compile(
    rf"(?<![\w'’-])(?P<label>(?:{_SPACED})(?:{_AND}(?:{_SPACED}))*)"
    rf"(?:\s+(?:a cura di|di|de|von|by|par|por|av|af|van|da|od|{_OF_ARTICLE}))?"
    rf"(?:\s*(?P<mark>[:：=|՝])\s*|(?<=\S)\s+)",
    re.IGNORECASE,
)
_IN_BRACKETS: Final = re.compile(
    rf"\((?P<label>(?:{_SPACED})(?:{_AND}(?:{_SPACED}))*)\)", re.IGNORECASE
)
_PARTS_OF_LABEL: Final = re.compile(_AND, re.IGNORECASE)
_BETWEEN: Final = re.compile(
    rf"\s*[،;|·•]\s*|\s+[-–—]\s+|\s+(?:avec|mit|with|con|com|med|met)\s+|{_AND}", re.IGNORECASE
)
_JOINED: Final = any_of((*_AUTHORSHIP_CJK, *words("bylines", "assistance_cjk")))
_LABEL_CJK: Final = re.compile(
    rf"(?P<label>(?:{_JOINED})(?:\s?[・･·/／&＆、と和]\s?(?:{_JOINED}))*)\s?(?P<mark>[:：＝=/／|｜丨・]?)"
)
_BETWEEN_CJK: Final = re.compile(r"[\s、，,·・･/／|｜;；&＆丨]+")
_WRITER_IN_BRACKETS: Final = re.compile(
    rf"(?:[（(][^（()）]*|\s)(?:{any_of(words('bylines', 'writers_cjk'))})(?:[^（()）]*[)）])?$"
)
_SURNAMES: Final = words("bylines", "surnames_cjk")
_NAME_CJK: Final = re.compile(
    rf"[{_SURNAMES[0]}][\u4e00-\u9fff]{{1,2}}|(?:{any_of(_SURNAMES[1:])})[\u3040-\u30ff\u4e00-\u9fff\u3005]{{1,3}}"
    r"|(?!.*(?:일보|신문|뉴스|통신|방송|서울|데일리|투데이|경제|타임스|미디어|포스트|저널|부|팀)$)[\uac00-\ud7a3]{2,4}"
)
_LABELLED_CJK: Final = re.compile(
    r"[\u3005\u4e00-\u9fff]{2,5}|[\u3040-\u30ff\u3005\u4e00-\u9fff]{2,8}|[\uac00-\ud7a3]{2,4}"
)
_CJK: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_ADDRESS: Final = re.compile(r"[(<]?[\w.+-]+@[\w.-]+[)>]?|https?:\S+")
_DAY_CJK: Final = re.compile(
    r"(?:입력|등록|승인|수정|发布|發布|更新)?\s*[:：]?\s*\d[\d.:/\-\s年月日时時분시년월일]*"
)
_REPORTED: Final = re.compile(  # 王芳台北12日電
    rf"([{_SURNAMES[0]}][\u4e00-\u9fff]{{1,2}})[\u4e00-\u9fff]{{2,3}}\s?(?:\d+日)?(?:電|电|報導|报道|專電)(?!\w)"
)
_OF_DESK: Final = re.compile(  # 財經中心／王芳報導
    rf"(?:[\u4e00-\u9fff]{{2,6}}(?:中心|組|组|部|社|報|报|網|网)|[綜综]合(?:報導|报道))\s?[/／|｜]\s?"
    rf"([{_SURNAMES[0]}][\u4e00-\u9fff]{{1,2}}?)(?:報導|报道)?$"
)
_PLACE_OF_REPORTER: Final = re.compile(  # 베이징/김민수 특파원
    r"^[\uac00-\ud7a3]{2,6}/(?=[\uac00-\ud7a3]{2,4} ?특파원)"
)
_REMARK: Final = re.compile(r"[（(][^（()）]*[)）]")
_BEHIND_NAME: Final = re.compile(
    rf"\s+(?:in|aus|à|en)\s+(?=\w+(?:$|,|{_AND}))|\s+(?:for|für|pour|para)\s+(?=(?:the|die|den|das|le|la|el)\s\S+$)"
    r"|\s*\((?:avec|mit|with|con)?\s*(?=\w+\)$)"
)
_FROM_PLACE: Final = re.compile(r"\baus \w+ (?=von )", re.IGNORECASE)
# "Jane Doe Political editor": names of two words, and at most three of the role.
_ROLE_BEHIND: Final = re.compile(r"(\S+\s\S+)\s(\S+(?:\s\S+){0,2})")
_PLACES: Final = frozenset(words("bylines", "places"))
_DATELINE: Final = re.compile(
    rf"^(?:[\[【(（][^\]】)）]*[\]】)）]|(?!(?:{_JOINED})[=＝])[^\s=＝:：]{{1,8}}[=＝])\s*(?=\S\S)"
)


@lru_cache(maxsize=256)  # of the same lines before and behind a headline
def authors_in(line: str) -> tuple[str, ...] | None:
    """Return the authors that a line with words of authorship names, none if it names only
    photographers or editors; None for a line without such words."""
    text = _ADDRESS.sub(" ", line).strip() if "@" in line or "http" in line else line.strip()
    return _authors_cjk(text) if is_cjk(text) else _authors_by_label(text)


def is_cjk(text: str) -> bool:
    """Return whether a text has signs of Chinese, Japanese or Korean."""
    return not text.isascii() and _CJK.search(text) is not None


def author_and_place(line: str) -> tuple[str, ...]:
    """Return the persons of a line that names them before their role, agency or place."""
    pieces = [piece for piece in _BETWEEN.split(_BEHIND_NAME.sub(", ", line)) if piece.strip(" .")]
    if len(pieces) == 1:
        role = _ROLE_BEHIND.fullmatch(line)
        is_role = role and names.is_role(role[2]) and not names.opens_byline(line)
        return (names_in(role[1]) or ()) if role and is_role else ()
    persons = names_in(line) or ()
    return persons if 1 <= len(pieces) - len(persons) <= MAX_BESIDE_NAME else ()


def names_in(text: str) -> tuple[str, ...] | None:
    """Return the full names of persons in a text; None if it holds anything but names, and roles,
    agencies and places behind them."""
    if not _PICTURES.isdisjoint(re.findall(r"\w+", text.lower())):
        return None
    persons: list[str] = []
    text = _BEHIND_NAME.sub(", ", text)
    for piece in filter(None, (part.strip(" .,)") for part in _BETWEEN.split(text))):
        lowered = piece.lower()
        count = len(piece.split())
        if persons and (
            lowered in _AGENCIES
            or lowered in _AUTHORS
            or lowered in _PLACES
            or names.is_role(piece)
            or names.is_organisation(piece)
            or names.is_place(piece)
            or (count == 1 and names.is_person(piece))
        ):
            continue
        if not (1 < count <= MAX_WORDS_OF_NAME and names.is_person(piece) and names.is_name(piece)):
            return None
        if names.is_organisation(piece):
            return None
        persons.append(piece)
    return tuple(persons) or None


def _authors_by_label(text: str) -> tuple[str, ...] | None:
    if "(" in text and (bracketed := list(_IN_BRACKETS.finditer(text))):
        before = (text[: part.start()] for part in bracketed if _is_author(part["label"]))
        parts = (re.split("[,;()/]", beginning)[-1].strip() for beginning in before)
        groups = (names_in(_BETWEEN.split(f" {part} ")[-1].strip()) for part in parts)
        return tuple(name for persons in groups for name in persons or ())
    text = _FROM_PLACE.sub("", text)
    opening = _OPENING.match(text)
    if opening is None or opening[1].lower() not in _OPENINGS:
        return None
    labels = list(_LABEL.finditer(text))
    if not labels or labels[0].start() > 1:
        return None
    ends = [*(label.start() for label in labels[1:]), len(text)]
    authors: list[str] = []
    for label, end in zip(labels, ends, strict=True):
        if not _is_author(label["label"]):
            if not label["mark"] and names_in(text[label.end() : end].strip(" ./|,;–—-")) is None:
                return None
            continue
        persons = names_in(text[label.end() : end].strip(" ./|,;–—-"))
        if persons is None:
            return None
        authors.extend(persons)
    return tuple(authors)


def _is_author(label: str) -> bool:
    """Return whether one of the words of a label is of authorship."""
    lowered = label.lower()
    return lowered in _AUTHORS or any(
        part.strip() in _AUTHORS for part in _PARTS_OF_LABEL.split(lowered)
    )


def _authors_cjk(text: str) -> tuple[str, ...] | None:
    text = _OF_DESK.sub(r"記者\1", _PLACE_OF_REPORTER.sub("", text))
    text = _DAY_CJK.sub(" ", _REPORTED.sub(r"\1 ", text)).strip(" \u3000=＝|｜·/／")
    is_bracketed = text[:1] in tuple("【[（(") and text[-1:] in tuple("】]）)")
    inner = _DATELINE.sub("", text[1:-1].strip() if is_bracketed else text)
    is_bracketed, whole_line, text = inner != text, text.strip("【】[]（）()"), inner
    name = _WRITER_IN_BRACKETS.sub("", text).strip()
    if (is_bracketed or name != text) and _NAME_CJK.fullmatch("".join(name.split())):
        return (name,)
    labels = [
        label
        for label in _LABEL_CJK.finditer(text)
        if len(label["label"]) > 1
        or (
            (label["mark"] or text[label.end() - 1].isspace() or label.end() == len(text))
            and not text[: label.start()][-1:].isalpha()
        )
    ]
    if not labels:  # "王小明＝台北報導"
        parts = re.split("[=＝]", whole_line)
        persons = [part for part in parts if _NAME_CJK.fullmatch(part)]
        return tuple(persons) if len(persons) == 1 < len(parts) else None
    before = text[: labels[0].start()].strip(" \u3000(（/／|｜,，、=＝-")
    are_names = [bool(_NAME_CJK.fullmatch(part)) for part in _BETWEEN_CJK.split(before)]
    # Korean roles always follow, as in "김민수 문화부 기자".
    has_names = any(are_names) if before > "\uac00" else all(are_names)
    is_suffix = has_names and not labels[0]["mark"]
    if before and not is_suffix and len(before) > MAX_BEFORE_LABEL:
        return None
    starts = [0, *(label.end() for label in labels[:-1])]
    ends = [*(label.start() for label in labels[1:]), len(text)]
    authors: list[str] = []
    for label, start, end in zip(labels, starts, ends, strict=True):
        words_of_label = re.split(r"\s?[・･·/／&＆、と和]\s?", label["label"])
        if not _AUTHORS.isdisjoint(words_of_label):
            part = text[start : label.start()] if is_suffix else text[label.end() : end]
            part = _REMARK.sub("", part)
            authors.extend(_names_cjk(part, is_marked=bool(label["mark"])))
    if not authors and any(not _AUTHORS.isdisjoint([label["label"]]) for label in labels):
        return None
    return tuple(dict.fromkeys(authors))


def _names_cjk(text: str, *, is_marked: bool) -> list[str]:
    """Return the names in a text that follows or precedes a word of authorship."""
    pieces = [
        piece for piece in _BETWEEN_CJK.split(text.strip(" \u3000()（）[]【】。.=＝-")) if piece
    ]
    if len(pieces) == len(("surname", "given name")) and " ".join(pieces) in " ".join(text.split()):
        surname, first_name = pieces
        if surname in _SURNAMES or not any(map(_NAME_CJK.fullmatch, pieces)):
            return [f"{surname} {first_name}"]
    pattern = _LABELLED_CJK if is_marked and len(pieces) == 1 else _NAME_CJK
    return [piece for piece in pieces if pattern.fullmatch(piece)]
