"""What surrounds an article and reads like its text: small pages of our own, 2026-11-28."""

import numpy as np
import pytest

from newscrawl.extraction import surroundings
from newscrawl.extraction.blocks import read_blocks
from newscrawl.extraction.extract import extract, parse_page
from newscrawl.extraction.features import measure
from newscrawl.extraction.html import parse
from newscrawl.extraction.surroundings import (
    _Cards,
    enciphered,
    with_standfirst,
    without_asides,
    without_behind,
    without_cards,
    without_comments,
    without_gated,
    without_last_links,
    without_teasers,
)

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


TITLE = "Harbour of Lund opens again on Monday"
OTHER = (
    "Voters in Tarnow choose a parliament on Sunday. Nine lists compete; the mayor hopes for a"
    " third term. Polls see her party ahead with forty percent, though many have not decided yet."
)


def kept(body: str, *, likely: float = 0.6) -> list[str]:
    page = read_blocks(parse(f"<body>{body}</body>".encode()))
    tokens = measure(page).tokens
    probabilities = np.full(len(page), likely, dtype=np.float32)
    is_title = np.array([text == TITLE for text in page.texts], dtype=bool)
    mask = without_behind(page, tokens, probabilities, is_title, ~is_title)
    mask = without_comments(page, tokens.words, mask)
    mask = without_teasers(page, tokens, probabilities, mask)
    mask = without_cards(page, tokens, probabilities, mask)
    mask = without_last_links(page, tokens, probabilities, mask)
    mask = without_asides(page, tokens, probabilities, mask)
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
def test_what_follows_a_label_of_comments_is_none_of_the_text(label):
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
def test_labels_elsewhere_and_other_headings_end_nothing(page):
    assert len(kept(page)) == page.count("<p>") + page.count("<div>") + page.count("<h")


ARTICLE = f"<div><h1>{TITLE}</h1><p>{LEAD}</p><p>{BODY}</p></div>"


CARDS = "".join(
    f"<div class='c'><h4><a href='/{name}'>{name} wins the vote again</a></h4><p>{name}, who has"
    " led the town for years, was chosen by most.</p></div>"
    for name in ("Amsel", "Berg", "Cole", "Dahl")
)


def test_cards_of_other_articles_at_the_end_are_none_of_the_text():
    assert kept(ARTICLE + f"<section>{CARDS}</section>") == [LEAD, BODY]


@pytest.mark.parametrize(
    ("page", "likely"),
    [
        (f"<div><p>{LEAD}</p>{CARDS}<p>{BODY}</p></div>", 0.6),  # the text goes on
        (f"<div><p>{LEAD}</p>{CARDS}</div>", 0.6),  # they are most of the text
        (f"<div><p>{LEAD}</p><p>{BODY}</p><section>{CARDS}</section></div>", 0.95),
    ],
)
def test_cards_within_the_text_are_text(page, likely):
    assert len(kept(page, likely=likely)) >= 9


TEASER = "<h4><a href='/{0}'>{0} wins the vote for council again</a></h4><p>{1}</p>"
TEASERS = "".join(
    f"<li>{TEASER.format(name, 'Most people chose the mayor.')}</li>" for name in ("Berg", "Cole")
)
IN_LINK = (
    "<a href='/x'><div>Nine lists compete</div><div>Voters choose on Sunday, at last.</div></a>"
)


@pytest.mark.parametrize(
    "card",
    [
        f"<ul>{TEASERS}</ul>",
        f"<article>{TEASER.format('Berg', 'Most people chose the mayor.')}</article>",
        IN_LINK,
        f"<div><a href='/y'><img src='y.png'></a>{IN_LINK}</div>",
    ],
)
def test_cards_between_two_paragraphs_are_none_of_the_text(card):
    assert kept(f"<div><p>{LEAD}</p>{card}<p>{BODY}</p></div>") == [LEAD, BODY]


def test_entries_of_a_list_that_are_likely_text_are_kept():
    page = f"<div><p>{LEAD}</p><ul>{TEASERS}</ul><p>{BODY}</p></div>"
    assert len(kept(page, likely=0.95)) == 6


