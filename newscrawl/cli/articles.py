"""newscrawl articles, search, revisions and corrections: stored articles, their versions, the
quarantine, and what people judged of mentions."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text
from typer.exceptions import TyperException

from newscrawl import config, storage
from newscrawl.answers.names import company_of
from newscrawl.cli.arguments import (
    REASONS,
    Command,
    Format,
    InputError,
    QueryContext,
    companies_from,
    company_names_of,
    name_of_user,
    refuse_options,
    scope_of,
    takes_companies,
    takes_query,
)
from newscrawl.cli.output import (
    Column,
    columns_of,
    exit_if,
    exit_without,
    printable,
    records_of,
    render,
    write_file,
    write_note,
)

if TYPE_CHECKING:
    from newscrawl.storage import Database
    from newscrawl.storage.queries import ArticleRow, FoundArticle, QuarantineRow


ARTICLES_EXAMPLE = "Example: newscrawl articles --company Siemens --since 7d --format csv"
SEARCH_EXAMPLE = """Example: newscrawl search '"interest rates" bank* -Fed' --since 30d"""

# The options of `newscrawl articles` that are invalid with --quarantined.
_NOT_QUARANTINED = ("company", "companies", "subsidiaries", "every_kind", "sentences")
# Words with a minus that may be unwanted words of a search, but are parsed as options.
_UNWANTED = re.compile(r"-[^\W\d_]{2,}")

revisions = typer.Typer(
    help="List the versions of an article, decide on quarantined ones, or restore an earlier one.",
    no_args_is_help=True,
)


@takes_companies
def articles(
    request: QueryContext,
    context: typer.Context,
    company: str | None = None,
    limit: int = 20,
    every_kind: bool = False,
    sentences: bool = False,
    quarantined: bool = False,
) -> None:
    """List stored articles, the newest first, with the companies they mention.

    With --quarantined, list what is in the quarantine instead: `newscrawl revisions apply` or
    `discard` takes the numbers of the first column.

    Exit code 1 if there is none.

    --company, -c NAME: Only articles of this company, group or saved query.
    every_kind --all-kinds: Also list stored pages that are not articles.
    --sentences: With --company: show the sentences that mention it.
    --quarantined: Only articles with a newer version that was worse and was not applied.
    """
    from newscrawl.storage.queries import ArticleRow

    if quarantined:
        refuse_options(context, _NOT_QUARANTINED, "has no meaning with --quarantined")
        _show_quarantined(request, limit)
        return
    if sentences and company is None:
        raise InputError("--sentences are those that mention a company: add --company NAME")
    if company is not None:
        (company,) = company_names_of([company], request)
    title = f"Articles that mention {company}" if company else "Articles"
    if company and request.scope.subsidiaries:
        title += " or its subsidiaries"
    if sentences and company:
        results = storage.queries.company_articles(
            request.database, company, scope=request.scope, limit=limit + 1
        )
        _show_found(request, results, title, limit)
        return
    rows = storage.queries.articles(
        request.database,
        company=company,
        scope=request.scope,
        limit=limit + 1,
        every_kind=every_kind,
    )
    columns = columns_of(ArticleRow, shown={"day": "day", "headline": "head", "body": "body"})
    records = records_of(rows)
    if request.output_format == "table":
        names = request.source_names
        columns.insert(1, Column("article", wide=True))
        for record, row in zip(records, rows, strict=True):
            odd = row.kind if row.access == "open" else f"{row.access}: headline and introduction"
            facts = [
                names.get(row.source, row.source),
                row.language,
                odd if odd != "article" else None,
                f"version {row.revision}" if row.revision > 1 else None,
                ", ".join(row.companies),
            ]
            record["article"] = _article_cell(row, facts)
    render(records, columns, request.output_format, title=title, limit=limit)
    exit_without(rows, "Articles: none.")


class SearchCommand(Command):
    """A command whose errors explain how to write words that begin with a hyphen."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; raise InputError with that advice if it may help."""
        words = args[: args.index("--")] if "--" in args else list(args)
        word = next(filter(_UNWANTED.fullmatch, words), None)
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            if word is None:
                raise
            raise InputError(
                f"{word} is read as an option: quote all words together, as in 'bank {word}', or "
                f"write -- before them"
            ) from error


