"""Every sentence about completeness, change, gaps, paywalls and reasons, once: a function from an
answer to text.

A `Pen` writes plain text, for letters, files and terminals. A page gives a pen of its own, whose
text is HTML and whose numbers lead to their proofs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from newscrawl.answers.company import CompanyPeriod
from newscrawl.answers.coverage import Reading, days_text
from newscrawl.items import Withheld
from newscrawl.storage.company_alerts import CompanyAlert
from newscrawl.storage.queries import Completeness, CoverageDay, LeftOut, Scope, StoryRow
from newscrawl.storage.queries.comparisons import ALPHA, Change
from newscrawl.storage.scope import FILTERS
from newscrawl.text import count_of, estimate_of

MAX_SOURCES = 20  # sources of articles that can't be read, in a sentence
MAX_WORDS = 4  # doubtful words in a sentence
# A saved query matches articles, a company is named in them.
Does = Literal["name", "match"]


def does_of(is_query: bool) -> Does:
    """Return what articles do that count."""
    return "match" if is_query else "name"


class Pen:
    """Writes plain text; `source_name` returns the name of a source by its slug."""

    def __init__(self, source_name: Callable[[str], str] = str) -> None:
        self._source_name = source_name

    def write(self, sentence: str, **parts: object) -> str:
        """Return the sentence with its parts."""
        return sentence.format(**parts)

    def join(self, parts: Iterable[str], between: str = ", ") -> str:
        """Return the parts as one text."""
        return between.join(parts)

    def number(self, value: int, counted: str = "", **of: str) -> str:  # noqa: ARG002 - of links
        """Return a number; a page leads to the proof of what it counts, as of one `source`."""
        return f"{value:,}"

    def source(self, slug: str) -> str:
        """Return the name of a source."""
        return self._source_name(slug)

    def isolate(self, text: str) -> str:
        """Return text that may have another direction."""
        return text

    def quote(self, text: str) -> str:
        """Return words of an article."""
        return f'"{text}"'


PLAIN = Pen()


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence to begin with, and what follows from it; `since` is the first day of a period that
    can be compared instead."""

    heading: str
    text: str = ""
    since: date | None = None

    def __str__(self) -> str:
        return f"{self.heading} {self.text}".strip()


# --- Numbers and days ---


def number(value: int | None) -> str:
    """Return 1234567 as "1,234,567", and None as a dash."""
    return "–" if value is None else f"{value:,}"


def percent(share: float | None) -> str:
    """Return a share in percent, with a decimal where it is small."""
    if share is None:
        return "–"
    return f"{share:.0%}" if abs(share) >= 0.1 or share == 0 else f"{share:.1%}"


def day(value: date) -> str:
    """Return a day as "7 Nov 2026"."""
    return f"{value.day} {value:%b %Y}"


def period_text(reading: Reading) -> str:
    """Return both periods of an answer."""
    scope, before = reading.scope, reading.before
    assert scope.since and scope.until and before  # noqa: S101, PT018 - as answers have them
    assert before.since and before.until  # noqa: S101, PT018
    return (
        f"{day(scope.since)} to {day(scope.until)}, compared with {day(before.since)} to "
        f"{day(before.until)}"
    )


def days_before(reading: Reading) -> str:
    """Return the days before a period as "30 days before", "day before", "day a week before"."""
    scope, before = reading.scope, reading.before
    assert scope.since and before  # noqa: S101, PT018 - as answers have them
    assert before.since and before.until  # noqa: S101, PT018
    length = (before.until - before.since).days + 1
    if length > 1:
        return f"{length:,} days before"
    return "day before" if (scope.since - before.until).days == 1 else "day a week before"


def when_before(reading: Reading) -> str:
    """Return when the earlier period was, as in "in the 30 days before"."""
    phrase = days_before(reading)
    return f"{'on' if phrase.startswith('day ') else 'in'} the {phrase}"


