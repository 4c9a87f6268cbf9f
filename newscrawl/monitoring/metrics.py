"""Metrics of sources and monitors for Prometheus: each scrape reads the database."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import get_args

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from newscrawl.items import Withheld
from newscrawl.storage import Database, StorageError
from newscrawl.storage.source_stats import articles_so_far
from newscrawl.storage.status import Health, SourceStatus, watch_status

# The gauges of a source: name, help text, and value.
_GAUGES: tuple[tuple[str, str, Callable[[SourceStatus], float | None]], ...] = (
    ("new_articles_hour", "New articles of the last hour", lambda source: source.new_hour),
    ("new_articles_day", "New articles of the last 24 hours", lambda source: source.new_day),
    ("crawls_day", "Crawls begun in the last 24 hours", lambda source: source.runs_day),
    (
        "pages_failed_day",
        "Pages that couldn't be fetched in the last 24 hours",
        lambda source: source.pages_failed_day,
    ),
    (
        "last_crawl_timestamp_seconds",
        "Start of the last crawl",
        lambda source: _seconds(source.last_start),
    ),
    (
        "last_success_timestamp_seconds",
        "End of the last crawl, within 24 hours, that read a feed or sitemap",
        lambda source: _seconds(source.last_success),
    ),
    (
        "crawl_running",
        "Whether the source is being crawled",
        lambda source: bool(source.running_since),
    ),
    ("crawl_failures", "Crawls that failed in a row", lambda source: source.failures),
    ("pages_waiting", "Pages that can be fetched now", lambda source: source.waiting),
    (
        "gap_days",
        "Full days of the last seven on which the source wasn't read",
        lambda source: len(source.gaps),
    ),
    (
        "quarantined_revisions",
        "Versions in the quarantine that wait for a decision",
        lambda source: source.quarantined,
    ),
)


class WatchCollector(Collector):
    """Collects the metrics of the sources; `newscrawl_up` is 0 where the database fails."""

    def __init__(self, database: Database, slugs: Sequence[str] | None) -> None:
        self._database = database
        self._slugs = slugs

    def describe(self) -> list[Metric]:
        """Describe nothing: the names are known after a scrape only."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Read the database and yield its metrics."""
        up = GaugeMetricFamily("newscrawl_up", "Whether the database could be read")
        try:
            status = watch_status(self._database, self._slugs)
            articles = articles_so_far(self._database)
        except StorageError:
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        stored = CounterMetricFamily(
            "newscrawl_articles", "New articles that were stored", labels=["source"]
        )
        for slug, number in sorted(articles.items()):
            stored.add_metric([slug], number)
        yield stored
        crawled = [source for source in status.sources if source.last_start or source.failures]

        def late(source: SourceStatus) -> float:
            return (status.moment - source.due_at).total_seconds() if source.due_at else 0.0

        for name, help_text, read in (*_GAUGES, ("late_seconds", "Time since it was due", late)):
            family = GaugeMetricFamily(f"newscrawl_{name}", help_text, labels=["source"])
            for source in crawled:
                reading = read(source)
                if reading is not None:
                    family.add_metric([source.source], reading)
            yield family
        withheld = GaugeMetricFamily(
            "newscrawl_pages_withheld_day",
            "Pages of the last 24 hours of which only headline and introduction may be read",
            labels=["source", "reason"],
        )
        for source in crawled:
            for reason in get_args(Withheld):
                withheld.add_metric([source.source, reason], source.withheld_day.get(reason, 0))
        yield withheld
        health = GaugeMetricFamily(
            "newscrawl_source_health", "1 for the health of a source", labels=["source", "health"]
        )
        for source in status.sources:
            for name in Health:
                health.add_metric([source.source, name], source.health == name)
        yield health
        alive = [worker for worker in status.workers if not worker.silent]
        numbers = {
            "workers": ("Monitors that are running", len(alive)),
            "slots": (
                "Sources that they can crawl at a time",
                sum(worker.slots for worker in alive),
            ),
            "slots_busy": ("Sources that are crawled now", sum(worker.running for worker in alive)),
            "queue_size": ("Sources taken and not yet begun", status.queued),
        }
        for name, (help_text, value) in numbers.items():
            family = GaugeMetricFamily(f"newscrawl_{name}", help_text)
            family.add_metric([], value)
            yield family
        incidents = GaugeMetricFamily(
            "newscrawl_incidents", "Open incidents", labels=["source", "kind"]
        )
        open_now = Counter((incident.source or "", incident.kind) for incident in status.incidents)
        for labels, count in sorted(open_now.items()):
            incidents.add_metric(list(labels), count)
        yield incidents


def registry(database: Database, slugs: Sequence[str] | None) -> CollectorRegistry:
    """Return a registry with these metrics only."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(WatchCollector(database, slugs))
    return registry


def exposition(database: Database, slugs: Sequence[str] | None) -> str:
    """Return all metrics in Prometheus' text format."""
    return generate_latest(registry(database, slugs)).decode()


def _seconds(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None
