"""newscrawl corrections: mark mentions as wrong or missed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from newscrawl import storage
from newscrawl.cli.arguments import (
    CompaniesOption,
    DatabaseOption,
    InputError,
    LimitOption,
    QueryContext,
    SinceOption,
    SourceOption,
    companies_from,
    company_of,
    complete_company,
    name_of_user,
    open_for_reading,
    scope_of,
    takes_scope,
)
from newscrawl.cli.output import (
    Column,
    columns_of,
    exit_without,
    records_of,
    render,
    write_file,
    write_note,
)

# They end lines for some readers, also within JSON.
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\u2028\u2029\x85"}

app = typer.Typer(help="Correct wrong and missed mentions.", no_args_is_help=True)

_UrlArgument = Annotated[str, typer.Argument(help="URL of a stored article.")]
_KindArgument = Annotated[
    Literal["wrong", "missed"],
    typer.Argument(help="Whether mentions of the company are wrong, or were missed."),
]
_CompanyArgument = Annotated[
    str, typer.Argument(help="A company's name or alias.", autocompletion=complete_company)
]
_FormOption = Annotated[
    str | None,
    typer.Option(
        help="The words in the article, exactly as written there. Default for missed: the "
        "company's name.",
        metavar="WORDS",
    ),
]
_NthOption = Annotated[
    int | None, typer.Option(min=1, help="Only this one of several places, from 1.")
]
_UndoneOption = Annotated[bool, typer.Option("--undone", help="List undone corrections.")]
_WhoOption = Annotated[
    str | None, typer.Option(help="Who makes the correction; else the user's name.", metavar="NAME")
]


@app.command(
    epilog="Example: newscrawl corrections add https://www.ft.com/content/1 missed BMW "
    "--form 'the Munich carmaker'"
)
def add(
    url: _UrlArgument,
    kind: _KindArgument,
    company: _CompanyArgument,
    form: _FormOption = None,
    nth: _NthOption = None,
    who: _WhoOption = None,
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
) -> None:
    """Mark mentions of a company in an article as wrong, or as missed.

    All places are corrected, headline included, unless --nth chooses one. Counts change at once,
    and corrections stay when mentions are found again or the text is revised.

    Exit code 1 if the article has no such place.
    """
    from newscrawl.storage.corrections import add_corrections, missed_mentions, wrong_mentions

    made_by = name_of_user(who, "makes the correction")
    with open_for_reading(database) as store:
        name = company_of(company, companies_from(companies), storage.queries.company_names(store))
        page = storage.queries.article_page(store, url)
        if page is None:
            raise InputError(f"no article is stored under {url}: newscrawl articles lists them")
        places = (
            wrong_mentions(page, name, form)
            if kind == "wrong"
            else missed_mentions(page, name, form or company)
        )
        if not places:
            write_note(
                f"No such place: no mention of {name} is found there."
                if kind == "wrong"
                else f"No such place: {form or company!r} is not in the article, or is already a "
                f"mention of {name}."
            )
            raise typer.Exit(1)
        if nth is not None and nth > len(places):
            raise InputError(f"--nth {nth}: there are {len(places)} such places, from 1 on")
        chosen = places if nth is None else places[nth - 1 : nth]
        numbers = add_corrections(store, page.row.url, chosen, made_by)
    for number, place in zip(numbers, chosen, strict=True):
        mention = place.mention
        where = "the headline" if mention.section == "title" else f"the text at {mention.start:,}"
        is_ = "is not" if place.kind == "wrong" else "is"
        write_note(f"Correction {number}: {mention.surface!r} in {where} {is_} {mention.company}.")


@app.command("list", epilog="Example: newscrawl corrections list --source ft --since 30d")
@takes_scope
def list_corrections(
    query: QueryContext, limit: LimitOption = 50, undone: _UndoneOption = False
) -> None:
    """List corrections with who made them, the newest first; --since and --until are days of
    articles.

    A correction is applied; or redundant, if the matcher now agrees with it; or misplaced, if the
    article has changed and no longer has the sentence. A misplaced correction is applied again to a
    later version that has the sentence. --undone lists those that were undone, and by whom.

    Exit code 1 if there are no corrections.
    """
    rows = storage.queries.corrections(
        query.database, scope=query.scope, undone=undone, limit=limit
    )
    headings = {"id": "number", "state": "state", "made_by": "by"}
    columns = [
        replace(column, heading=headings.get(column.key, ""), table=column.key in headings)
        for column in columns_of(storage.queries.CorrectionRow)
    ]
    records = records_of(rows)
    if query.output_format == "table":
        columns.append(Column(key="what", heading="correction", wide=True))
        for record, row in zip(records, rows, strict=True):
            is_ = "is not" if row.kind == "wrong" else "is"
            undoing = ""
            if row.undone_at is not None:
                record["state"] = "undone"
                undoing = f"\nundone by {row.undone_by}, {row.undone_at:%Y-%m-%d}"
            record["what"] = (
                f"{row.surface!r} {is_} {row.company}, {row.made_at:%Y-%m-%d}\n"
                f"{' '.join(row.sentence.split())}\n{row.url}{undoing}"
            )
    render(records, columns, query.output_format, title="Corrections")
    exit_without(rows, "No correction.")


@app.command(epilog="Example: newscrawl corrections remove 12 13")
def remove(
    numbers: Annotated[list[int], typer.Argument(help="Numbers, as corrections list has them.")],
    who: _WhoOption = None,
    database: DatabaseOption = None,
) -> None:
    """Undo corrections: the mentions are again those that the matcher has found.

    Who undid one is recorded: corrections list --undone.

    Exit code 1 if one of them could not be undone.
    """
    from newscrawl.storage import CorrectionError
    from newscrawl.storage.corrections import undo_correction

    undone_by = name_of_user(who, "undoes the correction")
    faults = 0
    with open_for_reading(database) as store:
        for number in dict.fromkeys(numbers):
            try:
                url = undo_correction(store, number, undone_by)
                write_note(f"Correction {number} of {url} is undone.")
            except CorrectionError as error:
                faults += 1
                write_note(str(error))
    if faults:
        raise typer.Exit(1)


@app.command(epilog="Example: newscrawl corrections export --output cases.jsonl")
def export(
    output: Annotated[
        Path | None, typer.Option(help="File to write; else standard output.", metavar="FILE")
    ] = None,
    since: SinceOption = None,
    source: SourceOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write corrected articles as labelled texts, a JSON object a line, with all their mentions.

    In a checkout, "python -m benchmarks.scores mentions --cases FILE" scores them.
    The file has whole articles: don't publish it. Misplaced corrections are left out.

    Exit code 1 if there are no corrections.
    """
    from newscrawl.storage.corrections import corrected_texts

    with open_for_reading(database) as store:
        scope = scope_of(store, since=since, source=source)
        texts = corrected_texts(store, scope)
        rows = storage.queries.corrections(store, scope=scope)
    lines = [
        json.dumps(
            {
                "id": text.url,
                "part": "corrections",
                "language": text.language or "",
                "source": text.url,
                "title": text.title,
                "text": text.text,
                "mentions": text.mentions,
            },
            ensure_ascii=False,
        )
        for text in texts
    ]
    text = "".join(f"{line}\n" for line in lines).translate(_ESCAPED)
    write_file(text.encode(), output)
    misplaced = sum(row.state == "misplaced" for row in rows)
    write_note(f"Articles: {len(texts):,}, with {len(rows) - misplaced:,} corrections.")
    if misplaced:
        write_note(f"Left out, since their sentences are gone: {misplaced:,}.")
    if not texts:
        raise typer.Exit(1)
