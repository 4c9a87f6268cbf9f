"""Measure the gain of template memory on sites that the network was not trained on.

`python -m benchmarks.template_memory --corpus DIR --folds 5`; needs PyTorch. Each page is read with
the memory of its site's other pages, and without.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import typer

from benchmarks.command_line import run
from benchmarks.recipes.examples import MEASURES, Example, sides
from benchmarks.recipes.runs import examples_from, needing_torch
from newscrawl.cli.arguments import Format, corpus_from
from newscrawl.cli.output import Column, progress, render
from newscrawl.extraction.classifier import BALANCED, Network, combine
from newscrawl.extraction.template_memory import EMPTY, fingerprints, with_page, without_templates
from newscrawl.items import Memory
from newscrawl.training.corpus import Split, folds_by_site
from newscrawl.training.evaluation import score_page

if TYPE_CHECKING:
    from benchmarks.recipes.network import Epoch, NetworkSettings

# Three other pages are what makes a template (template_memory.MIN_PAGES).
LEAST_ON_SITE: Final = 4


@dataclass(frozen=True, slots=True)
class MemoryScore:
    """The scores of a page (`scores.score_page`) without memory and with it.

    `dropped` are the words that memory removed, `dropped_gold` those of them that are gold.
    """

    example: Example
    without: dict[str, float]
    remembering: dict[str, float]
    dropped: int
    dropped_gold: int


def cross_validate(
    examples: Sequence[Example],
    splits: Sequence[Split],
    settings: "NetworkSettings",
    on_epoch: "Callable[[Epoch], None]" = lambda _: None,
) -> list[MemoryScore]:
    """Train on each split's training sites; read the articles of its other sites, where a site
    has enough of them, with and without the memory of their neighbours."""
    from benchmarks.recipes.network import as_runtime, fit  # noqa: PLC0415  needs PyTorch

    scores: list[MemoryScore] = []
    for split in splits:
        train, test = sides(examples, split)
        if sites := _sites(test):
            network = as_runtime(fit(train, settings, on_epoch))
            scores += chain.from_iterable(of_site(site, network) for site in sites)
    return scores


def _sites(examples: Iterable[Example]) -> list[list[Example]]:
    sites: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        if example.page.page_type == "article":
            sites[example.page.owner].append(example)
    return [pages for pages in sites.values() if len(pages) >= LEAST_ON_SITE]


def of_site(pages: Sequence[Example], network: Network) -> Iterator[MemoryScore]:
    texts = [fingerprints(example.texts) for example in pages]
    for number, example in enumerate(pages):
        yield _score_with_memory(
            example, network, learn_memory(texts[:number] + texts[number + 1 :])
        )


def learn_memory(pages: Iterable[tuple[int, ...]]) -> Memory:
    """Return the memory of pages, by the fingerprints of their blocks."""
    memory = EMPTY
    for page in pages:
        memory = with_page(memory, page)
    return memory


def _score_with_memory(example: Example, network: Network, memory: Memory) -> MemoryScore:
    features = example.block_features
    choice = combine(network.probabilities(features), features.is_title, example.words, BALANCED)
    paragraphs = [example.texts[place] for place in np.flatnonzero(choice.mask)]
    remaining = without_templates(paragraphs, memory)
    removed = [
        place
        for place in np.flatnonzero(choice.mask).tolist()
        if example.texts[place] not in set(remaining)
    ]
    without, remembering = (
        score_page(example.page, "\n\n".join(texts), example.title, MEASURES)
        for texts in (paragraphs, remaining)
    )
    return MemoryScore(
        example,
        without,
        remembering,
        dropped=int(example.words[removed].sum()),
        dropped_gold=int(example.matched[removed].sum()),
    )


def show_remembered(scores: Sequence[MemoryScore], form: Format, *, title: str) -> None:
    """Show means over pages without template memory and with it, by set and over all."""
    groups: dict[str, list[MemoryScore]] = {}
    for each in scores:
        for group in (each.example.page.set, "all"):
            groups.setdefault(group, []).append(each)
    rows = [
        {
            "group": group,
            "sites": len({each.example.page.owner for each in members}),
            "pages": len(members),
            "changed": sum(each.dropped > 0 for each in members),
            "dropped": sum(each.dropped for each in members),
            "gold": sum(each.dropped_gold for each in members),
            "before": sum(each.without["word.f1"] for each in members) / len(members),
            "after": sum(each.remembering["word.f1"] for each in members) / len(members),
        }
        for group, members in sorted(groups.items())
    ]
    columns = [
        Column("group", "pages of"),
        Column("sites", number=True),
        Column("pages", number=True),
        Column("changed", number=True),
        Column("dropped", "words dropped", number=True),
        Column("gold", "of them gold", number=True),
        Column("before", "word F1", number=True, show=lambda value: f"{value:.4f}"),
        Column("after", "with memory", number=True, show=lambda value: f"{value:.4f}"),
    ]
    render(rows, columns, form, title=title)


def template_memory(
    corpus: Path | None = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of sites.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Times each page is seen.")] = 7,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights, order and dropout.")] = 0,
    form: Format = "table",
) -> None:
    """Score articles of unseen sites with and without template memory, by folds of sites.

    Needs PyTorch: the extra "network".
    """
    with needing_torch():
        from benchmarks.recipes.network import NetworkSettings  # noqa: PLC0415

    pages = corpus_from(corpus)
    settings = NetworkSettings(seed=seed, epochs=epochs)
    examples = examples_from(pages)
    with progress(f"{folds} folds", folds * settings.members * settings.epochs) as step:
        scores = cross_validate(
            examples,
            folds_by_site(pages, k=folds),
            settings,
            lambda now: step(f"loss {now.f1_loss:.4f}"),
        )
    title = f"articles of unseen sites with {LEAST_ON_SITE} and more, {folds} folds by site"
    show_remembered(scores, form, title=title)


if __name__ == "__main__":
    run(template_memory)
