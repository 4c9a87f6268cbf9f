"""Reading a companies file: TOML or CSV into entries that know their line."""

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from newscrawl.mentions.company import CompaniesError, Company

LISTS = (
    "aliases",
    "exclude",
    "ambiguous",
    "ambiguous_in",
    "context",
    "stems",
    "ticker",
    "outlets",
)
_HEADER = re.compile(r"^\s*\[\[\s*company\s*\]\]")
_TOML_PLACE = re.compile(r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)")
# A key this like one of ours is a slip of the pen, not a fact.
_LIKE = 0.8
# Companies files are written by people; more than this is another kind of file.
_LARGEST_FILE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Entry:
    """A company and where it was read."""

    company: Company
    file: str
    lines: Mapping[str, int]

    def error(self, fault: str, advice: str, *, key: str = "name") -> CompaniesError:
        """An error at the line of a key of this entry."""
        line = self.lines.get(key) or self.lines.get("")
        return CompaniesError(fault, advice, file=self.file, line=line)


def read_entries(path: Path) -> list[Entry]:
    """The entries of a TOML or CSV file, or of all TOML files of a folder."""
    if path.is_dir():
        files = sorted(path.glob("*.toml"))
        if not files:
            raise CompaniesError(
                "no *.toml in this folder", "name a companies file", file=str(path)
            )
        return [entry for file in files for entry in read_entries(file)]
    text = _text(path)
    rows = (
        _csv_rows(text, str(path)) if path.suffix.lower() == ".csv" else _toml_rows(text, str(path))
    )
    entries = [_entry(row, str(path), lines) for row, lines in rows]
    if not entries:
        raise CompaniesError(
            "no company in this file",
            "begin an entry with [[company]] and name = ...",
            file=str(path),
        )
    return entries


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CompaniesError(
                "larger than 64 MiB", "split it into several files in one folder", file=str(path)
            )
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CompaniesError("no such file", "check the path", file=str(path)) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise CompaniesError("not UTF-8", "save it as UTF-8", file=str(path), line=line) from None
    except OSError as error:
        raise CompaniesError(
            error.strerror or "unreadable", "check its permissions", file=str(path)
        ) from None


Row = tuple[Mapping[str, Any], Mapping[str, int]]


def _toml_rows(text: str, file: str) -> Iterator[Row]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else text.count("\n") + 1
        fault = f"not TOML: {_TOML_PLACE.sub('', str(error))}"
        raise CompaniesError(fault, "correct this line", file=file, line=line) from None
    rows = data.get("company", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise CompaniesError("company is not a list of tables", "write [[company]]", file=file)
    strange = sorted(set(data) - {"company"})
    if strange:
        raise CompaniesError(
            f'unknown table or key "{strange[0]}"', "put every entry under [[company]]", file=file
        )
    yield from zip(rows, _toml_lines(text), strict=False)


def _toml_lines(text: str) -> list[dict[str, int]]:
    """For each [[company]], the lines of its header ("") and its keys."""
    found: list[dict[str, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if _HEADER.match(line):
            found.append({"": number})
        elif found:
            key, equals, _ = line.partition("=")
            if equals and key.strip().isidentifier():
                found[-1].setdefault(key.strip(), number)
    return found


def _csv_rows(text: str, file: str) -> Iterator[Row]:
    """Rows of a CSV with a header; lists within a cell are parted by "|"."""
    dialect = csv.excel
    header = text.partition("\n")[0]
    delimiter = ";" if header.count(";") > header.count(",") else ","
    reader = csv.reader(text.splitlines(keepends=True), dialect, delimiter=delimiter, strict=True)
    try:
        keys = [key.strip().lower() for key in next(reader, [])]
        if "name" not in keys:
            raise CompaniesError(
                'the header has no column "name"', "name the columns in line 1", file=file, line=1
            )
        for cells in reader:
            if any(cell.strip() for cell in cells):
                row = dict(zip(keys, (cell.strip() for cell in cells), strict=False))
                yield _csv_lists(row), {"": reader.line_num}
    except csv.Error as error:
        raise CompaniesError(
            f"not CSV: {error}", "correct this line", file=file, line=reader.line_num
        ) from None


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
    lists = {}
    for key in LISTS:
        value = row.get(key, [])
        value = [value] if isinstance(value, str) and key == "ticker" else value
        if not isinstance(value, list) or not all(_is_phrase(part) for part in value):
            raise error(
                f'{key} of "{name}" is not a list of phrases', f'write {key} = ["...", "..."]', key
            )
        lists[key] = tuple(part.strip() for part in value)
    for key in row.keys() - {*LISTS, "name"}:
        meant = _meant(key)
        if meant:
            raise error(f'unknown key "{key}"', f'write "{meant}"', key)
    facts = {key: str(value) for key, value in row.items() if key not in {*LISTS, "name"}}
    company = Company(
        name=name.strip(),
        tickers=lists.pop("ticker"),
        facts=MappingProxyType(facts),
        **lists,
    )
    return Entry(company, file, lines)


@lru_cache(maxsize=256)
def _meant(key: str) -> str | None:
    return next(iter(get_close_matches(key, LISTS, n=1, cutoff=_LIKE)), None)


def _is_phrase(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
