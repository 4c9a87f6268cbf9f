"""Which articles tell the same story: pages that we wrote, as papers treat agency copy."""

import unicodedata
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from newscrawl.items import Document
from newscrawl.storage import Database, queries
from newscrawl.storage.queries import Scope
from newscrawl.storage.text_index import MAX_PER_VALUE
from newscrawl.storage.words import (
    KEPT,
    MIN_SHINGLES,
    SHINGLE,
    SHINGLE_OF_CHARACTERS,
    Sketch,
    folded_words,
    resemblance,
    same_story,
    sketch,
)
from tests.worlds import body, day, document, moment, register, save_document, save_documents

AGENCY = """Siemens has won an order worth 1.2 billion euros to build forty regional trains for the
northern states, the company said on Tuesday. The trains are to be assembled in Krefeld
and will replace diesel units that have been in service since the late nineties.

The first of them should carry passengers in the spring of 2029, two years later than the
states had hoped. "We would have liked to be faster, but the supply of power electronics
remains tight," said the head of the mobility division, Karin Adler, at a news conference
in Kiel.

The order includes maintenance over thirty years, for which a workshop is to be set up
near Neumuenster with about 120 jobs. Unions welcomed the decision. The opposition in the
state parliament asked why only two manufacturers had made an offer, and called for the
contract to be published.

Shares of the group rose by 1.4 percent in early trading in Frankfurt."""

OTHER = """Siemens will close a plant for switchgear in Frankfurt by the end of next year, the
company told its staff on Tuesday. Some 300 people work there, most of whom are to be
offered jobs at other sites in the region.

The works council spoke of a black day. The plant had made a profit in each of the past
eleven years, its chairman said, and the order books were full until the summer.
Management points to rents and to the price of energy, and says that two sites for the
same product are one too many.

Talks about the details begin next week. The city's mayor offered to look for another
place within its limits. It is the third closure that the division has announced since
January, after Berlin and a smaller site near Leipzig. Analysts had expected the step,
though not before the next fiscal year."""

GERMAN = """Der Autobauer Volkswagen ruft in Europa rund 93.000 Fahrzeuge in die Werkstätten zurück,
weil sich bei hohem Tempo Teile der Heckklappe lösen können. Betroffen sind Wagen der
Baujahre 2021 bis 2024, wie ein Sprecher am Mittwoch in Wolfsburg sagte. Die Halter werden
in den kommenden Wochen angeschrieben, die Reparatur dauert nach Angaben des Unternehmens
etwa eine Stunde und ist kostenlos.

Unfälle seien bislang nicht bekannt. Das Kraftfahrt-Bundesamt überwacht den Rückruf, der
in Deutschland rund 21.000 Autos betrifft. Bereits im Frühjahr hatte der Konzern eine
ähnliche Aktion gestartet."""

JAPANESE = (
    "トヨタ自動車は二十日、"
    "来年春から北米の工場で新型の電気自動車を生産すると発表した。"
    "投資額は約三千億円で、"
    "年間十五万台の生産を見込む。"
    "現地の雇用は千二百人増える見通しだ。"
    "社長は記者会見で「北米は最も重要な市場であり、"
    "顧客の近くで車を造る方針に変わりはない」と述べた。"
    "電池は同じ州に建設中の工場から調達する。"
)

BOILERPLATE = """\
About this service: our newsroom checks each report before it is published. Subscribe to
our newsletter to get the most important stories of the day in your inbox every morning,
free of charge."""


def shortened(text: str, paragraphs: int) -> str:
    return "\n\n".join(text.split("\n\n")[:paragraphs])


