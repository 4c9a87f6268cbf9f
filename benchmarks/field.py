"""Judge small inputs with faults that users report: `python -m benchmarks.field FOLDER`.

FOLDER holds a folder for each kind, and these hold inputs, each beside a JSON with `question`,
`area`, `input` and `expected`: of texts `contains`, of mentions `found`, of both `not`.
"""

import json
import re
from datetime import UTC
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from urllib.parse import urljoin

import typer

from benchmarks.command_line import run
from newscrawl.archive.warc import WarcReader, decoded_body
from newscrawl.cli.arguments import Format
from newscrawl.cli.output import Column, render
from newscrawl.extraction.extract import extract
from newscrawl.extraction.language import decide_language
from newscrawl.mentions.documents import sentence_span
from newscrawl.mentions.registry import Companies, load_companies
from newscrawl.sources.sitemaps import read_listing
from newscrawl.sources.urls import canonical_url


@cache
def _companies(entry: str | None = None) -> Companies:
    with TemporaryDirectory() as folder:
        (file := Path(folder) / "companies.toml").write_text(
            f"[[company]]\nname = {json.dumps(entry)}\n"
        )
        return load_companies(file, alone=True, cache=folder) if entry else load_companies()


def _has(parts: Any, expected: dict[str, Any]) -> bool:
    """Return whether a text or set has all that is expected, where a list is a choice."""
    names = [name.split("|") if "|" in name else name for name in expected.get("found", [])]
    for choice in expected.get("contains", []) + names:
        if not any(form in parts for form in (choice if isinstance(choice, list) else [choice])):
            return False
    return not any(form in parts for form in expected.get("not", []))


def _is_page_right(area: str, question: str, expected: Any, html: bytes) -> bool:
    address = re.search(r"address names the day: (\S+)", question)
    url = "https://news.example.com/local/harbour-reopens-12345"
    article = extract(html, urljoin(url, address[1]) if address else url)
    title, text, language = article.title or "", article.text, article.language
    if area == "mentions-in-page":
        mentions = _companies().find(text, title=title, language=language, source=url)
        required = expected if isinstance(expected, dict) else {"found": [expected]}
        return _has({mention.company for mention in mentions}, required)
    if isinstance(expected, dict):
        return _has(text, expected)
    if area == "kind":
        is_other = article.kind != "article" or not text
        return is_other if expected.startswith("not ") else bool(article.kind == expected)
    if area == "encoding":
        return bool(expected.removesuffix(" readable") in text)
    moment = article.published.astimezone(UTC).isoformat() if article.published else None
    if isinstance(expected, list):
        return expected in (list(article.authors), [list(article.authors), moment])
    if expected is None or article.published is None or area in {"title", "language"}:
        return bool(expected == {"title": title, "language": language}.get(area, moment))
    # "2025-08-24/25" are two days that are right; a wall clock has no zone.
    days = {expected.partition("/")[0], expected[:8] + expected.partition("/")[2]}
    return bool({moment, f"{article.published:%Y-%m-%dT%H:%M}", str(moment)[:10]} & days)


def _is_listing_right(question: str, expected: Any, body: bytes) -> bool:
    header = re.search(r"header '([^']+)'", question)
    listing = read_listing(body, "https://news.example.com/feed", header and header[1])
    rows = [
        {"url": entry.url, "title": entry.hints.title, "authors": list(entry.hints.authors)}
        | {"standfirst": entry.hints.standfirst}
        | {"published": moment.astimezone(UTC).isoformat() if moment else None}
        for entry in listing.entries
        for moment in [entry.hints.published]
    ]
    if expected == "not in the future":
        return bool(rows)
    entries = expected["entries"] if isinstance(expected, dict) else expected
    if isinstance(entries[0], dict):
        return bool([{key: row[key] for key in entries[0]} for row in rows] == entries)
    # Of a long feed some titles are enough.
    has_titles = set(map(str, entries)) <= {row["title"] for row in rows}
    return has_titles or any(entries == [row[key] for row in rows] for key in rows[0])


def is_right(case: dict[str, Any], file: Path) -> bool:
    """Return whether newscrawl answers the question about a file as expected."""
    area, question, expected = case["area"], case["question"], case["expected"]
    if file.suffix == ".html":
        return _is_page_right(area, question, expected, file.read_bytes())
    if area in {"feed", "sitemap"}:
        return _is_listing_right(question, expected, file.read_bytes())
    if area == "warc":
        pages = [decoded_body(entry.capture) for entry in WarcReader(file)]
        return sorted(extract(page).title or "" for page in pages) == sorted(expected)
    text = file.read_text("utf-8")
    if area == "url":
        addresses = {canonical_url(url) for url in text.split()}
        return (len({*addresses, *map(canonical_url, addresses)}) == 1) is bool(expected)
    title = re.search(r"(?:\| title|source's name): (.*)", question)
    code = re.search(r"(?:\(|of a |names in )(\w\w)(?:\)| text|$)", question)
    entry = re.search(r"own entry (['\"])(.*?)\1 is", question)
    language = code[1] if code else decide_language(None, text)
    companies = _companies(entry[2] if entry else None)
    mentions = companies.find(text, title=title[1] if title else "", language=language)
    if isinstance(expected, dict):
        entries = filter(None, (companies.by_name(mention.company) for mention in mentions))
        # Inputs name a company by one of its forms: "MOL", "Delta".
        forms = (chain((company.name,), company.aliases, company.ambiguous) for company in entries)
        return _has(set(chain.from_iterable(forms)), expected)
    spans = (sentence_span(text, mention) for mention in mentions)
    return expected in {text[start:end].strip() for start, end in spans}


def judge_field(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, metavar="FOLDER")],
    form: Format = "table",
) -> None:
    """Count the inputs of each kind that are answered rightly, and name the others."""
    kinds: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*/*.json")):
        case = json.loads(path.read_text("utf-8"))
        file = path.parent / case.get("input", path.name)
        if file == path:
            continue
        row = kinds.setdefault(path.parent.name, {"inputs": 0, "right": 0, "wrong": ""})
        row["inputs"] += 1
        try:
            is_fine = is_right(case, file)
        except ValueError:
            is_fine = False
        row["right"] += is_fine
        row["wrong"] += "" if is_fine else f"{file.name} "
    rows = [{"kind": kind, **row} for kind, row in kinds.items()]
    columns = [Column(key=key, heading=key, wide=key == "wrong") for key in rows[0]]
    total = f"{sum(row['right'] for row in rows)} of {sum(row['inputs'] for row in rows)}"
    render(rows, columns, form, title=f"{total} inputs are answered rightly")


if __name__ == "__main__":
    run(judge_field)
