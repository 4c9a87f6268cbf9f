"""What questions are answered from, kept in step with the articles, in their own transaction.

A transaction that adds or changes articles makes one `Analysis`, tells it of each, and ends with
`write`. All that it keeps follows from `articles`, `mentions` and `clutter`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, select

from newscrawl.storage import search_index
from newscrawl.storage.models import Article, CountedArticle
from newscrawl.storage.search_index import Searchable
from newscrawl.storage.stories import forget, moved_story, story_of
from newscrawl.storage.tallies import Sums, Tally, enter, tallies_of, withdraw
from newscrawl.storage.words import folded_words

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
        self._entries: list[tuple[Tally, int]] = []
        self._searchable: list[Searchable] = []

    def add(self, tally: Tally, title: str | None, text: str) -> None:
        """Enters an article that was stored just now."""
        headline, body = folded_words(title or ""), folded_words(text)
        words = Searchable(tally.article_id, tally.minute, headline, body)
        story = story_of(self._connection, tally.article_id, tally.minute, words.body)
        self._gather(tally, words, story)

    @contextmanager
    def changing(self, numbers: Sequence[int]) -> Iterator[None]:
        """Whatever is changed of these articles within it, rows, texts, mentions or clutter, is
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
        told = dict(self._connection.execute(_STORIES, {"numbers": list(numbers)}).all())
        withdraw(self._connection, numbers)
        for number, tally in sorted(tallies.items()):
            story = told.get(number)
            if story is None:
                forget(self._connection, number)
                story = story_of(self._connection, number, tally.minute, words[number].body)
            self._gather(tally, words[number], story)

    def write(self) -> None:
        """Writes what was gathered: the last act of the transaction."""
        self._flush()
        self._sums.write(self._connection)

    def _gather(self, tally: Tally, words: Searchable, story: int) -> None:
        self._sums.add(tally)
        self._entries.append((tally, story))
        self._searchable.append(words)

    def _flush(self) -> None:
        enter(self._connection, self._entries)
        search_index.add(self._connection, self._searchable)
        self._entries, self._searchable = [], []

    def _words(self, tallies: dict[int, Tally]) -> dict[int, Searchable]:
        rows = self._connection.execute(_TEXTS, {"numbers": list(tallies)})
        return {
            number: Searchable(
                number, tallies[number].minute, folded_words(title or ""), folded_words(text)
            )
            for number, title, text in rows
        }

    def _stories(
        self,
        before: dict[int, Tally],
        after: dict[int, Tally],
        old_words: dict[int, Searchable],
        words: dict[int, Searchable],
    ) -> dict[int, int]:
        """The story of each article that counts after the change."""
        told = dict(self._connection.execute(_STORIES, {"numbers": list(before)}).all())
        for number in before.keys() - after.keys():
            forget(self._connection, number)
        stories = {}
        for number, tally in sorted(after.items()):
            body = words[number].body
            if number not in told:
                stories[number] = story_of(self._connection, number, tally.minute, body)
            elif old_words[number] == words[number]:
                stories[number] = told[number]
            else:
                stories[number] = moved_story(
                    self._connection, number, tally.minute, body, told[number]
                )
        return stories
