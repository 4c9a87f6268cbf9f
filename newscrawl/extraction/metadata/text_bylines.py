"""Authors in the text of a page that names them neither in fields nor in its markup.

A text is a line for each piece between two tags (`markup.text_of`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ahocorasick_rs import AhoCorasick

from newscrawl.extraction.html import squeeze
from newscrawl.extraction.metadata import dates, names, titles
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
"""Ours, fitted on the open sites by benchmarks.metadata: how far from the headline names stand in
lines of their own, and how long such lines are."""

# Searched for without their first letter, which may be a capital one.
_WRITTEN: Final = tuple(label[1:] for label in words("bylines", "written"))
_WRITTEN_ANYWHERE: Final = AhoCorasick(_WRITTEN)
_BEFORE_LABEL: Final = re.compile(r"[\s–—-]*\w?")
_MARKS: Final = " \t\n|·•–—-,/"
_MINUTES: Final = any_of(words("bylines", "minutes"))
_READING_TIME: Final = re.compile(rf"\d+\W?(?:{_MINUTES})(?!\w)", re.IGNORECASE)
_BIOGRAPHY: Final = re.compile(
    rf"^[ \t]*((?:[^\W\d_][\w'’.-]*[ ]){{2,4}})(?:{any_of(words('bylines', 'biography'))})\s",
    re.MULTILINE,
)


def labelled(text: str) -> tuple[str, ...]:
    """Return the persons after "Written by" or "Author:" at the beginning of a line."""
    if not _WRITTEN_ANYWHERE.find_matches_as_indexes(text[:MAX_SCANNED]):
        return ()
    for label in _WRITTEN:
        for start in _after_label(text, label):
            after = text[start : start + MAX_AFTER_LABEL].strip(" \t\n:：")
            if persons := tuple(_leading_persons(map(squeeze, after.split("\n")), text)):
                return persons
    return ()


def _after_label(text: str, label: str) -> Iterator[int]:
    """Yield where a label that opens a line ends."""
    end = 0
    for _ in range(MAX_OCCURRENCES):
        at = text.find(label, end, MAX_SCANNED)
        if at < 0:
            return
        end = at + len(label)
        if _BEFORE_LABEL.fullmatch(text, text.rfind("\n", 0, at) + 1, at):
            yield end


def _leading_persons(lines: Iterable[str], text: str) -> Iterator[str]:
    """Yield the persons of the first line, and those of the lines after it that name only one."""
    for number, line in enumerate(filter(None, lines)):
        persons = names.persons([line]) if len(line) <= MAX_LINE else ()
        if not any(map(names.is_full, persons)):
            return
        is_person = persons == (line,) and _is_full_person(line)
        if number and (not is_person or _is_phrase(line, frozenset(), text)):
            return
        yield from persons


def beside_title(
    text: str, title: str, site_names: Sequence[str], dialect: Dialect
) -> tuple[str, ...]:
    """Return the persons, or the desk, in a line after the title, beside a date."""
    title_words = frozenset(titles.words_of(title))
    for lines in _lines_after(text, title):
        for index, line in enumerate(lines[:-1]):
            desk = names.desk_in(line)
            authors = desk or _only_persons(line)
            if (
                authors
                and _is_place_of_byline(lines, index, dialect)
                and (desk or not any(_is_phrase(name, title_words, text) for name in authors))
                and not any(titles.all_sites([name], site_names) for name in authors)
            ):
                return authors
    return ()


def _lines_after(text: str, title: str) -> Iterator[list[str]]:
    """Yield the lines after each place where the title stands in lines of its own."""
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
            pieces = text[end : end + MAX_AFTER_TITLE].split("\n")
            yield [line for piece in pieces if (line := squeeze(piece).strip(_MARKS))][:MAX_LINES]


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


def _is_place_of_byline(lines: Sequence[str], index: int, dialect: Dialect) -> bool:
    """Return whether a date stands beside a line."""
    beside = [*lines[max(0, index - 1) : index], *lines[index + 1 : index + 2]]
    return any(_is_dated(line, dialect) for line in beside)


def _is_dated(line: str, dialect: Dialect) -> bool:
    return len(line) <= MAX_DATE_LINE and bool(
        dates.find(line, dialect) or _READING_TIME.search(line)
    )


def _is_phrase(name: str, title_words: frozenset[str], text: str) -> bool:
    """Return whether a word of a name stands in the title, or in lower case in the text."""
    for word in name.split():
        lowered = word.lower()
        if lowered in title_words or (
            len(word) > 2 and re.search(rf"(?<!\w){re.escape(lowered)}(?!\w)", text[:MAX_SCANNED])
        ):
            return True
    return False


def in_biography(text: str) -> tuple[str, ...]:
    """Return the person in a line of its own before a paragraph "Jane Doe is a reporter ..."."""
    for match in _BIOGRAPHY.finditer(text, 0, MAX_SCANNED):
        name = match[1].strip()
        before = text[max(0, match.start() - MAX_LINE) : match.start()].rstrip()
        is_line = before.endswith(f"\n{name}") and _only_persons(name)
        if is_line and not _is_phrase(name, frozenset(), text):
            return (name,)
    return ()
