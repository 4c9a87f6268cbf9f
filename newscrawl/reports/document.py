"""A report as one HTML page that loads nothing and prints well."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment
from markupsafe import Markup

from newscrawl.answers import words
from newscrawl.answers.chart import Chart
from newscrawl.answers.company import MAX_STORIES
from newscrawl.reports import figures
from newscrawl.reports.curves import HEIGHT, WIDTH, curves
from newscrawl.reports.figures import Report
from newscrawl.storage.queries import versions_text
from newscrawl.storage.queries.comparisons import ALPHA, MIN_FOR_PERCENT
from newscrawl.templating import content_hash, html_templates, plain
from newscrawl.text import count_of

TEMPLATES = Path(__file__).parent / "templates"
MAX_VERSIONS = 5  # that a report names; ours

# The rules of the style sheet that draw a chart.
_DRAWN = (".grid", ".gap", ".hatch", ".unread", ".bars", ".line", ".s1", ".s2", "svg text")

_PRINT = 'document.getElementById("print").addEventListener("click", function () { print(); });'


class HtmlPen(words.Pen):
    """Writes HTML. `address` returns the address of the proof of a number, of what it counts;
    without it, numbers are no links."""

    def __init__(
        self,
        source_name: Callable[[str], str] = str,
        address: Callable[..., str] | None = None,
    ) -> None:
        super().__init__(source_name)
        self._address = address

    def write(self, sentence: str, **parts: object) -> str:
        text = Markup(sentence)  # noqa: S704 - our own sentence
        return text.format(**{name: _fit(part) for name, part in parts.items()})

    def join(self, parts: Iterable[str], between: str = ", ") -> str:
        return Markup(between).join(map(_fit, parts))  # noqa: S704 - our own text

    def number(self, value: int, counted: str = "", **of: str) -> str:
        if self._address is None or not counted:
            return f"{value:,}"
        return Markup(
            '<a class="proof" href="{}" title="What is behind this number">{}</a>'
        ).format(self._address(counted, **of), f"{value:,}")

    def source(self, slug: str) -> str:
        return self.isolate(super().source(slug))

    def isolate(self, text: str) -> str:
        return Markup("<bdi>{}</bdi>").format(plain(text))

    def quote(self, text: str) -> str:
        return Markup("<q>{}</q>").format(self.isolate(text))


def _fit(part: Any) -> Any:
    return plain(part) if isinstance(part, str) and not isinstance(part, Markup) else part


def html_report(report: Report, dashboard: str | None = None) -> str:
    """Return the report as HTML. Its numbers link to the pages of the dashboard at this address, if
    one is given: companies to their pages, and counts to their proofs."""
    style = (TEMPLATES / "report.css").read_text("utf-8")
    dashboard = dashboard and dashboard.rstrip("/")

    def pen(company: str) -> HtmlPen:
        def address(counted: str, **of: Any) -> str:
            return f"{dashboard}/proof{_query(report, counted=counted, company=company, **of)}"

        return HtmlPen(report.source_name, address if dashboard else None)

    # The page of the dashboard on the companies of the report.
    back = f"/compare{_query(report)}&{urlencode({'company': report.names}, doseq=True)}"
    if len(report.names) == 1:
        back = f"/company/{quote(report.names[0], safe='')}{_query(report)}"
    return (
        _templates()
        .get_template("report.html")
        .render(
            report=report,
            chart=curves(report.chart),
            chart_size=(WIDTH, HEIGHT),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(_PRINT),  # noqa: S704
            policy=report_policy(),
            dashboard=dashboard,
            query=partial(_query, report),
            pen=pen,
            back=back,
            method=method(report),
            only=filters_of(report),
            coverage=words.coverage(report.reading),
            in_short=[
                *(
                    words.in_short(company.company, company.change, report.reading)
                    for company in report.companies
                ),
                *between_two(report),
                *caveats(report),
            ],
        )
    )


def chart_svg(chart: Chart, title: str) -> str:
    """Return a chart as a picture of its own, in the colours of a light page."""
    style = (TEMPLATES / "report.css").read_text("utf-8")
    rules = [line for line in style.splitlines() if line.startswith(_DRAWN)]
    return (
        _templates()
        .get_template("chart.svg")
        .render(
            chart=curves(chart),
            chart_size=(WIDTH, HEIGHT),
            series=chart.series,
            title=title,
            style=Markup("\n".join(rules)),  # noqa: S704 - our own file
        )
    )


def report_policy() -> str:
    """Return the content policy of the page: its style sheet, the script of its button, the
    dashboard's for its colours, and nothing else."""
    style = (TEMPLATES / "report.css").read_text("utf-8")
    return (
        f"default-src 'none'; style-src {content_hash(style)}; "
        f"script-src 'self' {content_hash(_PRINT)}; base-uri 'none'; form-action 'none'"
    )