@pytest.mark.parametrize(
    "part",
    [
        f"<h4><a href='/x'>Nine lists compete for the council</a></h4><p>{OTHER}</p>",  # a section
        "<ul><li><a href='/x'>Two boats</a> of Lund</li><li><a href='/y'>Berg</a> yards</li></ul>",
        f"<a href='/x'><img src='x.png'></a><p>{OTHER}</p>",
        "<ul>"
        + TEASERS.replace("vote for council", "vote")
        + "</ul>",  # names of products are short
    ],
)
def test_links_and_lists_between_two_paragraphs_are_text(part):
    texts = kept(f"<div><p>{LEAD}</p>{part}<p>{BODY}</p></div>")
    assert texts[0] == LEAD
    assert texts[-1] == BODY
    assert len(texts) > 3 or OTHER in texts


@pytest.mark.parametrize("name", ["article", "main", "div class='article-body'", "div role=main"])
def test_what_stands_behind_the_element_of_the_text_is_none_of_it(name):
    tag = name.partition(" ")[0]
    page = f"<{name}><p>{LEAD}</p><p>{BODY}</p></{tag}><div><p>{COMMENT}</p></div>"
    assert kept(page) == [LEAD, BODY]


@pytest.mark.parametrize(
    ("first", "second", "text", "likely"),
    [
        ("div class='article-text part1'", "div class='article-text part2'", COMMENT, 0.6),
        ("div id=article-part-1", "div id=article-part-2", COMMENT, 0.6),
        ("div class=post-content", "div class=post-content-continued", COMMENT, 0.85),
        ("article", "div class=text-block", COMMENT, 0.85),
        ("main", "section", OTHER + BODY, 0.6),  # much of the text
    ],
)
def test_a_second_part_of_the_text_is_text(first, second, text, likely):
    parts = zip((first, second), (f"{LEAD}<p>{BODY}", text), strict=True)
    page = "".join(f"<{name}><p>{part}</p></{name.partition(' ')[0]}>" for name, part in parts)
    assert kept(page, likely=likely) == [LEAD, BODY, text]


FREQUENT = "".join(f"<h3>{question}</h3><p>{COMMENT}</p>" for question in ("Why now?", "Who pays?"))


@pytest.mark.parametrize(
    ("below", "likely"),
    [
        (f"<h2>Frequent questions</h2>{FREQUENT}", 0.99),
        (f"<h2>Why trust us</h2><p>{COMMENT}</p>", 0.9),
        (f"<div class=card-body><p>{COMMENT}</p></div>", 0.95),
        (f"<div class=post-footer>{COMMENT}</div>", 0.95),
    ],
)
def test_questions_and_what_a_paper_says_of_itself_behind_the_text_are_no_part(below, likely):
    assert kept(f"<main><p>{LEAD}</p><p>{BODY}</p></main>{below}", likely=likely) == [LEAD, BODY]


def test_an_interview_that_goes_on_behind_the_element_of_the_text_is_text():
    asked = "".join(f"<p>{question}</p><p>{COMMENT}</p>" for question in ("Why now?", "Who pays?"))
    page = f"<main><p>{LEAD}</p><p>{BODY}</p></main><div>{asked}</div>"
    assert kept(page, likely=0.9) == [LEAD, BODY, "Why now?", COMMENT, "Who pays?", COMMENT]


def test_a_chapter_that_is_very_likely_text_is_text_behind_it():
    page = f"<main><p>{LEAD}</p><p>{BODY}</p></main><section><h2>Boats</h2><p>{COMMENT}</section>"
    assert kept(page, likely=0.99) == [LEAD, BODY, "Boats", COMMENT]


@pytest.mark.parametrize(
    "page",
    [
        f"<div class='post'><p>{BODY}</p></div><div class='post'><p>{LEAD}</p></div>",  # halves
        f"<article><p>{LEAD}</p></article><div><p>{BODY}</p></div>",  # the smaller part
        f"<div><p>{BODY}</p></div><div><p>{LEAD}</p></div>",
        f"<main><article><h1>{TITLE}</h1></article><p>{BODY}</p><article>{LEAD}</article></main>",
    ],
)
def test_a_text_in_several_elements_is_kept(page):
    texts = kept(page)
    assert LEAD in texts
    assert BODY in texts


@pytest.mark.parametrize("heading", ["h2 class='t'", "h1 class='t'", "h1"])
def test_entries_of_a_ticker_and_chapters_in_articles_of_their_own_are_text(heading):
    end = f"</{heading.partition(' ')[0]}>"
    lead = f"<article><h1 class='t'>{TITLE}</h1><p>{BODY}</p></article>"
    title, text = "First ferry leaves the old quay", f"{LEAD} {BODY}"
    entry = f"<article class='update'><{heading}>{title}{end}<p>{text}</p></article>"
    assert kept(lead + 3 * entry) == [BODY, *3 * [title, text]]


