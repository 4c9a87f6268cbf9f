"""Random steps that change a database, for properties that hold whatever is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from hypothesis import strategies as st
from sqlalchemy import select

from newscrawl.items import Document, Mention
from newscrawl.storage import Database, saved_state
from newscrawl.storage.mentions import text_batches, write_mentions
from newscrawl.storage.models import Article
from newscrawl.storage.queries import Scope
from tests.worlds import body, document, headline, moment, register, save_documents

SLUGS = ("ft", "faz")
WORDS = [f"{word}{number}" for word in ("alpha", "beta", "gamma") for number in range(20)]


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to the database: documents stored together, or an article rematched."""

    documents: tuple[Document, ...] = ()
    rematched: int | None = None
    mentions: tuple[Mention, ...] = ()


_MENTIONS = st.lists(
    st.builds(
        lambda company, place: place(company),
        st.sampled_from(["Siemens", "Bosch", "Ärzte AG"]),
        st.sampled_from([headline, body]),
    ),
    max_size=4,
).map(tuple)


def _document(
    path: int, version: int, slug: str, boilerplate: dict[str, int], **rest: Any
) -> Document:
    text = f"{version} " + " ".join(WORDS if version % 2 else reversed(WORDS))
    return document(
        str(path), source=slug, text=text, boilerplate=tuple(boilerplate.items()), **rest
    )


_DOCUMENTS = st.builds(
    _document,
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from(SLUGS),
    st.dictionaries(st.sampled_from(["Siemens", "Zeiss"]), st.integers(0, 3)),
    mentions=_MENTIONS,
    published=st.sampled_from([None, moment(0), moment(1)]),
    language=st.sampled_from(["en", None]),
    access=st.sampled_from(["open", "open", "paywalled"]),
    kind=st.sampled_from(["article", "article", "front"]),
)
STEPS = st.lists(
    st.one_of(
        st.builds(Step, documents=st.lists(_DOCUMENTS, min_size=1, max_size=4).map(tuple)),
        st.builds(Step, rematched=st.integers(0, 3), mentions=_MENTIONS),
    ),
    max_size=6,
)


def carry_out(database: Database, steps: list[Step]) -> None:
    """Do the steps, in their order."""
    runs = {slug: register(database, slug) for slug in SLUGS}
    for step in steps:
        for slug in SLUGS:
            of_one_run = [made for made in step.documents if made.page.source == slug]
            if of_one_run:
                save_documents(database, of_one_run, runs[slug])
        if step.rematched is not None:
            with database.reading() as session:
                numbers = session.scalars(select(Article.id).order_by(Article.id)).all()
            if step.rematched < len(numbers):
                rematch(database, numbers[step.rematched], step.mentions)


def rematch(database: Database, number: int, mentions: Sequence[Mention]) -> None:
    """Give an article other mentions, as `newscrawl rematch` does."""
    batches = chain.from_iterable(text_batches(database, Scope()))
    (text,) = [one for one in batches if one.number == number]
    step = saved_state.Step(task="test", position=number, counts={})
    write_mentions(database, [text], {number: mentions}, step)
