"""A page's metadata, from the place that deserves most trust."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from selectolax.lexbor import LexborHTMLParser

from newscrawl.extraction.metadata import publication_date, scripts
from newscrawl.extraction.metadata.meanings import meaning_of
from newscrawl.extraction.metadata.reader import DeclaredKind, Metadata, read_metadata

NOW = datetime(2026, 11, 10, 12, 0, tzinfo=UTC)
LINKED = """<script type="application/ld+json">{
  "@context": "https://schema.org", "@type": "NewsArticle", "headline": "Harbour reopens",
  "datePublished": "2026-11-03T10:30:00+01:00", "dateModified": "2026-11-03T12:00:00+01:00",
  "author": [{"@type": "Person", "name": "Eva Klein"}, {"@type": "Person", "name": "Tom Ray"}],
  "articleSection": "Business", "isAccessibleForFree": "False", "inLanguage": "en-GB",
  "image": {"@type": "ImageObject", "url": "/harbour.jpg"}, "articleBody": "Ships sail.",
  "publisher": {"@type": "Organization", "name": "The Daily Pier"}}</script>"""


def read(html: str, url: str | None = "https://pier.example/news/harbour") -> Metadata:
    return read_metadata(LexborHTMLParser(html), url, now=NOW)


def test_every_field_is_read_from_json_ld():
    found = read(f"<html><head>{LINKED}</head><body><h1>Harbour reopens</h1></body></html>")
    zone = timezone(timedelta(hours=1))
    assert found == Metadata(
        title="Harbour reopens",
        authors=("Eva Klein", "Tom Ray"),
        published=datetime(2026, 11, 3, 10, 30, tzinfo=zone),
        modified=datetime(2026, 11, 3, 12, 0, tzinfo=zone),
        language="en",
        section="Business",
        image="https://pier.example/harbour.jpg",
        site_name="The Daily Pier",
        paywalled=True,
        declared=DeclaredKind("article", is_article=True, has_data=True),
        article_body="Ships sail.",
    )


@pytest.mark.parametrize(
    ("html", "field", "wanted"),
    [
        ('<meta property="og:title" content="Rates rise">', "title", "Rates rise"),
        ('<meta name="author" content="By Jane Doe">', "authors", ("Jane Doe",)),
        ('<meta property="og:locale" content="pl_PL">', "language", "pl"),
        ('<meta property="article:section" content="Wirtschaft">', "section", "Wirtschaft"),
        ('<meta property="article:content_tier" content="locked">', "paywalled", True),
        ('<meta property="og:image" content="//cdn.example/a.png">', "image",
         "https://cdn.example/a.png"),
        ('<meta property="og:site_name" content="Pier">', "site_name", "Pier"),
        ("<title>Rates rise | pier.example</title>", "title", "Rates rise"),
        ('<p class="byline">Von Max Weber und Eva Klein</p>', "authors",
         ("Max Weber", "Eva Klein")),
    ],
)  # fmt: skip
def test_field_is_read_without_json_ld(html, field, wanted):
    assert getattr(read(html), field) == wanted


def test_future_date_is_ignored():
    found = read(
        '<meta property="article:published_time" content="2027-01-01T00:00:00Z">'
        '<meta name="date" content="2026-11-02">'
    )
    assert found.published == datetime(2026, 11, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "day"),
    [("publicado_em", (2, 1)), ("fecha_publicacion", (2, 1)), ("publish_date", (1, 2))],
)
def test_name_of_a_property_says_whether_the_day_is_first(name, day):
    found = read(f'<html lang="en"><meta name="{name}" content="02/01/2025">')
    assert found.published is not None
    assert (found.published.day, found.published.month) == day


def test_empty_page_has_no_metadata():
    assert read("", None) == Metadata()


def json_ld(kind: str, **dates: str) -> str:
    node = json.dumps({"@type": kind, "headline": "Harbour reopens", **dates})
    return f'<script type="application/ld+json">{node}</script>'


def meta(name: str, day: str) -> str:
    return f'<meta property="{name}" content="{day}">'


THIRD, FOURTH = "2026-11-03", "2026-11-04"
HEADING = "<h1>Harbour reopens</h1>"
FAR_AWAY = "<p>Ships sail.</p>" * 60
# Each page has the third day in one place and the fourth in the place that is asked after it.
PLACES = [
    pytest.param(
        json_ld("NewsArticle", datePublished=THIRD) + meta("article:published_time", FOURTH),
        id="json_ld_of_article, metas",
    ),
    pytest.param(
        json_ld("NewsArticle")
        + meta("article:published_time", THIRD)
        + json_ld("WebPage", datePublished=FOURTH),
        id="metas, json_ld_of_page",
    ),
    pytest.param(
        json_ld("NewsArticle")
        + json_ld("WebPage", datePublished=THIRD)
        + f"{HEADING}<time datetime={FOURTH}></time>",
        id="json_ld_of_page, around_heading",
    ),
    pytest.param(
        f"{HEADING}<time datetime={THIRD}></time>{FAR_AWAY}<time datetime={FOURTH}></time>",
        id="around_heading, marked_anywhere",
    ),
    pytest.param(
        f"{HEADING}{FAR_AWAY}<time datetime={THIRD}></time>"
        + json_ld("NewsArticle", dateModified=FOURTH),
        id="marked_anywhere, modified_in_json_ld",
    ),
    pytest.param(
        json_ld("NewsArticle", dateModified=THIRD) + meta("article:modified_time", FOURTH),
        id="modified_in_json_ld, modified_in_metas",
    ),
    pytest.param(
        meta("article:modified_time", THIRD) + f"{HEADING}<p>Updated: 4 November 2026</p>",
        id="modified_in_metas, shown_change",
    ),
    pytest.param(
        f"<p>Published: 4 November 2026</p>{FAR_AWAY}{HEADING}<p>Updated: 3 November 2026</p>",
        id="shown_change, text",
    ),
    pytest.param(
        f"{HEADING}{FAR_AWAY}<p>Published: 3 November 2026, {'ships sail, ' * 5}</p>"
        "<p>4 November 2026</p>",
        id="text, only_day",
    ),
]


@pytest.mark.parametrize("html", PLACES)
def test_places_of_the_publication_date_are_asked_in_their_order(html):
    order = (
        "the order of places has changed: exchange the days of the pair that was swapped, and "
        "write a page for each new pair of neighbours"
    )
    assert read(html).published == datetime(2026, 11, 3, tzinfo=UTC), order
    without = html.replace(THIRD, "").replace("3 November 2026", "")
    assert read(without).published == datetime(2026, 11, 4, tzinfo=UTC), order


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("published", ("publish_time tnt:published prism.publicationDate weibo:article:create_at "
         "first_publication_date publishedAt fecha_publicacion dataPubblicazione rbpubdate "
         "publiseringsdato yayin_tarihi tanggal_terbit publish_up launchDate datetime "
         "dcterms.available nrbi:date artikel.datum date_de_publication julkaisupaiva "
         "udgivet publicado_em datum_vydani дата_публикации veroeffentlichungsdatum DC.date.issued "
         "schema:dateCreated gentime story_date date "
         "publish_at chartbeat:date date_parution datum-zverejneni Veröffentlichungsdatum "
         "megjelenes_datuma fecha_creacion ημερομηνία_δημοσίευσης תאריך_פרסום 発行日 ngay_dang")),
        ("modified", ("article:modified_time lastUpdated update_time revision_date "
         "cms:last_published")),
        ("author", ("dable:author rbauthors article_author_name byline writer columnist autor "
         "authored_by autor_nome yazar_adi "
         "bylineText auteur_article "
         "autor_artykulu kirjoittajan_nimi tac_gia 執筆者 "
         "written_by författare yazar penulis автор DC.creator.personalName")),
        ("title", "rnews:headline cXenseParse:title mrc__share_title titulo"),
        (None, ("article:publisher prism.publicationName expiration_date event:start_time "
         "author_url twitter:creator authorId post_id publish_status site_title time preptime "
         "section_title updatefrequency authority post_times_shared "
         f" smartbanner:author release position autorid autorfb {'pub' * 50}")),
    ],
)  # fmt: skip
def test_names_of_properties_say_what_they_state(field, names):
    for name in names.split():
        meaning = meaning_of(name)
        assert (meaning and meaning[0]) == field, name


@pytest.mark.parametrize(
    "markup",
    [
        (
            "<script>dataLayer = [{'type': 'article', 'publishDate': '2026-11-03T11:00Z', "
            "'author': 'Jane Doe'}];</script>"
        ),
        (
            '<script>dataLayer.push({"content": {"publicationDate": "2026-11-03T11:00Z", '
            '"authors": [{"name": "Jane Doe"}]}});</script>'
        ),
        (
            '<script>window.utag_data = {article_date: "2026-11-03T11:00Z", '
            'article_author: "Jane Doe"}</script>'
        ),
        '<script>_cfg.publish_time = "2026-11-03T11:00Z"; _cfg.authors = "Jane Doe";</script>',
        """<meta name="parsely-page" content='{"pub_date": "2026-11-03T11:00Z",
        "authors": ["Jane Doe"]}'>""",
        (
            '<span property="dc:date dc:created" content="2026-11-03T11:00Z"></span>'
            '<span property="schema:author">Jane Doe</span>'
        ),
        (
            '<p class="published"><i class="value-title" title="2026-11-03T11:00Z"> </i>3 Nov</p>'
            '<p itemprop="author">Jane Doe</p>'
        ),
    ],
    ids=["list", "pushed", "bare keys", "properties", "meta", "RDFa", "hAtom"],
)
def test_other_vocabularies_are_read(markup):
    page = read(f"<html><body><h1>Harbour reopens</h1>{markup}<p>It did.</p>")
    assert (page.published, page.authors) == (datetime(2026, 11, 3, 11, tzinfo=UTC), ("Jane Doe",))


