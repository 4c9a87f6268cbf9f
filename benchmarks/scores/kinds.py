"""Count the detected kinds of labelled pages, by their type."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from newscrawl.cluster import Workers
from newscrawl.extraction.extract import extract
from newscrawl.items import Kind
from newscrawl.reading import NOT_ARTICLES
from newscrawl.training.corpus import GoldPage, map_pages

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
ARTICLE: Final = "article"
ALL_OTHERS: Final = "all others"


@dataclass(frozen=True, slots=True)
class TypeScore:
    """The numbers of pages of a type (`GoldPage.page_type`) by detected kind."""

    page_type: str
    kinds: Counter[Kind]

    @property
    def pages(self) -> int:
        """Return the number of pages of the type."""
        return self.kinds.total()

    @property
    def stored(self) -> float:
        """Return the share of pages that a crawl stores, or whose teaser it looks for."""
        dropped = sum(self.kinds[kind] for kind in NOT_ARTICLES)
        return 1 - dropped / self.pages


def score_kinds(
    pages: Sequence[GoldPage],
    on_page: Callable[[], None] = lambda: None,
    workers: Workers | None = None,
) -> list[TypeScore]:
    """Return a row for each type, articles first, the others by name, and one for all others."""
    kinds = map_pages(kind_of, pages, workers=workers, on_page=on_page)
    return by_type(zip((page.page_type for page in pages), kinds, strict=True))


def kind_of(page: GoldPage) -> Kind:
    """Return the kind of a page, as in a crawl."""
    return extract(page.html, page.url).kind


def by_type(decided: Iterable[tuple[str, Kind]]) -> list[TypeScore]:
    """Count pairs of type and kind."""
    counts: dict[str, Counter[Kind]] = defaultdict(Counter)
    for page_type, kind in decided:
        counts[page_type][kind] += 1
    names = sorted(counts, key=lambda name: (name != ARTICLE, name))
    other_types = [name for name in names if name != ARTICLE]
    scores = [TypeScore(name, counts[name]) for name in names]
    if len(other_types) > 1:
        total = sum((counts[name] for name in other_types), Counter[Kind]())
        scores.append(TypeScore(ALL_OTHERS, total))
    return scores
