"""newscrawl companies: the registry, and its mentions in a text."""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from newscrawl.cli.arguments import (
    Format,
    InputError,
    QueryContext,
    companies_from,
    open_for_reading,
    takes_query,
)
from newscrawl.cli.extract import read_input
from newscrawl.cli.output import (
    Column,
    columns_of,
    exit_without,
    printable,
    records_of,
    render,
    show,
    write_note,
)
from newscrawl.storage import StorageError
from newscrawl.text import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from newscrawl.mentions import Companies, Company
    from newscrawl.mentions.company import Origin

app = typer.Typer(
    help="The registered companies, and how they are recognised.", no_args_is_help=True
)

_ORIGINS: "dict[Origin, str]" = {
    "own": "own",
    "override": "own, in place of bundled",
    "bundled": "bundled",
}
# "mine.txt", "./texts/a": a file's path rather than a text.
_PATH = re.compile(r"[./~][^\s]*|[^\s]+\.[a-z]{2,5}")
# Characters of the text shown on both sides of a mention.
_CONTEXT = 30
# Ours: companies with further forms that a check names; the list has all.
_SHOWN_COMPANIES = 20
# Ours: names that a check looks up in the archive, and the articles with one in small letters that
# make it an everyday word.
_LOOKED_UP, _IN_SMALL_LETTERS = 200, 3


@app.command("list", epilog="Example: newscrawl companies list --format csv")
def list_companies(output_format: Format = "table", companies: Path | None = None) -> None:
    """List the companies with the names they are recognised by, your own ones first."""
    registry = companies_from(companies)
    columns = (
        Column("name", "company", wide=True),
        Column("aliases", "also found as", wide=True),
        Column("ambiguous", "needs support", wide=True),
        Column("origin", "from", of=lambda company: _ORIGINS[company.origin], wide=True),
    )
    render(registry, columns, output_format, note=_numbers(registry))


@app.command(epilog="Example: newscrawl companies find 'VW und Siemens wollen mehr' --language de")
def find(
    text: str,
    title: str = "",
    language: str | None = None,
    source: str | None = None,
    output_format: Format = "table",
    companies: Path | None = None,
) -> None:
    """Show which companies a text mentions, and where.

    Exit code 1 if it mentions none.

    text: The text, a file with it, or - for standard input.
    --title: Its headline.
    --language CODE: Its language, as in 'de'.
    --source NAME: Its newspaper, by URL, host or name.
    """
    body = text
    with suppress(OSError):  # a text may be longer than any name of a file
        if text == "-" or Path(text).is_file():
            body = read_input(text).decode("utf-8", "replace")
    if text not in {body, "-"}:
        if "<html" in body[:4096].lower():
            page = printable(text)
            raise InputError(
                f"{page} is a page: newscrawl extract {page} | newscrawl companies find -"
            )
        write_note(f"Read the file {printable(text)}.")
    elif text != "-" and _PATH.fullmatch(text):
        write_note(f"There is no file {printable(text)}; the argument itself was searched.")
    mentions = companies_from(companies).find(body, title=title, language=language, source=source)
    columns = (
        Column("company", wide=True),
        Column("section", "in"),
        Column("start", "from", number=True),
        Column("end", "to", number=True),
        Column("surface", table=False),
        Column("rule"),
        Column("score", number=True, show=lambda score: f"{score:.3f}"),
        *((Column("context", wide=True),) if output_format == "table" else ()),
    )
    rows = []
    for mention in mentions:
        part = title if mention.section == "title" else body
        context = Text.assemble(
            printable(part[max(0, mention.start - _CONTEXT) : mention.start]),
            (printable(part[mention.start : mention.end]), "bold"),
            printable(part[mention.end : mention.end + _CONTEXT]),
        )
        rows.append(asdict(mention) | {"context": context})
    render(rows, columns, output_format)
    exit_without(mentions, "No registered company is mentioned.")


@app.command(epilog="Example: newscrawl companies check mine.toml")
def check(file: Path, database: str | None = None) -> None:
    """Check a companies file; a fault is named with its line, and the exit code is 2.

    Everyday words are shown with sentences of the stored articles, if there are any.

    file: A companies file: TOML, .xlsx, CSV, or a name a line.
    """
    if not file.exists():
        raise InputError(f"no companies file at {file}: give the path of a TOML or CSV file")
    registry = companies_from(file)
    own_companies = [company for company in registry if company.origin != "bundled"]
    forms = sum(1 + len(company.aliases) for company in own_companies)
    number = "1 company" if len(own_companies) == 1 else f"{len(own_companies):,} companies"
    write_note(
        f"{file} is fine: {number} under {forms:,} name{'' if forms == 1 else 's'}. In use: "
        f"{_numbers(registry)}."
    )
    for line in (*_added_forms(file, own_companies), *_everyday_words(own_companies, database)):
        write_note(line)


@app.command(epilog="Example: newscrawl companies suggest --since 30d")
@takes_query
def suggest(query: QueryContext, /, *, limit: int = 50, companies: Path | None = None) -> None:
    """List names of organisations in your articles that no registry lists, by articles.

    They are found beside legal forms and words for kinds of companies; no count uses them.
    """
    from newscrawl.storage.queries.suggestions import SuggestedName, suggested_names

    is_registered = companies_from(companies).is_registered
    names = suggested_names(query.database, is_registered, scope=query.scope, limit=limit + 1)
    show(names, SuggestedName, query.output_format, limit=limit)
    exit_without(names, "No article names an organisation that is not registered.")


