"""The pages of companies: all by articles (the first page), one company, and several in comparison;
and the search."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import Response

from newscrawl.answers.chart import company_chart, proof_columns
from newscrawl.answers.company import company_period, has_subsidiaries, most_counted, period_alerts
from newscrawl.answers.comparison import (
    Comparison,
    change_of_row,
    compare_companies,
    in_order,
)
from newscrawl.answers.coverage import last_named_before, reading, silent_sources
from newscrawl.dashboard.exports import (
    articles_file,
    chart_file,
    export_format,
    ranking_file,
    table_file,
)
from newscrawl.dashboard.filters import DEFAULT_PERIOD, Filters
from newscrawl.dashboard.names import check_is_named, companies_by_name, similar_names
from newscrawl.dashboard.rendering import (
    OpenDatabase,
    choices,
    companies_in_use,
    filters_of,
    name_of_person,
    page_router,
    render,
)
from newscrawl.reports import MAX_ARTICLES, Table
from newscrawl.reports.curves import spark
from newscrawl.storage import Database, QuestionError, queries
from newscrawl.storage.queries import (
    FoundArticle,
    Group,
    QueryPreview,
    Scope,
)
from newscrawl.storage.saved_queries import list_queries
from newscrawl.storage.scope import today

router = page_router()

MAX_COMPANIES = 25  # on a page of the overview, and beside a company
MAX_RANKED = 500  # companies with the most articles, of which the changes are compared
MAX_DOWNLOADED = 10_000  # companies
RESULTS = 20  # articles on a page of the search
MAX_SILENT = 5  # sources that the first page names, of those that are not read at present
ORDERS = ("", "change", "fewer")  # of the overview: by articles, clearest change, clearest fall


@router.get("/")
def overview(request: Request, database: OpenDatabase) -> Response:
    """Show the companies by articles, or return all of them as a file."""
    filters = filters_of(request)
    order = request.query_params.get("order", "")
    order, kind = order if order in ORDERS else "", export_format(request)
    first = (filters.page - 1) * MAX_COMPANIES
    limit = MAX_RANKED if order else first + MAX_COMPANIES + 1
    answer = queries.overview(
        database,
        scope=filters.scope,
        limit=MAX_DOWNLOADED if kind else limit,
        ranked="before" if order == "fewer" else "now",
    )
    rows = in_order(answer, order)
    if kind:
        return ranking_file(kind, rows, filters)
    shown = rows[first : first + MAX_COMPANIES]
    kinds = dict.fromkeys(filters.scope.structure.groups, "group")
    kinds |= {row.name: "saved query" for row in queries.saved_queries(database)}
    period_reading = reading(
        database, filters.scope, before=filters.before.scope, names_sources=True
    )
    all_named = all(row.hits.articles for row in answer.companies if row.company not in kinds)
    return render(
        request,
        "overview.html",
        filters=filters,
        choices=choices(database, filters),
        found=replace(answer, companies=tuple(shown)),
        more=len(rows) > first + MAX_COMPANIES,
        ranked_before=sum(row.company not in kinds for row in rows[:first]),
        order=order,
        ranked=MAX_RANKED,
        # How many of the companies with the most articles before are still named, if all are.
        none_fell=len(answer.companies) if order == "fewer" and all_named else 0,
        lines={row.company: spark(row.spark) for row in shown},
        changes={row.company: change_of_row(row, answer) for row in shown},
        kinds=kinds,
        boilerplate=queries.boilerplate(database, scope=filters.scope),
        reading=replace(period_reading, silent=silent_sources(database, filters.scope)),
        most_silent=MAX_SILENT,
        longer_silent=last_named_before(
            database,
            [company.name for company in companies_in_use(request)],
            filters.scope,
            filters.before.since,
        )
        if order == "fewer"
        else [],
        quarantined=sum(queries.quarantine_sizes(database, scope=filters.scope).values()),
        first_days=None if answer.completeness.read else _first_days(database, filters),
        is_empty=not answer.completeness.read and queries.first_watched_day(database) is None,
    )


def _first_days(database: Database, filters: Filters) -> Filters | None:
    """Return the same filters for the days from the first crawl of their sources on; None before
    any crawl."""
    since = queries.first_watched_day(
        database, scope=replace(filters.scope, since=None, until=None)
    )
    if since is None:
        return None
    until = min(since + timedelta(days=DEFAULT_PERIOD - 1), today(filters.scope))
    return replace(filters, since=since, until=max(since, until), days=None, page=1)


@router.get("/search")
def search(request: Request, database: OpenDatabase) -> Response:
    """Show the articles that match the words, or return them as a file."""
    filters, kind = filters_of(request), export_format(request)
    words = request.query_params.get("q", "").strip()
    fields = ("language", "source", "country")
    values = {name: getattr(filters.scope, name) for name in fields}
    limits = " ".join(f"{name}:{value}" for name, value in values.items() if value)
    if kind and words:
        listed = queries.search(database, words, scope=filters.scope, limit=MAX_ARTICLES)
        rows = [(each.article, each.snippets) for each in listed]
        return articles_file(kind, database, rows, words, filters)
    found, count, fault = _search(database, words, filters)
    names = [*filters.scope.structure.groups, *queries.company_names(database)]
    return render(
        request,
        "search.html",
        filters=filters,
        choices=choices(database, filters),
        words=words,
        # The search as a saved query, with the filters that a query can have.
        as_query=f"({words}) {limits}" if limits else words,
        found=found,
        count=count,
        fault=fault,
        shown=RESULTS,
        companies=companies_by_name(request, words, names),
    )


def _search(
    database: Database, words: str, filters: Filters
) -> tuple[Sequence[FoundArticle], QueryPreview | None, QuestionError | None]:
    """Return a page of results, with one more if there is a next page, and the number of all; or
    why there are none."""
    if not words:
        return (), None, None
    offset = (filters.page - 1) * RESULTS
    try:
        articles = queries.search(
            database, words, scope=filters.scope, limit=RESULTS + 1, offset=offset, each=3
        )
        count = queries.preview_query(database, words, scope=filters.scope, limit=0)
    except QuestionError as error:
        return (), None, error
    return articles, count, None


LATEST = 12  # articles a page
MAX_LISTED = 10  # companies, sources, languages and countries in a list
MAX_COMPARED = 6  # companies; more lines can't be distinguished
SUGGESTED = 4  # companies to compare if none is named
GROUPS: tuple[Group, ...] = ("source", "language", "country")


@router.get("/company/{name:path}")
def company(request: Request, database: OpenDatabase, name: str) -> Response:
    """Show a company, or return its chart's numbers as a file."""
    filters = filters_of(request)
    scope, kind = filters.scope, export_format(request)
    split = None if filters.split == "whole" else filters.split
    names = queries.company_names(database)
    check_is_named(request, name, names, scope)
    offered = choices(database, filters)
    groups: list[Group] = [*GROUPS]
    groups += ["group"] if offered["group"] else []
    period = company_period(
        database, name, scope, groups=groups, stories=filters.count == "stories"
    )
    chart = company_chart(
        database,
        name,
        scope,
        by=filters.by,
        measure=filters.count,
        split=split,
        parts=period.parts.get(split, ()) if split else (),
    )
    if kind and request.query_params.get("table") == "beside":
        table = Table.of_records(period.beside, "company", "kind", "articles", "share")
        return table_file(kind, {"Companies": table}, f"named with {name}", filters)
    if kind:
        return chart_file(kind, database, chart, [name], filters)
    saved = next(iter(list_queries(database, named=name)), None)
    why_none = ""
    if saved and saved.counted and not period.hits.articles:
        why_none = queries.preview_query(database, saved.text, scope=scope, limit=0).why_none
    first = (filters.page - 1) * LATEST
    return render(
        request,
        "company.html",
        name=name,
        filters=filters,
        choices=offered,
        period=period,
        chart=chart,
        columns=proof_columns(chart, name, filters.count, split),
        **_registered(request, name, scope, names),
        saved=saved,
        why_none=why_none,
        # Of a company that no article names yet: since when they are read.
        since=None if {*scope.members(name)} & {*names} else queries.first_watched_day(database),
        reading=reading(
            database,
            scope,
            name,
            before=filters.before.scope,
            companies=[period],
            names_sources=True,
        ),
        parts_by={
            by: most_counted(counts, filters.count, MAX_LISTED)
            for by, counts in period.parts.items()
        },
        new_sources=[
            source
            for source in queries.new_sources(database, name, scope=scope)
            if source.watched_since and source.watched_since < filters.since
        ],
        listed=MAX_LISTED,
        # With one more if there is a next page.
        latest=queries.company_articles(
            database, name, scope=scope, limit=LATEST + 1, offset=first, each=2
        ),
        shown=LATEST,
        alerts=period_alerts(database, name, scope),
        person=name_of_person(request),
    )