@pytest.mark.parametrize(
    "aside",
    [
        "<div class='picture-caption'><p>A ferry at the quay of Lund.</p></div>",
        "<blockquote class='twitter-tweet'><p>At last!</p>— Anna (@anna)</blockquote>",
        "<p class='story__disclosure'>The author owns shares of the company.</p>",
        "<div class='entry-footer'><p>Filed by Anna at noon in Harbours</p></div>",
        "<div><div id='comments'><div><p>Me too!</p></div></div></div>",
        "<div class='sidebar-cta'><h3>Build a better fleet</h3><p>Ask us.</p></div>",
        "<div class='post-card'><h4>Nine lists compete</h4><p>Who wins?</p></div>",
        "<div class='post__excerpt'><p>Nine lists compete for parliament.</p></div>",
    ],
)
def test_small_elements_named_as_beside_the_text_are_none_of_it(aside):
    assert kept(f"<div><p>{LEAD}</p>{aside}<p>{BODY}</p></div>") == [LEAD, BODY]


CAPTIONS = "".join(f"<div class='caption'>{part}.</div>" for part in f"{LEAD} {BODY}".split(". "))


@pytest.mark.parametrize(
    ("page", "likely"),
    [
        (f"<p>Ferries of Lund in pictures.</p>{CAPTIONS}", 0.6),  # a gallery
        (f"<article class='comment'><p>{LEAD}</p><p>{BODY}</p></article>", 0.6),  # an opinion
        (f"<div class='card'><p>{LEAD}</p><p>{BODY}</p></div>", 0.6),
        (f"<p class='excerpt'>Ferries leave on Monday.</p><p>{LEAD}</p><p>{BODY}</p>", 0.6),
        (f"<p>{LEAD}</p><div class='card'>Fares stay.</div><p>{BODY}</p>", 0.95),
        (f"<p>{LEAD}</p><p class='commentary'>Fares stay.</p><p>{BODY}</p>", 0.6),
        (f"<p>{LEAD}</p><p class='scorecard'>Fares stay.</p><p>{BODY}</p>", 0.6),
    ],
)
def test_elements_so_named_that_are_the_text_are_kept(page, likely):
    assert kept(page, likely=likely) == read_blocks(parse(page.encode())).texts


STANDFIRST = (
    "Two years of works cost ninety million, and ferries start with three hundred passengers."
)


@pytest.mark.parametrize(
    ("lead", "likely", "is_text"),
    [
        (f"<div class='article__desc'>{STANDFIRST}</div>", 0.08, True),
        (f"<header><p class='storyIntro'>{STANDFIRST}</p></header>", 0.1, True),
        (f"<div>{STANDFIRST}</div>", 0.35, True),
        (f"<div>{STANDFIRST}</div>", 0.1, False),  # neither named nor likely
        (f"<div class='lead-image-caption'>{STANDFIRST}</div>", 0.4, False),
        (f"<div class='lead'><a href='/x'>{STANDFIRST}</a></div>", 0.4, False),
        ("<div class='lead'>Monday in Lund</div>", 0.4, False),
    ],
)
def test_a_standfirst_apart_is_text(lead, likely, is_text):
    html = f"<title>{TITLE}</title><main><h1>{TITLE}</h1>{lead}</main><div><p>{LEAD}</p></div>"
    page = parse_page(html)
    blocks, features = page.candidates.page, page.block_features
    mask = np.array([text == LEAD for text in blocks.texts], dtype=bool)
    probabilities = np.full(len(mask), likely, dtype=np.float32)
    tokens = page.candidate_features.tokens
    result = with_standfirst(tokens, features, probabilities, mask)
    assert result.tolist() == [False, is_text, True]


def test_article_about_encryption_is_a_text():
    page = parse_page(
        f"<article class='post tag-encryption category-cipher'><p>{LEAD}</p></article>"
    )
    assert not enciphered(page.block_features).any()


def test_enciphered_paragraphs_are_no_text():
    page = parse_page(
        f"<h1>{TITLE}</h1><p>{LEAD}</p><div class='p--obfuscated'><p>Uif gfssz pg Mvoe</p></div>"
    )
    assert enciphered(page.block_features).tolist() == [False, False, True]


def test_page_that_says_only_its_headline_is_read():
    assert extract(b"<h1>Hi</h1><p>Hi</p>").title == "Hi"


