"""Read and write the user's companies file.

Only a valid file is written.

Comments and the order of entries are preserved. A file that can't be rewritten faithfully (CSV, a
folder, an invalid file) is only shown, with the reason.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import tomlkit
from tomlkit.exceptions import ParseError
from tomlkit.items import AoT, Array

from newscrawl.mentions import Companies, CompaniesError, Company, load_companies
from newscrawl.mentions.registry import read_companies
from newscrawl.mentions.registry_cache import registry_content
from newscrawl.mentions.registry_file import read_file
from newscrawl.mentions.spreadsheet import SUFFIXES

LISTS = ("aliases", "ambiguous", "ambiguous_in", "local", "context", "exclude", "stems", "ticker")
FACTS = ("country", "sector", "wikidata", "kind", "parent", "since", "until")
_ENTRY = re.compile(r"^\s*\[\[\s*company\s*\]\]", re.MULTILINE)
_TABLE = re.compile(r"^\s*\[", re.MULTILINE)
_WIDE = 88  # characters of a list on one line


class CompaniesFileError(Exception):
    """An entry or a file that can't be saved: one line that says why."""


@dataclass(frozen=True, slots=True)
class FileState:
    """The file as it was read: its companies as they are written, and its groups with the companies
    of each. `mark` is a hash of its content; `fault` is why it can't be written, None if it can."""

    companies: tuple[Company, ...]
    mark: str
    fault: str | None
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class CompaniesFile:
    """A TOML file of companies, which may not exist yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()

    def open(self) -> FileState:
        """Read the file; a missing file is empty."""
        try:
            content = b"" if self.path.is_dir() else self._bytes()
        except CompaniesError as error:
            return FileState((), "", str(error))
        fault = self._format_fault()
        if fault is None and not _TABLE.search(content.decode("utf-8", "replace")):
            return FileState((), _mark(content), None)
        try:
            companies, groups = _read_file(self.path, content)
        except CompaniesError as error:
            return FileState((), "", f"Mend the file first. {error}")
        return FileState(companies, _mark(content), fault, groups)

    def _format_fault(self) -> str | None:
        if self.path.is_dir():
            return "It is a folder of files: edit its files yourself."
        is_table = self.path.suffix.lower() in SUFFIXES
        return "It is a table; the editor writes TOML." if is_table else None

    def save(self, company: Company, *, instead_of: str | None, mark: str) -> None:
        """Save an entry, new or instead of another one; raise CompaniesFileError."""
        with self._lock:
            self._write(self._with([company], instead_of, mark))

    def add(self, companies: Sequence[Company], *, mark: str) -> None:
        """Add entries; raise CompaniesFileError."""
        with self._lock:
            self._write(self._with(companies, None, mark))

    def draft(self, company: Company, *, instead_of: str | None, mark: str) -> str:
        """Return the text that `save` would write; raise CompaniesFileError if it is invalid."""
        text = "\n".join(self._with([company], instead_of, mark))
        _validate(text)
        return text

    def _with(self, companies: Sequence[Company], instead_of: str | None, mark: str) -> list[str]:
        lines = self._lines(mark)
        for company in companies:
            if instead_of is not None:
                span = _span(lines, instead_of)
                lines[span] = _entry("\n".join(lines[span]), company)
            else:
                lines += [*([""] if lines else []), *_entry("[[company]]", company)]
        return lines

    def delete(self, name: str, *, mark: str) -> None:
        """Delete an entry; raise CompaniesFileError."""
        with self._lock:
            lines = self._lines(mark)
            span = _span(lines, name)
            rest = lines[span.stop :]
            while rest and not rest[0].strip():
                rest.pop(0)
            self._write([*lines[: span.start], *rest])

    def save_group(
        self, name: str, members: Sequence[str], *, instead_of: str | None, mark: str
    ) -> None:
        """Save a group, new or instead of another one; raise CompaniesFileError."""
        if not name or not members:
            raise CompaniesFileError("Give the group a name and a company.")
        with self._lock:
            document = tomlkit.parse("\n".join(self._lines(mark)))
            groups = document.get("groups", {})
            if instead_of != name and name in groups:
                raise CompaniesFileError(f"The file has a group {name!r} already.")
            _rename(groups, instead_of, name)
            if "groups" not in document:
                document["groups"] = groups = tomlkit.table()
            groups[name] = _list(tuple(members))
            self._write(tomlkit.dumps(document).splitlines())

    def delete_group(self, name: str, *, mark: str) -> None:
        """Delete a group; raise CompaniesFileError."""
        with self._lock:
            document = tomlkit.parse("\n".join(self._lines(mark)))
            groups = document.get("groups", {})
            _rename(groups, name, None)
            if not groups:
                document.remove("groups")
            self._write(tomlkit.dumps(document).splitlines())

    def _lines(self, mark: str) -> list[str]:
        """Return the file's lines, unless it has changed since the form was made."""
        opened = self.open()
        if opened.fault:
            raise CompaniesFileError(opened.fault)
        if opened.mark != mark:
            raise CompaniesFileError(
                "The file has changed since: reload the page and make your change again."
            )
        try:
            return self._bytes().decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise CompaniesFileError(
                f"{self.path} is not UTF-8: save it as UTF-8 first."
            ) from error

    def _bytes(self) -> bytes:
        try:
            return b"".join(registry_content(self.path))
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise CompaniesFileError(f"can't read {self.path}: {error.strerror}") from error

    def _write(self, lines: list[str]) -> None:
        text = "\n".join(lines).rstrip() + "\n"
        if _TABLE.search(text):
            _validate(text)
        target = self.path.resolve()
        spare = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            spare.write_text(text, "utf-8")
            if target.exists():
                spare.chmod(target.stat().st_mode & 0o777)
            spare.replace(target)
        except OSError as error:
            spare.unlink(missing_ok=True)
            raise CompaniesFileError(f"can't write {self.path}: {error.strerror}") from error