def story_size(story: StoryRow, pen: Pen = PLAIN) -> str:
    """Return how many articles of how many sources report a story."""
    return pen.write(
        "{articles} {noun} in {sources}",
        articles=pen.number(story.articles, "articles", story=story.url),
        noun="article" if story.articles == 1 else "articles",
        sources=count_of(story.sources, "source"),
    )


def story_days(story: StoryRow) -> str:
    """Return the days on which a story was reported."""
    return days_text(story.first_day, story.last_day)


def limits_of(scope: Scope, source_name: Callable[[str], str] = str) -> list[str]:
    """Return what the filters of a scope limit it to, beside its days."""
    values = [(declared.phrase, name, getattr(scope, name)) for name, declared in FILTERS.items()]
    return [
        phrase.format(source_name(value) if name == "source" else value)
        for phrase, name, value in values
        if phrase and value
    ]


# --- Completeness ---

Level = Literal["good", "fair", "bad"]
LEVELS: tuple[Level, ...] = ("good", "fair", "bad")
GOOD_ENOUGH = 0.8  # of the source-days; ours: with fewer, a line about them is marked as bad


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """How complete numbers are, in a line of short parts, each with how bad it is."""

    parts: tuple[tuple[str, Level], ...]

    @property
    def worst(self) -> tuple[str, Level]:
        """Return the first of the worst parts."""
        return max(self.parts, key=lambda part: LEVELS.index(part[1]))


def coverage_line(reading: Reading) -> CoverageLine:
    """Return how complete the numbers of a period are, with an estimate of the articles that were
    missed, and those whose text can't be read."""
    completeness, unread = reading.completeness, reading.unread
    expected, missing = completeness.expected, completeness.expected - completeness.covered
    parts: list[tuple[str, Level]] = []
    if expected:
        is_bad = completeness.covered < GOOD_ENOUGH * expected
        read = f"{_share_read(completeness)}% read"
        parts.append((read, "bad" if is_bad else "fair" if missing > 0 else "good"))
    if reading.silent:
        parts.append((f"{count_of(len(reading.silent), 'source')} not read now", "bad"))
    if missing > 0:
        is_all = sum(each.missed for each in unread) >= missing
        sources = count_of(len(unread), "source") if is_all else "sources"
        estimate = sum((reading.missed or {}).values())
        about = f" ({estimate_of(estimate, 'article')})" if estimate else ""
        parts.append((f"{sources} missed {count_of(missing, 'day')}{about}", "fair"))
    withheld = (each for company in reading.companies for each in company.withheld)
    if articles := sum(each.articles for each in withheld):
        parts.append((f"{articles:,} by headline only", "fair"))
    if reading.scope.since and completeness.unwatched:
        first = reading.scope.since + timedelta(days=completeness.unwatched)
        parts.append((f"data starts {first.day} {first:%b}", "good"))
    if reading.gaps or (reading.before and not reading.completeness_before.read):
        parts.append(("no previous period yet", "good"))
    return CoverageLine(tuple(parts))


