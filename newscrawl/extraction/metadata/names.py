"""Names in bylines: without "By", job titles, places and addresses."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice, permutations
from typing import Final

from newscrawl.extraction.metadata.dates import DAYS, MONTHS_AND_DAYS
from newscrawl.extraction.metadata.vocabulary import any_of, contains_any, words

MAX_BYLINE: Final = 400
MAX_NAME: Final = 60
MAX_WORDS: Final = 6
MAX_AUTHORS: Final = 20
MAX_WORDS_OF_DESK: Final = 4
"""Ours: bounds on what a name and a byline can be; longer texts are prose."""


def _of(name: str) -> str:
    return any_of(words("bylines", name))


_LEADING: Final = re.compile(
    rf"(?:\W|_)*(?:(?:{_of('labels')})\s*[:：|]\s*|(?:{_of('labels_cjk')})\s*[:：/／|]?\s*"
    rf"|(?:{_of('by')})(?:\s*[:：]\s*|\s+)"
    rf"|(?:{_of('by_or_particle')})(?:\s*[:：]\s*|\s+(?=\S+\s+\S|(?-i:[A-Z]{{2,}})|Redaktion)))",
    re.IGNORECASE,
)
_LABELS: Final = frozenset(
    label
    for name in ("labels", "labels_cjk", "by", "by_or_particle")
    for label in words("bylines", name)
)
_FIRST_WORD: Final = re.compile(r"[\W_]*([^\W\d_]+)")
_OPENING_WORDS: Final = frozenset(
    match[1] for label in _LABELS if (match := _FIRST_WORD.match(label))
)
_OPENING_SIGNS: Final = frozenset(label[0] for label in words("bylines", "labels_cjk"))
_SPLIT: Final = re.compile(
    r"\s*[;|·・•▪⋅∙‧\n\t/]\s*|\s*(?:,|،|、|，)\s*(?:(?:and|und|et|y|e|og|och|en|und|i|и|και|ve)\s+)?"
    r"|\s+(?:&|\+|and|und|et|och|og|oraz|και|ve|и)\s+|\s+[-–—]\s+"
)
_SPLIT_WEAK: Final = re.compile(r"\s+(?:y|e|i|en|with|mit|con|avec|és|ja|şi|si)\s+")
_TRAILING: Final = re.compile(
    r"\s*(?:\([^)]*\)|\[[^\]]*\]|<[^>]*>|\bfor\s.+|\bfür\s.+|(?-i:\b(?:in|aus)\s[A-Z].+)"
    r"|\bon\sbehalf\sof\b.*|\b(?:last\s+)?updated\b.*|\bpublished\b.*|\bposted\b.*|\bon(?:\s.*\d.*)?|\bam\s\d.*|@\S+|\d{1,2}[./]\d.*"
    r"|https?:\S*|\S+@\S+|www\.\S*)\s*$",
    re.IGNORECASE,
)
_AGENCIES: Final = frozenset(words("bylines", "agencies"))
# An address of mail, and the name in brackets behind it.
_MAILBOX: Final = re.compile(r"[<(]?(?:mailto:)?[\w.+-]+@[\w.-]+[>)]?(?:\s*\(([^()@]+)\))?")
_AGENCY: Final = re.compile(rf"\s+(?:{_of('agencies')})$", re.IGNORECASE)
_DAY_AFTER: Final = re.compile(
    r"\s(?=([^\W\d_]{3,12})\.?\s\d{1,2}\b|\d{1,2}\.?\s(?:de\s)?([^\W\d_]{3,12})\b)"
)
_ROLES: Final = frozenset(words("bylines", "roles"))
_ROLES_OF_WORDS: Final = tuple(role for role in _ROLES if " " in role)
_PARTS: Final = re.compile(r"[\s/,()|-]+")
_ROLE_SUFFIX: Final = re.compile(rf"\s*(?:{any_of(words('bylines', 'suffixes'))})$")
_SECONDARY: Final = re.compile(rf"(?<!\w)(?:{_of('secondary')})(?!\w)", re.IGNORECASE)
# Searched for first: they are found faster than the phrases.
_SECONDARY_ENDS: Final = tuple(
    {f" {phrase.rpartition(' ')[2]}" for phrase in words("bylines", "secondary")}
)
_ORGANISATIONS: Final = frozenset(words("bylines", "organisations"))
_NOBODY: Final = frozenset(words("bylines", "nobody"))
# Those of them that readers see as the name of a desk.
_SHOWN_DESKS: Final = frozenset({"staff", "editor"})
_DESKS: Final = frozenset(words("bylines", "desks"))
_ADDRESS: Final = re.compile(
    r"https?://|www\.|@|\S*\.(?:com|org|net|de|php|html?)/?$", re.IGNORECASE
)
_PARTICLES: Final = frozenset(words("bylines", "particles"))
# Shorter ones ("ma", "so", "an") are surnames, too.
_LONG_DAYS: Final = frozenset(day for day in DAYS if len(day) > 3)
# A capital or a letter of a script without capitals, and whatever letters follow, with the vowel
# signs of India and Thailand.
_NAME_WORD: Final = re.compile(r"(?:[dl]['’])?[^\W\d_a-zß-öø-ÿα-ωа-я][\w'’.‘\u0900-\u0e7f-]*")
# Most authors of JSON-LD: two to four words of Latin, Greek or Cyrillic with capitals.
_PLAIN_WORD: Final = r"[A-ZÀ-ÖØ-ÞΆ-ΫА-Я][\w'’-]*\.?"
_PLAIN_NAME: Final = re.compile(rf"{_PLAIN_WORD}(?: {_PLAIN_WORD}){{1,3}}(?<!\.)")
_INVERTED: Final = re.compile(
    rf"(?P<surname>(?:[a-z]{{2,3}} ){{0,2}}{_PLAIN_WORD}), "
    rf"(?P<given>{_PLAIN_WORD}(?: {_PLAIN_WORD})?)"
)
# Links to an author's page.
AUTHOR_LINK: Final = re.compile(
    r"/(?:authors?|autor(?:e[ns]|in(?:nen)?|i|zy)?|firmas?|yazar(?:lar)?|forfatter|skribent|penulis|avtor|"
    r"auteurs?|contributors?|columnists?|journalists?|"
    r"journalistes?|writers?|reporters?|producers|redaktion|byline|by|people|profiles?|staff)"
    r"/(?P<name>[^/?#]+)|[?&]_?author=",
    re.IGNORECASE,
)
_MARKS: Final = " ,;:|/.·-–—*\"'“”„«»()"
# Chinese, Japanese and Korean names have no blanks.
_NO_BLANKS: Final = re.compile(r"[\u2e80-\uffef]")
_DATED_BY: Final = re.compile(
    # In "12 de noviembre de 2026" nobody is named.
    rf"\D{{0,40}}\d[^;|\n]{{0,40}}?\s(?!de\s(?:\w+\s(?:del?\s)?)?\d)"
    rf"(?=(?:{_of('by')}|{_of('by_or_particle')})\s)",
    re.IGNORECASE,
)
# "…, de Lisboa", behind a name.
_FROM: Final = re.compile(r"(?:de|da|do|di|from|aus|din|från|fra|z|ze|iz|из|від)\s\w+")
_UNFINISHED: Final = re.compile(r"(?:\s+(?:under|in|on|at|am|um|le|el|il|with))+$")
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_LETTER: Final = re.compile(r"[^\W\d_]")


def clean(bylines: Iterable[str]) -> tuple[str, ...]:
    """Take the names out of fields that hold authors, each once, in order."""
    entries = (
        part.strip()
        for byline in bylines
        for part in (_MAILBOX.sub(r"\1", byline) if "@" in byline else byline).split(";")
    )
    return _unique(name for entry in entries for name in split(_in_order(entry)))


def are_of_persons(names: Iterable[str]) -> tuple[str, ...]:
    """Leave out agencies, papers and desks, whole or as letters ("PTI")."""
    return tuple(
        name
        for name in names
        if not (is_organisation(name) or name.lower() in _AGENCIES)
        and (is_full(name) or not name.isupper())
    )


def _in_order(byline: str) -> str:
    """Return "Doe, Jane" as "Jane Doe"."""
    name = _INVERTED.fullmatch(byline)
    if name is None or is_organisation(byline) or is_role(byline):
        return name_in_address(byline) or byline
    return f"{name['given']} {name['surname']}"


def name_in_address(address: str) -> str | None:
    """Return the name in the address of an author's page, as in /author/jane-doe."""
    name = AUTHOR_LINK.search(address[:MAX_BYLINE])
    words = re.split("[-_.+]", name["name"]) if name else []
    if not 2 <= len(words) <= 4 or not all(len(word) > 1 and word.isalpha() for word in words):
        return None
    return " ".join(word if word in _PARTICLES else word.capitalize() for word in words)


