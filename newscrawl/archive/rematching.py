"""Counts the mentions of stored articles anew, after the registry of companies has changed."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

import newscrawl
from newscrawl.archive.registries import companies_of
from newscrawl.archive.workers import Workers
from newscrawl.items import Mention
from newscrawl.mentions.registry import BUNDLED
from newscrawl.storage import Database
from newscrawl.storage.progress import Step, forget_task, progress_of
from newscrawl.storage.queries import Scope
from newscrawl.storage.rematching import (
    StoredText,
    stored_mentions,
    text_batches,
    write_mentions,
)

Found = list[list[Mention]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyChange:
    """What a new count changes for a company: `articles` that name it, mentions gained and lost."""

    company: str
    articles: int
    gained: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recount:
    """What came of a new count: articles looked at and changed, and the companies it concerns,
    the largest changes first."""

    articles: int
    changed: int
    companies: tuple[CompanyChange, ...]


class Rematching:
    """Counts anew with a number of worker processes.

    What was broken off goes on with the next batch, if registry and scope are the same. With
    `dry_run` nothing is written.
    """

    def __init__(
        self,
        database: Database,
        companies: Path | None,
        scope: Scope,
        *,
        workers: int = 1,
        dry_run: bool = False,
    ) -> None:
        self._database = database
        self._scope = scope
        self._dry_run = dry_run
        self._task = _task(companies, scope)
        self._workers = Workers(partial(_find, companies), workers)

    @property
    def done_before(self) -> int:
        """The number of the last article that a run before this one, broken off, has done."""
        return 0 if self._dry_run else progress_of(self._database, self._task).position

    def run(self, on_progress: Callable[[int], None] = lambda _articles: None) -> Recount:
        """Count anew; `on_progress` hears how many articles more are done. Raises StorageError."""
        done = progress_of(self._database, self._task)
        counts = Counter() if self._dry_run else Counter(done.counts)
        batches = text_batches(self._database, self._scope, self.done_before)
        for texts, found in self._workers.results(batches):
            self._batch(texts, found, counts)
            on_progress(len(texts))
        if not self._dry_run:
            forget_task(self._database, self._task)
        return _recount(counts)

    def _batch(
        self, texts: Sequence[StoredText], found: Found | None, counts: Counter[str]
    ) -> None:
        counts["articles"] += len(texts)
        if found is None:
            return  # a text on which the search dies: its mentions stay as they are
        before = stored_mentions(self._database, [text.number for text in texts])
        changed = {}
        for text, mentions in zip(texts, found, strict=True):
            old = before.get(text.number, set())
            if set(mentions) != old:
                changed[text.number] = mentions
                _compare(old, set(mentions), counts)
        counts["changed"] += len(changed)
        if not self._dry_run:
            step = Step(task=self._task, position=texts[-1].number, counts=counts)
            write_mentions(self._database, texts, changed, step)


def _find(companies: Path | None, texts: Sequence[StoredText]) -> Found:
    """What a worker does: the mentions in each of the texts."""
    registry = companies_of(companies)
    return [
        registry.find(text.text, title=text.title, language=text.language, source=text.url)
        for text in texts
    ]


def _compare(old: set[Mention], new: set[Mention], counts: Counter[str]) -> None:
    """Add to the counts what changes in an article, under "KIND/COMPANY"."""
    before = Counter(mention.company for mention in old)
    after = Counter(mention.company for mention in new)
    for company, number in (after - before).items():
        counts[f"gained/{company}"] += number
    for company, number in (before - after).items():
        counts[f"lost/{company}"] += number
    for company in after.keys() - before.keys():
        counts[f"articles/{company}"] += 1
    for company in before.keys() - after.keys():
        counts[f"articles/{company}"] -= 1


def _recount(counts: Counter[str]) -> Recount:
    named = {name.partition("/")[2] for name in counts if "/" in name}
    changes = [
        CompanyChange(
            company=name,
            articles=counts[f"articles/{name}"],
            gained=counts[f"gained/{name}"],
            lost=counts[f"lost/{name}"],
        )
        for name in named
    ]
    changes.sort(key=lambda change: (-change.gained - change.lost, change.company))
    return Recount(articles=counts["articles"], changed=counts["changed"], companies=tuple(changes))


def _task(companies: Path | None, scope: Scope) -> str:
    """The name of the task: another registry, scope or matcher makes another one."""
    registry = companies or BUNDLED
    files = sorted(registry.rglob("*")) if registry.is_dir() else [registry]
    digest = sha256()
    for file in files:
        if file.is_file():
            digest.update(file.read_bytes())
    facts = {
        "newscrawl": newscrawl.__version__,
        "registry": digest.hexdigest()[:16],
        "source": scope.source,
        "since": scope.since and scope.since.isoformat(),
    }
    return f"rematch {json.dumps(facts, sort_keys=True)}"
