"""The registry of news sites: a CSV file, a row per site, several values separated by "|"."""

import csv
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from newscrawl.items import SourceCatalog
from newscrawl.sources.urls import UrlError, is_registered_slug, web_url

Status = Literal["active", "deprecated"]
_Value = TypeVar("_Value")
_Row = Mapping[str | None, str | list[str] | None]

COLUMNS = (
    "slug",
    "name",
    "country",
    "languages",
    "home",
    "feeds",
    "sitemaps",
    "news_sitemaps",
    "status",
)
# Columns that are optional.
OPTIONAL_COLUMNS = ("sections", "groups")
# The user's own sources, in the folder of the database, unless a setting or option names a file.
OWN_FILE = "sources.csv"
_MAX_GROUP = 60
_TWO_LETTERS = re.compile(r"[a-z]{2}")
_PLACEHOLDER = re.compile(r"\{([^}]*)\}")
_DATE_PARTS: Mapping[str, str] = {"yyyy": "%Y", "yy": "%y", "mm": "%m", "dd": "%d"}


class SourceError(ValueError):
    """A registry file is invalid; the message names file, row, column and remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A news site. Its URLs may contain {yyyy}, {yy}, {mm} and {dd}: see `on`.

    `sections` are pages whose links lead to articles, for a site without feeds and sitemaps, or
    whose feeds and sitemaps have nothing new.
    `groups` select it in questions: kinds of source, or a user's own lists.
    """

    slug: str
    name: str
    country: str
    languages: tuple[str, ...]
    home: str
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    news_sitemaps: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    status: Status = "active"
    groups: tuple[str, ...] = ()

    @property
    def stored_facts(self) -> tuple[str, str, str, str, str]:
        """Return what the database stores of the source."""
        return self.slug, self.name, self.country, self.languages[0], self.home

    @property
    def urls(self) -> tuple[str, ...]:
        """Return the home page and all listings."""
        return self.home, *self.feeds, *self.sitemaps, *self.news_sitemaps

    def on(self, *days: date) -> "Source":
        """Return the source with its dated URLs filled in for these days, without duplicates."""
        return replace(
            self,
            feeds=_fill_dates(self.feeds, days),
            sitemaps=_fill_dates(self.sitemaps, days),
            news_sitemaps=_fill_dates(self.news_sitemaps, days),
            sections=_fill_dates(self.sections, days),
        )


def load_sources(path: Path | None = None) -> tuple[Source, ...]:
    """Return the sources of a registry file, by default the bundled one, in its order.

    Raises SourceError if the file can't be read, and for the first invalid row.
    """
    return _read(path or files("newscrawl").joinpath("data", "sources.csv"))[0]


def _read(file: Traversable | Path) -> tuple[tuple[Source, ...], list[tuple[str, _Row]]]:
    """Return the sources of a file, and its rows that only add groups, each with its place; raise
    SourceError."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
        return _read_rows(csv.DictReader(io.StringIO(text, newline=""), strict=True), str(file))
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{file}: not UTF-8; save it as CSV in UTF-8") from error
    except csv.Error as error:
        raise SourceError(f"{file}: can't be read as a CSV file: {error}") from error


def own_file(stated: str | Path | None) -> Path | None:
    """Return the user's own sources file: the one that an option or NEWSCRAWL_SOURCES states, or
    else OWN_FILE of this folder; None where there is none."""
    if stated:
        return Path(stated)
    return Path(OWN_FILE) if Path(OWN_FILE).exists() else None


def load_registry(own: Path | None = None) -> tuple[Source, ...]:
    """Return the bundled sources and those of an own file, which override by slug.

    A row of the own file with groups alone adds these to a bundled source. Raises SourceError as
    `load_sources`.
    """
    sources = {source.slug: source for source in load_sources()}
    if own is not None:
        own_sources, labels = _read(own)
        sources |= {source.slug: source for source in own_sources}
        for where, row in labels:
            slug, groups = _cell(row, "slug", _slug, where), _cell(row, "groups", _groups, where)
            if slug not in sources:
                raise SourceError(
                    f"{where}, column slug: no source {slug!r} to add groups to; "
                    "newscrawl sources list shows all"
                )
            all_groups = tuple(dict.fromkeys((*sources[slug].groups, *groups)))
            sources[slug] = replace(sources[slug], groups=all_groups)
    return tuple(sources[slug] for slug in sorted(sources))


def catalog_of(sources: Iterable[Source]) -> SourceCatalog:
    """Return the groups of sources."""
    groups: dict[str, list[str]] = {}
    for source in sources:
        for group in source.groups:
            groups.setdefault(group, []).append(source.slug)
    return SourceCatalog(groups={name: tuple(groups[name]) for name in sorted(groups)})


def write_row(source: Source, columns: Iterable[str] = (*COLUMNS, *OPTIONAL_COLUMNS)) -> list[str]:
    """Return the fields of a source's row, in the order of `columns`."""
    cells = (getattr(source, column, ()) for column in columns)
    return ["|".join(cell) if isinstance(cell, tuple) else str(cell or "") for cell in cells]