def edited(text: str) -> str:
    """As a desk does: some words changed, a sentence dropped, a place line put before it."""
    changes = {
        "1.2 billion euros": "EUR 1.2bn",
        "the company said": "it announced",
        "should carry": "are to carry",
        " Unions welcomed the decision.": "",
        "asked why": "wanted to know why",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return f"KIEL (own report) - {text}"


def sketch_of(text: str) -> Sketch | None:
    return sketch("\n".join(folded_words(text)))


def alike(text: str, copy: str) -> bool:
    first, second = sketch_of(text), sketch_of(copy)
    assert first is not None
    assert second is not None
    return same_story(first, second) > 0


@pytest.mark.parametrize(
    "copy",
    [
        AGENCY,
        AGENCY.upper(),
        AGENCY.replace("\n\n", "\n"),
        edited(AGENCY),
        f"{AGENCY}\n\n{BOILERPLATE}",
        f"{BOILERPLATE}\n\n{edited(AGENCY)}\n\n{BOILERPLATE}",
        shortened(AGENCY, 3),
        shortened(AGENCY, 2),
        f"{shortened(AGENCY, 2)}\n\n{BOILERPLATE}",
    ],
    ids=[
        "the same",
        "in capitals",
        "other paragraphs",
        "edited",
        "with boilerplate",
        "edited between boilerplate",
        "three paragraphs of four",
        "half",
        "half with boilerplate",
    ],
)
def test_edited_copies_are_one_story(copy):
    assert alike(AGENCY, copy)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (AGENCY, OTHER),
        (f"{AGENCY}\n\n{BOILERPLATE}", f"{OTHER}\n\n{BOILERPLATE}"),
        (AGENCY, GERMAN),
        (GERMAN, JAPANESE),
        (f"{AGENCY}\n\n{shortened(OTHER, 1)}", OTHER),
    ],
    ids=[
        "two stories of a company",
        "two with the same boilerplate",
        "two languages",
        "two scripts",
        "one that quotes a paragraph of the other",
    ],
)
def test_different_texts_are_different_stories(one, other):
    assert not alike(one, other)


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        (
            JAPANESE,
            JAPANESE.replace("約三千億円", "三千億円").replace("二十日", "20日") + "（共同）",
        ),
        (GERMAN, unicodedata.normalize("NFD", GERMAN)),
    ],
    ids=["unspaced script", "decomposed accents"],
)
def test_copies_in_other_scripts_are_one_story(text, copy):
    assert alike(text, copy)


@pytest.mark.parametrize("text", ["", "More follows.", "word " * 500, "。" * 500])
def test_short_text_has_no_sketch(text):
    assert sketch_of(text) is None


def by_definition(words: list[str], width: int) -> tuple[int, list[int]]:
    """The number of a text's shingles and the smallest of their hashes, one by one."""
    mask, hashes = 2**64 - 1, set()
    for start in range(len(words) - width + 1):
        mixed = 0
        for word in words[start : start + width]:
            mixed = (mixed + zlib.crc32(word.encode()) + 1) * 0x9E3779B97F4A7C15 & mask
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & mask
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & mask
        hashes.add(mixed >> 32)
    return len(hashes), sorted(hashes)[:KEPT]


@given(words=st.lists(st.text("abñ苹", min_size=1, max_size=3), min_size=30, max_size=120))
def test_sketch_holds_the_smallest_hashes_of_the_shingles(words):
    alone = [word == "苹" for word in words[:100]]
    width = SHINGLE_OF_CHARACTERS if 2 * sum(alone) > len(alone) else SHINGLE
    result, (number, smallest) = sketch("\n".join(words)), by_definition(words, width)
    if number < MIN_SHINGLES:
        assert result is None
    else:
        assert (result.shingles, result.smallest.tolist()) == (number, smallest)


def test_sketch_does_not_depend_on_the_machine_and_is_restored_from_its_bytes():
    result = sketch_of(AGENCY)
    assert (result.shingles, result.index[:3]) == (156, [709760, 23920141, 27730583])
    again = Sketch.from_bytes(result.shingles, result.to_bytes())
    assert resemblance(result, again) == 1.0


# --- In the database ---

Save = Callable[..., None]


@pytest.fixture
def save(database: Database) -> Save:
    runs: dict[str, int] = {}

    def save(text: str, source: str = "ft", on: int = 0, path: str = "a") -> None:
        runs.setdefault(source, register(database, source))
        page = document(
            path, source=source, text=text, published=moment(on), mentions=[body("Siemens")]
        )
        save_document(database, page, runs[source])

    return save