def _registered(request: Request, name: str, scope: Scope, names: Sequence[str]) -> dict[str, Any]:
    """Return the registry's facts about a company, what counts together with it, and its owner."""
    company = companies_in_use(request).by_name(name)
    facts = (
        (company.facts.get("sector"), company.facts.get("country"), *company.tickers)
        if company
        else ()
    )
    return {
        "facts": [fact for fact in facts if fact],
        "has_subsidiaries": has_subsidiaries([name], scope, names),
        "members": sorted({*scope.members(name)} & {*names} - {name}),
        "owner": scope.structure.parents.get(name),
        "owned": scope.structure.owned.get(name, (None, None)),
    }


@router.get("/compare")
def compare(request: Request, database: OpenDatabase) -> Response:
    """Show shares of voice, or return their chart's numbers as a file."""
    filters, kind = filters_of(request), export_format(request)
    texts = [name.strip() for name in request.query_params.getlist("company")]
    chosen_names = list(dict.fromkeys(filter(None, texts)))[:MAX_COMPARED]
    names = queries.company_names(database)
    scope, stored = filters.scope, set(names)
    mentioned = [name for name in chosen_names if stored & {*scope.members(name)}]
    offered = [*scope.structure.groups, *names]
    saved = {row.name for row in queries.saved_queries(database)}
    unions = saved | {*scope.structure.groups}
    cleared = request.query_params.get("chosen") == "none"
    suggests = not chosen_names and not cleared
    chosen = mentioned
    if suggests:  # the most frequent companies, without saved queries and groups
        most = SUGGESTED + len(unions)
        ranked = queries.company_ranking(database, scope=scope, limit=most)
        chosen = [row.company for row in ranked if row.company not in unions][:SUGGESTED]
    comparison = compare_companies(
        database, chosen, scope, by=filters.by, measure=filters.count, brief=True
    )
    if kind and request.query_params.get("table") == "shares":
        return table_file(kind, {"Shares": _share_table(comparison)}, "share of voice", filters)
    if kind:
        return chart_file(kind, database, comparison.chart, chosen, filters)
    return render(
        request,
        "compare.html",
        filters=filters,
        choices=choices(database, filters),
        comparison=comparison,
        chosen=chosen,
        written=chosen_names,
        have_subsidiaries=has_subsidiaries(chosen, scope, names),
        unknown={
            name: _corrections(filters, chosen_names, name, similar_names(request, name, offered))
            for name in chosen_names
            if name not in mentioned
        },
        names=offered,
        groups=scope.structure.groups,
        members={name: scope.members(name) for name in scope.structure.groups},
        saved=saved,
        most=MAX_COMPARED,
        columns=[{"counted": filters.count, "company": name} for name in chosen],
    )


def _share_table(comparison: Comparison) -> Table:
    """Return the shares of voice; before and change only if articles were read before."""
    # One company alone has no share.
    rows = [
        (now.company, now.number, now.share, past.share, company.change.growth)
        for now, past, company in zip(
            comparison.shares, comparison.shares_before, comparison.companies, strict=False
        )
    ]
    width = 5 if comparison.reading.completeness_before.read else 3
    head = ("company", "number", "share", "share_before", "change")
    return Table(head[:width], [row[:width] for row in rows])


def _corrections(
    filters: Filters, names_: Sequence[str], wrong: str, similar: Sequence[str]
) -> dict[str, str]:
    """Return for each similar name the address of the comparison with it in place of the wrong
    one."""
    address = filters.address()
    start = f"/compare{address}{'&' if address else '?'}"
    addresses = {}
    for right in similar:
        names = dict.fromkeys(right if name == wrong else name for name in names_)
        addresses[right] = start + urlencode([("company", name) for name in names])
    return addresses
