"""The watch as Prometheus sees it: each scrape reads the database anew."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from newscrawl.storage import Database, StorageError
from newscrawl.storage.source_stats import articles_so_far
from newscrawl.storage.status import SourceStatus, WatchStatus, watch_status

_STATES = ("running", "failing", "late", "never", "ok")


class WatchCollector(Collector):
    """Collects the metrics of the sources; `newscrawl_up` is 0 where the database fails."""

    def __init__(self, database: Database, slugs: Sequence[str]) -> None:
        self._database = database
        self._slugs = slugs

    def describe(self) -> list[Metric]:
        """Describe nothing: to name the metrics would take a scrape."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Read the database, and give what stands in it."""
        up = GaugeMetricFamily("newscrawl_up", "Whether the database could be read")
        try:
            found = watch_status(self._database, self._slugs)
            articles = articles_so_far(self._database)
        except StorageError:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield _articles(articles)
        yield from _sources(found)
        yield from _watch(found)


def registry(database: Database, slugs: Sequence[str]) -> CollectorRegistry:
    """A registry with the watch alone in it."""
    made = CollectorRegistry(auto_describe=False)
    made.register(WatchCollector(database, slugs))
    return made


def exposition(database: Database, slugs: Sequence[str]) -> str:
    """All metrics in Prometheus' text format."""
    return generate_latest(registry(database, slugs)).decode()


def _articles(articles: dict[str, int]) -> Metric:
    family = CounterMetricFamily(
        "newscrawl_articles", "New articles that were stored", labels=["source"]
    )
    for slug, number in sorted(articles.items()):
        family.add_metric([slug], number)
    return family


def _sources(found: WatchStatus) -> Iterator[Metric]:
    crawled = [one for one in found.sources if one.last_start or one.failures]

    def gauge(name: str, help_text: str, value: Callable[[SourceStatus], float | None]) -> Metric:
        family = GaugeMetricFamily(f"newscrawl_{name}", help_text, labels=["source"])
        for one in crawled:
            number = value(one)
            if number is not None:
                family.add_metric([one.slug], number)
        return family

    def late(one: SourceStatus) -> float:
        return (found.moment - one.due_at).total_seconds() if one.due_at else 0.0

    yield gauge("new_articles_hour", "New articles of the last hour", lambda one: one.new_hour)
    yield gauge("new_articles_day", "New articles of the last 24 hours", lambda one: one.new_day)
    yield gauge("crawls_day", "Crawls begun in the last 24 hours", lambda one: one.runs_day)
    yield gauge(
        "pages_failed_day",
        "Pages that couldn't be fetched in the last 24 hours",
        lambda one: one.pages_failed_day,
    )
    yield gauge(
        "last_crawl_timestamp_seconds",
        "Begin of the last crawl",
        lambda one: _seconds(one.last_start),
    )
    yield gauge(
        "last_success_timestamp_seconds",
        "End of the last crawl, within 24 hours, that read a feed or sitemap",
        lambda one: _seconds(one.last_success),
    )
    yield gauge("crawl_failures", "Crawls that failed in a row", lambda one: one.failures)
    yield gauge("pages_waiting", "Pages that can be fetched now", lambda one: one.waiting)
    yield gauge("late_seconds", "Time since the source is due", late)
    yield gauge(
        "gap_days",
        "Full days of the last seven on which it wasn't read",
        lambda one: len(one.gaps),
    )
    yield gauge(
        "quarantined_revisions",
        "Revisions that would make articles worse and wait for somebody",
        lambda one: one.quarantined,
    )
    state = GaugeMetricFamily(
        "newscrawl_source_state", "1 for the state that a source is in", labels=["source", "state"]
    )
    for one in crawled:
        for name in _STATES:
            state.add_metric([one.slug, name], one.state == name)
    yield state


def _watch(found: WatchStatus) -> Iterable[Metric]:
    alive = [one for one in found.workers if not one.silent]
    numbers = {
        "workers": ("Monitors that are up", len(alive)),
        "slots": ("Sources that they can crawl at a time", sum(one.slots for one in alive)),
        "slots_busy": ("Sources that are crawled now", sum(one.running for one in alive)),
        "queue_size": ("Sources that wait in the queue for a worker", found.queued),
    }
    for name, (help_text, value) in numbers.items():
        family = GaugeMetricFamily(f"newscrawl_{name}", help_text)
        family.add_metric([], value)
        yield family
    incidents = GaugeMetricFamily(
        "newscrawl_incidents", "Open incidents: what is wrong now", labels=["source", "kind"]
    )
    open_now = Counter((one.source or "", one.kind) for one in found.incidents)
    for labels, number in sorted(open_now.items()):
        incidents.add_metric(list(labels), number)
    yield incidents


def _seconds(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None
