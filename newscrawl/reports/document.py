"""A report as one HTML page that loads nothing and prints well."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache, partial
from pathlib import Path
from urllib.parse import quote, urlencode

from jinja2 import Environment
from markupsafe import Markup

from newscrawl.reports import figures
from newscrawl.reports.curves import HEIGHT, WIDTH, curves
from newscrawl.reports.figures import Report
from newscrawl.storage.queries import Completeness, versions_text
from newscrawl.storage.queries.left_out import LeftOutReason
from newscrawl.storage.queries.significance import ALPHA, MIN_FOR_PERCENT, Change
from newscrawl.templating import content_hash, html_templates, marked_pieces
from newscrawl.text import count_of, estimate_of

TEMPLATES = Path(__file__).parent / "templates"
MAX_VERSIONS = 5  # that a report names; ours
# Why the text of an article may not be read, in words.
WITHHELD: Mapping[LeftOutReason, str] = {
    "paywalled": "behind a paywall",
    "disallowed": "that robots.txt forbids to fetch",
    "refused": "that the site refuses to show (HTTP 403)",
    "unreadable": "with something else on the page",
}


_PRINT = 'document.getElementById("print").addEventListener("click", function () { print(); });'


def html_report(report: Report, dashboard: str | None = None) -> str:
    """Return the report as HTML. Its numbers link to the pages of the dashboard at this address, if
    one is given: companies to their pages, and counts to their proofs."""
    style = (TEMPLATES / "report.css").read_text("utf-8")
    return (
        _templates()
        .get_template("report.html")
        .render(
            report=report,
            chart=curves(
                report.steps,
                [one.series for one in report.companies],
                report.partial,
                report.unread,
            ),
            chart_size=(WIDTH, HEIGHT),
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(_PRINT),  # noqa: S704
            policy=report_policy(),
            partial=[
                step for step, left in zip(report.steps, report.left_out, strict=True) if left
            ],
            dashboard=dashboard and dashboard.rstrip("/"),
            query=partial(_query, report),
            back=_page_of(report),
            method=method(report),
            only=filters_of(report),
            coverage=coverage(report),
            in_short=[
                *(
                    in_short(one.company, one.change, _reads(report), _when_before(report))
                    for one in report.companies
                ),
                *between_two(report),
                *caveats(report),
            ],
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
        "number": lambda value: "–" if value is None else f"{value:,}",
        "percent": _percent,
        "day": day,
        "change": change_text,
        "verdict": verdict_text,
        "count_of": count_of,
        "pieces": lambda snippet: marked_pieces(snippet.text, snippet.marks),
    }
    templates.globals |= {"per_thousand": per_thousand, "withheld": WITHHELD}
    return templates


def _query(report: Report, *, before: bool = False, **values: str) -> str:
    """Return the query of a page of the dashboard: the scope of the report, or of the days before
    it, and further values."""
    since, until = report.before if before else (report.since, report.until)
    scope = report.scope
    filters: dict[str, object] = {
        "source": scope.source,
        "language": scope.language,
        "country": scope.country,
        "group": scope.group,
        "tier": scope.tier,
        "zone": scope.zone if scope.zone != "UTC" else None,
        "subsidiaries": "included" if scope.subsidiaries else None,
        "since": since,
        "until": until,
        **values,
    }
    return "?" + urlencode({name: value for name, value in filters.items() if value})


def _page_of(report: Report) -> str:
    """Return the page of the dashboard on the companies of the report."""
    names = [one.company for one in report.companies]
    if len(names) == 1:
        return f"/company/{quote(names[0], safe='')}{_query(report)}"
    return f"/compare{_query(report)}&{urlencode({'company': names}, doseq=True)}"


def day(value: date) -> str:
    """Return a day as "7 Nov 2026"."""
    return f"{value.day} {value:%b %Y}"


def _percent(share: float | None) -> str:
    if share is None:
        return "–"
    return f"{share:.0%}" if share >= 0.1 or share == 0 else f"{share:.1%}"


def per_thousand(articles: int | None, read: int) -> str:
    """Return the articles of a company in a thousand articles read."""
    return f"{1000 * articles / read:,.1f}" if read and articles is not None else "–"


def change_text(change: Change) -> str:
    """Return the change of the share in percent, or of small numbers both numbers."""
    if change.before is None:
        return "no data before"
    if change.growth is None:
        return f"{change.before} → {change.now:,}"
    return f"{change.growth:+.0%}".replace("-", "−")


def verdict_text(change: Change) -> str:
    """Return whether the change is significant, with its p-value."""
    if change.chance is None:
        return "can't be compared"
    words = {"more": "a larger share than before", "fewer": "a smaller share than before"}
    return f"{words.get(change.verdict, 'no clear change')} ({chance_text(change.chance)})"


def chance_text(chance: float) -> str:
    """Return the p-value of a change, without a line break in it."""
    return "p\u00a0<\u00a00.001" if chance < 0.001 else f"p\u00a0=\u00a0{chance:.2g}"


def in_short(company: str, change: Change, reads: tuple[int, int], before: str) -> str:
    """Return the change of a company in a sentence, with the articles read in both periods, now and
    before: where more of them were read, a number may rise though the share falls. `before` says
    when the earlier period was, as in "in the 30 days before"."""
    read, read_before = reads
    now = f"{company}: {change.now:,} of {count_of(read, 'article')} read"
    if change.before is None:
        return f"{now}; nothing was read {before}."
    growth = ""
    if change.verdict in {"more", "fewer"} and change.growth is not None:
        growth = f", {change_text(change)}"
    after = f"after {change.before:,} of {read_before:,} {before}"
    return f"{now}, {after}; {verdict_text(change)}{growth}."


def difference_text(companies: Sequence[str], difference: Change) -> str:
    """Return which of two companies has the larger share of the articles read, and whether that is
    more than chance; nothing if it can't be tested."""
    if difference.chance is None:
        return ""
    p_value = chance_text(difference.chance)
    if difference.verdict == "unclear":
        return f"the difference of their articles may be chance ({p_value})."
    more, less = companies if difference.rises else reversed(companies)
    share = "a larger share of the articles read"
    return f"{more} has {share} than {less}, which is more than chance ({p_value})."