def persons(bylines: Iterable[str]) -> tuple[str, ...]:
    """Take the names of persons out of texts that may hold more than names."""
    people = _unique(name for byline in bylines for name in split(byline) if is_person(name))
    return tuple(filter(is_full, people)) or people


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    unique: dict[str, str] = {}
    for name in islice(texts, MAX_AUTHORS):
        unique.setdefault(name.casefold(), name)
    if len(unique) < 2:
        return tuple(unique.values())
    # Leave out "Doe" where "Jane Doe" is there too, and "Jane Doe Tom Ray" beside both.
    full = [name for name in unique if " " in name]
    pairs = {f"{first} {second}" for first, second in permutations(full, 2)}
    names = tuple(name for key, name in unique.items() if key not in pairs)
    words = [frozenset(name.casefold().split()) for name in names]
    return tuple(
        name
        for index, name in enumerate(names)
        if not any(words[index] < longer for longer in words)
    )


def accounts(bylines: Iterable[str]) -> tuple[str, ...]:
    """Take the first name of one word, or of a desk, out of bylines without persons' names."""
    names = (name for byline in bylines for name in split(byline)[:1])
    return next(
        (
            (name,)
            for name in names
            if is_weak(name) and name.strip(".").lower() not in MONTHS_AND_DAYS
        ),
        (),
    )


