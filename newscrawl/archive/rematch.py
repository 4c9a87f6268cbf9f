"""Find the mentions of stored articles again, after the registry of companies has changed."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Literal

import newscrawl
from newscrawl.archive.page_processor import PRELOAD, companies_from
from newscrawl.cluster import Workers, open_pool
from newscrawl.items import Mention
from newscrawl.mentions import sentence_span
from newscrawl.mentions.registry import registry_digest
from newscrawl.reading import versions_of
from newscrawl.storage import Database
from newscrawl.storage.mentions import (
    StoredText,
    apply_corrections,
    stored_corrections,
    stored_mentions,
    text_batches,
    write_mentions,
)
from newscrawl.storage.queries import Scope
from newscrawl.storage.saved_state import (
    Step,
    TaskProgress,
    delete_progress,
    load_progress,
    record_rematch,
)
from newscrawl.workers import results_by_item


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyChange:
    """The change of a company: difference of its articles, mentions gained and lost."""

    company: str
    articles: int
    gained: int
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMention:
    """A sentence in which a company would newly be found, or no longer be found."""

    company: str
    change: Literal["gained", "lost"]
    url: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RematchResult:
    """Numbers of articles searched, changed, and left unchanged because their search crashed; the
    companies, largest change first, and some changed sentences of each, if requested."""

    articles: int
    changed: int
    crashed: int
    companies: tuple[CompanyChange, ...]
    examples: tuple[ChangedMention, ...] = ()


class Rematch:
    """Find mentions again with a number of local processes or on a cluster.

    An interrupted run continues with the next batch if registry and scope are the same. With
    `dry_run` nothing is written. `examples` is the number of sentences returned for each company
    and change.
    """

    def __init__(
        self,
        database: Database,
        companies: Path | None,
        scope: Scope,
        *,
        workers: Workers = 1,
        dry_run: bool = False,
        examples: int = 0,
    ) -> None:
        self._database = database
        self._max_examples = examples
        self._examples: dict[tuple[str, str], list[ChangedMention]] = defaultdict(list)
        self._scope = scope
        self._dry_run = dry_run
        self._task = _task(companies, scope)
        self._versions = versions_of(companies)
        find, files = partial(_find, companies), [companies] if companies else []
        self._workers = open_pool(find, workers, preload=PRELOAD, files=files)

    @property
    def done_before(self) -> int:
        """Return the number of the last article that an earlier, interrupted run has done."""
        return self._progress().position

    def _progress(self) -> TaskProgress:
        if self._dry_run:
            return TaskProgress()
        return load_progress(self._database, self._task)

    def run(self, on_progress: Callable[[int], None] = lambda _articles: None) -> RematchResult:
        """Find the mentions again and store the differences. Raises StorageError.

        `on_progress` is called with the number of articles done since its last call.
        """
        done, started_at = self._progress(), datetime.now(UTC)
        counts = Counter(done.counts)
        batches = text_batches(self._database, self._scope, done.position)
        for texts, found in results_by_item(self._workers, batches):
            self._batch(texts, found, counts)
            on_progress(len(texts))
        if not self._dry_run:
            record_rematch(self._database, self._scope, self._versions, started_at)
            delete_progress(self._database, self._task)
        result = _recount(counts)
        order = {change.company: number for number, change in enumerate(result.companies)}
        keys = sorted(self._examples, key=lambda key: (order.get(key[0], 0), key))
        return replace(result, examples=tuple(one for key in keys for one in self._examples[key]))

    def _batch(
        self,
        texts: Sequence[StoredText],
        mentions_by_text: Sequence[list[Mention] | None],
        counts: Counter[str],
    ) -> None:
        counts["articles"] += len(texts)
        numbers = [text.number for text in texts]
        before = stored_mentions(self._database, numbers)
        corrections = stored_corrections(self._database, numbers)
        written = {}
        for text, mentions in zip(texts, mentions_by_text, strict=True):
            if mentions is None:
                counts["crashed"] += 1
                continue
            old, corrected = before.get(text.number, set()), corrections.get(text.number, ())
            counted, _ = apply_corrections(corrected, (text.title, text.text), mentions)
            if set(counted) != old:
                counts["changed"] += 1
                _compare(old, set(counted), counts)
                if self._max_examples:
                    self._add_examples(text, old, set(counted))
            if corrected or _with_scores(counted) != _with_scores(old):
                written[text.number] = mentions
        if not self._dry_run:
            step = Step(task=self._task, position=texts[-1].number, counts=counts)
            write_mentions(self._database, texts, written, step)

    def _add_examples(self, text: StoredText, old: set[Mention], new: set[Mention]) -> None:
        """Keep the first change of each company in an article."""
        for change, changed in (("gained", new - old), ("lost", old - new)):
            for mention in sorted(changed, key=lambda one: (one.section != "title", one.start)):
                place = text.title if mention.section == "title" else text.text
                start, end = sentence_span(place, mention)
                found = self._examples[mention.company, change]
                if len(found) >= self._max_examples or any(one.url == text.url for one in found):
                    continue
                found.append(
                    ChangedMention(
                        company=mention.company,
                        change="gained" if change == "gained" else "lost",
                        url=text.url,
                        sentence=place[start:end].strip(),
                    )
                )


def _find(companies: Path | None, texts: Sequence[StoredText]) -> list[list[Mention]]:
    """Return the mentions of each text."""
    registry = companies_from(companies)
    return [
        registry.find(text.text, title=text.title, language=text.language, source=text.url)
        for text in texts
    ]


def _with_scores(mentions: Iterable[Mention]) -> set[tuple[Mention, float | None]]:
    return {(mention, mention.score) for mention in mentions}


def _compare(old: set[Mention], new: set[Mention], counts: Counter[str]) -> None:
    """Add the changes of an article to the counts, under "KIND/COMPANY"."""
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


def _recount(counts: Counter[str]) -> RematchResult:
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
    return RematchResult(
        articles=counts["articles"],
        changed=counts["changed"],
        crashed=counts["crashed"],
        companies=tuple(changes),
    )


def _task(companies: Path | None, scope: Scope) -> str:
    """Return the task name, which depends on registry, scope and version."""
    facts = {
        "newscrawl": newscrawl.__version__,
        "registry": registry_digest(companies)[:16],
        "source": scope.source,
        "since": scope.since and scope.since.isoformat(),
    }
    return f"rematch {json.dumps(facts, sort_keys=True)}"