def _read_rows(
    rows: "csv.DictReader[str]", file: str
) -> tuple[tuple[Source, ...], list[tuple[str, _Row]]]:
    if ";" in (rows.fieldnames or [""])[0]:
        raise SourceError(f"{file}: separated by semicolons; save it as CSV with commas")
    if missing := [column for column in COLUMNS if column not in (rows.fieldnames or ())]:
        raise SourceError(
            f"{file}, row 1: lacks the column(s) {', '.join(missing)}; "
            f"the first row must read {','.join(COLUMNS)}"
        )
    sources: dict[str, Source] = {}
    labels: list[tuple[str, _Row]] = []
    for row in rows:
        where = f"{file}, row {rows.line_num}"
        filled = {name for name, value in row.items() if isinstance(value, str) and value.strip()}
        if filled == {"slug", "groups"}:
            labels.append((where, row))
            continue
        source = _source(row, where)
        if source.slug in sources:
            raise SourceError(
                f"{where}, column slug: {source.slug!r} is taken by "
                f"{sources[source.slug].name!r}; choose another"
            )
        sources[source.slug] = source
    return tuple(sources.values()), labels


def _cell(row: _Row, column: str, parse: Callable[[str], _Value], where: str) -> _Value:
    """Return the value of a column; raise SourceError for an invalid one."""
    value = row.get(column, "")
    try:
        return parse(value.strip() if isinstance(value, str) else "")
    except (UrlError, ValueError) as error:
        raise SourceError(f"{where}, column {column}: {error}") from None


def _source(row: _Row, where: str) -> Source:
    fields = len(row) - (None in row)
    if None in row or None in row.values():
        raise SourceError(
            f"{where}: doesn't have the {fields} fields of row 1; quote fields with a comma, or "
            f"name a further column in row 1 ({', '.join(OPTIONAL_COLUMNS)})"
        )
    values: dict[str, Any] = {
        column: _cell(row, column, parse, where) for column, parse in _PARSERS.items()
    }
    source = Source(**values)
    if not (source.feeds or source.sitemaps or source.news_sitemaps or source.sections):
        raise SourceError(
            f"{where}, column feeds: give at least one feed, sitemap, news sitemap or, where the "
            "site has none of them, section page"
        )
    return source


def _checked(is_valid: Callable[[str], object], fault: str) -> Callable[[str], str]:
    """Return a function that returns a valid value, and raises ValueError for another."""

    def parse(value: str) -> str:
        if not is_valid(value):
            raise ValueError(fault.format(value))
        return value

    return parse


_slug = _checked(
    is_registered_slug, "{!r} is not a slug; use a-z, 0-9 and single hyphens, as in 'bbc-news'"
)
_country = _checked(
    _TWO_LETTERS.fullmatch, "{!r} is not a country; use two small letters (ISO 3166), as in 'gb'"
)


