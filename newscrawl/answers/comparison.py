"""Several companies in a period, compared with each other and with the period before."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from newscrawl.answers.chart import Chart, Step, make_row, number_of
from newscrawl.answers.company import (
    CompanyPeriod,
    company_period,
    days_read,
    scope_with_before,
)
from newscrawl.answers.coverage import Reading, reading
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Measure, Overview, OverviewRow, Scope, Share
from newscrawl.storage.queries.comparisons import MIN_FOR_PERCENT, Change, compare
from newscrawl.storage.scope_conditions import validate_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Companies over a period, compared with that of the same length before. `shares` are those of
    the sum of all, `difference` is that of two companies in this period; `reading` is about a
    single company's or saved query's sources, else about all."""

    reading: Reading
    by: Step
    companies: tuple[CompanyPeriod, ...]
    chart: Chart
    shares: tuple[Share, ...]
    shares_before: tuple[Share, ...]

    @property
    def scope(self) -> Scope:
        return self.reading.scope

    @property
    def names(self) -> list[str]:
        return [company.company for company in self.companies]

    @property
    def difference(self) -> Change | None:
        """Return the articles of the first of two companies against those of the second in the same
        days, which take the place of the earlier ones; None for another number of companies, or if
        one counts with the other. Articles about both count in both, so that real differences are
        called unclear rather than chance a difference."""
        if len(self.companies) != 2 or self.overlaps:
            return None
        return compare(*(days_read(company.counts) for company in self.companies))

    @property
    def overlaps(self) -> dict[tuple[str, str], list[str]]:
        """Return each two of them that have companies in common, the larger one first, with these
        companies; with none if the first one includes the second."""
        members = {name: {*self.scope.members(name)} for name in self.names}
        pairs = combinations(sorted(members, key=lambda name: -len(members[name])), 2)
        shared = {(first, second): members[first] & members[second] for first, second in pairs}
        return {
            pair: [] if names == members[pair[1]] else sorted(names)
            for pair, names in shared.items()
            if names
        }


def compare_companies(
    database: Database,
    names: Sequence[str],
    scope: Scope,
    *,
    by: Step = "day",
    measure: Measure = "articles",
    brief: bool = False,
) -> Comparison:
    """Return the comparison of companies, groups or saved queries over a scope with a first day; a
    `brief` one is without their lists."""
    scope, before = scope_with_before(validate_in(database, scope))
    only = names[0] if len(names) == 1 else None  # several may be of different sources
    periods = queries.mention_counts(database, by, company=only, scope=scope)
    series = [
        queries.mention_counts(
            database, by, company=name, scope=scope, stories=measure == "stories"
        )
        for name in names
    ]
    rows = [
        make_row(period, [number_of(each[place].hits, measure) for each in series], by, scope)
        for place, period in enumerate(periods)
    ]

    def shares(within: Scope) -> tuple[Share, ...]:
        if len(names) < 2:
            return ()
        return tuple(queries.share_of_voice(database, names, measure=measure, scope=within))

    companies = tuple(company_period(database, name, scope, brief=brief) for name in names)
    return Comparison(
        reading=reading(
            database, scope, only, before=before, companies=companies, names_sources=brief
        ),
        by=by,
        companies=companies,
        chart=Chart(series=tuple(names), rows=tuple(rows)),
        shares=shares(scope),
        shares_before=shares(before),
    )


def change_of_row(row: OverviewRow, overview: Overview) -> Change:
    """Return the change of a company in an overview, of its share of the articles read."""
    now, before = row.hits.articles, row.before.articles if row.before else None
    read, read_before = overview.completeness.read, overview.before.read
    growth = None
    if read and read_before and before:
        growth = now / read / (before / read_before) - 1
    return Change(
        now=now,
        before=before,
        chance=row.chance,
        rises=growth is None or growth > 0,
        growth=growth if (before or 0) >= MIN_FOR_PERCENT else None,
    )


def in_order(answer: Overview, order: str) -> Sequence[OverviewRow]:
    """Return the companies, those first whose change is least likely chance; for "fewer" only those
    whose share of the articles read has fallen."""
    rows = answer.companies
    if order == "fewer":
        now, before = answer.completeness.read, answer.before.read
        rows = tuple(
            row
            for row in rows
            if now
            and before
            and row.before
            and row.hits.articles / now < row.before.articles / before
        )
    return sorted(rows, key=lambda row: 1 if row.chance is None else row.chance) if order else rows