@cache
def _templates() -> Environment:
    templates = html_templates(TEMPLATES)
    templates.filters |= {
        "number": words.number,
        "percent": words.percent,
        "day": words.day,
        "change": words.change_text,
        "verdict": words.verdict_text,
        "count_of": count_of,
    }
    templates.globals |= {
        "per_thousand": per_thousand,
        "words": words,
        "max_sources": figures.MAX_SOURCES,
        "beside_of": figures.beside_of,
    }
    return templates


def _query(report: Report, *, before: bool = False, **values: Any) -> str:
    """Return the query of a page of the dashboard: the scope of the report, or of the days before
    it, and further values."""
    scope = report.reading.before if before and report.reading.before else report.scope
    filters = {**scope.values, **values}
    return "?" + urlencode({name: value for name, value in filters.items() if value})


def per_thousand(articles: int | None, read: int) -> str:
    """Return the articles of a company in a thousand articles read."""
    return f"{1000 * articles / read:,.1f}" if read and articles is not None else "–"


def between_two(report: Report) -> list[str]:
    """Return the sentence on the difference between two companies, if it can be tested."""
    names = report.names
    text = words.difference_text(names, report.difference)
    if not text or report.difference is None or report.difference.chance is None:
        return []
    chance = words.chance_text(report.difference.chance)
    return [f"Between {names[0]} and {names[1]}: {text} ({chance})."]


def caveats(report: Report) -> list[str]:
    """Return what a reader must know to compare numbers: of days that were not read, and of the
    articles whose text can't be read."""
    notices = words.before_notices(report.reading) + words.withheld_notices(report.companies)
    return [str(notice) for notice in notices]


def filters_of(report: Report) -> str:
    """Return what the report is limited to beside its period, or nothing."""
    return ", ".join(words.limits_of(report.scope, report.source_name))


def method(report: Report) -> list[str]:
    """Return the description of the method, as paragraphs."""
    only = filters_of(report)
    counted = "with" if report.scope.subsidiaries else "without"
    which = f"Only {only}." if only else "All sources, countries and languages."
    queries = sum(company.is_query for company in report.companies)
    kinds = [("company", "names the company")] if queries < len(report.companies) else []
    kinds += [("saved query", "matches the saved query")] if queries else []
    kind, does = (" or ".join(words) for words in zip(*kinds, strict=True))
    subsidiaries = f" Companies are counted {counted} their subsidiaries."
    shown = versions_text(report.article_versions[:MAX_VERSIONS])
    more = max(0, len(report.article_versions) - MAX_VERSIONS)
    further = f"; {count_of(more, 'more version')}" if more else ""
    found_with = f" The articles were found with {shown}{further}." if shown else ""
    return [
        (
            f"An article counts if its own headline or text {does}; menus, teasers, "
            "advertisements and lists of other articles on its page do not count. An article "
            "counts for the day of its publication, or of its first fetch if it gives none. Of "
            "articles behind a paywall, headline and introduction are read. A story is one text in "
            "one or several papers."
        ),
        (
            f"Days are those of {report.scope.zone}."
            f"{subsidiaries if queries < len(report.companies) else ''} {which}"
        ),
        (
            f"Changes are judged by the share of a {kind} in the articles read in both periods: p "
            "is the chance of such a difference or a larger one if the share has not changed "
            "(exact conditional test of two Poisson rates, two-sided; both numbers are divided by "
            f"the scatter of its days). If p is below {ALPHA:g}, we write a larger or a "
            "smaller share, else no clear change. Of fewer than "
            f"{MIN_FOR_PERCENT} earlier articles no percentage is given; else it is the change of "
            "the share, not of the number, which also rises where more papers are read."
        ),
        (
            "Shares of voice are shares of the sum of the articles of those compared, rounded: an "
            "article of two of them counts for both."
        ),
        (
            f"The lists show the {MAX_STORIES} stories and {figures.MAX_SOURCES} sources "
            f"with the most articles. Made by newscrawl {report.version}.{found_with}"
        ),
    ]