@takes_query
def search(request: QueryContext, query: str, limit: int = 20) -> None:
    """Find stored articles by the words of headline and text, the newest first.

    Words are found as they are written: tram does not find "trams", tram* does; a Korean
    word finds its forms with particles. Case, accents and letters such as ł or ø
    are ignored, except in Chinese and Japanese. (strike OR walkout) NEAR/10 rail
    NOT football: either word with at most ten words to "rail", without "football". title: and text:
    search in one part; language:de,fr, country:gb and source:ft or source:"Financial Times" filter.
    For a word that begins with a hyphen, quote all words together, or write -- before them.

    Exit code 1 if there is none.

    query: Words that must be there; "a phrase", begin*, AND, OR, NOT, NEAR/10, title:.
    """
    results = storage.queries.search(request.database, query, scope=request.scope, limit=limit + 1)
    title, none = f"Articles with {query}", ""
    if request.output_format == "table" or not results:
        preview = storage.queries.preview_query(
            request.database, query, scope=request.scope, limit=0
        )
        title += f": {'' if preview.complete else 'at least '}{preview.articles:,}"
        none = preview.why_none
    _show_found(request, results, title, limit, none)


# --- Lists of articles ---


def _show_found(
    request: QueryContext,
    results: "Sequence[FoundArticle]",
    title: str,
    limit: int,
    none: str = "",
) -> None:
    """Write `limit` articles with their sentences, in a table with the matches in bold; or say why
    there is `none`."""
    if request.output_format == "table":
        sources = request.source_names
        columns: tuple[Column, ...] = (Column("day"), Column("article", wide=True))
        records = []
        for result in results:
            row, lines = result.article, []
            for snippet in result.snippets:
                lines.append(Text(printable(snippet.text)))
                for start, end in snippet.marks:
                    lines[-1].stylize("bold reverse", start, end)
            facts = (sources.get(row.source, row.source), row.language)
            records.append({"day": row.day, "article": _article_cell(row, facts, *lines)})
    else:
        names = ("day", "source", "url", "title", "published_at", "language", "snippets")
        columns = tuple(Column(name) for name in names)
        keys = ("day", "source", "url", "title", "published_at", "language")
        records = [
            {name: getattr(result.article, name) for name in keys}
            | {"snippets": tuple(snippet.text for snippet in result.snippets)}
            for result in results
        ]
    render(records, columns, request.output_format, title=title, limit=limit)
    exit_without(results, none or "Articles: none.")


def _article_cell(
    row: "ArticleRow | QuarantineRow", facts: Iterable[str | None], *more: Text, new: str = ""
) -> Text:
    """Return an article in a table: its headline, facts about it, sentences, its address."""
    return Text("\n").join(
        [
            Text(printable(row.title or "(no headline)"), "bold"),
            *([Text(f"→ {printable(new)}")] if new else []),
            Text(printable(" · ".join(filter(None, facts)))),
            *more,
            Text(printable(row.url), "dim"),
        ]
    )


def _show_quarantined(request: QueryContext, limit: int) -> None:
    rows = storage.queries.quarantined(request.database, scope=request.scope, limit=limit)
    number = sum(storage.queries.quarantine_sizes(request.database).values())
    columns = columns_of(storage.queries.QuarantineRow, shown={"id": "number", "day": "day"})
    records = records_of(rows)
    if request.output_format == "table":
        columns += [Column("article", wide=True), Column("characters", number=True)]
        for record, row in zip(records, rows, strict=True):
            why = REASONS.get(row.reason, row.reason)
            why = f"{why}: {row.note}" if row.note else why
            facts = [row.source, why, f"since {row.since:%d %b %H:%M}"]
            new = row.new_title if row.new_title != row.title else None
            record["article"] = _article_cell(row, facts, new=new or "")
            record["characters"] = f"{row.before:,} → {row.after:,}"
    note = f"{len(rows):,} shown of {number:,} in the quarantine" if len(rows) < number else ""
    render(records, columns, request.output_format, title="In the quarantine", note=note)
    exit_without(rows, "Revisions: none.")


# --- Versions ---


