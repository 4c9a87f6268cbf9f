"""What surrounds an article and reads like its text: small pages of our own, 2026-11-28."""

import numpy as np
import pytest

from newscrawl.extraction.blocks import read_blocks
from newscrawl.extraction.features import measure
from newscrawl.extraction.html import parse
from newscrawl.extraction.surroundings import without_comments

LEAD = (
    "The harbour of Lund opens again on Monday after two years of works, the council said,"
    " and the first ferry of the Norrby line will leave at seven with three hundred passengers."
)
BODY = (
    "Residents of the old quarter had asked for quieter engines, so the company will run two new"
    " boats with batteries that are charged at night. Tickets cost as much as before, and children"
    " travel without one until the end of the year, as a spokeswoman told reporters on Friday."
    " The crossing takes forty minutes. A second quay is planned for the spring, when the season"
    " of the cruise ships begins and most of the boats to the islands are full."
)
COMMENT = "I have taken this ferry for years and never had a seat. Let us hope that it is better."


def kept(body: str) -> list[str]:
    page = read_blocks(parse(f"<body>{body}</body>".encode()))
    mask = np.ones(len(page), dtype=bool)
    mask = without_comments(page, measure(page).tokens.words, mask)
    return [text for text, is_kept in zip(page.texts, mask, strict=True) if is_kept]


@pytest.mark.parametrize(
    "label",
    [
        "<h3>Comments</h3>",
        "<div>Comments (12)</div>",
        "<p>Comments are now closed for this story</p>",
        "<h4>3 Kommentare</h4>",
        "<div>Schreiben Sie einen Kommentar</div>",
        "<h2>Laisser un commentaire</h2>",
        "<span>Deja un comentario</span>",
        "<div>Комментарии: 7</div>",
        "<h3>Dodaj komentarz</h3>",
        "<h3>Σχόλια (4)</h3>",
        "<div>网友评论（23）</div>",
        "<div>コメントを書く</div>",
        "<h3>댓글 31</h3>",
        "<h3>التعليقات (5)</h3>",
        "<h3>תגובות (9)</h3>",
        "<div>Bình luận (2)</div>",
    ],
)
def test_what_follows_a_label_of_comments_is_none_of_the_text(label: str) -> None:
    page = f"<p>{LEAD}</p><p>{BODY}</p>{label}<p>{COMMENT}</p><p>Anna: Me too!</p>"
    assert kept(page) == [LEAD, BODY]


@pytest.mark.parametrize(
    "page",
    [
        f"<div>Comments (12)</div><p>{LEAD}</p><p>{BODY}</p>",  # below the headline
        f"<p>{LEAD}</p><div>37 comments</div><p>{BODY}</p>",  # between standfirst and text
        f"<p>{LEAD}</p><h3>Comments of the mayor</h3><p>{BODY}</p>",
        f"<p>{LEAD}</p><p>{BODY}</p><h2>Réactions</h2><p>{COMMENT}</p>",
    ],
)
def test_labels_elsewhere_and_other_headings_end_nothing(page: str) -> None:
    assert len(kept(page)) == page.count("<p>") + page.count("<div>") + page.count("<h")
