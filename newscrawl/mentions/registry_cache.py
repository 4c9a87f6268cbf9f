"""The compiled registry (every form under every spelling) and its cache file.

Reading, checking and compiling a large registry takes a second or more. The result is cached as
JSON Lines, named by a digest of the registry and of the code that reads it, so that a change to
either compiles it again. If the file can't be read or written, only time is lost. A process needs
few of the companies: a line is parsed when it is first asked for.
"""

import json
import logging
import tomllib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, overload
from zlib import crc32

from newscrawl.cache import cache_folder, read_cache_file, write_cache_file
from newscrawl.mentions.company import HOME_LANGUAGES, Company
from newscrawl.mentions.context import context_table
from newscrawl.mentions.forms import (
    Form,
    altered_forms,
    cyrillic_forms,
    script,
    spellings,
    stem_doubt,
    stem_forms,
    stem_languages,
)
from newscrawl.mentions.registry_file import registry_files
from newscrawl.mentions.vocabulary import Vocabulary

logger = logging.getLogger(__name__)

# Bytes; smaller registries are compiled each time.
MIN_CACHED_BYTES = 100_000
# Ours: letters of a spelling that the automaton looks for; the rest is compared.
BEGINNING = 6
# The code on which a compiled registry depends.
_SOURCES = (
    "registry.py",
    "registry_file.py",
    "company.py",
    "context.py",
    "forms.py",
    "forms.toml",
    "scripts.toml",
    "spreadsheet.py",
    "name_columns.txt",
    "legal_forms.py",
    "registry_cache.py",
    "vocabulary.py",
    "vocabulary.toml",
)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode

Row = TypeVar("Row")


class Rows(Sequence[Row]):
    """Rows of which each is parsed when it is first asked for."""

    def __init__(self, lines: Iterable[bytes], parse: Callable[[Any], Row]) -> None:
        self._rows: list[Any] = list(lines)
        self._parse = parse

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(*index.indices(len(self))))
        row = self._rows[index]
        if type(row) is bytes:
            row = self._rows[index] = self._parse(_decode(row.decode()))
        decoded: Row = row
        return decoded

    def __len__(self) -> int:
        return len(self._rows)


class CompiledRegistry:
    """A registry as lines of JSON.

    `groups` are the companies of each group. `tickers`, `outlets` and `owners` are pairs of a
    company's number and a symbol, its outlets, or the number of its owner; `contexts` is a table
    of `context_table`. `spelled` are the spellings of each of the `beginnings`, with the numbers of
    the `forms` that they may mean.
    """

    def __init__(self, content: bytes) -> None:
        head, self._contexts, self._beginnings, *rows = content.split(b"\n")
        tables: dict[str, Any] = json.loads(head)
        companies, forms, spelled = tables["rows"]
        if len(rows) != companies + forms + spelled:
            raise ValueError("lines are missing")
        self._facts = [MappingProxyType(facts) for facts in tables["facts"]]
        self._kinds = [
            (frozenset(doubtful), stem, frozenset(home)) for doubtful, stem, home in tables["kinds"]
        ]
        self.groups = {name: tuple(members) for name, members in tables["groups"].items()}
        self.tickers: Sequence[tuple[int, str]] = tables["tickers"]
        self.outlets: Sequence[tuple[int, Sequence[str]]] = tables["outlets"]
        self.owners: Sequence[tuple[int, int]] = tables["owners"]
        self.companies = Rows(rows[:companies], self._company)
        self.forms = Rows(rows[companies : companies + forms], self._form)
        self.spelled = Rows(
            rows[companies + forms :], lambda row: [(text, meant) for text, *meant in row]
        )

    @property
    def beginnings(self) -> Sequence[str]:
        """Return the first letters of all spellings."""
        texts: list[str] = json.loads(self._beginnings)
        return texts

    @property
    def contexts(self) -> Mapping[str, Any]:
        """Return the context words of all companies."""
        contexts_by_language: dict[str, Any] = json.loads(self._contexts)
        return contexts_by_language

    def _company(self, row: dict[str, Any]) -> Company:
        for key, value in row.items():
            if isinstance(value, list):
                row[key] = tuple(value)
        return Company(**row | {"facts": self._facts[row["facts"]]})

    def _form(self, row: tuple[int, str, int]) -> Form:
        company, text, kind = row
        doubtful, stem, languages = self._kinds[kind]
        form = Form(company, text, doubtful, False, languages)
        return _stem(form, text) if stem else form


