"""Companies files: read TOML or CSV into entries, and refuse invalid definitions."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from types import MappingProxyType
from typing import Any

from newscrawl.mentions.company import HOME_LANGUAGES, KINDS, CompaniesError, Company
from newscrawl.mentions.spreadsheet import SUFFIXES, NotATableError, table_rows
from newscrawl.mentions.vocabulary import ANY, Vocabulary

LISTS = (
    "aliases",
    "exclude",
    "ambiguous",
    "ambiguous_in",
    "local",
    "context",
    "stems",
    "ticker",
    "outlets",
)
# An entry begins with a header or, in a list of one line each, with a brace.
_HEADER = re.compile(r"^\s*(?:\[\[\s*company\s*\]\]|\{)")
_TOML_PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")
# A key as similar as this to one of ours is a typing error, not a fact.
_LIKE = 0.8
# Characters; longer forms are sentences.
MAX_FORM_LENGTH = 120
_LETTER = re.compile(r"[^\W\d_]|&")
# Companies files are written by people; a larger file is of another kind.
_LARGEST_FILE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """A company, and the file and lines that define it."""

    company: Company
    file: str
    lines: Mapping[str, int]

    def error(self, fault: str, advice: str, *, key: str = "name") -> CompaniesError:
        """Return an error at the line of a key of this entry."""
        line = self.lines.get(key) or self.lines.get("")
        return CompaniesError(fault, advice, file=self.file, line=line)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of companies, and the file and line that define it."""

    name: str
    members: tuple[str, ...]
    file: str
    line: int | None

    def error(self, fault: str, advice: str) -> CompaniesError:
        """Return an error at the line of this group."""
        return CompaniesError(fault, advice, file=self.file, line=self.line)


@dataclass(frozen=True, slots=True)
class RegistryFile:
    """What a file, or a folder of them, contains. `bundled` is set if the bundled companies are
    used in addition to its entries."""

    entries: tuple[Entry, ...] = ()
    groups: tuple[Group, ...] = ()
    bundled: bool = True


def registry_files(path: Path) -> list[Path]:
    """Return a file, or the TOML files of a folder. Raise CompaniesError for what is neither:
    reading a pipe or a device may never end."""
    files = sorted(path.glob("*.toml")) if path.is_dir() else [path]
    for file in files:
        if file.exists() and not file.is_file():
            raise CompaniesError("is not a file", "save its content as a file", file=str(file))
    return files


def read_file(path: Path) -> RegistryFile:
    """Return the content of a TOML file, of a table, or of all TOML files of a folder."""
    files = registry_files(path)
    if path.is_dir():
        if not files:
            raise CompaniesError(
                "no *.toml in this folder", "name a companies file", file=str(path)
            )
        parts = [read_file(file) for file in files]
        return RegistryFile(
            tuple(entry for part in parts for entry in part.entries),
            tuple(group for part in parts for group in part.groups),
            bundled=all(part.bundled for part in parts),
        )
    if path.suffix.lower() in SUFFIXES:
        return RegistryFile(_entries(_table(path), path))
    text = _text(path)
    data = _toml_data(text, str(path))
    companies, lines = data.get("company", []), _toml_lines(text)
    # Of entries that share a line the lines can't be told apart.
    rows = zip(companies, lines if len(lines) == len(companies) else repeat({}), strict=False)
    groups = tuple(_groups(data.get("groups", {}), text, str(path)))
    return RegistryFile(_entries(rows, path), groups, bundled=data.get("bundled", True))


def no_company(path: Path) -> CompaniesError:
    """Return the error for a registry without a company."""
    return CompaniesError(
        "no company in this file", "begin an entry with [[company]] and name = ...", file=str(path)
    )


def _entries(rows: "Iterable[Row]", path: Path) -> tuple[Entry, ...]:
    return tuple(_entry(row, str(path), lines) for row, lines in rows)


