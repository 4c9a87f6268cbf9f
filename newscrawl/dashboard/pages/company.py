"""The pages of companies: one company, and several in comparison."""

from collections import defaultdict
from collections.abc import Sequence
from difflib import get_close_matches

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from newscrawl.dashboard.charts import (
    Chart,
    Row,
    chart_csv,
    first_day,
    label,
    number,
    over_time,
    total,
    total_or_gap,
    wants_csv,
)
from newscrawl.dashboard.filters import MAX_VALUE, Count, Filters
from newscrawl.dashboard.rendering import (
    app_state,
    choices,
    companies_in_use,
    filters_of,
    render,
)
from newscrawl.mentions.company import Company
from newscrawl.storage import Database, queries
from newscrawl.storage.errors import QuestionError
from newscrawl.storage.queries import Group, MentionCount, Share

router = APIRouter()

LATEST = 12  # articles a page
MAX_LISTED = 10  # companies, sources, languages and countries in a list
MAX_COMPARED = 6  # companies; more lines can't be told apart
SUGGESTED = 4  # companies to compare where none is named
GROUPS: tuple[Group, ...] = ("source", "language", "country")


@router.get("/company/{name:path}", response_class=HTMLResponse)
def company(request: Request, name: str) -> Response:
    """Show a company, or return its chart's numbers as CSV."""
    filters = filters_of(request)
    scope = filters.scope
    with app_state(request).store.reading() as database:
        names = queries.company_names(database)
        if not {*scope.members(name)} & {*names}:
            raise HTTPException(404, _unknown(request, name, names))
        parts = {
            by: queries.mention_counts(
                database, by, company=name, scope=scope, stories=filters.count == "stories"
            )
            for by in GROUPS
        }
        groups: Sequence[MentionCount] = parts[filters.split] if filters.split != "whole" else ()
        chart = over_time(database, name, filters, groups)
        if wants_csv(request):
            return chart_csv(chart, name, filters)
        return render(
            request,
            "company.html",
            name=name,
            filters=filters,
            choices=choices(database),
            chart=chart,
            facts=_facts(request, name),
            members=sorted({*scope.members(name)} & {*names} - {name}),
            owner=scope.structure.parents.get(name),
            owned=scope.structure.owned.get(name, (None, None)),
            hits=total(parts["source"]),
            before=total_or_gap(
                queries.mention_counts(database, "month", company=name, scope=filters.before.scope)
            ),
            completeness=queries.completeness(database, scope=scope),
            boilerplate=queries.boilerplate(database, company=name, scope=scope),
            parts_by={by: _top(counts, filters.count) for by, counts in parts.items()},
            beside=queries.co_mentions(database, name, scope=scope, limit=MAX_LISTED),
            latest=queries.company_articles(
                database,
                name,
                scope=scope,
                limit=LATEST + 1,
                offset=(filters.page - 1) * LATEST,
                each=2,
            ),
            shown=LATEST,
        )


def _unknown(request: Request, name: str, names: Sequence[str]) -> str:
    """Return the error for a company that no article names."""
    known = _registered(request, name)
    if known and known.name not in names:
        return f"{known.name} is looked for, but no article in this database names it yet."
    near = [known.name] if known else get_close_matches(name, names, n=3)
    advice = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"No company {name!r} was ever mentioned in this database.{advice}"


def _registered(request: Request, name: str) -> Company | None:
    """Return the company of this name or alias, of the user's file or bundled."""
    return companies_in_use(request).named(name)


def _facts(request: Request, name: str) -> list[str]:
    """Return the registry's facts about the company."""
    found = _registered(request, name)
    if found is None:
        return []
    facts = [found.facts.get("sector"), found.facts.get("country"), *found.tickers]
    return [fact for fact in facts if fact]


def _top(counts: Sequence[MentionCount], count: Count) -> list[tuple[str, int]]:
    """Return the groups with the most, without those that have none."""
    numbers = [(each.key, number(each.hits, count)) for each in counts]
    return sorted((each for each in numbers if each[1]), key=lambda each: -each[1])[:MAX_LISTED]


@router.get("/compare", response_class=HTMLResponse)
def compare(request: Request) -> Response:
    """Show shares of voice, or return their chart's numbers as CSV."""
    filters = filters_of(request)
    given = [name.strip() for name in request.query_params.getlist("company") if name.strip()]
    if any(len(name) > MAX_VALUE or "\0" in name for name in given):
        raise QuestionError("company can't have this name: it is too long or holds a NUL")
    with app_state(request).store.reading() as database:
        names = queries.company_names(database)
        scope, stored = filters.scope, set(names)
        known = [name for name in dict.fromkeys(given) if stored & {*scope.members(name)}]
        unknown = [name for name in dict.fromkeys(given) if name not in known]
        known = known[:MAX_COMPARED]
        chosen = known if given else _suggested(database, filters)
        shares: list[Share] = []
        chart = Chart((), ())
        if len(chosen) > 1:
            shares = queries.share_of_voice(
                database, chosen, measure=filters.count, scope=filters.scope
            )
            chart = _chart(database, chosen, filters)
        if wants_csv(request):
            return chart_csv(chart, "compare", filters)
        return render(
            request,
            "compare.html",
            filters=filters,
            choices=choices(database),
            chosen=chosen,
            unknown=unknown,
            names=[*scope.structure.groups, *names],
            most=MAX_COMPARED,
            shares=shares,
            chart=chart,
            completeness=queries.completeness(database, scope=filters.scope),
        )


def _suggested(database: Database, filters: Filters) -> list[str]:
    ranked = queries.company_ranking(database, scope=filters.scope, limit=SUGGESTED)
    return [row.company for row in ranked]


def _chart(database: Database, chosen: list[str], filters: Filters) -> Chart:
    """Return a series for each company; rows are empty where no source was covered."""
    by_key: dict[str, list[int | None]] = defaultdict(list)
    found = queries.share_of_voice(
        database, chosen, by=filters.by, measure=filters.count, scope=filters.scope
    )
    for share in found:
        by_key[str(share.key)].append(share.number)
    rows = [
        Row(
            first_day(key),
            label(key, filters.by),
            None if None in numbers else tuple(number or 0 for number in numbers),
        )
        for key, numbers in by_key.items()
    ]
    return Chart(tuple(chosen), tuple(rows))