def compile_registry(
    companies: Sequence[Company],
    groups: Mapping[str, Sequence[str]],
    words: Vocabulary,
    base: bytes | None = None,
) -> bytes:
    """Return the content of a `CompiledRegistry`: what is read at once, the context words, the
    beginnings, and a line for each company, form and beginning. A stem's pattern is written as its
    source.

    Of companies that are in `base`, too, the content of a registry, the lines are kept.
    """
    compiled = _Base.of(base)
    listed = {form for of in companies for form in _listed(of)}
    numbers = {company.name: number for number, company in enumerate(companies)}
    numbers_before = {company.name: number for number, company in enumerate(compiled.companies)}
    new, renumbered = [], {}
    for number, company in enumerate(companies):
        before = numbers_before.get(company.name)
        if before is not None and compiled.companies[before] == company:
            renumbered[before] = number
        else:
            new.append((number, company))
    replaced_companies = [
        of for number, of in enumerate(compiled.companies) if number not in renumbered
    ]
    freed = {form for of in replaced_companies for form in _listed(of)} - listed
    if any(script(form[0]) != "latin" for form in freed):
        # Another company's spelling in this script counts that was left out for the form's sake.
        return compile_registry(companies, groups, words)
    dropped = compiled.renumber(
        renumbered, {form for _, of in new for form in _listed(of)}, companies
    )
    edited: dict[str, dict[str, list[int]]] = {
        spelling[:BEGINNING]: {} for text in dropped.values() for spelling in spellings(text)
    }
    forms: dict[Form, int] = {}
    for form in _forms_of(new, listed, words):
        number = forms.setdefault(form, len(compiled.forms) + len(forms))
        for spelling in spellings(form.text):
            edited.setdefault(spelling[:BEGINNING], {}).setdefault(spelling, []).append(number)
    for form in forms:
        kind = compiled.kinds.setdefault(
            (form.ambiguous, form.stem, form.languages), len(compiled.kinds)
        )
        compiled.forms.append(_encode([form.company, form.source or form.text, kind]).encode())
    compiled.edit(edited, dropped)
    rows: list[bytes] = [b""] * len(companies)
    for before, number in renumbered.items():
        rows[number] = compiled.rows[before]
    for number, company in new:
        rows[number] = _encode(_row(company, compiled.facts)).encode()
    head = {
        "groups": groups,
        "facts": [dict(item) for item in compiled.facts],
        "kinds": [
            [sorted(doubtful), stem, sorted(home)] for doubtful, stem, home in compiled.kinds
        ],
        "rows": [len(companies), len(compiled.forms), len(compiled.spelled)],
        "tickers": [(number, item) for number, of in enumerate(companies) for item in of.tickers],
        "outlets": [(number, of.outlets) for number, of in enumerate(companies) if of.outlets],
        "owners": [
            (number, numbers[of.owner])
            for number, of in enumerate(companies)
            if of.owner in numbers
        ],
    }
    parts = [head, context_table(companies, words), list(compiled.spelled)]
    heading = [_encode(part).encode() for part in parts]
    return b"\n".join([*heading, *rows, *compiled.forms, *compiled.spelled.values()])


def _listed(company: Company) -> tuple[str, ...]:
    return (company.name, *company.aliases, *company.ambiguous)