def _languages(value: str) -> tuple[str, ...]:
    languages = _parts(value)
    if not languages or not all(map(_TWO_LETTERS.fullmatch, languages)):
        raise ValueError(
            f"{value!r} contains no language; use two small letters each (ISO 639-1), as in 'de|en'"
        )
    return languages


def _groups(value: str) -> tuple[str, ...]:
    groups = _parts(value)
    if any(len(group) > _MAX_GROUP for group in groups):
        raise ValueError(f"a name of more than {_MAX_GROUP} characters; write a shorter one")
    return groups


def _template(url: str) -> str:
    """Return the URL as written if it is valid with its dates filled in."""
    if unknown := set(_PLACEHOLDER.findall(url)) - set(_DATE_PARTS):
        raise ValueError(
            f"unknown placeholder {{{unknown.pop()}}} in {url!r}; "
            "use {yyyy}, {yy}, {mm} or {dd}"
        )
    filled = _fill(url, date(2000, 1, 1))
    if "{" in filled or "}" in filled:
        raise ValueError(f"an unmatched brace in {url!r}; remove it")
    web_url(filled)
    return url


def _parts(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for part in map(str.strip, value.split("|")) if part))


_PARSERS: dict[str, Callable[[str], Any]] = {
    "slug": _slug,
    "name": _checked(bool, "is empty; give the site's name as its readers know it"),
    "country": _country,
    "languages": _languages,
    "home": web_url,
    **dict.fromkeys(
        ("feeds", "sitemaps", "news_sitemaps", "sections"),
        lambda value: tuple(map(_template, _parts(value))),
    ),
    "status": _checked(
        frozenset(get_args(Status)).__contains__,
        f"{{!r}} is not a status; use {' or '.join(get_args(Status))}",
    ),
    "groups": _groups,
}


def _fill(template: str, day: date) -> str:
    return _PLACEHOLDER.sub(
        lambda match: day.strftime(_DATE_PARTS.get(match[1], match[0])), template
    )


def _fill_dates(templates: Iterable[str], days: Iterable[date]) -> tuple[str, ...]:
    written_out = [_fill(template, day) for day in days for template in templates]
    return tuple(dict.fromkeys(written_out))


def add_source(file: Path, source: Source) -> None:
    """Append a source to a registry file, which is created if it does not exist.

    The existing bytes don't change. The new file is validated and then replaces the old one
    atomically. Raises SourceError if the old or the new file is invalid.
    """
    if file.exists():
        load_sources(file)  # an error that exists already is reported as it is
    try:
        before = file.read_bytes() if file.exists() else b""
        descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    except OSError as error:
        raise SourceError(f"{file}: can't be written: {error.strerror}") from error
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(_extend_file(before, source))
            stream.flush()
            os.fsync(stream.fileno())
        load_sources(new)
        new.chmod(file.stat().st_mode if file.exists() else 0o644)
        new.replace(file)
    except SourceError as error:
        raise SourceError(str(error).replace(str(new), str(file))) from error
    except OSError as error:
        raise SourceError(f"{file}: can't be written: {error.strerror}") from error
    finally:
        new.unlink(missing_ok=True)


def _extend_file(before: bytes, source: Source) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = next(csv.reader(io.StringIO(before.decode("utf-8-sig"), newline="")), [])
    if not columns:
        columns = [*COLUMNS, "sections"]
        writer.writerow(columns)
    elif source.sections and "sections" not in columns:
        # Each row gets the optional column.
        rows = csv.reader(io.StringIO(before.decode("utf-8-sig"), newline=""))
        for number, row in enumerate(filter(None, rows)):
            writer.writerow([*row, "" if number else "sections"])
        return text.getvalue().encode() + _row(source, [*columns, "sections"])
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    return before + gap + text.getvalue().encode() + _row(source, columns)


def _row(source: Source, columns: list[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(write_row(source, columns))
    return text.getvalue().encode()