@app.command(epilog="Example: newscrawl companies audit --listed listed.csv")
def audit(
    listed: Path | None = None,
    sentences: Path | None = None,
    stored: bool = False,
    markdown: bool = False,
    limit: int = 50,
    output_format: Format = "table",
    companies: Path | None = None,
    database: str | None = None,
) -> None:
    """Count entries by country and kind, and forms by reason; or list the worst forms.

    --listed FILE: Also count how many companies of this CSV (country, name, size) have an entry.
    --sentences DIR: Instead compare the mentions in labelled sentences (JSON lines with lang, text
        and spans) with the labels: by language, rule and form, the worst first.
    --stored: Instead list the forms that look least like a company in your articles.
    --markdown: Write the tables of docs/registry.md.
    """
    from newscrawl.mentions import registry_audit, sentence_audit

    if stored:
        from newscrawl.storage.queries.left_out import FormInArticles, least_certain_forms

        with open_for_reading(database) as store, store.reading() as session:
            forms = least_certain_forms(session, limit)
        render(records_of(forms), columns_of(FormInArticles), output_format)
        return
    registry = companies_from(companies)
    if sentences is not None:
        compared = sentence_audit.audit_sentences(registry, sentences, forms=limit)
        render(records_of(compared), columns_of(sentence_audit.SentenceRow), output_format)
        return
    rows = registry_audit.audit(registry)
    if listed is not None:
        if not listed.is_file():
            raise InputError(f"no list at {listed}: give the path of a CSV file")
        rows += registry_audit.coverage([*registry_audit.listed_companies(registry, listed)])
    if markdown:
        typer.echo(registry_audit.as_markdown(rows), nl=False)
    else:
        render(records_of(rows), columns_of(registry_audit.AuditRow), output_format)


def _added_forms(file: Path, companies: "Sequence[Company]") -> "Iterator[str]":
    """Yield for each company the forms that count and that the file does not list, those that need
    support first, then the names that count without it though they are words."""
    from newscrawl.mentions.legal_forms import forms_of
    from newscrawl.mentions.registry_file import read_file

    listed = {entry.company.name: forms_of(entry.company) for entry in read_file(file).entries}
    lines: list[tuple[bool, str]] = []
    for company in companies:
        new = [
            form for form in dict.fromkeys(forms_of(company)) if form not in listed[company.name]
        ]
        if new and company.origin == "override":
            lines.append((False, f"{company.name}: with all forms of the bundled {new[0]}"))
            continue
        certain = [f'"{form}"' for form in new if form not in company.ambiguous]
        doubtful = [f'"{form}"' for form in new if form in company.ambiguous]
        if certain:
            lines.append((False, f"{company.name}: also {', '.join(certain)}"))
        if doubtful:
            lines.append((True, f"{company.name}: {', '.join(doubtful)} only with support"))
    lines.sort(key=lambda line: not line[0])
    yield from (line for _, line in lines[:_SHOWN_COMPANIES])
    if len(lines) > _SHOWN_COMPANIES:
        yield f"and {len(lines) - _SHOWN_COMPANIES:,} more: newscrawl companies list shows all"
    if any(doubtful for doubtful, _ in lines):
        yield (
            "What is a word, a place, a name of persons or of another company counts only with "
            "support: give such entries context words."
        )


def _everyday_words(companies: "Sequence[Company]", database: str | None) -> "Iterator[str]":
    """Yield the names that count without support though they are words, by the lists or by the
    archive, with sentences of it."""
    from newscrawl.mentions.vocabulary import load_vocabulary
    from newscrawl.storage.queries.suggestions import WordInArchive, word_in_archive

    words, archive = load_vocabulary(), dict[str, WordInArchive]()
    forms = [form for company in companies if company.origin == "own" for form in company.certain]
    with suppress(StorageError), open_for_reading(database) as store:
        for form in [form for form in forms if " " not in form and form != form.lower()][
            :_LOOKED_UP
        ]:
            archive[form] = word_in_archive(store, form)
    everyday = [
        form
        for form in forms
        if words.is_of_many(form)
        or (form in archive and archive[form].in_small_letters >= _IN_SMALL_LETTERS)
    ]
    if not everyday:
        return
    more = " and more" * (len(everyday) > _SHOWN_COMPANIES)
    shown = ", ".join(f'"{form}"' for form in everyday[:_SHOWN_COMPANIES])
    yield (
        f"{shown}{more}: a word or a name of many things, "
        "which counts wherever it stands; to count it only with context, list it in ambiguous, "
        "too, and give the entry context words."
    )
    for form in everyday[:_SHOWN_COMPANIES]:
        if form in archive and archive[form].articles:
            there = archive[form]
            yield (
                f'"{form}" in the newest {count_of(there.articles, "article")} with it, in '
                f"{there.in_small_letters:,} of them in small letters:"
            )
            yield from (f"  {printable(sentence)}" for sentence in there.sentences)


def _numbers(registry: "Companies") -> str:
    """Return how many companies there are of each origin."""
    numbers = Counter(company.origin for company in registry)
    names = {**_ORIGINS, "override": "in place of bundled ones"}
    parts = [f"{numbers[origin]:,} {name}" for origin, name in names.items() if numbers[origin]]
    return f"{len(registry):,} companies ({', '.join(parts)})"