def test_lists_of_articles_in_scripts_state_nothing():
    articles = 'x = [{"publishDate": "2026-11-03"}, {"publishDate": "2026-11-04"}]'
    assert scripts.stated_in([articles], "published") == ()


BODY = "<p>The harbour reopened on Friday, the port authority said in a statement.</p>" * 9


@pytest.mark.parametrize(
    "markup",
    [
        "<p>The quay was opened on 12 May 2004.</p>",
        "<p>Born on 4 July 1961, the mayor has been in office since 1 May 2014.</p>",
        "<p>Published under the act of 12 May 2004, the plan covers quays and roads.</p>",
        "<p>この埠頭は2004年5月12日に開業した。</p>",
        "<p>Silta avattiin 12. toukokuuta 2004.</p>",
        "<p>Most byl otevřen 12. května 2004.</p>",
        "<p>Bron öppnades den 12 maj 2004.</p>",
        "<figure><figcaption>The quay on 12 May 2004</figcaption></figure>",
        "<section class=responses><p>By Bo Lee</p><time datetime=2026-11-09>1 d</time></section>",
        "<div itemscope itemtype=https://schema.org/Book><b itemprop=author>Bo Lee</b></div>",
        "<div class=discussion><b itemprop=author>Bo Lee</b></div>",
        "<div class=prev-next><a href=/x>Quay</a> <i class=date>9 November 2026</i></div>",
        "<div class=yorumlar><b class=author>Bo Lee</b><i class=tarih>9.11.2026</i></div>",
        "<div class=commentaires><b class=author>Bo Lee</b><i class=date>9/11/2026</i></div>",
        "<blockquote><p>Great quay.</p><i class=author>Bo Lee</i></blockquote>",
        "<div itemscope itemtype=https://schema.org/Review><b itemprop=author>Bo Lee</b></div>",
        "<div class=talkbacks><i class=author>Bo Lee</i></div>",
        "<div id=comment-12><p>Well done!</p><p>Written by Bo Lee</p></div>",
        "<div><p>When: Saturday 14 March 2026, 7pm</p><p>Where: Town hall</p></div>",
        "<p>Deadline for applications: 15 January 2026</p>",
        "<dl><dt>Founded</dt><dd>4 March 1998</dd><dt>Staff</dt><dd>12</dd></dl>",
        (
            "<a href=/1><i>9 November 2026</i> <b>Ferry is late again in the north</b></a>"
            "<a href=/2><i>8 November 2026</i> <b>School opens again after the fire</b></a>"
        ),
        (
            "<ul><li><a href=/1>Ferry late again</a> <i>9 November 2026</i></li>"
            "<li><a href=/2>School opens</a> <i>8 November 2026</i></li></ul>"
        ),
        "<div itemprop=review><b itemprop=author>Bo Lee</b></div>",
        "<div class=more-stories><p>By Bo Lee</p><i class=date>9 November 2026</i></div>",
        "<div class=weather><i class=date>Monday, 9 November 2026</i></div>",
        "<div class=more-news><a href=/x>Quay</a> <i class=date>9 November 2026</i></div>",
        "<p>Причал был открыт 12 мая 2004 года.</p>",
        "<div class=comments><b class=author>Bo Lee</b><time datetime=2026-11-09>1 d</time></div>",
        "<ol class=comment-list><li><cite>Bo Lee</cite><i class=date>9 November 2026</i></ol>",
        ("<div class=related><time datetime=2026-11-09>1 d</time><i class=author>Bo Lee</i></div>"),
        (
            "<aside><a href=/author/bo-lee>Bo Lee</a> <i class=date>9.11.2026</i>"
            "<a href=/x>Why the quay should go</a></aside>"
        ),
        "<ul><li><a href=/x>Other thing happens</a> <time datetime=2026-11-09>1 d</time></li></ul>",
        (
            "<div itemscope itemtype=https://schema.org/Comment><b itemprop=author>Bo Lee</b>"
            "<meta itemprop=dateCreated content=2026-11-09></div>"
        ),
    ],
)
def test_sentences_comments_and_teasers_date_and_sign_no_article(markup):
    metadata = read(f"<main><h1>Harbour reopens</h1>{BODY}{markup}</main>")
    assert (metadata.published, metadata.authors) == (None, ())


