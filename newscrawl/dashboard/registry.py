"""The user's companies file: read for the editor, written only when it holds together.

Comments and the order of entries stay. A file that an editor can't rewrite faithfully (CSV,
a folder, one that is faulty already) is shown and left alone, with the reason.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import tomlkit
from tomlkit.exceptions import ParseError
from tomlkit.items import AoT, Array

from newscrawl.mentions import Companies, CompaniesError, Company, load_companies

LISTS = ("aliases", "ambiguous", "ambiguous_in", "context", "exclude", "stems", "ticker")
FACTS = ("country", "sector", "wikidata")
_ENTRY = re.compile(r"^\s*\[\[\s*company\s*\]\]", re.MULTILINE)
_WIDE = 88  # characters of a list on one line


class RegistryError(Exception):
    """What can't be saved: one line that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """An entry as the editor's form holds it."""

    name: str
    lists: Mapping[str, tuple[str, ...]]
    facts: Mapping[str, str]

    @classmethod
    def of(cls, company: Company) -> "Definition":
        lists = {key: getattr(company, key) for key in LISTS if key != "ticker"}
        return cls(
            name=company.name, lists={**lists, "ticker": company.tickers}, facts=company.facts
        )


@dataclass(frozen=True, slots=True)
class Opened:
    """The file as it was read: `mark` tells whether it changed since. `fault` is why it can't
    be written, None where it can."""

    companies: tuple[Company, ...]
    mark: str
    fault: str | None


class RegistryFile:
    """A TOML file of companies, or the place where one is to be."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def open(self) -> Opened:
        """What the file holds now; a file that is not there holds nothing yet."""
        content = b"" if self.path.is_dir() else self._bytes()
        fault = self._strangeness()
        if fault is None and not _ENTRY.search(content.decode("utf-8", "replace")):
            return Opened((), _mark(content), None)
        try:
            companies = tuple(load_companies(self.path))
        except CompaniesError as error:
            return Opened((), "", f"Mend the file first. {error}")
        return Opened(companies, _mark(content), fault)

    def _strangeness(self) -> str | None:
        if self.path.is_dir():
            return "It is a folder of files: edit the one you mean yourself."
        is_csv = self.path.suffix.lower() == ".csv"
        return "It is a CSV file; the editor writes TOML." if is_csv else None

    def put(self, definition: Definition, *, instead_of: str | None, mark: str) -> None:
        """Save an entry, new or in the place of another; raises RegistryError."""
        with self._lock:
            lines = self._lines(mark)
            span = _span(lines, instead_of)
            if instead_of is not None and span is None:
                raise RegistryError(f"{instead_of!r} is not in the file any more.")
            if span is None:
                gap = [""] if lines else []
                self._write([*lines, *gap, *_entry("[[company]]", definition)])
            else:
                entry = _entry("\n".join(lines[span]), definition)
                self._write([*lines[: span.start], *entry, *lines[span.stop :]])

    def drop(self, name: str, *, mark: str) -> None:
        """Take an entry out; raises RegistryError."""
        with self._lock:
            lines = self._lines(mark)
            span = _span(lines, name)
            if span is None:
                raise RegistryError(f"{name!r} is not in the file any more.")
            rest = lines[span.stop :]
            while rest and not rest[0].strip():
                rest.pop(0)
            self._write([*lines[: span.start], *rest])

    def _lines(self, mark: str) -> list[str]:
        """The file's lines, if it is still what the form was made from."""
        opened = self.open()
        if opened.fault:
            raise RegistryError(opened.fault)
        if opened.mark != mark:
            raise RegistryError(
                "The file was changed meanwhile: load the page anew and make your change again."
            )
        try:
            return self._bytes().decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise RegistryError(f"{self.path} is not UTF-8: save it as UTF-8 first.") from error

    def _bytes(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise RegistryError(f"can't read {self.path}: {error.strerror}") from error

    def _write(self, lines: list[str]) -> None:
        text = "\n".join(lines).rstrip() + "\n"
        if _ENTRY.search(text):
            validated(text)
        target = self.path.resolve()
        spare = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            spare.write_text(text, "utf-8")
            if target.exists():
                spare.chmod(target.stat().st_mode & 0o777)
            spare.replace(target)
        except OSError as error:
            spare.unlink(missing_ok=True)
            raise RegistryError(f"can't write {self.path}: {error.strerror}") from error


def validated(text: str) -> Companies:
    """The companies of a TOML text; raises RegistryError with the fault and what to do."""
    with TemporaryDirectory(prefix="newscrawl-registry-") as folder:
        file = Path(folder, "companies.toml")
        file.write_text(text, "utf-8")
        try:
            return load_companies(file)
        except CompaniesError as error:
            raise RegistryError(f"{error.fault}: {error.advice}.") from error


def alone(definition: Definition) -> Companies:
    """A registry of this definition and no other; raises RegistryError."""
    return validated("\n".join(_entry("[[company]]", definition)))


def _span(lines: list[str], name: str | None) -> slice | None:
    """The lines of an entry, without the blank lines and comments that lead to the next one."""
    starts = [i for i, line in enumerate(lines) if _ENTRY.match(line)]
    for start, stop in zip(starts, [*starts, len(lines)][1:], strict=True):
        while not lines[stop - 1].strip() or lines[stop - 1].lstrip().startswith("#"):
            stop -= 1  # noqa: PLW2901 - the header itself ends it
        if _table("\n".join(lines[start:stop])).get("name") == name:
            return slice(start, stop)
    return None


def _entry(text: str, definition: Definition) -> list[str]:
    """The entry's lines with what the form says; keys and comments it does not know stay."""
    document = tomlkit.parse(f"{text}\n")
    entries = document["company"]
    assert isinstance(entries, AoT)  # noqa: S101 - the text begins with [[company]]
    entry = entries[0]
    entry["name"] = definition.name
    for key in LISTS:
        values = definition.lists.get(key, ())
        if not values:
            entry.pop(key, None)
        elif list(entry.get(key, ())) != list(values):
            entry[key] = _list(values)
    for key in FACTS:
        value = definition.facts.get(key, "")
        if not value:
            entry.pop(key, None)
        elif entry.get(key) != value:
            entry[key] = value
    return tomlkit.dumps(document).splitlines()


def _table(text: str) -> Mapping[str, object]:
    """The keys of an entry's own text."""
    try:
        found = tomlkit.parse(text)["company"]
    except ParseError as error:
        raise RegistryError(f"Mend the file first. {error}") from error
    assert isinstance(found, AoT)  # noqa: S101 - the text begins with [[company]]
    return found[0]


def _list(values: tuple[str, ...]) -> Array:
    array = tomlkit.array()
    array.extend(values)
    return array.multiline(len(str(values)) > _WIDE)


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
