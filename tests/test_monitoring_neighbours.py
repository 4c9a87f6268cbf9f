"""Which sources take turns."""

from newscrawl.monitoring.neighbours import neighbours
from newscrawl.sources import Source


def source(slug: str, home: str, *feeds: str) -> Source:
    return Source(
        slug=slug, name=slug, country="gb", languages=("en",), home=home, feeds=tuple(feeds)
    )


def test_sources_that_share_a_host_are_neighbours() -> None:
    found = neighbours(
        [
            source("a", "https://www.a.example/en", "https://feeds.example/a"),
            source("b", "https://a.example/fr"),
            source("c", "https://c.example/", "https://feeds.example/c"),
            source("d", "https://d.example/"),
        ]
    )
    assert found == {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}