def between_two(report: Report) -> list[str]:
    """Return the sentence on the difference between two companies, if it can be tested."""
    names = [one.company for one in report.companies]
    text = report.difference and difference_text(names, report.difference)
    return [f"Between {names[0]} and {names[1]}: {text}"] if text else []


def caveats(report: Report) -> list[str]:
    """Return what a reader must know to compare numbers: of the days before the first crawl, and of
    the articles whose text can't be read."""
    length = _length(report)
    found = [caveat("of this period", length, report.completeness)]
    if report.completeness_before.read:  # otherwise nothing is compared
        found.append(caveat("before", length, report.completeness_before))
    found.append(withheld(report))
    return [one for one in found if one]


def withheld(report: Report) -> str:
    """Return how many more articles may name each company or match each query, since only their
    headline and standfirst may be read; or nothing."""
    numbers = [
        (one.company, sum(each.articles for each in one.withheld)) for one in report.companies
    ]
    more = [
        f"{number:,} more may {'match' if name in report.saved else 'name'} {name}"
        for name, number in numbers
        if number
    ]
    if not more:
        return ""
    known = {each.reason for one in report.companies for each in one.withheld}
    which = " or ".join(words for reason, words in WITHHELD.items() if reason in known)
    return f"Of articles {which}, only headline and introduction are read: up to {', '.join(more)}."


def caveat(period: str, length: int, known: Completeness) -> str:
    """Return a sentence if some of the days of a period, as in "before", precede the first crawl;
    or nothing."""
    if not (days := known.unwatched):
        return ""
    which = f"The day {period}" if length == 1 else f"Of the {length:,} days {period}, {days:,}"
    verb = "precedes" if days == 1 else "precede"
    advice = "compare the shares of the articles read, not the numbers"
    return f"{which} {verb} the first crawl: {advice}."


