"""Splits of a corpus by site, never by page: what was learned is judged on unseen sites.

A site goes where a hash of seed and name puts it, within its stratum (the set and
language of most of its pages), so a split depends on nothing but corpus and seed.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from newscrawl.training.corpus import Corpus, CorpusError, GoldPage

TRAINING_SHARE = 0.7  # Ziegler & Skubacz 2007, section 4


@dataclass(frozen=True)
class Split:
    """Two corpora that share no site."""

    train: Corpus
    test: Corpus

    def only(self, wanted: Corpus) -> "Split":
        """The same split of fewer pages: whatever is chosen, a site stays on its side.

        Raises:
            CorpusError: a side that has none of the wanted pages.
        """
        pages = frozenset(wanted)
        sides = [
            Corpus(side.name, tuple(page for page in side if page in pages))
            for side in (self.train, self.test)
        ]
        for side, name in zip(sides, ("training", "testing"), strict=True):
            if not len(side):
                raise CorpusError(
                    f"{side.name}: none of the pages asked for is on a site for {name}; "
                    "ask for more pages or give another --split-seed"
                )
        return Split(*sides)


def split_by_site(corpus: Corpus, *, share: float = TRAINING_SHARE, seed: int = 0) -> Split:
    """Part the sites so that about `share` of each stratum's pages are for training.

    Raises:
        CorpusError: fewer than two sites.
    """
    if not 0 < share < 1:
        raise CorpusError(f"a training share of {share:g} leaves one side empty; give 0.1 to 0.9")
    train, test = _deal(corpus, (share, 1 - share), seed)
    return Split(train, test)


def folds_by_site(corpus: Corpus, *, k: int = 5, seed: int = 0) -> list[Split]:
    """k splits in which every page is tested once.

    Raises:
        CorpusError: k below two, or more than there are sites.
    """
    if k < 2:
        raise CorpusError(f"{k} folds leave nothing to test on; give 2 or more")
    return [
        Split(train=_without_sites(corpus, frozenset(test.sites)), test=test)
        for test in _deal(corpus, (1 / k,) * k, seed)
    ]


def _without_sites(corpus: Corpus, sites: frozenset[str]) -> Corpus:
    return Corpus(corpus.name, tuple(page for page in corpus if page.owner not in sites))


def _deal(corpus: Corpus, shares: Sequence[float], seed: int) -> list[Corpus]:
    """Deal each stratum's sites to the part that lacks most pages of its share so far."""
    if len(corpus.sites) < len(shares):
        raise CorpusError(
            f"{corpus.name}: {len(corpus.sites)} site(s) can't be split into {len(shares)} parts; "
            "a split is by site, so add pages of other sites"
        )
    sites: dict[str, list[GoldPage]] = defaultdict(list)
    for page in corpus:
        sites[page.owner].append(page)
    part_of: dict[str, int] = {}
    filled = [0] * len(shares)
    reached = 0
    for stratum in _strata(sites, seed):
        reached += sum(len(sites[site]) for site in stratum)
        for site in stratum:
            lack = [share * reached - have for share, have in zip(shares, filled, strict=True)]
            part = lack.index(max(lack))
            part_of[site] = part
            filled[part] += len(sites[site])
    return [
        Corpus(corpus.name, tuple(page for page in corpus if part_of[page.owner] == part))
        for part in range(len(shares))
    ]


def _strata(sites: dict[str, list[GoldPage]], seed: int) -> list[list[str]]:
    strata: dict[tuple[str, str], list[str]] = defaultdict(list)
    for site, pages in sites.items():
        habits = Counter((page.set, page.lang) for page in pages)
        strata[min(habits, key=lambda habit: (-habits[habit], habit))].append(site)
    return [sorted(strata[name], key=lambda site: _order(site, seed)) for name in sorted(strata)]


def _order(site: str, seed: int) -> str:
    return hashlib.sha256(f"{seed} {site}".encode()).hexdigest()