def registry_of(file: CompaniesFile | None) -> Companies:
    """Return the companies in use: the bundled ones and those of the file, which may not exist
    yet; raise CompaniesFileError for a faulty file."""
    if file is None or not file.path.exists():
        return _load_companies(None, ())
    try:
        return _load_companies(file.path, tuple(registry_content(file.path)))
    except CompaniesError as error:
        raise CompaniesFileError(str(error)) from error
    except OSError as error:
        raise CompaniesFileError(f"can't read {file.path}: {error.strerror}") from error


@lru_cache(maxsize=2)
def _read_file(
    path: Path, _content: bytes
) -> tuple[tuple[Company, ...], Mapping[str, tuple[str, ...]]]:
    """Return the companies of a file as they are written, and its groups."""
    _, groups = read_companies(path)
    return tuple(entry.company for entry in read_file(path).entries), groups


@lru_cache(maxsize=2)
def _load_companies(path: Path | None, _content: tuple[bytes, ...]) -> Companies:
    return load_companies(path)


def _validate(text: str) -> None:
    """Raise CompaniesFileError with fault and advice for a text that can't be used."""
    with _temporary_file(text) as file:
        read_companies(file)


def small_registry(*companies: Company) -> Companies:
    """Return a registry of these companies only, by their definitions in a file; raise
    CompaniesFileError."""
    entries = (line for company in companies for line in _entry("[[company]]", company))
    with _temporary_file("\n".join(entries)) as file:
        return load_companies(file, alone=True)


@contextmanager
def _temporary_file(text: str) -> Iterator[Path]:
    """Yield a file of this text; raise CompaniesFileError for a CompaniesError within."""
    with TemporaryDirectory(prefix="newscrawl-registry-") as folder:
        file = Path(folder, "companies.toml")
        file.write_text(text, "utf-8")
        try:
            yield file
        except CompaniesError as error:
            raise CompaniesFileError(f"{error.fault}: {error.advice}.") from error


def _span(lines: list[str], name: str) -> slice:
    """Return the lines of an entry, without the blank lines and comments before the next one; raise
    CompaniesFileError."""
    starts = [i for i, line in enumerate(lines) if _TABLE.match(line)]
    for start, stop in zip(starts, [*starts, len(lines)][1:], strict=True):
        if not _ENTRY.match(lines[start]):
            continue
        while not lines[stop - 1].strip() or lines[stop - 1].lstrip().startswith("#"):
            stop -= 1  # noqa: PLW2901 - the header itself ends it
        if _table("\n".join(lines[start:stop]))[1].get("name") == name:
            return slice(start, stop)
    raise CompaniesFileError(f"{name!r} is no longer in the file.")


def _entry(text: str, company: Company) -> list[str]:
    """Return the entry's lines with the company's values; other keys and comments stay."""
    document, entry = _table(text)
    entry["name"] = company.name
    for key in LISTS:
        values = company.tickers if key == "ticker" else getattr(company, key)
        if not values:
            entry.pop(key, None)
        elif list(entry.get(key, ())) != list(values):
            entry[key] = _list(values)
    for key in FACTS:
        value = company.facts.get(key, "")
        if not value:
            entry.pop(key, None)
        elif entry.get(key) != value:
            entry[key] = value
    return tomlkit.dumps(document).splitlines()


def _rename(groups: MutableMapping[str, object], former: str | None, name: str | None) -> None:
    """Remove the group that gets another name, or none."""
    if former is not None and former not in groups:
        raise CompaniesFileError(f"The group {former!r} is no longer in the file.")
    if former is not None and former != name:
        del groups[former]


def _table(text: str) -> tuple[tomlkit.TOMLDocument, MutableMapping[str, Any]]:
    """Return a document of one entry, and the keys of the entry."""
    try:
        document = tomlkit.parse(f"{text}\n")
    except ParseError as error:
        raise CompaniesFileError(f"Mend the file first. {error}") from error
    entries = document["company"]
    assert isinstance(entries, AoT)  # noqa: S101 - the text begins with [[company]]
    return document, entries[0]


def _list(values: tuple[str, ...]) -> Array:
    array = tomlkit.array()
    array.extend(values)
    return array.multiline(len(str(values)) > _WIDE)


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
