"""The quarantine on both databases: what goes in, what people decide, and that counts follow."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from sqlalchemy import func, select

from newscrawl.items import Barrier, Document, Mention, Origin
from newscrawl.storage import Database, RevisionError, SaveResult, queries
from newscrawl.storage.articles import LostArticle
from newscrawl.storage.batch import FinishedPage, IngestionWriter, write_batch
from newscrawl.storage.deletion import Pruning
from newscrawl.storage.documents import BODY, record_of
from newscrawl.storage.models import Article, Mention as StoredMention, QuarantinedRevision, Run
from newscrawl.storage.quarantine import (
    Version,
    names_of_site,
    reason_against,
)
from newscrawl.storage.revisions import (
    apply_revision,
    decide_all,
    discard_revision,
    earlier_version,
    restore_version,
)
from newscrawl.storage.status import Incident, record_incidents
from tests.counted import counted, found_by_search
from tests.versions import GOOD, SHELL, TEXT, URL, good, shell
from tests.worlds import (
    NOON,
    body,
    document,
    empty,
    headline,
    moment,
    register,
    save_document,
    save_documents,
)


@pytest.fixture
def run(database: Database) -> int:
    run = register(database)
    save_document(database, good(), run)
    return run


def held(database: Database) -> list[QuarantinedRevision]:
    with database.reading() as session:
        return list(session.scalars(select(QuarantinedRevision).order_by(QuarantinedRevision.id)))


def stored(database: Database) -> tuple[str | None, str, int]:
    """Headline, text and revision of the one article."""
    with database.reading() as session:
        article = session.scalars(select(Article)).one()
        return article.title, article.text, article.revision


def mentions(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(StoredMention)) or 0


def ranking(database: Database) -> dict[str, int]:
    """What is counted, which must be what a count of all articles finds."""
    before = queries.company_ranking(database)
    urls = [hit.article.url for hit in queries.search(database, "quay")]
    database.rebuild()
    assert queries.company_ranking(database) == before
    assert [hit.article.url for hit in queries.search(database, "quay")] == urls
    return {row.company: row.hits.in_title + row.hits.in_body for row in before}


def test_worse_revision_is_quarantined_and_the_article_is_kept(database, run):
    saved = save_document(database, shell(fetched_at=moment(1)), run)
    assert saved == SaveResult("quarantined", 0, "text_shrank")
    assert stored(database) == ("A headline", TEXT, 1)
    assert mentions(database) == 3
    (row,) = queries.quarantined(database)
    assert (row.url, row.source, row.reason) == (URL, "ft", "text_shrank")
    assert (row.before, row.after, row.new_title) == (len(TEXT), len(SHELL), "Financial Times")
    assert (row.since, row.seen_at, row.times) == (moment(1), moment(1), 1)
    assert queries.quarantine_sizes(database) == {"ft": 1}


def test_repeated_bad_revisits_are_one_row_with_the_newest_text(database, run):
    first = save_document(database, shell(fetched_at=moment(1)), run)
    again = save_document(database, shell(fetched_at=moment(2)), run)
    third = save_document(database, shell("Something went wrong.", fetched_at=moment(3)), run)
    assert [result.again for result in (first, again, third)] == [False, True, False]
    (row,) = held(database)
    assert (row.text, row.times) == ("Something went wrong.", 3)
    assert (row.first_seen_at, row.seen_at) == (moment(1), moment(3))


@pytest.mark.parametrize("text", [TEXT, TEXT + " A correction."])
def test_good_revision_closes_the_quarantined_one(database, run, text):
    save_document(database, shell(), run)
    saved = save_document(database, good(text), run)
    assert saved.outcome == ("unchanged" if text == TEXT else "revised")
    assert queries.quarantined(database) == []
    (row,) = held(database)
    assert (row.state, row.text, row.mentions) == ("superseded", "", [])


def test_page_without_an_article_is_quarantined_and_cannot_be_applied(database, run):
    lost = LostArticle(url=URL, seen_at=moment(1), kind="TooShort", note="12 characters of text")
    unknown = replace(lost, url="https://ft.example/never-seen")
    arrivals = [FinishedPage(lost=lost), FinishedPage(lost=unknown), FinishedPage(lost=lost)]
    results = write_batch(database, run, arrivals)
    held_now = SaveResult("quarantined", 0, "no_article")
    assert results == [held_now, None, replace(held_now, again=True)]
    assert write_batch(database, register(database, "faz"), [FinishedPage(lost=lost)]) == [None]
    (row,) = queries.quarantined(database)
    assert (row.reason, row.note, row.after) == ("no_article", "12 characters of text", 0)
    with pytest.raises(RevisionError, match=f"discard {row.id}"):
        apply_revision(database, row.id)
    assert discard_revision(database, row.id) == URL
    assert write_batch(database, run, [FinishedPage(lost=lost)]) == [SaveResult("unchanged", 0)]
    assert queries.quarantined(database) == []


def test_consent_page_is_quarantined_but_not_a_paywall(database, run):
    teaser = document(text="Standfirst.", access="paywalled", kind="paywall")
    paywall = replace(teaser, barrier=Barrier(kind="paywall", title="A headline for subscribers"))
    consent = replace(teaser, barrier=Barrier(kind="consent", title="Your privacy"))
    assert save_document(database, paywall, run) == SaveResult("unchanged", 0)
    assert save_document(database, teaser, run) == SaveResult("unchanged", 0)
    assert save_document(database, consent, run) == SaveResult("quarantined", 0, "no_article")
    assert stored(database) == ("A headline", TEXT, 1)
    (row,) = queries.quarantined(database)
    assert (row.new_title, row.note) == ("Your privacy", "the page is of the kind 'consent'")


def test_revisions_are_quarantined_during_a_layout_incident(database, run):
    incident = Incident(kind="layout_changed", source="ft", note="texts are short")
    record_incidents(database, [incident], ())
    with database.reading() as session:
        now = session.scalars(select(func.max(Article.last_seen_at))).one() + timedelta(days=9999)
    later = good(TEXT + " More.", fetched_at=now)
    # What was fetched before it was found is judged by itself.
    assert save_document(database, good(TEXT + " Less."), run).outcome == "revised"
    assert save_document(database, later, run) == SaveResult("quarantined", 0, "layout_changed")
    record_incidents(database, [], {incident.cause})
    assert save_document(database, later, run).outcome == "revised"
    assert queries.quarantined(database) == []


def test_archived_page_does_not_make_an_article_worse(database, run):
    assert run
    intake = IngestionWriter(database, "ingested")
    origin = Origin(slug="ft", name="FT", country="gb", language="en", home="https://ft.example/")
    counts = intake.store([record_of(shell()), record_of(good(TEXT + " More."))], [origin])
    intake.close()
    assert counts == {"quarantined": 1, "revised": 1, "mentions": 3}
    assert stored(database) == ("A headline", TEXT + " More.", 2)
    with database.reading() as session:
        last_run = session.scalars(select(Run).order_by(Run.id.desc())).first()
    assert last_run.counts == {
        "newscrawl/revisions_quarantined": 1,
        "newscrawl/articles_revised": 1,
        "newscrawl/mentions": 3,
    }


def test_applied_revision_counts_and_the_old_text_is_a_version(database, run):
    assert ranking(database) == {"Siemens": 2, "Bosch": 1}
    late = shell(fetched_at=moment(1), mentions=[body("Nokia")], language="de", section="Home")
    save_document(database, late, run)
    assert ranking(database) == {"Siemens": 2, "Bosch": 1}
    (row,) = queries.quarantined(database)
    assert apply_revision(database, row.id) == URL
    assert stored(database) == ("Financial Times", SHELL, 2)
    assert ranking(database) == {"Nokia": 1}
    page = queries.article_page(database, URL)
    assert (page.row.language, page.section, page.row.day) == ("de", "Home", NOON.date())
    assert [version.text for version in queries.history(database, URL)] == [TEXT, SHELL]
    assert [revision.state for revision in held(database)] == ["applied"]
    with pytest.raises(RevisionError, match="no revision"):
        apply_revision(database, row.id)


def test_discarded_revision_is_not_listed_again(database, run):
    save_document(database, shell(), run)
    (row,) = queries.quarantined(database)
    assert decide_all(database, [row.id, row.id, row.id + 1], discard_revision)[0] == [URL]
    assert save_document(database, shell(fetched_at=moment(2)), run) == SaveResult("unchanged", 0)
    assert queries.quarantined(database) == []
    assert save_document(database, shell("Another shell."), run).outcome == "quarantined"
    assert stored(database) == ("A headline", TEXT, 1)


def restore(database: Database, number: int, matches: Sequence[Mention] = GOOD) -> int:
    version = earlier_version(database, URL, number)
    return restore_version(database, version, matches, version.language, "ann")


def test_earlier_version_is_restored_with_its_metadata(database, run):
    save_document(database, shell(language="de", section="Home", mentions=[body("Nokia")]), run)
    apply_revision(database, queries.quarantined(database)[0].id)
    assert restore(database, 1) == 3
    assert stored(database) == ("A headline", TEXT, 3)
    assert ranking(database) == {"Siemens": 2, "Bosch": 1}
    page = queries.article_page(database, URL)
    assert (page.row.language, page.section) == ("en", None)
    versions = queries.history(database, URL)
    assert [version.text for version in versions] == [TEXT, SHELL, TEXT]
    assert dict(versions[-1].mentions) == {"Siemens": 2, "Bosch": 1, "Nokia": -1}
    decisions = queries.quarantine_decisions(database)
    assert {(decision.decision, decision.decided_by) for decision in decisions} == {
        ("restored", "ann"),
        ("applied", ""),
    }


def test_restored_version_is_not_replaced_by_the_same_revision(database, run):
    corrected = good(TEXT + " A correction that is none.")
    assert save_document(database, corrected, run).outcome == "revised"
    restore(database, 1)
    assert save_document(database, corrected, run) == SaveResult("unchanged", 0)
    assert stored(database) == ("A headline", TEXT, 3)
    assert queries.quarantined(database) == []
    # Until the operator wants it after all.
    restore(database, 2)
    assert stored(database)[1] == corrected.article.text
    assert save_document(database, good(), run) == SaveResult("unchanged", 0)
    assert stored(database)[1] == corrected.article.text


def test_unknown_version_is_named(database, run):
    for number, words in ((1, "newest one"), (7, "no version 7")):
        with pytest.raises(RevisionError, match=words):
            earlier_version(database, URL, number)
    with pytest.raises(RevisionError, match="no article is stored"):
        earlier_version(database, "https://ft.example/z", 1)


def test_failed_apply_changes_nothing(database, run, monkeypatch):
    save_document(database, shell(mentions=[body("Nokia")]), run)
    (row,) = queries.quarantined(database)
    before = ranking(database)
    with monkeypatch.context() as patch:
        patch.setattr("newscrawl.storage.rollups.RollupUpdate.write", _broken)
        with pytest.raises(RuntimeError, match="the plug was pulled"):
            apply_revision(database, row.id)
    assert stored(database) == ("A headline", TEXT, 1)
    assert [revision.state for revision in held(database)] == ["pending"]
    assert ranking(database) == before
    apply_revision(database, row.id)
    with monkeypatch.context() as patch:
        patch.setattr("newscrawl.storage.rollups.RollupUpdate.write", _broken)
        with pytest.raises(RuntimeError, match="the plug was pulled"):
            restore(database, 1)
    assert stored(database) == ("Financial Times", SHELL, 2)
    assert ranking(database) == {"Nokia": 1}


def _broken(_: object) -> None:
    raise RuntimeError("the plug was pulled")


def test_closed_quarantine_rows_are_pruned(database, run):
    save_document(database, shell(), run)
    discard_revision(database, queries.quarantined(database)[0].id)
    save_document(database, shell("Another shell."), run)
    keep = timedelta(days=20)
    now = held(database)[0].closed_at
    assert now is not None
    early = Pruning(database=database, keep=keep, now=now + timedelta(days=19)).run()
    late = Pruning(database=database, keep=keep, now=now + timedelta(days=21)).run()
    assert (early["revisions"], late["revisions"]) == (0, 1)
    assert [revision.state for revision in held(database)] == ["pending"]


# --- Property: whatever comes and whatever people decide, counts are those of a recount ---


_MENTIONS = st.lists(st.sampled_from([headline("Siemens"), body("Bosch"), body("Nokia", 9)]))


@st.composite
def _documents(draw: st.DrawFn) -> Document:
    words, path = (
        draw(st.sampled_from(["", " More.", " Other.", SHELL])),
        draw(st.sampled_from("ab")),
    )
    matches = draw(_MENTIONS)
    if words == SHELL:
        return shell(path=path, mentions=matches, language=draw(st.sampled_from(["de", None])))
    return good(f"{path} {TEXT}{words}", path=path, mentions=matches)


_STEPS = st.lists(
    st.one_of(
        _documents(),
        st.sampled_from([apply_revision, discard_revision]),
        st.tuples(st.sampled_from("ab"), st.integers(1, 3), _MENTIONS),
    ),
    min_size=2,
    max_size=12,
)


def _carry_out(database: Database, steps: Sequence[Any]) -> None:
    run = register(database)
    save_documents(database, [good(f"{path} {TEXT}", path=path) for path in "ab"], run)
    for step in steps:
        if isinstance(step, Document):
            save_document(database, step, run)
        elif callable(step):
            decide_all(database, [row.id for row in queries.quarantined(database)], step)
        else:
            path, number, matches = step
            with suppress(RevisionError):  # there is no such version
                version = earlier_version(database, f"https://ft.example/{path}", number)
                restore_version(database, version, matches, version.language)


def _check_counts(database: Database) -> None:
    counts, hits = counted(database), found_by_search(database)
    database.rebuild()
    assert counted(database) == counts
    assert found_by_search(database) == hits
    pending = [row.article_id for row in held(database) if row.state == "pending"]
    assert len(pending) == len(set(pending)) == len(queries.quarantined(database))


@settings(max_examples=settings().max_examples // 2)
@given(steps=_STEPS)
def test_rollups_follow_quarantine_decisions_on_sqlite(new_sqlite, steps):
    with new_sqlite() as database:
        _carry_out(database, steps)
        _check_counts(database)


@settings(max_examples=settings().max_examples // 5)
@given(steps=_STEPS)
def test_rollups_follow_quarantine_decisions_on_postgresql(postgres, postgres_tables, steps):
    empty(postgres_tables)
    _carry_out(postgres, steps)
    _check_counts(postgres)


NAMES = names_of_site("The Saltmere Times", "saltmere", "https://www.saltmeretimes.example/")
SENTENCES = [
    f"Quay {number} of the harbour was closed by crew {number * 7}." for number in range(60)
]
ARTICLE = " ".join(SENTENCES)
OTHER = " ".join(
    f"Enter account {number} to go on to page {number * 3} of it." for number in range(60)
)


def version(
    text: str = ARTICLE,
    title: str | None = "Harbour crews move to the northern quay",
    *,
    rank: int = BODY,
    kind: str = "article",
    access: str = "open",
    barrier: Barrier | None = None,
) -> Version:
    return Version(title=title, text=text, rank=rank, kind=kind, access=access, barrier=barrier)


@pytest.mark.parametrize(
    "new",
    [
        version(ARTICLE + " A sentence was added."),
        version(" ".join(SENTENCES[:-4])),
        version(" ".join(SENTENCES[: len(SENTENCES) // 2 + 2])),
        version(title="Corrected: crews stay where they are"),
        # A better reading of the same page.
        replace(version(OTHER), reextracted=True),
        version("The crews move. " * 30 + ARTICLE, "Live: harbour"),
    ],
    ids=["added", "cut", "half", "headline", "reread", "grown"],
)
def test_corrections_are_accepted(new):
    assert reason_against(version(), new, NAMES) is None


def test_loss_is_weighed_by_script():
    before = version("\u5e02\u8bae\u4f1a\u6279\u51c6\u65b0\u7ebf\u8def\u3002" * 20)
    assert reason_against(before, version(before.text[:70]), NAMES) == "text_shrank"
    latin = version("New line. " * 16)
    assert reason_against(latin, version(latin.text[:70]), NAMES) is None


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (version("Please enable JavaScript."), "text_shrank"),
        (version(" ".join(SENTENCES[:20])), "text_shrank"),
        (version(title="The Saltmere Times"), "headline_lost"),
        (version(title="Saltmere Times | saltmeretimes.example"), "headline_lost"),
        (version(title="SALTMERETIMES"), "headline_lost"),
        (version(title=None), "headline_lost"),
        (version(OTHER, "Sign in to continue"), "text_replaced"),
        # It may be written anew under its headline: its next reading decides.
        (version(OTHER), "text_replaced"),
        (version("", rank=0, kind="error"), "no_article"),
        (version("", rank=1), "no_article"),
    ],
)
def test_worse_revision_has_a_named_reason(new, reason):
    assert reason_against(version(), new, NAMES) == reason


def test_short_item_may_lose_a_sentence_of_three():
    short = "The quay is closed. It opens on Monday. Ships wait outside of the harbour until then."
    assert reason_against(version(short), version("The quay is open again."), NAMES) is None


def test_live_blog_may_end_as_a_summary():
    summary = version(" ".join(SENTENCES[:15]), kind="live")
    assert reason_against(version(), summary, NAMES) is None
    assert reason_against(version(), version("It is over.", kind="live"), NAMES) == "text_shrank"


def test_paywall_of_the_article_is_accepted():
    same_title = Barrier(kind="paywall", title="Harbour crews move, subscribers read")
    declared = Barrier(kind="paywall", title="Subscribe", declared=True)
    for barrier in (same_title, declared, None):
        teaser = version("Standfirst.", rank=1, access="paywalled", barrier=barrier)
        assert reason_against(version(), teaser, NAMES) is None


@pytest.mark.parametrize(
    "barrier",
    [Barrier(kind="consent", title="Your privacy"), Barrier(kind="paywall", title="Sign in")],
)
def test_another_page_instead_of_the_article_is_quarantined(barrier):
    teaser = version("Standfirst.", rank=1, access="paywalled", barrier=barrier)
    assert reason_against(version(), teaser, NAMES) == "no_article"
    listed = version("Told by the feed.", rank=1, access="paywalled")
    assert reason_against(listed, version("Less.", rank=0, kind="error"), NAMES) is None


def test_layout_incident_quarantines_every_revision():
    assert (
        reason_against(version(), version(ARTICLE + " More."), layout_changed=True)
        == "layout_changed"
    )
    listed = version("What the feed says.", rank=1, access="paywalled")
    assert (
        reason_against(version("Said.", rank=1, access="paywalled"), listed, layout_changed=True)
        is None
    )


def test_site_name_in_every_headline_is_accepted():
    stored, new = version(title="The Saltmere Times"), version(ARTICLE + " More.", "Saltmere Times")
    assert reason_against(stored, new, NAMES) is None


def test_texts_in_unspaced_scripts_are_compared():
    text = "".join(f"{chr(0x4E00 + number)}号码头关闭。" for number in range(60))
    stored = version(text, "港口工人搬家")
    another = "".join(f"{chr(0x5E00 + number)}页请登录账户。" for number in range(60))
    assert reason_against(stored, version(another, "登录"), NAMES) == "text_replaced"
    assert reason_against(stored, version(text + "更正", "更正:工人"), NAMES) is None


def test_short_texts_are_compared_by_their_words():
    stored = version("Crane falls at the northern port. Two hurt, police say.", "Crane falls")
    later = version(
        "Police say a crane at the northern port fell on Monday.", "Crane falls at port"
    )
    welcome = version("Welcome! Find maps, forms and pictures here.", "Our crane is new")
    assert reason_against(stored, later, NAMES) is None
    assert reason_against(stored, welcome, NAMES) == "text_replaced"