def test_date_below_the_headline_is_preferred_to_the_day_of_a_bar_above():
    page = read(
        "<div class=date>10 November 2026</div><h1>Harbour reopens</h1>"
        f"<p class=meta>3 November 2026 by Jane Doe</p>{BODY}"
    )
    assert page.published == datetime(2026, 11, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    "author",
    [
        '{"@type": "Person", "givenName": "Jane", "familyName": "Doe"}',
        '{"@type": "Person", "first_name": "Jane", "last_name": "Doe"}',
        '{"0": {"@type": "Person", "name": "Jane Doe"}}',
        '{"Person": {"Name": "Jane Doe"}}',
        '{"@type": "Person", "name": {"first": "Jane", "last": "Doe"}}',
        '{"@graph": [{"@type": "Person", "label": "Jane Doe"}]}',
        '{"@type": "Person", "sameAs": "https://pier.example/author/jane-doe"}',
    ],
)
def test_names_of_authors_in_json_ld_are_composed(author):
    data = f'{{"@type": "NewsArticle", "headline": "Harbour", "author": {author}}}'
    assert read(f"<script type=application/ld+json>{data}</script>").authors == ("Jane Doe",)


@pytest.mark.parametrize("name", ["sv", "sv-SE", "swe", "Swedish", "svenska"])
def test_languages_are_known_by_code_and_name(name):
    assert read(f'<html xml:lang="{name}"><h1>Hamnen</h1>').language == "sv"
    assert read(f'<meta name="page_language" content="{name}"><h1>Hamnen</h1>').language == "sv"


