"""What a companies file may not say: definitions that would flood, clash or never match."""

import re
from collections.abc import Iterable, Iterator, Sequence

from newscrawl.mentions.reading import Entry
from newscrawl.mentions.vocabulary import ANY, Vocabulary

LONGEST_FORM = 120
_LETTER = re.compile(r"[^\W\d_]|&")


def check(entries: Sequence[Entry], words: Vocabulary) -> None:
    """Raise a CompaniesError for the first entry that can't be right."""
    for entry in entries:
        _check_forms(entry, words)
        _check_exclusions(entry)
        _check_context(entry, words)
    _check_clashes(entries)


def _check_forms(entry: Entry, words: Vocabulary) -> None:
    company = entry.company
    for key, forms in (
        ("name", (company.name,)),
        ("aliases", company.aliases),
        ("ambiguous", company.ambiguous),
        ("stems", company.stems),
    ):
        for form in forms:
            if "*" in form and key in {"name", "aliases"}:
                raise entry.error(f'"*" in "{form}"', "write declined forms in stems", key=key)
            fault = _flood(form, words, doubtful=form in company.ambiguous)
            if fault:
                raise entry.error(f'"{form}" of "{company.name}" {fault[0]}', fault[1], key=key)


def _flood(form: str, words: Vocabulary, *, doubtful: bool) -> tuple[str, str] | None:
    """Why a form would be found everywhere, and what to do about it; None where it would not."""
    bare = form.replace("*", "")
    low = bare.lower()
    acronym = doubtful and bare.isupper() and len(bare) > 2
    faults = (
        (len(bare) > LONGEST_FORM, f"has over {LONGEST_FORM} characters", "write a name"),
        (not _LETTER.search(bare), "has no letter", "write a name with letters"),
        (len(bare) == 1, "is a single letter", "write a longer form"),
        (
            low in words.function_words and not acronym,
            "is an everyday word that stands in most articles",
            "write the full name",
        ),
        (
            "*" in form and len(form.partition("*")[0]) < 3,
            "has a stem of under 3 letters",
            "write more letters before the *",
        ),
        (
            not doubtful
            and (low in words.common_words if bare.islower() else low in words.modifiers[ANY]),
            "is a common word",
            "list it in ambiguous too and give context words",
        ),
        *_names_of_all(bare, words, doubtful=doubtful),
        (
            bare.isalpha() and bare.isascii() and bare.islower() and len(bare) < 4 and not doubtful,
            "is a short word in small letters",
            "write its capitals, or list it in ambiguous",
        ),
    )
    return next(((fault, advice) for holds, fault, advice in faults if holds), None)


def _names_of_all(
    bare: str, words: Vocabulary, *, doubtful: bool
) -> Iterator[tuple[bool, str, str]]:
    """Names that so many bear that the bare word tells nothing."""
    for known, fault in (
        (words.abbreviations, "is an abbreviation that stands in many articles"),
        (words.places, "is a place"),
        (words.given_names, "is a given name"),
    ):
        holds = not doubtful and bare in known
        yield holds, fault, "list it in ambiguous too and give context words"


def _check_exclusions(entry: Entry) -> None:
    company = entry.company
    forms = [company.name, *company.aliases, *company.ambiguous, *company.stems]
    whole = {_folded(form) for form in forms}
    held = [_folded(form.partition("*")[0]) for form in forms]
    for phrase in company.exclude:
        if not any(form in _folded(phrase) for form in held):
            raise entry.error(
                f'the excluded phrase "{phrase}" contains no form of "{company.name}"',
                "write a phrase around a form, or leave it out",
                key="exclude",
            )
        if _folded(phrase.strip("*")) in whole:
            raise entry.error(
                f'the excluded phrase "{phrase}" is a form itself',
                "write a longer phrase",
                key="exclude",
            )


def _folded(phrase: str) -> str:
    return phrase.lower().replace("-", " ").replace("’", "'")


def _check_context(entry: Entry, words: Vocabulary) -> None:
    company = entry.company
    for word in company.context:
        if word.startswith("@") and word[1:] not in words.topics:
            raise entry.error(
                f'unknown topic "{word}"',
                f"choose among {', '.join('@' + topic for topic in sorted(words.topics))}",
                key="context",
            )
        if not word.startswith("@") and not word.strip("*"):
            raise entry.error("a context word without letters", "write a word", key="context")


def _check_clashes(entries: Iterable[Entry]) -> None:
    owners: dict[str, Entry] = {}
    for entry in entries:
        for key, forms in (("name", (entry.company.name,)), ("aliases", entry.company.certain)):
            for form in forms:
                other = owners.setdefault(form, entry)
                if other is entry:
                    continue
                if form == entry.company.name and form == other.company.name:
                    raise entry.error(
                        f'a second entry named "{form}"', "merge the two or rename one"
                    )
                if form in entry.company.certain and form in other.company.certain:
                    raise entry.error(
                        f'"{form}" stands for "{other.company.name}" and "{entry.company.name}"',
                        "list it in ambiguous of both, with context words",
                        key=key,
                    )
