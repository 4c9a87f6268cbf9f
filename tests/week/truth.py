"""Compare what a watch has stored, counted and sent with what the papers published and suffered."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy import select

from newscrawl.storage import Database
from newscrawl.storage.models import Article, ArticleUrl, Coverage, FrontierUrl, Incident, Source
from newscrawl.storage.queries import Scope, mention_counts
from tests.week.papers import COMPANIES, INTRODUCTION, Event, Paper, Story
from tests.week.world import World

ZONES = ("UTC", "Europe/Berlin", "America/New_York")


@dataclass(slots=True)
class Verdict:
    """What differs from the truth, in sentences. `fates` counts what became of the articles,
    `alarms` are the incidents."""

    problems: list[str] = field(default_factory=list)
    fates: Counter[str] = field(default_factory=Counter)
    alarms: list[str] = field(default_factory=list)

    def check(self, holds: object, problem: str) -> None:
        """Note a problem unless something holds."""
        if not holds:
            self.problems.append(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The articles of a database by their addresses, and the results of all fetches."""

    articles: Mapping[str, Article]
    results: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, database: Database) -> "Contents":
        """Return the contents of a database."""
        queued = select(FrontierUrl.url, FrontierUrl.state, FrontierUrl.reason)
        with database.reading() as session:
            rows = session.execute(select(ArticleUrl.url, Article).join(Article)).all()
            results = {url: (state, reason or "") for url, state, reason in session.execute(queued)}
        return cls(articles=dict(rows), results=results)

    def stored(self, urls: Iterable[str]) -> list[Article]:
        """Return the articles with these addresses."""
        articles = (self.articles[url] for url in urls if url in self.articles)
        return list({article.id: article for article in articles}.values())


def judge(
    world: World, database: Database, rounds: Sequence[datetime], mishaps: Iterable[Event]
) -> Verdict:
    """Return what differs, of the articles that were listed in a round after the first one;
    `mishaps` are what happened to the watch itself."""
    verdict, contents = Verdict(), Contents.of(database)
    stored: dict[Story, Article] = {}
    for paper in world.papers:
        missing = []
        for story in paper.stories:
            articles = contents.stored(paper.urls(story))
            if articles:
                stored[story] = articles[0]
            # Nobody could know of one that was deleted before a round could find it.
            is_due = story.published > rounds[0] and paper.shows(story, rounds)
            if is_due and _is_missing(verdict, contents, paper, story):
                missing.append(story)
        _check_gaps(verdict, database, paper, missing)
    published = {
        url for paper in world.papers for story in paper.stories for url in paper.urls(story)
    }
    others = sorted(set(contents.articles) - published)
    verdict.check(not others, f"stored, and never published: {others}")
    _check_counts(verdict, database, stored, rounds[-1])
    _check_incidents(verdict, database, world, mishaps)
    return verdict


def _is_missing(verdict: Verdict, contents: Contents, paper: Paper, story: Story) -> bool:
    """Check that an article is stored once, or that it was not fetched for a reason; return whether
    nothing was ever known of it."""
    name = f"{paper.slug} {story.number} of {story.published:%m-%d %H:%M}"
    urls = sorted(paper.urls(story))
    articles = contents.stored(urls)
    results = [contents.results[url] for url in urls if url in contents.results]
    if articles:
        access = articles[0].access
        verdict.fates["stored" if access == "open" else f"stored, {access}"] += 1
        verdict.check(len(articles) == 1, f"stored twice: {name}: {urls}")
        _check_content(verdict, name, story, articles[0])
        return False
    for state, reason in results:
        verdict.check(state != "pending" and reason, f"waits for ever: {name}: {state} {reason}")
    if results:
        verdict.fates[f"missing: {results[0][1]}"] += 1
    return not results