def _in_gaps(report: Report) -> str:
    """Return how many more articles the days that were not read would have had; or nothing."""
    more = [
        f"{estimate_of(one.in_gaps, 'more article')} for {one.company}"
        for one in report.companies
        if one.in_gaps
    ]
    if not more:
        return ""
    return f"Estimate: {', '.join(more)}, at the pace of the days that were read. "


def _reads(report: Report) -> tuple[int, int]:
    return report.completeness.read, report.completeness_before.read


def _when_before(report: Report) -> str:
    length = _length(report)
    return "on the day before" if length == 1 else f"in the {length:,} days before"


def _length(report: Report) -> int:
    return (report.until - report.since).days + 1


def coverage(report: Report) -> str:
    """Return how complete the numbers are, in a few sentences."""
    known, before = report.completeness, report.completeness_before
    if known.level == "none":
        return "No source was crawled in this period: there are no numbers."
    text = (
        f"{count_of(known.read, 'article')} {'was' if known.read == 1 else 'were'} read in this "
        f"period, {before.read:,} {_when_before(report)}. "
    )
    missing = known.expected - known.covered
    if missing > 0:
        whose = "its" if report.scope.among else "all"
        together = "" if report.scope.source else f" of {whose} sources together"
        text += (
            f"Of the {known.expected:,} days{together}, {missing:,} "
            f"{'was' if missing == 1 else 'were'} not read, so that numbers may be too low. "
            + _in_gaps(report)
        )
    elif not known.unwatched:
        text += "Every source was read on every day. "
    if known.unwatched:
        lie = "day lies" if known.unwatched == 1 else "days lie"
        text += (
            f"{known.unwatched:,} {lie} before the first crawl: of those only articles are known "
            "that the sites still listed later. "
        )
    if before.level == "none":
        text += "Before, nothing was read: there is nothing to compare with. "
    elif before.level == "partial":
        also = " either" if known.level == "partial" else ""
        text += f"The period before was not read completely{also}. "
    return text.strip()


def filters_of(report: Report) -> str:
    """Return what the report is limited to beside its period, or nothing."""
    scope = report.scope
    named = {
        "source": scope.source and report.source_name(scope.source),
        "sources of the group": scope.group,
        "sources of tier": scope.tier,
        "country": scope.country,
        "language": scope.language,
        "section": scope.section,
    }
    return ", ".join(f"{name} {value}" for name, value in named.items() if value)


def method(report: Report) -> list[str]:
    """Return the description of the method, as paragraphs."""
    only = filters_of(report)
    counted = "with" if report.scope.subsidiaries else "without"
    which = f"Only {only}." if only else "All sources, countries and languages."
    queries = sum(one.company in report.saved for one in report.companies)
    kinds = [("company", "names the company")] if queries < len(report.companies) else []
    kinds += [("saved query", "matches the saved query")] if queries else []
    asked, does = (" or ".join(words) for words in zip(*kinds, strict=True))
    subsidiaries = f" Companies are counted {counted} their subsidiaries."
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
            f"Changes are judged by the share of a {asked} in the articles read in both periods: p "
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
            f"The lists show the {figures.MAX_STORIES} stories and {figures.MAX_SOURCES} sources "
            f"with the most articles. Made by newscrawl {report.version}.{_found_with(report)}"
        ),
    ]


def _found_with(report: Report) -> str:
    """Return a sentence on the versions of models and companies that found the articles."""
    shown = versions_text(report.article_versions[:MAX_VERSIONS])
    more = max(0, len(report.article_versions) - MAX_VERSIONS)
    others = f"; {count_of(more, 'more version')}" if more else ""
    return f" The articles were found with {shown}{others}." if shown else ""