@dataclass
class _Base:
    """The lines of a compiled registry, to which another one adds its own.

    `facts` and `kinds` are those of the lines with their numbers: of thousands of companies and
    forms they are the same. `spelled` are the lines of beginnings.
    """

    companies: Sequence[Company] = ()
    rows: Sequence[bytes] = ()
    forms: list[bytes] = field(default_factory=list)
    spelled: dict[str, bytes] = field(default_factory=dict)
    facts: dict[tuple[tuple[str, str], ...], int] = field(default_factory=dict)
    kinds: dict[tuple[frozenset[str], bool, frozenset[str]], int] = field(default_factory=dict)

    @classmethod
    def of(cls, content: bytes | None) -> "_Base":
        if content is None:
            return cls()
        head, _, beginnings, *rows = content.split(b"\n")
        tables = json.loads(head)
        companies, forms, _ = tables["rows"]
        return cls(
            companies=CompiledRegistry(content).companies[:],
            rows=rows[:companies],
            forms=rows[companies : companies + forms],
            spelled=dict(zip(json.loads(beginnings), rows[companies + forms :], strict=True)),
            facts={tuple(facts.items()): number for number, facts in enumerate(tables["facts"])},
            kinds={
                (frozenset(doubtful), stem, frozenset(home)): number
                for number, (doubtful, stem, home) in enumerate(tables["kinds"])
            },
        )

    def renumber(
        self,
        numbers: Mapping[int, int],
        listed: Iterable[str],
        companies: Sequence[Company],
    ) -> dict[int, str]:
        """Write the companies' new numbers into the forms; return the text of each form, by its
        number, that no longer counts: its company is another, or it was none of its own and is
        `listed` for another one now."""
        dropped: dict[int, str] = {}
        for place, line in enumerate(self.forms):
            before, comma, kind = line.partition(b",")
            number = numbers.get(int(before[1:]))
            if number is None:
                dropped[place] = json.loads(line)[1].partition("*")[0]
            else:
                self.forms[place] = b"[%d%b%b" % (number, comma, kind)
        for text in listed:
            for spelling, *places in json.loads(self.spelled.get(text[:BEGINNING], b"[]")):
                for place in places if spelling == text else ():
                    number, form, _ = json.loads(self.forms[place])
                    if (
                        form == text
                        and place not in dropped
                        and text not in _listed(companies[number])
                    ):
                        dropped[place] = text
        return dropped

    def edit(
        self, edited: Mapping[str, Mapping[str, Sequence[int]]], dropped: Container[int]
    ) -> None:
        """Take dropped forms from the lines of these beginnings, and add others by spelling."""
        for beginning, added in edited.items():
            lines = json.loads(self.spelled.get(beginning, b"[]"))
            meant = {
                text: [place for place in places if place not in dropped] for text, *places in lines
            }
            for text, places in added.items():
                together = [*meant.get(text, ()), *places]
                meant[text] = sorted(
                    together, key=lambda place: int(self.forms[place][1:].partition(b",")[0])
                )
            remaining = [[text, *places] for text, places in meant.items() if places]
            self.spelled[beginning] = _encode(remaining).encode()


def _forms_of(
    companies: Iterable[tuple[int, Company]], listed: Container[str], words: Vocabulary
) -> Iterable[Form]:
    """Yield the forms of numbered companies and those that follow from them, unless they are
    `listed`."""
    scripts = _spellings_of_scripts()
    for index, company in companies:
        doubtful = set(company.ambiguous)
        languages = frozenset(company.ambiguous_in or ("*",))
        home = HOME_LANGUAGES.get(company.facts.get("country", ""), frozenset())
        for text in dict.fromkeys((company.name, *company.aliases, *company.ambiguous)):
            form = Form(index, text, languages if text in doubtful else frozenset())
            if text in company.local:
                form = form._replace(languages=home)
            yield from _with_cases(form, words, home)
            for spelled, writing in cyrillic_forms(text).items():
                home_languages = form.languages & writing if form.languages else writing
                if home_languages and spelled not in listed:
                    yield from _with_cases(
                        form._replace(text=spelled, languages=home_languages), words
                    )
        doubt = frozenset({"*"} if company.name in doubtful else ())
        for text in (text for text in scripts.get(company.name, ()) if text not in listed):
            yield from _with_cases(Form(index, text, doubt), words)
        for stem in company.stems:
            bare = stem.replace("*", "")
            # "Mostostal* Zabrze" is certain, though "Mostostal" alone is not.
            in_doubt = any(
                bare.startswith(text[:-1]) and bare.count(" ") == text.count(" ")
                for text in doubtful
            )
            # "Med* Expert*" would be medical experts elsewhere.
            declined = home if " " in stem and script(stem[0]) == "latin" else frozenset()
            yield _stem(
                Form(index, stem, languages if in_doubt else frozenset(), languages=declined), stem
            )