def _check_content(verdict: Verdict, name: str, story: Story, article: Article) -> None:
    verdict.check(article.title == story.title, f"other headline: {name}: {article.title!r}")
    if article.access == "open":
        # Each paragraph has numbers of its own.
        is_whole = all(paragraph in article.text for paragraph in story.paragraphs)
        verdict.check(is_whole, f"other text: {name}: {article.text[:80]!r}")
    moment = article.published_at
    verdict.check(moment == story.published, f"other time: {name}: {moment}")


def _check_gaps(
    verdict: Verdict, database: Database, paper: Paper, missing: Sequence[Story]
) -> None:
    """Check that at least as many articles are named as missing as were never listed while the
    site could be read."""
    if not missing:
        return
    first = min(story.published.date() for story in missing)
    query = select(Coverage.day, Coverage.state, Coverage.note).join(Source)
    with database.reading() as session:
        rows = session.execute(
            query.where(Source.slug == paper.slug, Coverage.note != "").order_by(Coverage.day)
        ).all()
    gaps = [
        int(number[1].replace(",", ""))
        for day, state, note in rows
        if day >= first and state == "incomplete"
        if (number := re.search(r"up to ([\d,]+) articles", note))
    ]
    verdict.fates["missing: feed rolled over"] += len(missing)
    verdict.check(
        max(gaps, default=0) >= len(missing),
        f"lost without a word: {len(missing)} of {paper.slug} since {first}: "
        f"{[f'{day}: {state} ({note})' for day, state, note in rows]}",
    )


def _check_counts(
    verdict: Verdict, database: Database, stored: Mapping[Story, Article], now: datetime
) -> None:
    for zone in ZONES:
        read: Counter[str] = Counter()
        naming: dict[str, Counter[str]] = defaultdict(Counter)
        for story, article in stored.items():
            day = story.published.astimezone(ZoneInfo(zone)).date().isoformat()
            read[day] += 1
            text = story.paragraphs
            if article.access != "open":
                text = (story.paragraphs[0][:INTRODUCTION],)
            for company in COMPANIES:
                naming[company][day] += any(company in part for part in (story.title, *text))
        scope = Scope(since=date.fromisoformat(min(read)), zone=zone, now=now)
        for company in COMPANIES:
            rows = mention_counts(database, "day", company=company, scope=scope)
            counts = {row.key: row.hits.articles if row.hits else 0 for row in rows}
            _compare(verdict, f"articles that name {company}, {zone}", counts, naming[company])
        counts = {row.key: row.completeness.read for row in rows}
        _compare(verdict, f"articles, {zone}", counts, read)


def _compare(
    verdict: Verdict, subject: str, counts: Mapping[str, int], truth: Mapping[str, int]
) -> None:
    wrong = {
        day: f"{counts.get(day, 0)}, not {truth.get(day, 0)}"
        for day in sorted({*counts, *truth})
        if counts.get(day, 0) != truth.get(day, 0)
    }
    verdict.check(not wrong, f"counted wrongly: {subject}: {wrong}")


def _check_incidents(
    verdict: Verdict, database: Database, world: World, mishaps: Iterable[Event]
) -> None:
    query = select(Incident, Source.slug).outerjoin(Source, Source.id == Incident.source_id)
    with database.reading() as session:
        rows = session.execute(query.order_by(Incident.opened_at)).all()
    events = {slug: paper.events for slug, paper in world.by_slug.items()}
    for incident, slug in rows:
        end = f"{incident.recovered_at:%m-%d %H:%M}" if incident.recovered_at else "open"
        line = f"{incident.cause}, {incident.opened_at:%m-%d %H:%M} to {end}: {incident.note}"
        verdict.alarms.append(line)
        has_cause = any(
            event.may_open(incident.kind, incident.opened_at)
            for event in (*events.get(slug, ()), *mishaps)
        )
        verdict.check(has_cause, f"alarm without a cause: {line}")
        verdict.check(incident.recovered_at, f"open at the end: {line}")
    kinds = {(slug, incident.kind) for incident, slug in rows}
    for slug, happenings in events.items():
        for event in happenings:
            is_told = not event.must or (slug, event.must) in kinds
            verdict.check(is_told, f"no alarm: {slug} {event.must}")
