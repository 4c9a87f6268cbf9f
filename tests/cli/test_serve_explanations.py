"""Explanations for the dashboard: from an archive that grows, or fetched anew."""

from pathlib import Path

import pytest

from newscrawl import config
from newscrawl.archive.warc import ArchiveWriter
from newscrawl.dashboard import explanations
from newscrawl.dashboard.explanations import Explainer, UnexplainedError
from tests.archives import capture
from tests.site.server import SiteServer

URL = "https://news.example/a"
PAGE = (
    "<html><body><nav><a href=/>Home</a></nav><h1>A tram for Zürich</h1>"
    "<p>The council of Zürich voted for the tram on Tuesday, after two hours of talk.</p>"
    "<p>It is to run in spring, and it costs nine million.</p></body></html>"
)
LATIN = (("Content-Type", "text/html; charset=iso-8859-1"),)


def store(folder: Path, url: str, name: str = "crawl") -> None:
    with ArchiveWriter(folder, name, max_bytes=1 << 20) as writer:
        writer.write(capture(url, PAGE.encode("latin-1"), headers=LATIN))


def test_archived_page_is_found_by_any_of_its_urls_and_decoded(tmp_path):
    store(tmp_path, f"{URL}?print=1")
    found = Explainer(tmp_path)([URL, f"{URL}?print=1"], False)
    assert "The council of Zürich voted" in found
    assert "kept" in found


def test_page_archived_under_the_link_of_a_feed_is_found(tmp_path):
    store(tmp_path, f"{URL}?utm_source=rss&utm_medium=feed")
    assert "The council of Zürich voted" in Explainer(tmp_path)([URL], False)


def test_page_of_another_article_is_not_taken_for_the_link_of_a_feed(tmp_path):
    store(tmp_path, f"{URL}?id=2&utm_source=rss")
    with pytest.raises(UnexplainedError, match="not in the archive"):
        Explainer(tmp_path)([URL], False)
    assert "Zürich" in Explainer(tmp_path)([f"{URL}?id=2"], False)


def test_page_archived_by_a_later_crawl_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(explanations, "READ_AGAIN", 0.0)
    store(tmp_path, "https://news.example/other")
    explain = Explainer(tmp_path)
    with pytest.raises(UnexplainedError, match="not in the archive"):
        explain([URL], False)
    store(tmp_path, URL, "later")
    assert "Zürich" in explain([URL], False)


@pytest.mark.parametrize("folder", [None, Path("nowhere")], ids=["none", "missing"])
def test_missing_archive_is_reported(folder):
    with pytest.raises(UnexplainedError, match=r"archive|no folder nowhere"):
        Explainer(folder)([URL], False)


def test_page_is_fetched_under_the_rules_of_a_crawl(monkeypatch):
    with SiteServer() as site:
        url = f"{site.url}/en/harbour-software.html"
        with pytest.raises(UnexplainedError, match="private address"):
            Explainer(None)([url], True)
        monkeypatch.setattr(config, "NEWSCRAWL_ALLOW_PRIVATE", "127.0.0.1")
        assert "Saltmere" in Explainer(None)([url], True)


def test_disallowed_page_is_not_fetched(monkeypatch):
    monkeypatch.setattr(config, "NEWSCRAWL_ALLOW_PRIVATE", "127.0.0.1")
    with SiteServer() as site, pytest.raises(UnexplainedError, match=r"robots\.txt"):
        Explainer(None)([f"{site.url}/members/x.html"], True)
