"""What the local servers of sources saw: how close requests followed each other, and whose."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.site.server import FetchAttempt


@dataclass(frozen=True, slots=True, order=True)
class Gap:
    """The time between two requests of a source, the `number`th one and the one before."""

    seconds: float
    source: str
    number: int


@dataclass(frozen=True, slots=True)
class Traffic:
    """All requests of sources, in the order in which the system received them."""

    visits: Mapping[str, Sequence[FetchAttempt]]

    @classmethod
    def of(cls, visits: Mapping[str, Sequence[FetchAttempt]]) -> "Traffic":
        """Return the traffic of what servers saw, by source."""
        return cls(
            {slug: sorted(seen, key=lambda one: one.received) for slug, seen in visits.items()}
        )

    def pages(self) -> list[tuple[str, str]]:
        """Return source and path of each request of a page."""
        return [
            (slug, one.path)
            for slug, seen in self.visits.items()
            for one in seen
            if _is_page(slug, one)
        ]

    def gaps(self) -> Iterator[Gap]:
        """Yield the time before each request of a source but the first, robots.txt included."""
        for slug, seen in self.visits.items():
            for number, (before, after) in enumerate(pairwise(seen), 1):
                yield Gap(after.received - before.received, slug, number)

    def shortest(self) -> Gap:
        """Return the shortest time between two requests."""
        return min(self.gaps())

    def shortest_of_pages(self) -> float:
        """Return the shortest time between two pages of a source."""
        return min(
            after.received - before.received
            for slug, seen in self.visits.items()
            for before, after in pairwise(one for one in seen if _is_page(slug, one))
        )

    def shortest_read(self) -> float:
        """Return the shortest time between two requests by the moments at which they were read."""
        moments = ([one.moment for one in seen] for seen in self.visits.values())
        return min(after - before for seen in moments for before, after in pairwise(sorted(seen)))

    def overlaps(self) -> int:
        """Return how many requests a crawl sent after another crawl of its source had begun.

        A crawl begins with robots.txt, and uses no connections but its own."""
        found = 0
        for seen in self.visits.values():
            crawls: dict[int, int] = {}
            current = 0
            for one in seen:
                if one.connection not in crawls:
                    current += one.path == "/robots.txt"
                    crawls[one.connection] = current
                found += crawls[one.connection] != current
        return found

    def around(self, gap: Gap, reach: int = 5) -> list[str]:
        """Return lines about the requests before and after a gap."""
        seen = self.visits[gap.source]
        here = seen[gap.number]
        return [
            f"{one.received - here.received:+.3f} s, read {one.moment - here.moment:+.3f} s, "
            f"connection {one.connection}: {one.path}"
            for one in seen[max(0, gap.number - reach) : gap.number + reach]
        ]


def _is_page(slug: str, one: FetchAttempt) -> bool:
    return one.path.startswith(f"/{slug}/")