def told(database: Database) -> list[tuple[int, int]]:
    """Articles and sources of each story."""
    return [(row.articles, row.sources) for row in queries.stories(database)]


def test_copies_of_several_sources_and_days_are_one_story(database, save):
    save(AGENCY, "ft")
    save(edited(AGENCY), "bbc", on=1)
    save(f"{AGENCY}\n\n{BOILERPLATE}", "faz", on=3)
    save(OTHER, "ft", path="b")
    assert told(database) == [(3, 3), (1, 1)]
    (story, _) = queries.stories(database)
    assert (story.first_day, story.last_day) == (day(0), day(3))
    assert story.url == "https://ft.example/a"
    page = queries.article_page(database, story.url)
    assert [page.row.source, *(row.source for row in page.copies)] == ["ft", "bbc", "faz"]


def test_copies_stored_together_are_one_story(database):
    run = register(database)
    texts = [AGENCY, OTHER, edited(AGENCY), f"{OTHER}\n\n{BOILERPLATE}"]
    pages: list[Document] = [document(str(n), text=text) for n, text in enumerate(texts)]
    save_documents(database, pages, run)
    assert [row.articles for row in queries.stories(database)] == [2, 2]


def test_copy_months_later_is_a_new_story(database, save):
    save(AGENCY, "ft")
    save(AGENCY, "bbc", on=60)
    assert told(database) == [(1, 1), (1, 1)]


def test_article_with_a_new_text_leaves_its_story(database, save):
    save(AGENCY, "ft")
    save(edited(AGENCY), "bbc")
    # A text without any sentence of the stored one would be quarantined.
    save("\n\n".join([OTHER, *AGENCY.split("\n\n")[-1:]]), "ft")
    assert told(database) == [(1, 1), (1, 1)]
    save(edited(AGENCY), "ft")
    assert told(database) == [(2, 2)]


def test_corrected_article_stays_in_its_story(database, save):
    save(AGENCY, "ft")
    (before,) = queries.articles(database)
    save(AGENCY.replace("forty", "forty-two"), "ft")
    (after,) = queries.articles(database)
    assert (after.revision, after.story) == (2, before.story)


def test_growing_live_text_stays_in_its_story(database, save):
    save(shortened(AGENCY, 1), "ft")
    (before,) = queries.articles(database)
    save(OTHER, "ft")
    (after,) = queries.articles(database)
    assert after.story == before.story


def test_each_short_text_is_a_story(database, save):
    save("More follows.", "ft")
    save("More follows.", "bbc")
    assert told(database) == [(1, 1), (1, 1)]


def test_story_counts_once_for_all_its_copies(database, save):
    save(AGENCY, "ft")
    save(edited(AGENCY), "bbc", on=1)
    save(OTHER, "ft", path="b", on=1)
    scope = Scope(since=day(0), until=day(1))
    by_day = queries.mention_counts(database, "day", company="Siemens", scope=scope, stories=True)
    assert [row.hits and (row.hits.articles, row.hits.stories) for row in by_day] == [
        (1, 1),
        (2, 2),
    ]
    (month,) = queries.mention_counts(
        database, "month", company="Siemens", scope=scope, stories=True
    )
    assert (month.hits.articles, month.hits.stories) == (3, 2)
    (row,) = queries.company_ranking(database, stories=True)
    assert row.hits.stories == 2


def test_frequent_text_is_matched_by_its_first_copies(database):
    runs = {f"s{n}": register(database, f"s{n}") for n in range(4)}
    many = MAX_PER_VALUE + 20
    for slug, run in runs.items():
        pages = [
            document(str(n), source=slug, title=f"{n}", text=f"{AGENCY} {slug}{n}.")
            for n in range(many // 4 + 1)
        ]
        save_documents(database, pages, run)
    (story,) = queries.stories(database)
    assert story.articles == len(runs) * (many // 4 + 1)
