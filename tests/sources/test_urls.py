"""Which addresses name the same article: parameters, and mobile and AMP twins."""

import pytest
from hypothesis import given, strategies as st

from newscrawl.sources import canonical_url
from newscrawl.sources.urls import main_addresses, unwrapped


@pytest.mark.parametrize(
    ("url", "mains"),
    [
        ("https://m.a.example/n/b-1", ["https://www.a.example/n/b-1", "https://a.example/n/b-1"]),
        ("https://mobile.a.example/b?id=2", ["https://www.a.example/b?id=2", "https://a.example/b?id=2"]),
        ("https://amp.a.co.example/b-1", ["https://www.a.co.example/b-1", "https://a.co.example/b-1"]),
        ("https://a.example/amp/n/b-1", ["https://a.example/n/b-1"]),
        (
            "https://m.a.example/amp/b-1",
            [
                "https://www.a.example/b-1",
                "https://a.example/b-1",
                "https://www.a.example/amp/b-1",
                "https://a.example/amp/b-1",
            ],
        ),
        ("https://m.a.example:8080/b-1", ["https://www.a.example:8080/b-1", "https://a.example:8080/b-1"]),
    ],
)  # fmt: skip
def test_mobile_url_has_its_possible_main_urls(url, mains):
    assert list(main_addresses(url)) == mains


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/n/b-1",
        "https://www.a.example/n/b-1",
        "https://m.example/b-1",
        "https://money.a.example/b-1",
        "https://a.example/amp/",
        "https://a.example/amplifiers/b-1",
        "https://m.a.example/",
    ],
)
def test_other_urls_have_no_main_urls(url):
    assert main_addresses(url) == ()


@given(
    st.sampled_from(["m.a.example", "amp.b.example", "c.example"]),
    st.text("abc/-1", max_size=20),
    st.sampled_from(["", "?id=1"]),
)
def test_main_urls_of_a_canonical_url_are_canonical(host, path, query):
    url = canonical_url(f"https://{host}/amp/{path}{query}")
    assert all(canonical_url(address) == address for address in main_addresses(url))


@pytest.mark.parametrize(
    "parameters",
    [
        "partner=reuters&emc=rss", "CMP=share_btn_wa", "cmpid=socialflow-x", "smid=ios-share",
        "emci=a", "elqTrackId=a", "isFromRss=1", "via=rss-feed", "_amp=true",
        "srnd=homepage-europe", "ocid=entnewsntp", "spm=C7354.P4", "taid=65f1", "rss=1", "from=rss",
        "feature=feed", "via=twitter", "channel=newsletter.daily", "__twitter_impression=true",
        "gclsrc=aw.ds&wbraid=1", "igsh=x", "at_custom1=x", "shared=mail", "isappinstalled=0",
        "from=timeline", "src=twsrc", "giftCopy=0_a", "PHPSESSID=af31", "regi_id=7&segment_id=6",
        "replytocom=55", "m=1", "mobile=true", "outputType=valid_amp", "nocache=1", "icmp=x",
        "_hsmi=12&_hsenc=p2", "wt_mc=x.y", "WT.mc_id=z", "guccounter=2", "mod=hp_lead", "trk=a",
        "trackingCode=x", "cm_mmc=x", "via=email", "feedLink=x", "sc_campaign=x",
        "maca=de-rss-all", "wp_rss=1", "via_push=1", "srsltid=a", "from_mobile=1",
    ],
)  # fmt: skip
def test_parameters_of_channels_name_no_article(parameters):
    assert canonical_url(f"https://a.example/n?id=7&{parameters}") == "https://a.example/n?id=7"


@pytest.mark.parametrize(
    "parameter", ["title", "slug", "c", "doc", "entry", "view", "section", "sayfa", "feed"]
)
def test_path_of_words_has_further_parameters(parameter):
    address = "https://a.example/2026/11/27/all-the-latest-news"
    assert canonical_url(f"{address}?{parameter}=a17") != canonical_url(
        f"{address}?{parameter}=b18"
    )


@pytest.mark.parametrize(
    "parameters",
    [
        "ref=123",
        "source=4711",
        "track=5",
        "section=2",
        "id=7&section=2&times=3",
        "m=202611",
        "reference=12",
        "gallery_id=5",
        "glossary=7",
        "id=facebook-fined",
        "q=twitter+shares",
        "story=feeding-ducks",
        "feed_id=77",
        "syn=4711",
        "cmp_id=12",
        "cm_page=2",
    ],
)
def test_parameters_that_name_an_article_are_kept(parameters):
    assert canonical_url(f"https://a.example/n?{parameters}").endswith(parameters)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a?referer=http://b.example.com",
        "http://example.com/a?url=http://b.example.com/x",
        "http://example.com/a?id=1&next=https://b.example.com/x?y=1",
        "http://example.com/http://b.example.com/x",
    ],
)
def test_address_within_an_address_is_cleaned_at_once(url):
    assert canonical_url(canonical_url(url)) == canonical_url(url)


ARTICLE = "https://news.example.com/a/quay-1"
ESCAPED = "https%3A%2F%2Fnews.example.com%2Fa%2Fquay-1"


@pytest.mark.parametrize(
    "url",
    [
        f"https://www.google.com/url?rct=j&sa=t&url={ARTICLE}&ct=ga",
        f"https://www.bing.com/news/apiclick.aspx?ref=FexRss&aid=&url={ESCAPED}&c=1",
        f"https://l.facebook.com/l.php?u={ESCAPED}&h=AT0",
        f"https://r.search.yahoo.com/_ylt=A/RV=2/RU={ESCAPED}/RK=2/RS=x",
        f"https://eur01.safelinks.protection.outlook.com/?url={ESCAPED}&data=1",
        f"https://t.example.net/redirect?z={ESCAPED}",
        f"https://out.example.net/t3_1?url={ESCAPED}&token=x",
        f"https://href.li/?{ARTICLE}",
        f"https://www.google.com/amp/s/{ARTICLE.removeprefix('https://')}",
        f"https://news-example.cdn.ampproject.org/c/s/{ARTICLE.removeprefix('https://')}",
    ],
)
def test_link_of_an_alert_leads_to_the_article(url):
    assert unwrapped(url) == ARTICLE


@pytest.mark.parametrize(
    "url",
    [
        "https://abcnews.go.example/business/story?id=123&ref=https://www.google.com/",
        "https://www.out.example/story-1?u=https://facebook.com/sharer",
    ],
)
def test_link_to_a_page_with_an_address_in_its_query_leads_to_the_page(url):
    assert unwrapped(url) == url


def test_amp_copy_of_a_host_that_begins_with_s_leads_to_it():
    assert unwrapped("https://www.google.com/amp/sun.example/a-1") == "http://sun.example/a-1"


@pytest.mark.parametrize(
    "url",
    [
        f"{ARTICLE}?url=https://other.example/x",
        f"https://news.example.com/link?url={ESCAPED}",
        "https://www.google.com/url?id=7",
    ],
)
def test_other_links_are_kept(url):
    assert unwrapped(url) == url