def marked_desks(bylines: Iterable[str]) -> tuple[str, ...]:
    """Take what short bylines name in place of persons: "Editor", "Acme staff"."""
    lines = (_strip(line) for byline in bylines for line in byline.split("\n"))
    return next(
        (
            (line,)
            for line in lines
            if (_could_be_name(line) or line.lower() in _SHOWN_DESKS)
            and not (line[0].islower() or any(map(str.isdigit, line)))
            and (is_role(line) or is_organisation(line))
        ),
        (),
    )


def signed_desk(byline: str) -> tuple[str, ...]:
    """Take the name of a firm or paper out of a byline that opens with "By"."""
    name = _strip(byline.replace("\n", " "))
    parts = name.split()
    if len(parts) > MAX_WORDS_OF_DESK or not _could_be_name(name):
        return ()
    return () if any(part[0].islower() and part not in _PARTICLES for part in parts) else (name,)


def desk_in(line: str) -> tuple[str, ...]:
    """Take the name of a team or an agency, of two words or more, out of a line of its own."""
    if _DESKS.isdisjoint(line.lower().split()):
        return ()
    name = _strip(line)
    parts = name.lower().split()
    is_desk = 2 <= len(parts) <= MAX_WORDS_OF_DESK and not _DESKS.isdisjoint((parts[0], parts[-1]))
    return (name,) if is_desk and _could_be_name(name) else ()


def is_weak(name: str) -> bool:
    """Return whether a name may be an account, a first name or a desk rather than a person."""
    return not is_full(name) or is_organisation(name)


def hold_runs(names: Iterable[str], longer_names: Iterable[str]) -> bool:
    """Return whether any name is a known one and two words or more, as "Jane Doe Max Weber"."""
    runs = [frozenset(name.casefold().split()) for name in names]
    parts = [frozenset(name.casefold().split()) for name in longer_names]
    return any(part < run and len(run) >= len(part) + 2 for run in runs for part in parts)


def is_full(name: str) -> bool:
    """Return whether a name has more than one word, or is of a script without blanks."""
    return " " in name or bool(_NO_BLANKS.search(name))


def opens_byline(text: str) -> bool:
    """Return whether the first word of a text is one that introduces names."""
    first = _FIRST_WORD.match(text)
    return bool(first and (first[1].lower() in _OPENING_WORDS or first[1][0] in _OPENING_SIGNS))