@pytest.mark.parametrize("label", ["<a>i</a> <a>p</a> Comments (3)", "<a>Leave a comment</a>"])
def test_a_link_to_the_comments_between_two_paragraphs_ends_no_text(label):
    page = f"<div><p>{LEAD} {BODY}</p><p>{label}</p><p>{BODY}</p></div>"
    assert len(kept(page)) == 3


LINES = (
    "<p><a>Norrby elects a mayor who wants a bridge</a></p>"
    "<p><a>Why the ferries of Tarnow are late again</a></p>"
)


@pytest.mark.parametrize("label", ["", "<h4>Related posts</h4>", "<p>You may also like:</p>"])
def test_headlines_of_other_articles_at_the_end_are_none_of_the_text(label):
    assert kept(f"<p>{LEAD}</p><p>{BODY}</p>{label}{LINES}") == [LEAD, BODY]


def test_links_are_text_where_they_are_much_of_it_likely_or_a_sentence():
    assert len(kept(f"<p>{LEAD}</p>{LINES}")) == 3
    assert len(kept(f"<p>{LEAD}</p><p>{BODY}</p>{LINES}", likely=0.95)) == 4
    sentence = "<p><a>The report is in the library of the port.</a></p>"
    assert len(kept(f"<p>{LEAD}</p><p>{BODY}</p>{sentence}")) == 3


@pytest.mark.parametrize(
    "line",
    [
        "Il vous reste 40% de cet article à lire. La suite est réservée aux abonnés.",
        "この記事は有料会員限定です。登録すると続きをお読みいただけます。",
        "The rest of this article is for subscribers only.",
    ],
)
def test_below_the_line_that_offers_the_rest_of_a_paid_article_is_no_text(line):
    below = "You can read with this account on one device at a time."
    page = read_blocks(parse(f"<p>{LEAD}</p><p>{BODY}</p><p>{line}</p><p>{below}</p>".encode()))
    words, mask = measure(page).tokens.words, np.ones(4, dtype=bool)
    assert without_gated(page, words, mask).tolist() == [True, True, False, False]


def test_a_line_that_offers_the_rest_above_much_text_ends_nothing():
    line = "The rest of this article is for subscribers only."
    page = read_blocks(parse(f"<p>{LEAD}</p><p>{line}</p><p>{BODY}</p>".encode()))
    assert without_gated(page, measure(page).tokens.words, np.ones(3, dtype=bool)).all()


def test_a_list_of_teasers_that_are_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    around = _Cards.around
    monkeypatch.setattr(_Cards, "around", lambda *each: read.append(each[1]) or around(*each))
    card = f"<div><h3><a href=x>Nine lists compete for the council</a></h3><p>{OTHER}</p></div>"
    page = read_blocks(parse(f"<p>{LEAD}</p><div>{card * 40}</div><ul><li>{BODY}</ul>".encode()))
    likely = np.ones(len(page), dtype=np.float32)
    without_teasers(page, measure(page).tokens, likely, np.ones(len(page), dtype=bool))
    assert len(read) == 1


def test_cards_with_a_class_of_their_own_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(surroundings, "_class_of", lambda names: read.append(names) or names)
    cards = "".join(f"<article class='p{n}'>{TEASER.format(n, OTHER)}</article>" for n in range(40))
    page = read_blocks(parse(f"<div><p>{LEAD}</p>{cards}<p>{BODY}</p></div>".encode()))
    likely = np.ones(len(page), dtype=np.float32)
    without_teasers(page, measure(page).tokens, likely, np.ones(len(page), dtype=bool))
    assert len(read) < 200


def test_a_name_among_the_first_blocks_is_above_a_biography() -> None:
    page = f"""<html lang='en'><head><meta name='author' content='Anna Berg'></head><body>
        <article><h1>{TITLE}</h1><p>{LEAD} {BODY}</p><p>Anna Berg</p><p>Anna likes boats, walks
        along the old quay each morning, and keeps a small boat in the harbour.</p></article>
        <div><p>{COMMENT}</p></div></body></html>"""
    assert "Anna" not in extract(page.encode(), "https://example.com/a").text


def test_answers_of_a_person_who_is_the_author_are_text() -> None:
    answers = "".join(
        f"<p>Anna Berg</p><p>Anna, {n} boats?</p><p>Jon Roe</p><p>{n} boats. {LEAD}</p>"
        for n in ("two", "four", "six", "eight")
    )
    page = f"""<html lang='en'><head><meta name='author' content='Anna Berg'></head><body>
        <article><h1>{TITLE}</h1><p>{BODY}</p>{answers}</article></body></html>"""
    assert "Anna, eight boats?" in extract(page.encode(), "https://example.com/a").text
