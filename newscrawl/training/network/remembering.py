"""What template memory adds on sites that the network was not trained on.

Each page is read with what the other pages of its site teach, and without.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from newscrawl.extraction.classifier import BALANCED, Network, combine
from newscrawl.extraction.template_memory import NOTHING, fingerprints, with_page, without_templates
from newscrawl.items import Memory
from newscrawl.training.block_scores import MEASURES
from newscrawl.training.network.examples import Example, sides
from newscrawl.training.network.export import as_runtime
from newscrawl.training.network.fit import Epoch, Recipe, fit
from newscrawl.training.scores import score_page
from newscrawl.training.splits import Split

# Three other pages are what makes a template (memory.LEAST_PAGES).
LEAST_ON_SITE: Final = 4


@dataclass(frozen=True, slots=True)
class Remembered:
    """The scores of a page (`scores.score_page`) without memory and with it.

    `dropped` are the words that memory took away, `dropped_gold` those of them that are gold.
    """

    example: Example
    without: dict[str, float]
    remembering: dict[str, float]
    dropped: int
    dropped_gold: int


def cross_validate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    recipe: Recipe,
    told: Callable[[Epoch], None] = lambda _: None,
) -> list[Remembered]:
    """Train on each split's training sites; read the articles of its other sites, where a site
    has enough of them, with and without the memory of their neighbours."""
    found: list[Remembered] = []
    for split in splits:
        train, test = sides(examples, split)
        if sites := _sites(test):
            network = as_runtime(fit(train, recipe, told))
            found += chain.from_iterable(of_site(site, network) for site in sites)
    return found


def _sites(examples: Iterable[Example]) -> list[list[Example]]:
    sites: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.page.page_type == "article":
            sites[example.page.owner].append(example)
    return [pages for pages in sites.values() if len(pages) >= LEAST_ON_SITE]


def of_site(pages: Sequence[Example], network: Network) -> Iterator[Remembered]:
    texts = [fingerprints(example.texts) for example in pages]
    for number, example in enumerate(pages):
        yield _remembered(example, network, learned(texts[:number] + texts[number + 1 :]))


def learned(pages: Iterable[tuple[int, ...]]) -> Memory:
    """The memory of pages, by the fingerprints of their blocks."""
    memory = NOTHING
    for page in pages:
        memory = with_page(memory, page)
    return memory


def _remembered(example: Example, network: Network, memory: Memory) -> Remembered:
    choice = combine(example.evidence, example.words, network, BALANCED)
    kept = [example.texts[place] for place in np.flatnonzero(choice.kept)]
    own = without_templates(kept, memory)
    gone = [
        place
        for place in np.flatnonzero(choice.kept).tolist()
        if example.texts[place] not in set(own)
    ]
    without, remembering = (
        score_page(example.page, "\n\n".join(texts), example.title, MEASURES)
        for texts in (kept, own)
    )
    return Remembered(
        example,
        without,
        remembering,
        dropped=int(example.words[gone].sum()),
        dropped_gold=int(example.matched[gone].sum()),
    )