@lru_cache(maxsize=256)  # of the bylines of a few pages, each asked for persons, desks and names
def split(byline: str) -> tuple[str, ...]:
    """Split one byline ("By Jane Doe and Max Weber, Berlin") into names."""
    is_plain = _PLAIN_NAME.fullmatch(byline) and not _AGENCY.search(byline)
    if is_plain and not opens_byline(byline) and is_name(byline):
        return (byline,)
    byline = _TAG.sub(" ", byline) if "<" in byline else byline
    pieces = [
        _strip(part)
        for line in _main_part(byline[:MAX_BYLINE]).split("\n")
        for piece in _SPLIT.split(_strip(line))
        for part in _split_weakly(_strip(piece))
    ]
    names = [piece for piece in pieces if is_name(piece)]
    if names and names[0].lower() in _AGENCIES:  # "dpa/Jane Doe", but both of "Reuters, AFP"
        names = [name for name in names if name.lower() not in _AGENCIES] or names
    if len(names) > 1 and " " in names[0]:
        # "Jane Doe, Berlin": after a full name a single word is a place or an agency.
        names = [
            name
            for name in names
            if is_full(name) and not is_organisation(name) and not is_place(name)
        ] or names[:1]
    return tuple(names)


def _main_part(byline: str) -> str:
    """Return a byline up to who reviewed, edited or illustrated the text."""
    if dated := _DATED_BY.match(byline):
        byline = byline[dated.end() :]
    secondary = secondary_in(byline)
    return byline[: secondary.start()] if secondary and secondary.start() > 0 else byline


def secondary_in(text: str) -> re.Match[str] | None:
    """Return what says that a name follows of one who didn't write the article."""
    return _SECONDARY.search(text) if contains_any(text.lower(), _SECONDARY_ENDS) else None


def is_organisation(name: str) -> bool:
    """Return whether a name holds a word such as press, times or staff."""
    return not _ORGANISATIONS.isdisjoint(_PARTS.split(name.lower()))


def is_person(text: str) -> bool:
    """Return whether a name is written as persons' names are: no digits, all words capital."""
    words = text.split()
    return bool(
        len(words) <= 5
        and not any(map(str.isdigit, text))
        and all(_NAME_WORD.fullmatch(word) or word.lower() in _PARTICLES for word in words)
        and words[-1].strip(".").lower() not in (_LONG_DAYS if len(words) > 1 else MONTHS_AND_DAYS)
    )


def is_place(text: str) -> bool:
    """Return whether a text says where somebody is: "de Lisboa"."""
    return _FROM.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Return whether a text could be the name of a person or an organisation."""
    return _could_be_name(text) and not is_role(text) and text.lower() not in _LABELS


def is_role(text: str) -> bool:
    """Return whether a text holds the word for a job, an activity or a button."""
    lowered = text.lower()
    return not _ROLES.isdisjoint(part.rstrip(".") for part in _PARTS.split(lowered)) or any(
        role in lowered for role in _ROLES_OF_WORDS
    )


def _could_be_name(text: str) -> bool:
    return bool(
        1 < len(text) <= MAX_NAME
        and len(text.split()) <= MAX_WORDS
        and _LETTER.search(text)
        and text.casefold() not in _NOBODY
        and ":" not in text
        and not _ADDRESS.search(text)
        and sum(map(str.isdigit, text)) <= 4
        and not text.startswith(("{", "[", "%", "$", "#"))
    )


@lru_cache(maxsize=256)  # of the parts of a few bylines, each read more than once
def _strip(text: str) -> str:
    for day in _DAY_AFTER.finditer(text):
        if (day[1] or day[2]).lower() in MONTHS_AND_DAYS:
            text = text[: day.start()]
            break
    for _ in range(4):
        leading = _LEADING.match(text) if opens_byline(text) else None
        shorter = text[leading.end() :] if leading else text
        shorter = _TRAILING.sub("", shorter).strip(_MARKS)
        if shorter == text:
            break
        text = shorter
    text = _UNFINISHED.sub("", text)
    without_agency = _AGENCY.sub("", text)
    return _ROLE_SUFFIX.sub("", without_agency if " " in without_agency else text)


def names_a_role(line: str) -> bool:
    """Return whether a line ends in a word for a reporter, as scripts without capitals have it."""
    return _ROLE_SUFFIX.search(line) is not None


def _split_weakly(piece: str) -> list[str]:
    """Split at words that also occur within names, if full names are on both sides."""
    parts = _SPLIT_WEAK.split(piece)
    if len(parts) > 1 and all(len(part.split()) >= 2 for part in parts):
        return parts
    return [piece]