def test_earliest_of_equally_sure_days_is_that_of_publication():
    metas = "<meta name=publish_time content=2026-11-09><meta name=publish_date content=2026-11-03>"
    assert read(f"{metas}<h1>Harbour reopens</h1>").published == datetime(2026, 11, 3, tzinfo=UTC)


def test_pages_of_places_follow_the_order_of_places():
    code = publication_date
    order = (*code.STATED_IN, *code.SHOWN_IN, *code.MODIFIED_IN, *code.LAST_RESORTS)
    # Days in the address have tests of their own: they need no page.
    without_page = (code.address, code.number_in_address)
    names = [place.__name__ for place in order if place not in without_page]
    pairs = [f"{first}, {second}" for first, second in pairwise(names)]
    assert [page.id for page in PLACES] == pairs, "rewrite PLACES in the order of the places"


def test_day_in_the_address_is_preferred_to_that_beside_the_headline():
    html = f"{HEADING}<time datetime={FOURTH}></time>"
    dated = read(html, "https://pier.example/2026/11/03/harbour")
    assert dated.published == datetime(2026, 11, 3, tzinfo=UTC)
    assert read(html).published == datetime(2026, 11, 4, tzinfo=UTC)


@pytest.mark.parametrize("line", ["3 ноября 2026 г.", "3. studenoga 2026.", "3 พ.ย. 2569 10:30 น."])
def test_day_with_a_full_stop_behind_it_is_no_sentence(line):
    page = read(f"<h1>Harbour reopens</h1><p>{line}</p>{BODY}")
    assert page.published.date() == date(2026, 11, 3)
