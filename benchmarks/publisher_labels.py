"""Measure the value of publishers' texts in JSON-LD as labels, on sites not trained on.

`python -m benchmarks.publisher_labels --corpus DIR`; needs PyTorch. For each fold of the sites that
are not sealed, a network learns from the gold texts of the others; the same network is then trained
further on those of their pages that state a text, and another one learns from these alone.
"""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.command_line import run
from benchmarks.recipes.examples import Example, sides
from benchmarks.recipes.publisher_labels import (
    PublisherPage,
    UnusableError,
    read_publisher_page,
    write_set,
)
from benchmarks.recipes.runs import examples_from, needing_torch
from newscrawl.cli.arguments import Format, corpus_from
from newscrawl.cli.output import Column, progress, render, write_note
from newscrawl.training.corpus import DEVELOPMENT, Corpus, GoldPage, folds_by_site, load_corpus

if TYPE_CHECKING:
    from newscrawl.extraction.classifier import Network

# Ours: since the pages are few, each is seen more often.
EPOCHS_ALONE = 30


def labelled_pages(pages: Corpus) -> Iterator[PublisherPage]:
    """Yield the pages that state their text; those without an address are given one."""
    for page in pages:
        try:
            yield read_publisher_page(_bytes(page), page.url or f"https://{page.site}/{page.id}")
        except UnusableError:
            continue


def _bytes(page: GoldPage) -> bytes:
    """Return the bytes of a page with its JSON-LD."""
    data = page.path.read_bytes()
    return gzip.decompress(data) if page.path.suffix == ".gz" else data


def labels_of(pages: Corpus, folder: Path) -> Corpus:
    """Write the pages that state their text as a set of their own."""
    write_set(folder, labelled_pages(pages))
    return load_corpus(folder)


def publisher_labels(
    corpus: Path | None = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of sites.")] = 5,
    epochs: Annotated[int, typer.Option(min=1, help="Times each gold text is seen.")] = 7,
    form: Format = "table",
) -> None:
    """Score articles of unseen sites by networks that learned from gold texts, from these and from
    texts in JSON-LD, and from the latter alone.

    Needs PyTorch: the extra "network".
    """
    with needing_torch():
        from benchmarks.recipes import network  # noqa: PLC0415

    pages = corpus_from(corpus).part(DEVELOPMENT)
    settings = replace(network.NetworkSettings(), epochs=epochs)
    alone = replace(settings, epochs=EPOCHS_ALONE, set_weights={})
    examples = examples_from(pages)
    with TemporaryDirectory() as folder:
        stated = examples_from(labels_of(pages, Path(folder)))
    write_note(f"{len(stated)} pages state their text")
    scores: dict[str, list[float]] = {}
    with progress(f"{folds} folds", folds) as step:
        for split in folds_by_site(pages, k=folds):
            train, test = sides(examples, split)
            sites = set(split.test.sites)
            labels = [example for example in stated if example.page.owner not in sites]
            gold = network.fit(train, settings)
            further = network.fit_further(gold, labels, network.settings_of_archives())
            fitted = {
                "gold texts": gold,
                "these, then JSON-LD": further,
                "JSON-LD alone": network.fit(labels, alone),
            }
            for name, each in fitted.items():
                scores.setdefault(name, []).extend(_word_f1(test, network.as_runtime(each)))
            step("")
    _show(scores, form)


def _word_f1(examples: list[Example], trained: "Network") -> list[float]:
    from benchmarks.recipes.network import score  # noqa: PLC0415

    articles = [example for example in examples if example.page.page_type == "article"]
    return [score(example, trained, 0.5).values["word.f1"] for example in articles]


def _show(scores: dict[str, list[float]], form: Format) -> None:
    rows = [
        {"learned": name, "pages": len(values), "f1": sum(values) / len(values)}
        for name, values in scores.items()
    ]
    columns = [
        Column("learned", "learned from"),
        Column("pages", number=True),
        Column("f1", "word F1", number=True, show=lambda value: f"{value:.4f}"),
    ]
    render(rows, columns, form, title="articles of sites not trained on")


if __name__ == "__main__":
    run(publisher_labels)