def _text(path: Path) -> str:
    try:
        return _content(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise CompaniesError("not UTF-8", "save it as UTF-8", file=str(path), line=line) from None


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CompaniesError(
                "larger than 64 MiB", "split it into several files in one folder", file=str(path)
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise CompaniesError("no such file", "check the path", file=str(path)) from None
    except OSError as error:
        raise CompaniesError(
            error.strerror or "unreadable", "check its permissions", file=str(path)
        ) from None


Row = tuple[Mapping[str, Any], Mapping[str, int]]


def _toml_data(text: str, file: str) -> dict[str, Any]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        fault = f"not TOML: {_TOML_PLACE.sub('', str(error))}"
        raise CompaniesError(fault, "correct this line", file=file, line=line) from None
    except (RecursionError, ValueError) as error:
        raise CompaniesError(*_excess(error), file=file) from None
    rows = data.get("company", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise CompaniesError("company is not a list of tables", "write [[company]]", file=file)
    strange = sorted(set(data) - {"company", "bundled", "groups"})
    if strange:
        raise CompaniesError(
            f'unknown table or key "{strange[0]}"', "put every entry under [[company]]", file=file
        )
    if not isinstance(data.get("bundled", True), bool):
        raise CompaniesError(
            "bundled is neither true nor false", "write bundled = false", file=file
        )
    return data


def _excess(error: Exception) -> tuple[str, str]:
    """Return the fault of a value that Python can't read or write, and what to do."""
    if isinstance(error, RecursionError):
        return "nested too deeply", "write plain values and lists"
    return "a number has too many digits", "shorten it, or write it as text"


def _groups(table: object, text: str, file: str) -> Iterator[Group]:
    if not isinstance(table, dict):
        raise CompaniesError("groups is not a table", "write [groups]", file=file)
    lines = {
        line.partition("=")[0].strip().strip("\"'"): number
        for number, line in enumerate(text.splitlines(), start=1)
        if "=" in line
    }
    for name, members in table.items():
        group = Group(name.strip(), (), file, lines.get(name))
        if not group.name or not isinstance(members, list) or not all(map(_is_phrase, members)):
            raise group.error(
                f'the group "{name}" is not a list of companies',
                'write "our competitors" = ["Bosch", "ABB"]',
            )
        yield replace(group, members=tuple(members))


def _toml_lines(text: str) -> list[dict[str, int]]:
    """Return the lines of the header ("") and the keys of each entry."""
    lines: list[dict[str, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if _HEADER.match(line):
            lines.append({"": number})
        elif lines:
            key, equals, _ = line.partition("=")
            if equals and key.strip().isidentifier():
                lines[-1].setdefault(key.strip(), number)
    return lines


def _table(path: Path) -> Iterator[Row]:
    """Yield the rows of a table; lists in a cell are separated by "|"."""
    try:
        for number, row in table_rows(_content(path)):
            yield _csv_lists(row), {"": number}
    except NotATableError as error:
        raise CompaniesError(error.fault, error.advice, file=str(path), line=error.line) from None


def _csv_lists(row: Mapping[str, str]) -> dict[str, Any]:
    lists = {key: row[key].split("|") for key in LISTS if row.get(key)}
    return {key: value for key, value in row.items() if value} | {
        key: [part.strip() for part in parts if part.strip()] for key, parts in lists.items()
    }


def _entry(row: Mapping[str, Any], file: str, lines: Mapping[str, int]) -> Entry:
    def error(fault: str, advice: str, key: str) -> CompaniesError:
        return CompaniesError(fault, advice, file=file, line=lines.get(key) or lines.get(""))

    name = row.get("name")
    if not isinstance(name, str) or not name.strip():
        raise error("an entry without a name", 'give it name = "..."', "name")
    lists: dict[str, Any] = {}
    for key in LISTS:
        value = row.get(key, [])
        value = [value] if isinstance(value, str) and key == "ticker" else value
        if not isinstance(value, list) or not all(_is_phrase(part) for part in value):
            raise error(
                f'{key} of "{name}" is not a list of phrases', f'write {key} = ["...", "..."]', key
            )
        lists[key] = tuple(part.strip() for part in value)
    if "bundled" in row:
        raise error(
            "bundled is not a key of an entry", "write it above the first [[company]]", "bundled"
        )
    for key in row.keys() - {*LISTS, "name"}:
        closest = _closest_key(key)
        if closest:
            raise error(f'unknown key "{key}"', f'write "{closest}"', key)
        if isinstance(row[key], dict):
            raise error(f'{key} of "{name}" is nested', "write plain values and lists", key)
    try:
        facts = {key: str(value) for key, value in row.items() if key not in {*LISTS, "name"}}
    except (RecursionError, ValueError) as excess:
        raise error(*_excess(excess), "") from None
    company = Company(
        name=name.strip(),
        tickers=lists.pop("ticker"),
        facts=MappingProxyType(facts),
        **lists,
    )
    return Entry(company, file, lines)


@lru_cache(maxsize=256)
def _closest_key(key: str) -> str | None:
    return next(iter(get_close_matches(key, LISTS, n=1, cutoff=_LIKE)), None)


def _is_phrase(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def companies_by_name(companies: Sequence[Company]) -> dict[str, Company]:
    """Return the companies by name and certain alias in small letters; names go first. The name of
    a bundled company also stands for the one in its place."""
    return {
        form.casefold(): company
        for part in (0, 1)
        for company in reversed(companies)
        for form in ((company.name,) if part else company.aliases)
        if part or form in company.certain or company.origin == "override"
    }


def check_structure(file: RegistryFile, companies: Sequence[Company]) -> dict[str, tuple[str, ...]]:
    """Return the companies of each group by their names in the registry.

    Raise a CompaniesError for an unknown owner, owners in a circle, and a group that is a company,
    has an unknown one or is defined twice.
    """
    companies_by_folded_name = companies_by_name(companies)
    for entry in file.entries:
        _check_owner(entry, companies_by_folded_name)
    groups: dict[str, tuple[str, ...]] = {}
    for group in file.groups:
        if group.name.casefold() in companies_by_folded_name or group.name in groups:
            what = "group" if group.name in groups else "company"
            raise group.error(f'the group "{group.name}" has the name of a {what}', "rename it")
        for name in group.members:
            if name.casefold() not in companies_by_folded_name:
                raise group.error(
                    *_unknown_company(
                        f'"{name}" of the group "{group.name}"', name, companies_by_folded_name
                    )
                )
        groups[group.name] = tuple(
            dict.fromkeys(companies_by_folded_name[name.casefold()].name for name in group.members)
        )
    return groups


def _check_owner(entry: Entry, companies: Mapping[str, Company]) -> None:
    owner = entry.company.owner
    if owner is not None and owner.casefold() not in companies:
        raise entry.error(
            *_unknown_company(f'the parent "{owner}"', owner, companies), key="parent"
        )
    ancestors = set()
    while owner is not None and owner.casefold() in companies:
        company = companies[owner.casefold()]
        if company.name == entry.company.name:
            raise entry.error(f'"{company.name}" owns itself', "correct its parent", key="parent")
        if company.name in ancestors:
            return
        ancestors.add(company.name)
        owner = company.owner


def _unknown_company(what: str, name: str, companies: Mapping[str, Company]) -> tuple[str, str]:
    """Return that a company is unknown, and what to do."""
    near = get_close_matches(name.casefold(), companies, n=1, cutoff=_LIKE)
    advice = f'write "{companies[near[0]].name}"' if near else "give it an entry, or leave it out"
    return f"{what} is not a company of the registry", advice


def check(entries: Sequence[Entry], words: Vocabulary) -> None:
    """Raise a CompaniesError for the first entry that would flood, clash or never match."""
    for entry in entries:
        kind = entry.company.facts.get("kind", "company")
        if kind not in KINDS:
            raise entry.error(
                f'unknown kind "{kind}"', f"choose among {', '.join(KINDS)}", key="kind"
            )
        _check_tenure(entry)
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
        _check_local(entry)
        _check_exclusions(entry)
        _check_context(entry, words)
    _check_clashes(entries)


def _check_tenure(entry: Entry) -> None:
    facts = entry.company.facts
    for key in ("since", "until"):
        if key in facts and entry.company.owner is None:
            raise entry.error(
                f'{key} of "{entry.company.name}", which has no owner', "add its parent", key=key
            )
    try:
        since, until = entry.company.tenure
    except ValueError:
        wrong = f'since or until of "{entry.company.name}" is not a day'
        raise entry.error(wrong, "write 2012-09-06, 2012-09 or 2012", key="since") from None
    if since and until and since > until:
        raise entry.error(
            f'"{entry.company.name}" has until before since', "swap them", key="until"
        )


def _check_local(entry: Entry) -> None:
    company = entry.company
    for form in company.local:
        if form not in (company.name, *company.aliases, *company.ambiguous):
            fault = f'the local form "{form}" is neither the name nor in aliases or ambiguous'
            raise entry.error(fault, "list it there, too", key="local")
    if company.local and company.facts.get("country") not in HOME_LANGUAGES:
        codes = ", ".join(HOME_LANGUAGES)
        raise entry.error(
            f'local forms of "{company.name}" need a country', f"choose among {codes}", key="local"
        )


def refusal(form: str, words: Vocabulary) -> str | None:
    """Return why a form would be refused as a name without doubt, None if it would not."""
    fault = _flood(form, words, doubtful=False)
    return fault and fault[0]


def _flood(form: str, words: Vocabulary, *, doubtful: bool) -> tuple[str, str] | None:
    """Return why a form would be found everywhere and what to do; None if it would not."""
    bare = form.replace("*", "")
    low = bare.lower()
    acronym = doubtful and bare.isupper() and len(bare) > 2
    faults = (
        (len(bare) > MAX_FORM_LENGTH, f"has over {MAX_FORM_LENGTH} characters", "write a name"),
        (not _LETTER.search(bare), "has no letter", "write a name with letters"),
        (
            len(bare) == 1 and not doubtful,
            "is a single letter",
            "write a longer form, or list it in ambiguous",
        ),
        (
            low in words.function_words and not acronym,
            "is an everyday word that is in most articles",
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
    """Yield checks for names that many persons, places and bodies share."""
    for names, fault in (
        (words.abbreviations, "is an abbreviation that is in many articles"),
        (words.places, "is a place"),
        (words.given_names, "is a given name"),
    ):
        holds = not doubtful and bare in names
        yield holds, fault, "list it in ambiguous too and give context words"


def _check_exclusions(entry: Entry) -> None:
    company = entry.company
    forms = [company.name, *company.aliases, *company.ambiguous, *company.stems]
    folded_forms = {_fold(form) for form in forms}
    folded_stems = [_fold(form.partition("*")[0]) for form in forms]
    for phrase in company.exclude:
        if not any(form in _fold(phrase) for form in folded_stems):
            raise entry.error(
                f'the excluded phrase "{phrase}" contains no form of "{company.name}"',
                "write a phrase around a form, or leave it out",
                key="exclude",
            )
        if _fold(phrase.strip("*")) in folded_forms:
            raise entry.error(
                f'the excluded phrase "{phrase}" is a form itself',
                "write a longer phrase",
                key="exclude",
            )


def _fold(phrase: str) -> str:
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
                other_entry = owners.setdefault(form, entry)
                if other_entry is entry:
                    continue
                if form == entry.company.name and form == other_entry.company.name:
                    raise entry.error(
                        f'a second entry named "{form}"', "merge the two or rename one"
                    )
                if form in entry.company.certain and form in other_entry.company.certain:
                    raise entry.error(
                        f'"{form}" stands for "{other_entry.company.name}" '
                        f'and "{entry.company.name}"',
                        "list it in ambiguous of both, with context words",
                        key=key,
                    )
