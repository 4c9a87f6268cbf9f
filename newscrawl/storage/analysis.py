"""What questions are answered from, kept in step with the articles, in their own transaction.

A transaction that adds or changes articles makes one `Analysis`, tells it of each, and ends with
`write`. All that it keeps follows from `articles`, `mentions` and `boilerplate`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, select

from newscrawl.storage import search_index
from newscrawl.storage.models import Article, CountedArticle
from newscrawl.storage.near_duplicates import Telling, forget, stories_of
from newscrawl.storage.rollups import Sums, Tally, enter, tallies_of, withdraw
from newscrawl.storage.search_index import Searchable
from newscrawl.storage.words import Wording

_NUMBERS: BindParameter[Any] = bindparam("numbers", expanding=True)
_TEXTS = select(Article.id, Article.title, Article.text).where(Article.id.in_(_NUMBERS))
_STORIES = select(CountedArticle.article_id, CountedArticle.story_id).where(
    CountedArticle.article_id.in_(_NUMBERS)
)


class Analysis:
    """The changes of one transaction; nothing of it may be used after `write`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sums = Sums()
        self._new: list[tuple[Tally, Searchable]] = []

    def add(self, tally: Tally, wording: Wording) -> None:
        """Enters an article that was stored just now."""
        self._new.append((tally, Searchable(tally.article_id, tally.minute, wording)))

    @contextmanager
    def changing(self, numbers: Sequence[int]) -> Iterator[None]:
        """Whatever is changed of these articles within it, rows, texts, mentions or boilerplate, is
        followed by what is kept of them."""
        self._flush()
        before = {tally.article_id: tally for tally in tallies_of(self._connection, numbers)}
        old_words = self._words(before)
        yield
        after = {tally.article_id: tally for tally in tallies_of(self._connection, numbers)}
        words = self._words(after)
        stories = self._stories(before, after, old_words, words)
        for tally in before.values():
            self._sums.take_out(tally)
        for tally in after.values():
            self._sums.add(tally)
        withdraw(self._connection, numbers)
        enter(self._connection, [(tally, stories[number]) for number, tally in after.items()])
        moved = {number for number in numbers if old_words.get(number) != words.get(number)}
        search_index.remove(
            self._connection, [old_words[number] for number in sorted(moved & old_words.keys())]
        )
        search_index.add(
            self._connection, [words[number] for number in sorted(moved & words.keys())]
        )

    def renew(self, numbers: Sequence[int]) -> None:
        """Enters articles anew, of which neither the daily sums nor the search index know; each
        stays in its story if it has one."""
        tallies = {tally.article_id: tally for tally in tallies_of(self._connection, numbers)}
        words = self._words(tallies)
        stories = dict(self._connection.execute(_STORIES, {"numbers": list(numbers)}).all())
        withdraw(self._connection, numbers)
        without = [words[number] for number in sorted(tallies.keys() - stories.keys())]
        for entry in without:
            forget(self._connection, entry.article_id)
        stories |= stories_of(self._connection, list(map(_telling, without)))
        self._enter([(tally, words[number]) for number, tally in sorted(tallies.items())], stories)

    def write(self) -> None:
        """Writes what was gathered: the last act of the transaction."""
        self._flush()
        self._sums.write(self._connection)

    def _flush(self) -> None:
        new, self._new = self._new, []
        self._enter(new, stories_of(self._connection, [_telling(words) for _, words in new]))

    def _enter(
        self, entries: Sequence[tuple[Tally, Searchable]], stories: Mapping[int, int]
    ) -> None:
        for tally, _ in entries:
            self._sums.add(tally)
        told = [(tally, stories[tally.article_id]) for tally, _ in entries]
        enter(self._connection, told)
        search_index.add(self._connection, [words for _, words in entries])

    def _words(self, tallies: Mapping[int, Tally]) -> dict[int, Searchable]:
        rows = self._connection.execute(_TEXTS, {"numbers": list(tallies)})
        return {
            number: Searchable(number, tallies[number].minute, Wording.of(title, text))
            for number, title, text in rows
        }

    def _stories(
        self,
        before: Mapping[int, Tally],
        after: Mapping[int, Tally],
        old_words: Mapping[int, Searchable],
        words: Mapping[int, Searchable],
    ) -> dict[int, int]:
        """The story of each article that counts after the change."""
        told = dict(self._connection.execute(_STORIES, {"numbers": list(before)}).all())
        moved = [number for number in sorted(after) if old_words.get(number) != words[number]]
        for number in (*moved, *sorted(before.keys() - after.keys())):
            forget(self._connection, number)
        tellings = [_telling(words[number], told.get(number)) for number in moved]
        return told | stories_of(self._connection, tellings)


def _telling(words: Searchable, before: int | None = None) -> Telling:
    return Telling(words.article_id, words.minute, words.wording.sketch, before)
