"""The figures of a report: a comparison, with excerpts and what is to be said of its making."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from importlib.metadata import version

from newscrawl.answers.chart import Step
from newscrawl.answers.company import CompanyPeriod, scope_with_before
from newscrawl.answers.comparison import Comparison, compare_companies
from newscrawl.answers.coverage import UnreadSource, unread_sources
from newscrawl.items import Versions, copy_fields
from newscrawl.storage import Database, QuestionError, queries
from newscrawl.storage.queries import CoMention, FoundArticle, Scope
from newscrawl.storage.queries.proof import count_versions
from newscrawl.storage.scope_conditions import validate_in

# All ours: companies in a report, since more curves can't be distinguished; rows of its lists; and
# the days from which on its curves have a point for each week, and for each month.
MAX_COMPANIES = 6
MAX_SOURCES = 10
MAX_BESIDE = 5
DAYS_OF_WEEKS = 93
DAYS_OF_MONTHS = 731

PERIODS = ("this-week", "this-month", "last-week", "last-month", "last-quarter", "last-year")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Comparison):
    """A comparison as a report: `unread` are the sources that were not read on all of their days,
    `excerpts` an article of each story by company and address, with sentences that mention the
    company; `article_versions` are those that found the articles."""

    unread: tuple[UnreadSource, ...]
    excerpts: Mapping[tuple[str, str], FoundArticle]
    source_names: Mapping[str, str]
    made_at: datetime
    version: str
    article_versions: tuple[tuple[Versions, int], ...]

    @property
    def title(self) -> str:
        """Return the names of the first companies, and the number of others."""
        if len(self.names) <= 3:
            return ", ".join(self.names)
        return f"{', '.join(self.names[:2])} and {len(self.names) - 2} others"

    def source_name(self, slug: str) -> str:
        """Return the name of a source for people."""
        return self.source_names.get(slug) or slug

    @property
    def file_name(self) -> str:
        """Return the name of its file, without a suffix."""
        return f"newscrawl-report-{self.scope.since}-{self.scope.until}"


def beside_of(company: CompanyPeriod) -> list[CoMention]:
    """Return the companies named most often in the same articles, and behind them the queries."""
    companies = [row for row in company.beside if row.kind == "company"]
    saved = [row for row in company.beside if row.kind != "company"]
    return [*companies[:MAX_BESIDE], *saved[:MAX_BESIDE]]


def period_of_name(name: str, today: date) -> tuple[date, date]:
    """Return the first and the last day of one of `PERIODS`: weeks begin on Monday, and this-week
    and this-month end today. Raise QuestionError for any other name."""
    match name:
        case "this-week":
            return today - timedelta(days=today.weekday()), today
        case "this-month":
            return today.replace(day=1), today
        case "last-week":
            last = today - timedelta(days=today.weekday() + 1)
            return last - timedelta(days=6), last
        case "last-month":
            last = today.replace(day=1) - timedelta(days=1)
            return last.replace(day=1), last
        case "last-quarter":
            first = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
            last = first - timedelta(days=1)
            return last.replace(month=last.month - 2, day=1), last
        case "last-year":
            return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)
        case _:
            raise QuestionError(f"unknown period {name!r}: {', '.join(PERIODS)}, or 30d")


def make_report(database: Database, companies: Sequence[str], scope: Scope) -> Report:
    """Return the report on these companies or groups over the scope, whose first day must be set.

    Raise QuestionError for none or too many companies, and for days in the future.
    """
    names = list(dict.fromkeys(companies))
    if not names or len(names) > MAX_COMPANIES:
        raise QuestionError(f"a report has 1 to {MAX_COMPANIES} companies, not {len(names)}")
    scope, before = scope_with_before(validate_in(database, scope))
    assert scope.since and before.since  # noqa: S101, PT018 - as the scopes have them
    length = (scope.since - before.since).days
    by: Step = "day"
    if length >= DAYS_OF_WEEKS:
        by = "week" if length < DAYS_OF_MONTHS else "month"
    comparison = compare_companies(database, names, scope, by=by)
    excerpts = {
        (company.company, article.article.url): article
        for company in comparison.companies
        for article in queries.articles_at(
            database,
            [story.url for story in company.top_stories],
            [company.company],
            scope=scope,
            each=3,
        )
    }
    return copy_fields(
        Report,
        comparison,
        unread=unread_sources(queries.coverage(database, scope=comparison.scope)),
        excerpts=excerpts,
        source_names=queries.source_names(database),
        made_at=scope.now or datetime.now(UTC),
        version=version("newscrawl"),
        article_versions=count_versions(database, names, scope=scope),
    )