def _with_cases(
    form: Form, words: Vocabulary, home: frozenset[str] = frozenset()
) -> Iterable[Form]:
    """Yield a form, and the stems and cases that its last letters tell, unless they are words."""
    yield form
    declined = form._replace(languages=form.languages or stem_languages(form.text))
    doubt = form.ambiguous | stem_doubt(form.text, home)
    for stem in stem_forms(form.text):
        yield _stem(declined._replace(ambiguous=doubt), stem)
    for case, altering in altered_forms(form.text).items():
        languages = frozenset(
            language
            for language in (form.languages or altering) & altering
            if case.lower() not in words.words_like_cases.get(language, ())
        )
        altered = form._replace(languages=languages)
        if languages:
            yield _stem(altered, case) if "*" in case else altered._replace(text=case)


@lru_cache(maxsize=1)
def _spellings_of_scripts() -> Mapping[str, Sequence[str]]:
    """Return how newspapers write companies in other scripts, by the name of the entry."""
    tables = tomllib.loads(files(__package__).joinpath("scripts.toml").read_text(encoding="utf-8"))
    names: dict[str, list[str]] = {}
    for table in tables.values():
        for name, text in table.items():
            names.setdefault(name, []).extend(text.split(", "))
    return names


def _stem(form: Form, stem: str) -> Form:
    return form._replace(text=stem.partition("*")[0], stem=True, source=stem)


def registry_content(path: Path) -> list[bytes]:
    """Return the content of a registry's files; raise OSError or CompaniesError."""
    return [part.read_bytes() for part in registry_files(path)]


def content_digest(registries: Sequence[Path]) -> str:
    """Return a digest of the files of registries; raise OSError or CompaniesError."""
    parts = [part for path in registries for part in registry_files(path)]
    states = ((part, part.stat()) for part in parts)
    return _digest_of(tuple((part, state.st_mtime_ns, state.st_size) for part, state in states))


# The dashboard asks at each proof. Several, since tests and people change between registries.
@lru_cache(maxsize=16)
def _digest_of(unchanged: tuple[tuple[Path, int, int], ...]) -> str:
    """Return the digest of files that have not changed since the given times."""
    return _digest(part.read_bytes() for part, _, _ in unchanged)


def _digest(contents: Iterable[bytes]) -> str:
    return sha256(b"".join(sha256(content).digest() for content in contents)).hexdigest()


# The code at the time of its import: an upgrade changes the files of a running process.
_CODE = _digest(files(__package__).joinpath(name).read_bytes() for name in _SOURCES)


class RegistryCache:
    """The cache file of registries that are used together; does nothing for small ones."""

    def __init__(self, registries: Sequence[Path], folder: Path | None = None) -> None:
        self._folder = folder or cache_folder()
        self._path = self._place(registries)

    def _place(self, registries: Sequence[Path]) -> Path | None:
        try:
            parts = [part for path in registries for part in registry_files(path)]
            if sum(part.stat().st_size for part in parts) < MIN_CACHED_BYTES:
                return None
            key = content_digest(registries), str(len(registries)), _CODE
        except OSError:
            return None
        return self._folder / f"companies-{_digest(text.encode() for text in key)[:32]}.json"

    def read(self) -> CompiledRegistry | None:
        """Return the compiled registry; None if it is missing or can't be used."""
        content = self.read_content()
        return None if content is None else CompiledRegistry(content)

    def read_content(self) -> bytes | None:
        """Return the content of the compiled registry; None if it is missing or can't be used."""
        if self._path is None:
            return None
        try:
            checksum, _, content = read_cache_file(self._path).partition(b"\n")
            is_whole = int(checksum) == crc32(content)
            return content if is_whole and CompiledRegistry(content) else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            logger.debug("%s is not used: %s", self._path, error)
            return None

    def write(self, content: bytes) -> None:
        """Write the file; a folder that can't be written to is only logged."""
        if self._path is not None:
            write_cache_file(
                self._path, lambda file: file.write(b"%d\n%b" % (crc32(content), content))
            )


def _row(company: Company, facts: dict[tuple[tuple[str, str], ...], int]) -> dict[str, Any]:
    """Return the fields of a company that are not empty; of its facts their number, as thousands of
    companies have the same, such as country and sector."""
    row = {field.name: getattr(company, field.name) for field in fields(company)}
    number = facts.setdefault(tuple(company.facts.items()), len(facts))
    return {key: value for key, value in row.items() if value} | {"facts": number}
