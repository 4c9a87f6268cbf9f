"""Every method over every page of a corpus, in several processes."""

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial

from newscrawl.extraction.extract import extract
from newscrawl.items import Article
from newscrawl.mentions import Companies, load_companies
from newscrawl.training import scores
from newscrawl.training.corpus import GoldPage
from newscrawl.training.fit import processes_worth

MENTIONS = "mentions"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageScore:
    """What one method reached on one page. `values` are named as in scores.score_page.

    Counts of companies, where asked for, are "mentions.found", "mentions.wanted" and
    "mentions.common" (companies), "mentions.count" and "mentions.gold_count" (mentions).
    """

    method: str
    id: str
    set: str
    lang: str
    site: str
    page_type: str
    path: str
    seconds: float
    values: Mapping[str, float] = field(default_factory=dict)


def evaluate(
    pages: Sequence[GoldPage],
    methods: Sequence[str],
    measures: Sequence[str] = scores.DEFAULT_MEASURES,
    *,
    workers: int | None = None,
    on_page: Callable[[], None] = lambda: None,
) -> list[PageScore]:
    """Score every method on every page, pages in order and methods in order within a page.

    `workers` processes share the pages, by default one a core where there are enough pages;
    `on_page` is called here after each page.
    """
    if MENTIONS in measures:
        load_companies()  # so that a broken file is told of here, not by a dead process
    job = partial(evaluate_page, methods=tuple(methods), measures=tuple(measures))
    results: list[PageScore] = []
    if (workers or processes_worth(len(pages))) == 1:
        for page in pages:
            results += job(page)
            on_page()
        return results
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        try:
            for page_scores in pool.map(job, pages, chunksize=4):
                results += page_scores
                on_page()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def evaluate_page(
    page: GoldPage, methods: Sequence[str], measures: Sequence[str]
) -> list[PageScore]:
    """The scores of one page by each method."""
    html = page.html
    results = []
    for method in methods:
        start = time.perf_counter()
        article = extract(html, page.url, method=method)
        seconds = time.perf_counter() - start
        values = scores.score_page(page, article.text, article.title, measures)
        if MENTIONS in measures and page.text is not None:
            values |= _mention_counts(page, article)
        results.append(
            PageScore(
                method=method,
                id=page.id,
                set=page.set,
                lang=page.lang,
                site=page.owner,
                page_type=page.page_type,
                path=str(page.path),
                seconds=seconds,
                values=values,
            )
        )
    return results


def _mention_counts(page: GoldPage, article: Article) -> dict[str, float]:
    found, gold = (
        Counter(mention.company for mention in _companies().find(text, language=page.lang))
        for text in scores.settled(page, article.text, article.title)
    )
    return {
        f"{MENTIONS}.found": len(found),
        f"{MENTIONS}.wanted": len(gold),
        f"{MENTIONS}.common": len(found.keys() & gold.keys()),
        f"{MENTIONS}.count": found.total(),
        f"{MENTIONS}.gold_count": gold.total(),
    }


@cache
def _companies() -> Companies:
    """The bundled registry, read once a process."""
    return load_companies()
