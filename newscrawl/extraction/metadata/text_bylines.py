"""Authors in the text of a page that names them neither in fields nor in its markup.

A text is a line for each piece between two tags (`markup.text_of`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from ahocorasick_rs import AhoCorasick

from newscrawl.extraction.html import squeeze
from newscrawl.extraction.metadata import dates, names, titles
from newscrawl.extraction.metadata.byline_lines import authors_in
from newscrawl.extraction.metadata.dates import Dialect
from newscrawl.extraction.metadata.vocabulary import any_of, words

MAX_SCANNED: Final = 50_000
MAX_LINE: Final = 100
MAX_AFTER_LABEL: Final = 400
MAX_OCCURRENCES: Final = 5
MAX_LINES: Final = 7
MAX_AFTER_TITLE: Final = 3_000
MAX_DATE_LINE: Final = 60
MAX_NAMES: Final = 4
MAX_MARKS: Final = 8
MIN_TITLE: Final = 12
MAX_SIGNATURE: Final = 32
MAX_SIGNED_NAME: Final = 5
"""Ours, fitted on the open sites by benchmarks.metadata: how far from the headline names appear in
lines of their own, and how long such lines are."""

_WRITTEN: Final = frozenset(words("bylines", "written"))
_BIOGRAPHY: Final = tuple(f" {verb} " for verb in words("bylines", "biography"))
# Labels are searched for without their first letter, which may be a capital one.
_SOUGHT: Final = AhoCorasick((*_BIOGRAPHY, *(label[1:] for label in sorted(_WRITTEN))))
# Where Chinese, Japanese and Korean papers sign a text: at the end of a paragraph, in brackets.
_WRITERS: Final = AhoCorasick(words("bylines", "writers_cjk"))
_SIGNATURE: Final = re.compile(rf"[（(][^（()）\n]{{3,{MAX_SIGNATURE}}}[)）]$")
_PICTURE: Final = re.compile("[摄攝]|写真|照片|사진")
_QUESTION: Final = frozenset(":：?？")
_DASHES: Final = " \t\xa0–—-"
_WORD_ENDS: Final = re.compile(r"[\s,;:!?)’']|\.\s|$")
_MARKS: Final = " \t\n|·•–—-,/"
_BARS: Final = re.compile(r"\s*[|·•]\s*")
_MINUTES: Final = any_of(words("bylines", "minutes"))
_READING_TIME: Final = re.compile(rf"\d+\W?(?:{_MINUTES})(?!\w)", re.IGNORECASE)


def labelled_persons(text: str, title: str) -> tuple[str, ...]:
    """Return the persons after "Written by" or "Author:" at the beginning of a line, else the
    person in a line of its own before a paragraph that begins with "Jane Doe is a"."""
    title_words = frozenset(titles.words_of(title))
    biographies = []
    for pattern, start, end in _SOUGHT.find_matches_as_indexes(text[:MAX_SCANNED]):
        if pattern < len(_BIOGRAPHY):
            biographies.append(start)
            continue
        line = text.rfind("\n", 0, start) + 1
        if end - line <= MAX_LINE and text[line:end].lstrip(_DASHES).lower() in _WRITTEN:
            after = text[end : end + MAX_AFTER_LABEL].strip(" \t\n:：")
            if persons := tuple(
                _leading_persons(map(squeeze, after.split("\n")), title_words, text)
            ):
                return persons
    return next(filter(None, (_in_biography(text, at, title_words) for at in biographies)), ())


def signed_below(text: str) -> tuple[str, ...]:
    """Return the reporters who sign a text at its end ("（记者 王芳）") or in a line of it, if all
    have the same names."""
    signed = set[tuple[str, ...]]()
    text = f"{text}\n"
    line_end = 0
    for _, start, end in _WRITERS.find_matches_as_indexes(text):
        if start < line_end:
            continue  # a line is read once: that of a hostile page has hundreds of thousands
        line_start, line_end = text.rfind("\n", 0, start) + 1, text.index("\n", end)
        line = text[line_start:line_end].strip(" 。.\xa0\u3000")
        signature = _SIGNATURE.search(line[-MAX_SIGNATURE - len("（）") :])
        name = signature[0] if signature else line
        # In an interview "记者：" stands before a question.
        is_question = not signature and not _QUESTION.isdisjoint(line)
        if len(name) <= MAX_SIGNATURE and not is_question and not _PICTURE.search(name):
            persons = authors_in(name) or ()
            if 0 < max(map(len, persons), default=0) <= MAX_SIGNED_NAME:
                signed.add(persons)
    return signed.pop() if len(signed) == 1 else ()


def _leading_persons(lines: Iterable[str], title_words: frozenset[str], text: str) -> Iterator[str]:
    """Yield the persons of the first line, and those of the lines after it that name only one."""
    for number, line in enumerate(filter(None, lines)):
        persons = names.persons([line]) if len(line) <= MAX_LINE else ()
        if not any(map(names.is_full, persons)):
            return
        is_person = persons == (line,) and _is_full_person(line)
        if number and (not is_person or _is_phrase(line, title_words, text)):
            return
        yield from persons


def _in_biography(text: str, at: int, title_words: frozenset[str]) -> tuple[str, ...]:
    """Return the name before "is a", if it opens a line and is the line before."""
    start = text.rfind("\n", max(0, at - MAX_LINE), at) + 1
    name = text[start:at].strip()
    if not start or " " not in name:
        return ()
    before = text[max(0, start - MAX_LINE) : start].rstrip()
    is_line = before.endswith(f"\n{name}") and _only_persons(name)
    return (name,) if is_line and not _is_phrase(name, title_words, text) else ()


def beside_title(
    text: str, title: str, site_names: Sequence[str], dialect: Dialect
) -> tuple[str, ...]:
    """Return the persons, or the desk, in a line after the title, beside a date."""
    title_words = frozenset(titles.words_of(title))
    for lines in _lines_after(text, title):
        dated = [
            (
                len(line) <= MAX_DATE_LINE
                and any(map(str.isdigit, line))
                and bool(dates.find(line, dialect) or _READING_TIME.search(line))
            )
            for line in lines
        ]
        for index, line in enumerate(lines[:-1]):
            if not any(dated[max(0, index - 1) : index + 2]):
                continue
            desk = names.desk_in(line)
            undated = (part for part in _BARS.split(line) if not any(map(str.isdigit, part)))
            authors = desk or _only_persons("|".join(undated))
            if (
                authors
                and (
                    desk
                    or names.names_a_role(line)
                    or not any(_is_phrase(name, title_words, text) for name in authors)
                )
                and not any(titles.all_sites([name], site_names) for name in authors)
            ):
                return authors
    return ()


def _lines_after(text: str, title: str) -> Iterator[list[str]]:
    """Yield the lines after each place where the title is in lines of its own."""
    opening = title[: 2 * MIN_TITLE]
    if len(opening) < MIN_TITLE:
        return
    end = 0
    for _ in range(MAX_OCCURRENCES):
        at = text.find(opening, end)
        if at < 0:
            return
        end = text.find("\n", at)
        if end < 0:
            return
        start = text.rfind("\n", 0, at) + 1
        if end - at <= len(title) + MAX_MARKS and not text[start:at].strip(_MARKS):
            pieces = filter(str.strip, text[end : end + MAX_AFTER_TITLE].split("\n"))
            lines = (line for piece in pieces if (line := squeeze(piece).strip(_MARKS)))
            yield list(islice(lines, MAX_LINES))


def _only_persons(line: str) -> tuple[str, ...]:
    """Return the full names of persons in a line that holds nothing else."""
    if len(line) > MAX_LINE or " " not in line:
        return ()
    persons = names.persons([line])
    if len(persons) > MAX_NAMES or sum(map(len, persons)) + MAX_MARKS * len(persons) < len(line):
        return ()
    return persons if all(map(_is_full_person, persons)) else ()


def _is_full_person(name: str) -> bool:
    return names.is_full(name) and not names.is_organisation(name) and len(name.split()) <= 4


def _is_phrase(name: str, title_words: frozenset[str], text: str) -> bool:
    """Return whether the title contains a word of a name, or the text does in lower case."""
    lowered = [word.lower() for word in name.split()]
    return any(
        word in title_words or (len(word) > 2 and _holds_word(text, word)) for word in lowered
    )


def _holds_word(text: str, word: str) -> bool:
    """Return whether a text contains a word by itself, not only as a part of an address or name."""
    at = text.find(word, 0, MAX_SCANNED)
    while at >= 0:
        end = at + len(word)
        if text[at - 1 : at].isspace() and _WORD_ENDS.match(text, end):
            return True
        at = text.find(word, end, MAX_SCANNED)
    return False
