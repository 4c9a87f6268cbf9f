"""Count the entries of a registry by country and kind, and forms by reason; and find the companies
of a list in it."""

import csv
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from newscrawl.mentions.company import KINDS, CompaniesError, Company
from newscrawl.mentions.forms import script
from newscrawl.mentions.legal_forms import LegalForms
from newscrawl.mentions.registry import Companies
from newscrawl.mentions.registry_file import companies_by_name, refusal
from newscrawl.mentions.vocabulary import load_vocabulary

# The reasons of forms, by comparison with the entry's name.
REASONS = (
    "name of the entry",
    "official name, with a legal form",
    "name in another script",
    "abbreviation",
    "longer or shorter form of the name",
    "another name: former name, brand or unit",
    "declined form",
    "ticker",
    "newspaper or station of a publisher",
)
# Letters; longer words in capitals are names.
_LONGEST_ABBREVIATION = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """A number of entries or forms."""

    table: str
    key: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCompany:
    """A company of a list, and the entry that its name finds, or without one why its name would be
    refused; both are None if it only has no entry."""

    country: str
    size: str
    name: str
    entry: str | None
    refused: str | None


def audit(companies: Sequence[Company]) -> list[AuditRow]:
    """Return the numbers of entries by country and kind, of forms by reason, and of the members of
    stock indices that have an entry."""
    legal = LegalForms(load_vocabulary())
    countries = Counter(company.facts.get("country") or "none given" for company in companies)
    kinds = Counter(company.facts.get("kind", KINDS[0]) for company in companies)
    owned = sum(company.owner is not None for company in companies)
    dated = sum(company.tenure != (None, None) for company in companies)
    forms = Counter(reason for company in companies for reason in _reasons(company, legal))
    doubtful = sum(len(company.ambiguous) for company in companies)
    tables = {
        "entries by country": sorted(countries.items(), key=lambda item: (-item[1], item[0])),
        "entries by kind": [
            *((kind, kinds[kind]) for kind in KINDS),
            ("with an owner, for which it can be counted", owned),
            ("of these with the days on which it belonged to it", dated),
        ],
        "forms by reason": [
            *((reason, forms[reason]) for reason in REASONS),
            ("of names and aliases: ambiguous, so only with support", doubtful),
        ],
    }
    rows = [
        AuditRow(table=table, key=key, number=number)
        for table, rows in tables.items()
        for key, number in rows
    ]
    return rows + _index_coverage(companies)


def missing_members(companies: Sequence[Company]) -> dict[str, list[str]]:
    """Return the members of each stock index that are not the name or a certain alias of a
    company."""
    companies_by_folded_name = companies_by_name(companies)
    return {
        index["name"]: [
            name for name in _members(index) if name.casefold() not in companies_by_folded_name
        ]
        for index in _indices()
    }


def _index_coverage(companies: Sequence[Company]) -> list[AuditRow]:
    missing = missing_members(companies)
    rows = []
    for index in _indices():
        members = _members(index)
        text = f"{len(members)}"
        if len(members) < index["size"]:
            text += f" that we know of {index['size']}"
        key = f"{index['name']}, {index['as_of']}: with an entry of {text}"
        number = len(members) - len(missing[index["name"]])
        rows.append(AuditRow(table="members of stock indices", key=key, number=number))
    return rows


def _indices() -> list[dict[str, Any]]:
    """Return the stock indices of indices.toml."""
    text = files(__package__).joinpath("indices.toml").read_text(encoding="utf-8")
    indices: list[dict[str, Any]] = tomllib.loads(text)["index"]
    return indices


def _members(index: Mapping[str, str]) -> list[str]:
    return [" ".join(name.split()) for name in index["members"].split(";")]


def listed_companies(companies: Companies, file: Path) -> Iterator[ListedCompany]:
    """Yield the companies of a CSV with the columns country, name and maybe size and isin; raise
    CompaniesError for another file."""
    words = load_vocabulary()
    legal = LegalForms(words)
    entries = {company.facts.get("isin"): company.name for company in companies}
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        if not {"country", "name"} <= {*(rows.fieldnames or ())}:
            raise CompaniesError(
                "no columns country and name", "name a CSV that has them", file=str(file), line=1
            )
        for row in rows:
            name = legal.without(row["name"])
            entry = entries.get(row.get("isin") or "") or _find_company(
                companies, row["name"], legal
            )
            yield ListedCompany(
                country=row["country"],
                size=row.get("size") or "unknown",
                name=row["name"],
                entry=entry,
                refused=None if entry else refusal(name, words),
            )


def _find_company(companies: Companies, name: str, legal: LegalForms) -> str | None:
    """Return the company that a registrar's name means: no more than legal forms may follow it."""
    for mention in companies.find(name)[:1]:
        if mention.surface in {name, *(short.text for short in legal.short_names(name))}:
            return mention.company
    company = companies.by_name(legal.without(name))
    return company.name if company else None


def _reasons(company: Company, legal: LegalForms) -> Iterator[str]:
    """Yield the reason of each form."""
    name, official, translated, short, variant, another, declined, ticker, outlet = REASONS
    yield name
    words_of_name = {word.casefold() for word in company.name.replace("-", " ").split()}
    for alias in dict.fromkeys((*company.aliases, *company.ambiguous)):
        if alias == company.name:
            continue
        if legal.short_names(alias):
            yield official
        elif _script(alias) != _script(company.name):
            yield translated
        elif alias.isupper() and len(alias) <= _LONGEST_ABBREVIATION:
            yield short
        elif words_of_name & {word.casefold() for word in alias.replace("-", " ").split()}:
            yield variant
        else:
            yield another
    yield from [declined] * len(company.stems)
    yield from [ticker] * len(company.tickers)
    yield from [outlet] * len(company.outlets)


def _script(form: str) -> str:
    """Return the script of a form's first letter."""
    return script(next((char for char in form if char.isalpha()), "A"))


def as_markdown(rows: Sequence[AuditRow]) -> str:
    """Return the tables for a page of the documentation."""
    tables: dict[str, list[str]] = {}
    for row in rows:
        tables.setdefault(row.table, []).append(f"| {row.key} | {row.number:,} |")
    return "\n".join(
        f"| {table} | |\n|---|--:|\n" + "\n".join(lines) + "\n" for table, lines in tables.items()
    )


def coverage(listed: Sequence[ListedCompany]) -> list[AuditRow]:
    """Return how many companies of a list have an entry, by size and country, and why the names of
    others would be refused."""
    rows = []
    for table, keys in (
        ("listed companies by size", [member.size for member in listed]),
        ("listed companies by country", [member.country for member in listed]),
    ):
        totals = Counter(keys)
        registered = Counter(key for key, member in zip(keys, listed, strict=True) if member.entry)
        for key in sorted(totals, key=lambda key: (-totals[key], key)):
            share = f"{key}, with an entry of {totals[key]:,}"
            rows.append(AuditRow(table=table, key=share, number=registered[key]))
    refused = Counter(member.refused for member in listed if member.refused)
    table = "listed companies without an entry, whose name would be refused"
    return rows + [
        AuditRow(table=table, key=reason, number=number) for reason, number in refused.most_common()
    ]
