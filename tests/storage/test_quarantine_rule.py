"""The rule that tells a correction from a page that went wrong."""

from dataclasses import replace

import pytest

from newscrawl.items import Barrier
from newscrawl.storage.documents import BODY
from newscrawl.storage.quarantine import (
    Reason,
    SourceContext,
    Version,
    names_of_site,
    reason_against,
)

NAMES = names_of_site("The Saltmere Times", "saltmere", "https://www.saltmeretimes.example/")
SOURCE = SourceContext(names=NAMES)
SENTENCES = [
    f"Quay {number} of the harbour was closed by crew {number * 7}." for number in range(60)
]
TEXT = " ".join(SENTENCES)
OTHER = " ".join(
    f"Enter account {number} to go on to page {number * 3} of it." for number in range(60)
)


def version(
    text: str = TEXT,
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
        version(TEXT + " A sentence was added."),
        version(" ".join(SENTENCES[:-4])),
        version(" ".join(SENTENCES[: len(SENTENCES) // 2 + 2])),
        version(title="Corrected: crews stay where they are"),
        # A better reading of the same page.
        replace(version(OTHER), reextracted=True),
        version("The crews move. " * 30 + TEXT, "Live: harbour"),
    ],
    ids=["added", "cut", "half", "headline", "reread", "grown"],
)
def test_corrections_are_accepted(new: Version) -> None:
    assert reason_against(version(), new, SOURCE) is None


def test_loss_is_weighed_by_script() -> None:
    before = version("\u5e02\u8bae\u4f1a\u6279\u51c6\u65b0\u7ebf\u8def\u3002" * 20)
    assert reason_against(before, version(before.text[:70]), SOURCE) == "text_shrank"
    latin = version("New line. " * 16)
    assert reason_against(latin, version(latin.text[:70]), SOURCE) is None


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
def test_worse_revision_has_a_named_reason(new: Version, reason: Reason) -> None:
    assert reason_against(version(), new, SOURCE) == reason


def test_short_item_may_lose_a_sentence_of_three() -> None:
    short = "The quay is closed. It opens on Monday. Ships wait outside of the harbour until then."
    assert reason_against(version(short), version("The quay is open again."), SOURCE) is None


def test_live_blog_may_end_as_a_summary() -> None:
    summary = version(" ".join(SENTENCES[:15]), kind="live")
    assert reason_against(version(), summary, SOURCE) is None
    assert reason_against(version(), version("It is over.", kind="live"), SOURCE) == "text_shrank"


def test_paywall_of_the_article_is_accepted() -> None:
    same_title = Barrier(kind="paywall", title="Harbour crews move, subscribers read")
    declared = Barrier(kind="paywall", title="Subscribe", declared=True)
    for barrier in (same_title, declared, None):
        teaser = version("Standfirst.", rank=1, access="paywalled", barrier=barrier)
        assert reason_against(version(), teaser, SOURCE) is None


@pytest.mark.parametrize(
    "barrier",
    [Barrier(kind="consent", title="Your privacy"), Barrier(kind="paywall", title="Sign in")],
)
def test_another_page_instead_of_the_article_is_quarantined(barrier: Barrier) -> None:
    teaser = version("Standfirst.", rank=1, access="paywalled", barrier=barrier)
    assert reason_against(version(), teaser, SOURCE) == "no_article"
    listed = version("Told by the feed.", rank=1, access="paywalled")
    assert reason_against(listed, version("Less.", rank=0, kind="error"), SOURCE) is None


def test_layout_incident_quarantines_every_revision() -> None:
    changed = SourceContext(names=NAMES, layout_changed=True)
    assert reason_against(version(), version(TEXT + " More."), changed) == "layout_changed"
    listed = version("What the feed says.", rank=1, access="paywalled")
    assert reason_against(version("Said.", rank=1, access="paywalled"), listed, changed) is None


def test_site_name_in_every_headline_is_accepted() -> None:
    stored, new = version(title="The Saltmere Times"), version(TEXT + " More.", "Saltmere Times")
    assert reason_against(stored, new, SOURCE) is None


def test_texts_in_unspaced_scripts_are_compared() -> None:
    text = "".join(f"{chr(0x4E00 + number)}号码头关闭。" for number in range(60))
    stored = version(text, "港口工人搬家")
    another = "".join(f"{chr(0x5E00 + number)}页请登录账户。" for number in range(60))
    assert reason_against(stored, version(another, "登录"), SOURCE) == "text_replaced"
    assert reason_against(stored, version(text + "更正", "更正:工人"), SOURCE) is None


def test_short_texts_are_compared_by_their_words() -> None:
    stored = version("Crane falls at the northern port. Two hurt, police say.", "Crane falls")
    later = version(
        "Police say a crane at the northern port fell on Monday.", "Crane falls at port"
    )
    welcome = version("Welcome! Find maps, forms and pictures here.", "Our crane is new")
    assert reason_against(stored, later, SOURCE) is None
    assert reason_against(stored, welcome, SOURCE) == "text_replaced"
