"""A company's page: when, where and beside whom it was in the news."""

from collections.abc import Sequence
from difflib import get_close_matches

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from newscrawl.dashboard import series
from newscrawl.dashboard.downloads import chart_csv, wants_csv
from newscrawl.dashboard.filters import Count, read_filters
from newscrawl.dashboard.pages.choices import choices
from newscrawl.dashboard.pages.registry import bundled
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.mentions.company import Company
from newscrawl.storage import queries
from newscrawl.storage.queries import Group, MentionCount

router = APIRouter()

LATEST = 12  # articles a page
BESIDE = 10  # companies, sources, languages and countries in a list
GROUPS: tuple[Group, ...] = ("source", "language", "country")


@router.get("/company/{name:path}", response_class=HTMLResponse)
def company(request: Request, name: str) -> Response:
    """One company, or its chart's numbers as CSV."""
    filters = read_filters(request.query_params, desk_of(request).config.clock())
    scope = filters.scope
    with desk_of(request).store.reading() as database:
        names = queries.company_names(database)
        if name not in names:
            raise HTTPException(404, _unknown(request, name, names))
        parts = {
            by: queries.mention_counts(
                database, by, company=name, scope=scope, stories=filters.count == "stories"
            )
            for by in GROUPS
        }
        groups: Sequence[MentionCount] = parts[filters.split] if filters.split != "whole" else ()
        chart = series.over_time(database, name, filters, groups)
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
            hits=series.total(parts["source"]),
            before=series.total_or_gap(
                queries.mention_counts(database, "month", company=name, scope=filters.before.scope)
            ),
            completeness=queries.completeness(database, scope=scope),
            boilerplate=queries.boilerplate(database, company=name, scope=scope),
            parts_by={by: _most(counts, filters.count) for by, counts in parts.items()},
            beside=queries.co_mentions(database, name, scope=scope, limit=BESIDE),
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
    """What to say of a company that no article names."""
    known = _registered(request, name)
    if known and known.name not in names:
        return f"{known.name} is looked for, but no article in this database names it yet."
    near = [known.name] if known else get_close_matches(name, names, n=3)
    advice = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"No company {name!r} was ever mentioned in this database.{advice}"


def _registered(request: Request, name: str) -> Company | None:
    """The company in the user's file, or in the bundled one."""
    file = desk_of(request).registry
    own = file.open().companies if file else ()
    return next((each for each in own if each.name == name), None) or bundled().named(name)


def _facts(request: Request, name: str) -> list[str]:
    """What the registry tells of the company."""
    found = _registered(request, name)
    if found is None:
        return []
    told = [found.facts.get("sector"), found.facts.get("country"), *found.tickers]
    return [fact for fact in told if fact]


def _most(counts: Sequence[MentionCount], count: Count) -> list[tuple[str, int]]:
    """The groups with the most, those without any left out."""
    numbers = [(each.key, series.number(each.hits, count)) for each in counts]
    return sorted((each for each in numbers if each[1]), key=lambda each: -each[1])[:BESIDE]
