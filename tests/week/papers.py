"""Papers that publish articles as time goes by, and what happens to their sites in the meantime.

All is known beforehand: when each article appears, where, and until when it can be read.
"""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape
from zoneinfo import ZoneInfo

from tests.newsroom import WRITING
from tests.site.broken import reset
from tests.site.faults import Answer
from tests.site.server import SiteServer

# Characters of an introduction in a listing.
INTRODUCTION = 140
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
COMPANIES = ("Siemens", "Airbus", "Renault", "Bayer", "Iberdrola")
_UTC = ZoneInfo("UTC")
_XML = "application/xml; charset=utf-8"
# Listings are made now and then: a deleted article is in them for some time.
_LISTED_LONGER = 12 * HOUR
_GONE = Answer(status=404, body=b"<html><title>Not found</title><h1>Not found</h1></html>")
_SHELL = (
    "<html><head><title>{name}</title></head><body><div id=app></div><noscript>Bitte aktivieren "
    "Sie JavaScript, um diese Seite zu lesen. Please enable JavaScript to read this page, and "
    "reload it afterwards in your browser.</noscript></body></html>"
)
_WELCOME = (
    "<html><head><title>Welcome to the new {name}</title></head><body><main><article>"
    "<h1>Welcome to the new {name}</h1><p>Our site has a new home, with the news of the harbour, "
    "the plant and the river in one place. The old addresses of our articles lead here, because "
    "the archive has not moved with us. We hope that you find your way.</p><p>Readers find the "
    "newest reports on the front page, the services for the town beside them, and the weather of "
    "the coast below. Tell us what you miss; the desk reads all that you send us every morning."
    "</p><p>The trams, the council and the market have their own pages from today on, and the "
    "letters of our readers are on the last one, as they were in print for a hundred years.</p>"
    "</article></main></body></html>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """An article: when it appears, and when it is changed and deleted, if ever."""

    source: str
    number: int
    published: datetime
    title: str
    companies: tuple[str, str]
    paragraphs: tuple[str, ...]
    correction: str
    edited: datetime | None = None
    deleted: datetime | None = None

    @property
    def path(self) -> str:
        return f"/news/{self.published:%Y/%m/%d}/{self.number}-report"

    @property
    def new_path(self) -> str:
        """Return the path after the site has moved its articles."""
        return f"/articles/{self.number}"

    def text(self, now: datetime) -> tuple[str, ...]:
        """Return the paragraphs as they are at a moment."""
        if self.edited is None or now < self.edited:
            return self.paragraphs
        return (*self.paragraphs, self.correction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request for a path of a paper, that of an article or not."""

    paper: "Paper"
    path: str
    story: Story | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happens to a paper from `start` to `end`. `alarms` are the kinds of incidents that it
    may open, within a day and a half of its end: health is compared by days. `must` is the one that
    it must open."""

    start: datetime
    end: datetime
    alarms: frozenset[str] = frozenset()
    must: str = ""

    def may_open(self, kind: str, moment: datetime) -> bool:
        """Return whether an incident that opened at this moment may be due to it."""
        return kind in self.alarms and self.start <= moment <= self.end + 1.5 * DAY

    def is_on(self, now: datetime) -> bool:
        return self.start <= now < self.end

    def answer(self, visit: Visit) -> Answer | None:  # noqa: ARG002 - for those who override it
        """Return the answer while it happens; None for the usual one."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage(Event):
    """All requests fail: by a status, or without an answer where it is 0."""

    status: int = 500

    def answer(self, visit: Visit) -> Answer | None:  # noqa: ARG002 - all are alike
        return Answer(status=self.status) if self.status else Answer(instead=reset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost(Event):
    """Some paths are answered by a status."""

    paths: tuple[str, ...]
    status: int = 404

    def answer(self, visit: Visit) -> Answer | None:
        return Answer(status=self.status) if visit.path in self.paths else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Event):
    """Articles, but not listings, are answered by a status: 403 for visitors like us, 402 for those
    who haven't paid."""

    status: int

    def answer(self, visit: Visit) -> Answer | None:
        return Answer(status=self.status, body=b"<h1>Sorry</h1>") if visit.story else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paywall(Event):
    """Articles show their first sentence and an offer, and say that they aren't free."""

    def answer(self, visit: Visit) -> Answer | None:
        if visit.story is None:
            return None
        text = visit.story.paragraphs[:1]
        return Answer(body=visit.paper.page(visit.story, text=text, free=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class Disallowed(Event):
    """robots.txt forbids all."""

    def answer(self, visit: Visit) -> Answer | None:
        if visit.path != "/robots.txt":
            return None
        return Answer(body=b"User-agent: *\nDisallow: /\n", kind="text/plain")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shells(Event):
    """Articles are made by scripts, which nobody runs here."""

    def answer(self, visit: Visit) -> Answer | None:
        return Answer(body=_SHELL.format(name=visit.paper.name).encode()) if visit.story else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Redesign(Event):
    """Articles look otherwise."""

    def answer(self, visit: Visit) -> Answer | None:
        if visit.story is None:
            return None
        text = visit.story.text(visit.now)
        return Answer(body=visit.paper.page(visit.story, text=text, new=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved(Event):
    """Articles have new addresses, to which the old ones lead."""

    def answer(self, visit: Visit) -> Answer | None:
        if visit.story is None or visit.path == visit.story.new_path:
            return None
        return Answer(status=301, headers=(("Location", visit.story.new_path),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaunch(Event):
    """All earlier addresses show a welcome, by a redirect or at once; its articles are gone."""

    redirects: bool

    def answer(self, visit: Visit) -> Answer | None:
        if visit.path == "/welcome":
            return Answer(body=_WELCOME.format(name=visit.paper.name).encode())
        if visit.story is None or visit.story.published >= self.start:
            return None
        if self.redirects:
            return Answer(status=301, headers=(("Location", "/welcome"),))
        return Answer(body=_WELCOME.format(name=visit.paper.name).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike(Event):
    """Nothing is published."""


@dataclass(slots=True, kw_only=True)
class Paper(SiteServer):
    """A paper with its site. `listings` are the columns of its row in the file of sources; each
    `overloaded`th request of an article is answered 503. `before_story` is called before
    an article is sent."""

    slug: str
    clock: Callable[[], datetime]
    country: str = "gb"
    language: str = "en"
    zone: ZoneInfo = _UTC
    daily: int = 8
    feed_size: int = 20
    listings: tuple[str, ...] = ("feeds",)
    events: tuple[Event, ...] = ()
    stories: tuple[Story, ...] = ()
    overloaded: int = 0
    by_path: dict[str, Story] = field(default_factory=dict)
    before_story: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        return self.slug.replace("-", " ").title()

    def publish(self, stories: Iterable[Story]) -> None:
        """Set the articles of all days."""
        self.stories = tuple(stories)
        for story in self.stories:
            self.by_path |= {story.path: story, story.new_path: story}

    def row(self) -> dict[str, str]:
        """Return the row in the file of sources."""
        urls = {"feeds": "/feed.xml", "sitemaps": "/sitemap.xml", "news_sitemaps": "/news.xml"}
        return {
            "slug": self.slug,
            "name": self.name,
            "country": self.country,
            "languages": self.language,
            "home": f"{self.url}/",
            "status": "active",
            **{column: self.url + urls[column] for column in self.listings},
        }

    def urls(self, story: Story) -> set[str]:
        """Return all addresses of an article."""
        return {self.url + story.path, self.url + story.new_path}

    def on(self, kind: type[Event], now: datetime) -> Event | None:
        """Return the event of a kind that happens now."""
        return next(
            (event for event in self.events if isinstance(event, kind) and event.is_on(now)), None
        )

    def listed(self, now: datetime) -> list[Story]:
        """Return the articles that can be found now, the newest first."""
        relaunch = self.on(Relaunch, now)
        return sorted(
            (
                story
                for story in self.stories
                if story.published <= now
                and (story.deleted is None or now < story.deleted + _LISTED_LONGER)
                and (relaunch is None or story.published >= relaunch.start)
            ),
            key=lambda story: story.published,
            reverse=True,
        )

    def shows(self, story: Story, moments: Iterable[datetime]) -> bool:
        """Return whether an article is listed at one of these moments, while the site answers and
        robots.txt allows to read its listings."""
        return any(
            not (self.on(Outage, moment) or self.on(Disallowed, moment))
            and story in self.listed(moment)
            for moment in moments
        )

    def answer(self, path: str, attempt: int) -> Answer:
        """Return what the site says now."""
        now = self.clock()
        story = self.by_path.get(path)
        if story and self.before_story:
            self.before_story()
        if story and story.published > now:
            return _GONE
        answer = self._usual(path, story, now, attempt)
        visit = Visit(paper=self, path=path, story=story, now=now)
        for event in self.events:
            if event.is_on(now) and (changed := event.answer(visit)) is not None:
                answer = changed
        if story and story.deleted and now >= story.deleted and answer.status == 200:
            return Answer(status=410)
        return answer

    def _usual(self, path: str, story: Story | None, now: datetime, attempt: int) -> Answer:
        if story is None:
            return self._listing(path, now)
        if self.overloaded and (story.number + attempt) % self.overloaded == 0:
            return Answer(status=503, headers=(("Retry-After", "1"),))
        return Answer(body=self.page(story, text=story.text(now)))

    def _listing(self, path: str, now: datetime) -> Answer:
        if path == "/robots.txt":
            return Answer(body=b"User-agent: *\nDisallow: /members/\n", kind="text/plain")
        listed = self.listed(now)
        links = [(self._link(story, now), story) for story in listed]
        if path == "/feed.xml":
            return Answer(body=_feed(self, links[: self.feed_size]), kind=_XML)
        if path == "/sitemap.xml":
            return Answer(body=_sitemap(links, self.zone), kind=_XML)
        if path == "/news.xml":
            recent = [(link, story) for link, story in links if story.published > now - 2 * DAY]
            return Answer(body=_news_sitemap(self, recent), kind=_XML)
        if path == "/":
            return Answer(body=_front_page(self, links[: self.feed_size]))
        return _GONE

    def _link(self, story: Story, now: datetime) -> str:
        return self.url + (story.new_path if self.on(Moved, now) else story.path)

    def page(
        self, story: Story, *, text: Sequence[str], free: bool = True, new: bool = False
    ) -> bytes:
        """Return the page of an article, in the old design or the new one."""
        local = story.published.astimezone(self.zone).isoformat()
        facts = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": story.title,
            "datePublished": local,
            "isAccessibleForFree": free,
        }
        body = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in text)
        if not free:
            body += "<div class=paywall><p>Subscribe for 9 a month to read on.</p></div>"
        design = _NEW if new else _OLD
        return design.format(
            language=self.language,
            title=escape(story.title),
            name=self.name,
            body=body,
            facts=json.dumps(facts),
            published=local,
        ).encode()


_OLD = (
    "<!DOCTYPE html><html lang={language}><head><meta charset=utf-8><title>{title} - {name}</title>"
    "<meta property=article:published_time content={published}>"
    "<script type=application/ld+json>{facts}</script></head><body><nav><ul>"
    "<li><a href=/>Home</a></li><li><a href=/city>City</a></li></ul></nav><main><article>"
    "<h1>{title}</h1>{body}</article></main><footer><p>Contact · Privacy · Imprint</p></footer>"
    "</body></html>"
)
_NEW = (
    "<!DOCTYPE html><html lang={language}><head><meta charset=utf-8><title>{title} | {name}</title>"
    "<script type=application/ld+json>{facts}</script></head><body><header class=top>"
    "<div class=menu><a href=/>Front page</a><a href=/sport>Sport</a><a href=/region>Region</a>"
    "</div></header>"
    "<div class=grid><section class=story><header><h1 class=head>{title}</h1></header>"
    "<div class='story-body rich'>{body}</div></section><aside class=rail><h2>Most read</h2>"
    "<ul><li><a href=/a>The ferry is late again</a></li><li><a href=/b>Rain until Sunday</a></li>"
    "</ul></aside></div><footer><ul><li>About us</li><li>Terms</li></ul></footer></body></html>"
)


def _feed(paper: Paper, links: Sequence[tuple[str, Story]]) -> bytes:
    items = "".join(
        f"<item><title>{escape(story.title)}</title>"
        f"<link>{escape(f'{link}?utm_source=rss&utm_medium=feed')}</link>"
        f"<description>{escape(story.paragraphs[0][:INTRODUCTION])}</description>"
        f"<pubDate>{format_datetime(story.published.astimezone(paper.zone))}</pubDate></item>"
        for link, story in links
    )
    head = f"<title>{paper.name}</title><link>{paper.url}/</link>"
    return f"<rss version='2.0'><channel>{head}{items}</channel></rss>".encode()


def _sitemap(links: Sequence[tuple[str, Story]], zone: ZoneInfo) -> bytes:
    items = "".join(
        f"<url><loc>{link}</loc><lastmod>{story.published.astimezone(zone).isoformat()}</lastmod>"
        "</url>"
        for link, story in links
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{items}</urlset>'.encode()


def _news_sitemap(paper: Paper, links: Sequence[tuple[str, Story]]) -> bytes:
    items = "".join(
        f"<url><loc>{link}</loc><news:news><news:publication><news:name>{paper.name}</news:name>"
        f"<news:language>{paper.language}</news:language></news:publication>"
        f"<news:publication_date>{story.published.astimezone(paper.zone).isoformat()}"
        f"</news:publication_date><news:title>{escape(story.title)}</news:title></news:news></url>"
        for link, story in links
    )
    schemas = (
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    )
    return f"<urlset {schemas}>{items}</urlset>".encode()


def _front_page(paper: Paper, links: Sequence[tuple[str, Story]]) -> bytes:
    teasers = "".join(
        f"<article><h2><a href='{link}'>{escape(story.title)}</a></h2>"
        f"<p>{escape(story.paragraphs[0][:INTRODUCTION])}</p></article>"
        for link, story in links
    )
    alternate = ""
    if "feeds" in paper.listings:
        alternate = "<link rel=alternate type=application/rss+xml href=/feed.xml>"
    head = f"<meta charset=utf-8><title>{paper.name}</title>{alternate}"
    return f"<html><head>{head}</head><body><main>{teasers}</main></body></html>".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """The days on which papers publish: from `first`, a midnight in UTC, for a number of days."""

    first: datetime
    days: int
    seed: int = 34

    @property
    def end(self) -> datetime:
        return self.first + self.days * DAY

    def stories(self, paper: Paper) -> list[Story]:
        """Return a paper's articles, fewer at weekends, none in a strike."""
        rng = random.Random(f"{self.seed} {paper.slug}")  # noqa: S311 - no secret
        moments = []
        for number in range(self.days):
            day = (self.first + number * DAY).date()
            part = 0.6 if day.weekday() > 4 else 1.0
            count = max(1, round(rng.gauss(paper.daily * part, 1)))
            minutes = sorted(rng.randrange(24 * 60) for _ in range(count))
            moments += [
                datetime(day.year, day.month, day.day, minute // 60, minute % 60, tzinfo=UTC)
                for minute in minutes
            ]
        chosen = [moment for moment in moments if not paper.on(Strike, moment)]
        return [_story(paper, number, moment, rng) for number, moment in enumerate(chosen)]


def _story(paper: Paper, number: int, moment: datetime, rng: random.Random) -> Story:
    writing = WRITING[paper.language]
    a, b = rng.sample(COMPANIES, 2)

    def details() -> dict[str, object]:
        place, town = rng.sample(WRITING["places"], 2)
        who, another = rng.sample(WRITING["people"], 2)
        numbers = {"n": rng.randrange(40, 9000), "m": rng.randrange(3, 900)}
        words = {"place": place, "town": town, "who": who, "other": another}
        return {"a": a, "b": b, "day": f"{moment:%d.%m.%Y}", **words, **numbers}

    first, *further = writing["paragraphs"]
    paragraphs = [first.format(**details())]
    for _ in range(rng.randrange(2, 4)):
        paragraphs += [template.format(**details()) for template in further]
    title = rng.choice(writing["titles"]).format(a=a, b=b)
    place = rng.choice(WRITING["places"])
    return Story(
        source=paper.slug,
        number=number,
        published=moment,
        title=f"{title}, {place} {rng.randrange(100, 9999)}",
        companies=(a, b),
        paragraphs=tuple(paragraphs),
        correction=further[-1].format(**details()),
        edited=moment + 3 * HOUR if number % 5 == 1 else None,
        deleted=moment + rng.choice((1, 9, 30)) * HOUR if number % 9 == 3 else None,
    )
