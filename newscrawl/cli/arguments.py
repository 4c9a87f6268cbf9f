"""What several commands take from the command line, and what it means."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl import config
from newscrawl.naming import match

if TYPE_CHECKING:
    from newscrawl.mentions import Companies
    from newscrawl.storage import Database
    from newscrawl.storage.queries import Scope


class InputError(ValueError):
    """Something on the command line can't be meant: one line that says what to write instead."""


# Years of which there may be news on the web, or a newspaper's archive of it.
_FIRST_YEAR, _LAST_YEAR = 1600, 2200
_LISTED = 10  # names that a message can list

# Why a revision is quarantined (newscrawl.storage.revision_check), in words.
REASONS = {
    "no_article": "no article any more",
    "text_shrank": "most of the text is gone",
    "text_replaced": "another text under another headline",
    "headline_lost": "the headline is gone",
    "layout_changed": "the site's pages have changed",
}

Format = Literal["table", "csv", "json"]
ExportFormat = Literal["table", "csv", "json", "jsonl", "parquet"]

FormatOption = Annotated[
    Format, typer.Option("--format", "-f", help="A table to read, or csv or json for programs.")
]
ExportOption = Annotated[
    ExportFormat,
    typer.Option(
        "--format",
        "-f",
        help="A table to read; or csv, json, jsonl (a line for each row) or parquet for programs.",
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="NEWSCRAWL_DATABASE_URL",
        help="URL of the database; else sqlite:///newscrawl.sqlite in this folder.",
        metavar="URL",
    ),
]
CompaniesOption = Annotated[
    Path | None,
    typer.Option(
        "--companies",
        envvar="NEWSCRAWL_COMPANIES",
        help="A companies file of your own; else the bundled one.",
        metavar="FILE",
    ),
]
SinceOption = Annotated[
    str | None,
    typer.Option(help="First day: 2026-11-01, or 7d for the last seven.", metavar="DAY"),
]
UntilOption = Annotated[
    str | None, typer.Option(help="Last day, as with --since; else today.", metavar="DAY")
]
SourceOption = Annotated[
    str | None, typer.Option(help="Only this source, as in 'ft'.", metavar="SLUG")
]
LanguageOption = Annotated[
    str | None, typer.Option(help="Only articles in this language, as in 'de'.", metavar="CODE")
]
CountryOption = Annotated[
    str | None, typer.Option(help="Only sources of this country, as in 'gb'.", metavar="CODE")
]
SectionOption = Annotated[
    str | None,
    typer.Option(help="Only this section, in the publisher's words.", metavar="NAME"),
]
ZoneOption = Annotated[
    str,
    typer.Option(help="Time zone of days and hours, as in 'Europe/Berlin'.", metavar="ZONE"),
]


def refuse_options(context: typer.Context, names: Sequence[str], reason: str) -> None:
    """Raises InputError, with the reason, where one of the options was written out.

    `names` are those of the command's parameters that have no meaning with the others given.
    """
    options = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for name in names:
        source = context.get_parameter_source(name)
        if source and source.name == "COMMANDLINE":
            raise InputError(f"{options[name]} {reason}: leave it out")


def parse_day(text: str, *, option: str, today: date | None = None) -> date:
    """A date, or so many days back: 7d are the last seven days with today among them."""
    today = today or datetime.now(UTC).date()
    if days := re.fullmatch(r"(\d{1,5})d", text.strip()):
        return today - timedelta(days=max(int(days[1]) - 1, 0))
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise InputError(
            f"{option} {text!r} is no day: write it as 2026-11-01, or as 7d for the last seven days"
        ) from None


def scope_of(
    database: "Database",
    since: str | None,
    until: str | None,
    source: str | None = None,
    language: str | None = None,
    *,
    country: str | None = None,
    section: str | None = None,
    zone: str = "UTC",
) -> "Scope":
    """The scope that the options mean; raises InputError for a range in the wrong order, a zone
    that is none, and a source or country that was never crawled into this database."""
    from newscrawl.storage import queries

    now = datetime.now(UTC)
    first = parse_day(since, option="--since", today=now.date()) if since else None
    last = parse_day(until, option="--until", today=now.date()) if until else None
    _check_range(first, last, now.date())
    if source is not None:
        source = _crawled(source, queries.source_slugs(database), "source")
    if country is not None:
        country = _crawled(country, queries.countries(database), "country")
    return queries.Scope(
        since=first,
        until=last,
        source=source,
        language=language and language.strip().lower(),
        country=country,
        section=section,
        zone=_zone(zone),
        now=now,
    )


def _check_range(first: date | None, last: date | None, today: date) -> None:
    """Raises InputError for days in the wrong order, and for those before there was any news."""
    if first and (last or today) < first:
        raise InputError(f"--since {first} lies after --until {last or 'today'}: swap them")
    for option, day in (("--since", first), ("--until", last)):
        if day and not _FIRST_YEAR <= day.year <= _LAST_YEAR:
            raise InputError(
                f"{option} {day}: no news of that time is known; write a year from {_FIRST_YEAR} "
                f"to {_LAST_YEAR}"
            )


def _crawled(given: str, known: Sequence[str], what: str) -> str:
    """The source or country meant, of those in the database; raises InputError."""
    name, near = match(given, known)
    if name is not None:
        return name
    if near:
        advice = _did_you_mean(near)
    elif len(known) > _LISTED:
        advice = "not crawled into this database; newscrawl sources coverage tells what was"
    else:
        advice = f"this database holds {', '.join(known) or 'none yet'}"
    raise InputError(f"unknown {what} {given!r}: {advice}")


def _zone(given: str) -> str:
    from zoneinfo import available_timezones

    if given == "UTC":
        return given
    name, near = match(given, sorted(available_timezones()))
    if name is None:
        advice = _did_you_mean(near) if near else "write it as Europe/Berlin or UTC"
        raise InputError(f"unknown time zone {given!r}: {advice}")
    return name


def one_of(given: str, names: Sequence[str], what: str, see: str) -> str:
    """The name meant, whatever its case; raises InputError with the nearest names."""
    name, near = match(given, names)
    if name is None:
        advice = _did_you_mean(near) if near else f"{see} shows them all"
        raise InputError(f"unknown {what} {given!r}: {advice}")
    return name


def _did_you_mean(near: Sequence[str]) -> str:
    return f"did you mean {' or '.join(near)}?"


def company_of(given: str, companies: "Companies", stored: Sequence[str]) -> str:
    """The registry's or database's name of a company given by name or alias; raises InputError
    with the nearest names."""
    owners = {name: name for name in stored}
    for company in companies:
        owners.update(dict.fromkeys((*company.aliases, *company.ambiguous), company.name))
    owners.update({company.name: company.name for company in companies})
    # Names before aliases, where case alone parts them.
    names = [*(company.name for company in companies), *stored, *owners]
    return owners[one_of(given, names, "company", "newscrawl companies list")]


def open_for_reading(url: str | None) -> "Database":
    """The database of the option, the environment or the settings; a missing file is an error."""
    from newscrawl.storage import open_database

    return open_database(url or config.NEWSCRAWL_DATABASE_URL, create=False)


def companies_from(path: Path | None) -> "Companies":
    """The registry of the option, the environment or the bundled one."""
    from newscrawl.mentions import load_companies

    return load_companies(path or config.NEWSCRAWL_COMPANIES or None)
