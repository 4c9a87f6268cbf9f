"""What a definition would find in the stored articles, beside what is counted now."""

from dataclasses import dataclass
from datetime import date

from newscrawl.dashboard.marked import Piece, pieces
from newscrawl.dashboard.registry import Definition, alone
from newscrawl.items import Mention
from newscrawl.mentions import sentence_span
from newscrawl.storage import Database
from newscrawl.storage.queries.article_lists import StoredText, newest_texts

READ = 2000  # articles; ours: they are matched in half a second
SHOWN = 12
LONGEST_SNIPPET = 400  # characters


@dataclass(frozen=True, slots=True)
class Found:
    """An article with a mention: its sentence, and whether the article is counted now."""

    url: str
    source: str
    day: date
    title: list[Piece]
    snippet: list[Piece]
    mentions: int
    known: int


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it, over `read` articles since `since`. `new` and `lost` are articles that
    would be counted, or would not be any more."""

    read: int
    since: date | None
    mentions: int
    articles: int
    new: int
    lost: int
    found: tuple[Found, ...]


def try_out(database: Database, definition: Definition, former: str | None) -> Trial:
    """Match the definition in the newest articles; raises RegistryError for one that can't be.
    `former` is the name under which it is stored now."""
    companies = alone(definition)
    texts = newest_texts(database, company=former or definition.name, limit=READ)
    hits, lost = [], 0
    for text in texts:
        mentions = companies.find(text.text, title=text.title, language=text.language)
        if mentions:
            hits.append((text, mentions))
        elif text.known:
            lost += 1
    # What changes is shown first.
    shown = sorted(hits, key=lambda hit: hit[0].known > 0)[:SHOWN]
    return Trial(
        read=len(texts),
        since=min((text.day for text in texts), default=None),
        mentions=sum(len(mentions) for _, mentions in hits),
        articles=len(hits),
        new=sum(not text.known for text, _ in hits),
        lost=lost,
        found=tuple(_found(text, mentions) for text, mentions in shown),
    )


def _found(text: StoredText, mentions: list[Mention]) -> Found:
    title = [mention for mention in mentions if mention.section == "title"]
    body = [mention for mention in mentions if mention.section == "body"]
    snippet: list[Piece] = []
    if body:
        start, end = sentence_span(text.text, body[0])
        start = max(start, body[0].start - LONGEST_SNIPPET // 2)
        end = min(end, body[0].end + LONGEST_SNIPPET // 2)
        snippet = pieces(text.text[start:end], body, start)
    return Found(
        text.url,
        text.source,
        text.day,
        pieces(text.title, title),
        snippet,
        len(mentions),
        text.known,
    )