@revisions.command("list", epilog="Example: newscrawl revisions list https://www.ft.com/content/1")
def list_versions(store: "Database", url: str, output_format: Format = "table") -> None:
    """List the versions of an article, the first one first.

    Exit code 1 if no article is stored under this address.

    url URL: Address of the article.
    """
    versions = storage.queries.history(store, url)
    headings = {"number": "version", "seen_at": "seen", "title": "headline"}
    columns = [
        replace(
            column, heading=headings.get(column.key, column.key), table=column.key != "replaced_at"
        )
        for column in columns_of(storage.queries.Version, without=("text", "access"))
    ]
    columns.insert(-1, Column("characters", number=True))
    records = [
        {
            **record,
            "characters": len(version.text),
            "mentions": [f"{number:+d} {name}" for name, number in version.mentions],
        }
        for record, version in zip(records_of(versions), versions, strict=True)
    ]
    render(records, columns, output_format)
    exit_without(versions, "No article is stored under this address.")


@revisions.command(epilog="Example: newscrawl revisions apply 12 13")
def apply(
    store: "Database",
    numbers: Annotated[list[int] | None, typer.Argument(min=1)] = None,
    everything: bool = False,
    source: str | None = None,
) -> None:
    """Make quarantined revisions their articles' newest versions, and update all counts.

    The texts that they replace become earlier versions. A page that holds no article can't be
    applied.

    Exit code 1 if one of them could not be applied.

    numbers: Numbers, as newscrawl articles --quarantined lists them.
    everything --all: All that is in the quarantine, or all of --source.
    """
    from newscrawl.storage.revisions import apply_revision

    _decide(store, apply_revision, "applied", numbers, everything, source)


@revisions.command(epilog="Example: newscrawl revisions discard --all --source ft")
def discard(
    store: "Database",
    numbers: Annotated[list[int] | None, typer.Argument(min=1)] = None,
    everything: bool = False,
    source: str | None = None,
) -> None:
    """Remove quarantined revisions from the list; the articles are not changed.

    The same text is not listed again after a later revisit.

    Exit code 1 if one of them could not be discarded.

    numbers: Numbers, as newscrawl articles --quarantined lists them.
    everything --all: All that is in the quarantine, or all of --source.
    """
    from newscrawl.storage.revisions import discard_revision

    _decide(store, discard_revision, "discarded", numbers, everything, source)


@revisions.command(epilog="Example: newscrawl revisions restore https://www.ft.com/content/1 2")
def restore(store: "Database", url: str, version: int, companies: Path | None = None) -> None:
    """Make an earlier version of an article the newest one, with its mentions found again.

    The replaced version becomes an earlier one, and is not taken from the site again.

    url URL: Address of the article.
    version: Version, as newscrawl revisions list has it.
    """
    from newscrawl.extraction.language import decide_language
    from newscrawl.storage.revisions import earlier_version, restore_version

    registry = companies_from(companies)
    earlier = earlier_version(store, url, version)
    language = earlier.language
    if not earlier.has_language:
        language = decide_language(language, f"{earlier.title}\n{earlier.text}")
    mentions = registry.find(
        earlier.text, title=earlier.title, language=language, source=earlier.url
    )
    number = restore_version(store, earlier, mentions, language, config.user_name())
    write_note(
        f"Restored: version {number} has the text of {version}, with {len(mentions)} mentions."
    )


def _decide(
    store: "Database",
    decide: "Callable[[Database, int, str], str]",
    word: str,
    numbers: list[int] | None,
    everything: bool,
    source: str | None,
) -> None:
    """Decide on the given revisions, or on all of a source, and report the result."""
    from newscrawl.storage.revisions import decide_all

    if bool(numbers) == everything:
        raise InputError("give either numbers of revisions or --all")
    if source and not everything:
        raise InputError("--source needs --all: add --all, or leave out --source")
    if everything:
        scope = scope_of(store, source=source)
        numbers = [row.id for row in storage.queries.quarantined(store, scope=scope)]
    done, refused = decide_all(store, numbers or [], decide, config.user_name())
    for reason in refused:
        write_note(reason)
    write_note(f"{len(done):,} {word}.")
    exit_if(refused or not done)


# They end lines for some readers, also within JSON.
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "\u2028\u2029\x85"}

corrections = typer.Typer(help="Correct wrong and missed mentions.", no_args_is_help=True)