def _share_read(completeness: Completeness) -> int:
    """Return how many of a hundred source-days were read, rounded down: 99.9 is not everything."""
    return min(100 * completeness.covered // completeness.expected, 100)


def unread_notices(reading: Reading, pen: Pen = PLAIN) -> list[Notice]:
    """Return why the numbers of a period may be too low: days of its sources that were not read,
    and days before the first crawl."""
    completeness, unread, since = reading.completeness, reading.unread, reading.scope.since
    if completeness.level == "none":
        return [Notice("No data.", "No source was read in this period: gaps, not zeros.")]
    notices = []
    missing = completeness.expected - completeness.covered
    if missing > 0:
        days_of = "source-days" if reading.scope.source is None else "days"
        heading = f"{_share_read(completeness)}% of {days_of} read."
        reasons = [
            pen.write(
                "{source} on {days}, {reasons}",
                source=pen.source(each.source),
                days=count_of(each.missed, "day"),
                reasons=pen.isolate(each.reasons),
            )
            for each in unread
        ]
        further = missing - sum(each.missed for each in unread)
        if unread and further > 0:
            reasons.append(f"other sources on {count_of(further, 'day')}")
        text = pen.write(
            "{missing} of {expected} missing{colon}{reasons}.{estimate}",
            missing=number(missing),
            expected=number(completeness.expected),
            colon=": " if reasons else "",
            reasons=pen.join(reasons, "; "),
            estimate=_estimate(reading.missed),
        )
        notices.append(Notice(heading, text))
    if days := completeness.unwatched:
        heading = f"{count_of(days, 'day')} {'is' if days == 1 else 'are'} before the first crawl."
        if since:
            heading = f"Data starts {day(since + timedelta(days=days))}."
        notices.append(Notice(heading, "Of earlier days, only articles that were still listed."))
    return notices


def older_articles(articles: int, first: date, option: str) -> str:
    """Return what periods that begin with the first crawl leave out, and the option that counts
    it."""
    are, these = ("is", "it") if articles == 1 else ("are", "them")
    return (
        f"{count_of(articles, 'article')} {are} dated before the first crawl ({day(first)}): "
        f"{option} counts {these} too."
    )


def _estimate(estimates: Mapping[str, float] | None) -> str:
    if estimates is None:
        return ""
    several = len(estimates) > 1
    more = [
        estimate_of(estimate, "more article") + (f" for {company}" if several else "")
        for company, estimate in estimates.items()
        if estimate
    ]
    if not more:
        return " On other days, these sources had no such article."
    return f" Estimate: {', '.join(more)}."


def coverage(reading: Reading) -> str:
    """Return how complete numbers are, in a few sentences."""
    completeness, notices = reading.completeness, unread_notices(reading)
    if completeness.level == "none":
        return " ".join(map(str, notices))
    was = "was" if completeness.read == 1 else "were"
    text = f"{count_of(completeness.read, 'article')} {was} read"
    if reading.before and reading.completeness_before.read:
        text += f" in this period, {reading.completeness_before.read:,} {when_before(reading)}"
    text += "."
    if completeness.level == "full":
        return f"{text} Every source was read on every day."
    return " ".join([text, *map(str, notices)])


def before_notices(reading: Reading) -> list[Notice]:
    """Return why numbers can't be compared with those of the period before, if they can't."""
    completeness, heading = reading.completeness_before, "No previous period yet"
    unread, number = f"No article was read {when_before(reading)}.", len(reading.companies)
    if reading.gaps:
        return [
            Notice(
                heading + ("." if len(names) == number else f" for {', '.join(names)}."),
                f"Data starts {day(gap.first)}." if gap.first else unread,
                gap.since,
            )
            for gap, names in reading.gaps.items()
        ]
    if not completeness.read:
        if completeness.unwatched and not completeness.expected:
            unread = f"No source was crawled {when_before(reading)}."
        return [Notice(f"{heading}.", unread)]
    if completeness.level != "partial" or (
        completeness.expected <= completeness.covered and not completeness.unwatched
    ):
        return []
    heading = f"Previous period incomplete: {days_before(reading)}"
    if days := completeness.unwatched:
        heading += f", {days:,} before the first crawl"
    return [Notice(f"{heading}.", "Compare shares, not numbers.")]


def no_mention(whom: str, reading: Reading) -> str:
    """Return that nothing was found: no mention, or no coverage."""
    completeness = reading.completeness
    if completeness.level == "none":
        return f"No coverage: nothing was crawled there, so nothing is known about {whom}."
    read = count_of(completeness.read, "article")
    return f"No mention of {whom} in {read} (coverage: {completeness.level})."


def no_article(period: CompanyPeriod) -> str:
    """Return that a company has no article."""
    does = "matches" if period.is_query else "names"
    return f"No article {does} {period.company} in this period."


def no_article_since(company: str, since: date, sources: int) -> str:
    """Return that a company has no article in all that was read."""
    return f"No article names {company} since {day(since)}, in {count_of(sources, 'source')} read."


def around_articles(hits: int, pen: Pen = PLAIN) -> str:
    """Return how many hits lie outside of articles."""
    return pen.write("{hits} ignored in menus and teasers.", hits=pen.number(hits, "boilerplate"))


def silence(last: CoverageDay) -> str:
    """Return why a source is not read at present."""
    if last.state is None:
        return "no crawl"
    return f"{last.state.replace('_', ' ')}{f', {last.note}' if last.note else ''}"


def read_days(read: int, days: int, faults: str) -> str:
    """Return on how many of its days a source was read, and on which not."""
    return f"{read} of {days} days read{f'; not on {faults}' if faults else ''}"


# --- Change ---


def chance_text(chance: float) -> str:
    """Return the p-value of a change, without a line break in it."""
    return "p\u00a0<\u00a00.001" if chance < 0.001 else f"p\u00a0=\u00a0{chance:.2g}"


def certainty(chance: float | None) -> str:
    """Return whether a change may be chance; nothing where it can't be tested."""
    return "" if chance is None else "clear" if chance < ALPHA else "may be chance"


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
        return "no previous period yet" if change.before is None else "too few to compare"
    words = {"more": "a larger share than before", "fewer": "a smaller share than before"}
    return f"{words.get(change.verdict, 'no clear change')} ({chance_text(change.chance)})"


@dataclass(frozen=True, slots=True)
class Shift:
    """A change as a short sign: its direction, "even" for one that may be chance, and its text."""

    direction: Literal["up", "down", "even"]
    text: str


def shift(change: Change) -> Shift:
    """Return the change of the share of the articles read, which is what the test compares: with
    more papers read, the number may rise while the share falls."""
    now, before, growth, text = change.now, change.before, change.growth, "even"
    if not before:
        return Shift("even", "new" if before == 0 and now else "–")
    if growth is None and now != before:
        text = f"{before} → {now:,}"
    elif growth is not None and abs(growth) > 0.005:
        text = f"{'▲' if growth > 0 else '▼'} {percent(abs(growth))}"
    if text == "even" or change.chance is None or change.chance >= ALPHA:
        return Shift("even", text)
    return Shift("up" if change.rises else "down", text)


def in_short(company: str, change: Change, reading: Reading) -> str:
    """Return the change of a company in a sentence, with the articles read in both periods: where
    more of them were read, a number may rise though the share falls."""
    read, when = reading.completeness.read, when_before(reading)
    now = f"{company}: {change.now:,} of {count_of(read, 'article')} read"
    if change.before is None:
        return f"{now}; nothing was read {when}."
    growth = ""
    if change.verdict in {"more", "fewer"} and change.growth is not None:
        growth = f", {change_text(change)}"
    after = f"after {change.before:,} of {reading.completeness_before.read:,} {when}"
    return f"{now}, {after}; {verdict_text(change)}{growth}."


def difference_text(companies: Sequence[str], difference: Change | None) -> str:
    """Return which of two companies has the larger share of the articles read, if that is more than
    chance; nothing if it can't be tested."""
    if difference is None or difference.chance is None:
        return ""
    if difference.verdict == "unclear":
        return "No significant difference"
    more, less = companies if difference.rises else reversed(companies)
    return f"{more} has a clearly larger share than {less}"


# --- Cures of wrong mentions ---


def cure_text(kind: Literal["context", "phrase"], words: str) -> str:
    """Return a change of the registry."""
    if kind == "context":
        return f"count “{words}” only with context"
    return f"never count “{words}”"


def cure_effect(articles: int) -> str:
    """Return how many articles no longer count by a change."""
    return f"{count_of(articles, 'more article')} {'goes' if articles == 1 else 'go'}"


# --- What can't be read, and what a number leaves out ---


@dataclass(frozen=True, slots=True)
class _Barrier:
    """Why the text of an article is not read: as a heading, after "articles", and as a cause."""

    heading: str
    which: str
    cause: str


BARRIERS: Mapping[Withheld, _Barrier] = {
    "paywalled": _Barrier("Behind a paywall", "behind a paywall", "a paywall hides the text of"),
    "disallowed": _Barrier(
        "Not to be fetched (robots.txt)",
        "that robots.txt forbids to fetch",
        "robots.txt forbids the pages of",
    ),
    "refused": _Barrier(
        "Refused by the site (HTTP 403)",
        "that the site refuses to show (HTTP 403)",
        "the site refuses the pages of",
    ),
    "unreadable": _Barrier(
        "Pages that show no article",
        "with something else on the page",
        "something else than the article, such as a request to enable JavaScript, is on the pages "
        "of",
    ),
}


def unread_texts(
    left_out: Sequence[LeftOut], reason: Withheld, which: str, pen: Pen = PLAIN
) -> Notice:
    """Return how many of "these articles" can't be read for a reason, by source."""
    barrier = BARRIERS[reason]
    for each in left_out:
        if each.reason == reason:
            text = pen.write(
                "{cause} {number} of {which}, of which only headline and introduction are known: "
                "{sources}.",
                cause=barrier.cause,
                number=number(each.articles),
                which=which,
                sources=_of_sources(each, pen, proven=False),
            )
            return Notice(f"{barrier.heading}:", text)
    listed = "" if reason == "paywalled" else ", as far as the sources list them in their feeds"
    return Notice(f"{barrier.heading}:", f"{barrier.cause} none of {which}{listed}.")


def withheld_notices(companies: Iterable[CompanyPeriod], pen: Pen = PLAIN) -> list[Notice]:
    """Return how many more articles may name each of the companies, whose text can't be read."""
    return [_withheld_notice(period, pen) for period in companies if period.withheld]


def _withheld_notice(period: CompanyPeriod, pen: Pen) -> Notice:
    parts = [
        pen.write(
            "{number} more {articles} {which}",
            number=pen.number(each.articles, each.reason),
            articles="article" if each.articles == 1 else "articles",
            which=barrier.which,
        )
        for each in period.withheld
        for reason, barrier in BARRIERS.items()
        if each.reason == reason
    ]
    text = pen.write(
        "Up to {parts} may {does} {name}.",
        parts=pen.join(parts, " and up to "),
        does=does_of(period.is_query),
        name=period.company,
    )
    articles = sum(each.articles for each in period.withheld)
    return Notice(f"{articles:,} by headline only.", text)


def left_out_notice(each: LeftOut, name: str, does: Does, pen: Pen = PLAIN) -> Notice:
    """Return what a number leaves out for a reason, and why."""
    articles, mentions = each.articles, each.mentions or 0
    counted = pen.number(mentions if each.mentions is not None else articles, each.reason)
    match each.reason:
        case "boilerplate":
            heading = "Menus and teasers:"
            sentence = "{counted} {hits} on {pages}, outside the article."
        case "doubtful":
            heading = "Doubtful words:"
            sentence = (
                "up to {counted} more {noun}, with {words} without support for the company, or as "
                "part of another name."
                if articles
                else "none was found."
            )
            if each.since is not None:
                sentence += " Articles before {since} were not searched for them."
        case "corrected":
            heading = "Corrected:"
            sentence = "{counted} {hits_called} in {texts} that a person has called wrong."
        case "quarantined":
            heading = "In the quarantine:"
            counted = pen.number(articles, each.reason)
            sentence = (
                "{counted} {versions} with {mentions}, worse than the text before, which counts."
            )
        case "kind":
            heading = "No articles:"
            sentence = "{counted} {hits_called} on {pages} of another kind, such as lists."
        case _:
            heading = f"{BARRIERS[each.reason].heading}:"
            sentence = (
                "up to {counted} more {noun}. Of these only headline and introduction are known, "
                "which don't {does} {name}; the text may. {sources}."
            )
    text = pen.write(
        sentence,
        counted=counted,
        does=does,
        name=name,
        hits="hit" if mentions == 1 else "hits",
        hits_called="mention" if mentions == 1 else "mentions",
        noun="article" if articles == 1 else "articles",
        texts=count_of(articles, "article"),
        pages=count_of(articles, "page"),
        versions="version" if articles == 1 else "versions",
        mentions=count_of(mentions, "mention"),
        since=each.since and day(each.since),
        words=_doubtful_words(each, pen),
        sources=_of_sources(each, pen),
    )
    return Notice(heading, text)


def none_forbidden(name: str, does: Does) -> Notice:
    """Return that robots.txt forbids no article that may name a company."""
    listed = "of those that the sources list in their feeds"
    text = f"robots.txt forbade no article that may {does} {name}, {listed}."
    return Notice(f"{BARRIERS['disallowed'].heading}:", text)


def _of_sources(each: LeftOut, pen: Pen, *, proven: bool = True) -> str:
    """Return the sources of articles that can't be read, each with its number."""
    parts = [
        pen.write(
            "{source} {number}",
            source=pen.source(slug),
            number=pen.number(count, each.reason, source=slug) if proven else number(count),
        )
        for slug, count in each.sources[:MAX_SOURCES]
    ]
    if more := len(each.sources[MAX_SOURCES:]):
        parts.append(count_of(more, "more source"))
    return pen.join(parts)


def _doubtful_words(each: LeftOut, pen: Pen) -> str:
    words = [pen.quote(word) for word in each.words[:MAX_WORDS]]
    if len(each.words) > MAX_WORDS:
        words.append("other spellings")
    if len(words) < 2:
        return pen.join(words)
    return pen.join([pen.join(words[:-1]), words[-1]], " or ")


# --- Alerts ---


def alert_event(alert: CompanyAlert) -> str:
    """Return what happened; a first article need not be the oldest: it was found first."""
    facts = alert.facts
    if alert.kind != "spike":
        return "first article " + (
            "since you started watching" if "watched_since" in facts else "found"
        )
    if "articles" not in facts:
        return f"spike on {alert.day}"
    articles = count_of(facts["articles"], "article")
    return f"{articles} on {alert.day}, {facts['expected']:.0f} expected"


def alert_title(alert: CompanyAlert) -> str:
    """Return an alert in a line."""
    names = f"{alert.company} and {alert.other}" if alert.other else alert.company
    return f"{names}: {alert_event(alert)}"


def alert_day(alert: CompanyAlert) -> str:
    """Return the day of an alert's articles, where `alert_event` does not name it."""
    return "" if alert.kind == "spike" else f", of {alert.day}"


def alert_reason(alert: CompanyAlert) -> str:
    """Return why an alert is sent, in a sentence."""
    company, facts = alert.company, alert.facts
    if alert.kind != "spike":
        names = f"both {company} and {alert.other}" if alert.other else company
        since = facts.get("watched_since")
        began = f" since the watch began on {since}" if since else ""
        first = f"is the first one found{began} that names {names}."
        return f"An article of {alert.day} {first}"
    articles = facts["articles"]
    return (
        f"{company} is named in {articles} articles of {alert.day}; {facts['expected']:.1f} were "
        f"expected from its history of {facts['history_days']} days. The chance of {articles} or "
        f"more is {facts['chance']:.2g}."
    )


def no_spike(company: str, watched_since: date | None, scope: Scope) -> str:
    """Return that a period has no spike of a company, as far as it was watched."""
    if watched_since is None:
        return f"{company} is not watched for spikes."
    if scope.until and watched_since > scope.until:
        return f"Watched since {day(watched_since)}, after this period."
    if scope.since and watched_since > scope.since:
        return f"No spike since {day(watched_since)}, when the watch began."
    return "No spike in this period."