@corrections.command(
    epilog="Example: newscrawl corrections add https://www.ft.com/content/1 missed BMW "
    "--form 'the Munich carmaker'"
)
def add(
    store: "Database",
    url: str,
    kind: Literal["wrong", "missed"],
    company: str,
    form: str | None = None,
    nth: Annotated[int | None, typer.Option(min=1)] = None,
    who: str | None = None,
    companies: Path | None = None,
) -> None:
    """Mark mentions of a company in an article as wrong, or as missed.

    All places are corrected, headline included, unless --nth chooses one. Counts change at once,
    and corrections stay when mentions are found again or the text is revised.

    Exit code 1 if the article has no such place.

    url: URL of a stored article.
    kind: Whether mentions of the company are wrong, or were missed.
    company: A company's name or alias.
    --form WORDS: The words in the article, exactly as written there. Default for missed: the
        company's name.
    --nth: Only this one of several places, from 1.
    --who NAME: Who makes the correction; else the user's name.
    """
    from newscrawl.storage.corrections import add_corrections, missed_mentions, wrong_mentions

    made_by = name_of_user(who, "makes the correction")
    name = company_of(company, companies_from(companies), storage.queries.company_names(store))
    page = storage.queries.article_page(store, url)
    if page is None:
        raise InputError(f"no article is stored under {url}: newscrawl articles lists them")
    places = (
        wrong_mentions(page, name, form)
        if kind == "wrong"
        else missed_mentions(page, name, form or company)
    )
    exit_without(
        places,
        f"No such place: no mention of {name} is found there."
        if kind == "wrong"
        else f"No such place: {form or company!r} is not in the article, or is already a mention "
        f"of {name}.",
    )
    if nth is not None and nth > len(places):
        raise InputError(f"--nth {nth}: there are {len(places)} such places, from 1 on")
    chosen = places if nth is None else places[nth - 1 : nth]
    numbers = add_corrections(store, page.row.url, chosen, made_by)
    for number, place in zip(numbers, chosen, strict=True):
        mention = place.mention
        where = "the headline" if mention.section == "title" else f"the text at {mention.start:,}"
        is_ = "is not" if place.kind == "wrong" else "is"
        write_note(f"Correction {number}: {mention.surface!r} in {where} {is_} {mention.company}.")


@corrections.command("list", epilog="Example: newscrawl corrections list --source ft --since 30d")
@takes_query
def list_corrections(query: QueryContext, limit: int = 50, undone: bool = False) -> None:
    """List corrections with who made them, the newest first; --since and --until are days of
    articles.

    A correction is applied; or redundant, if the matcher now agrees with it; or misplaced, if the
    article has changed and no longer has the sentence. A misplaced correction is applied again to a
    later version that has the sentence. --undone lists those that were undone, and by whom.

    Exit code 1 if there are no corrections.

    --undone: List undone corrections.
    """
    rows = storage.queries.corrections(
        query.database, scope=query.scope, undone=undone, limit=limit + 1
    )
    columns = columns_of(
        storage.queries.CorrectionRow, shown={"id": "number", "state": "state", "made_by": "by"}
    )
    records = records_of(rows)
    if query.output_format == "table":
        columns.append(Column("what", "correction", wide=True))
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
    render(records, columns, query.output_format, title="Corrections", limit=limit)
    exit_without(rows, "No correction.")


@corrections.command(epilog="Example: newscrawl corrections remove 12 13")
def remove(store: "Database", numbers: list[int], who: str | None = None) -> None:
    """Undo corrections: the mentions are again those that the matcher has found.

    Who undid one is recorded: corrections list --undone.

    Exit code 1 if one of them could not be undone.

    numbers: Numbers, as corrections list has them.
    --who NAME: Who makes the correction; else the user's name.
    """
    from newscrawl.storage import CorrectionError
    from newscrawl.storage.corrections import undo_correction

    undone_by = name_of_user(who, "undoes the correction")
    faults = 0
    for number in dict.fromkeys(numbers):
        try:
            url = undo_correction(store, number, undone_by)
            write_note(f"Correction {number} of {url} is undone.")
        except CorrectionError as error:
            faults += 1
            write_note(str(error))
    exit_if(faults)


@corrections.command(epilog="Example: newscrawl corrections export --output cases.jsonl")
def export(
    store: "Database",
    output: Path | None = None,
    since: str | None = None,
    source: str | None = None,
) -> None:
    """Write corrected articles as labelled texts, a JSON object a line, with all their mentions.

    In a checkout, "python -m benchmarks.scores mentions --cases FILE" scores them.
    The file has whole articles: don't publish it. Misplaced corrections are left out.

    Exit code 1 if there are no corrections.

    --output FILE: File to write; else standard output.
    """
    from newscrawl.storage.corrections import corrected_texts

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
    exit_if(not texts)
