"""Labelled pages: reading, checking, splitting by site."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from newscrawl.training.corpus import (
    DEVELOPMENT,
    SEALED,
    Corpus,
    CorpusError,
    folds_by_site,
    load_corpus,
    part_of,
    split_by_site,
)


def write_set(folder: Path, records: list[dict[str, Any] | str], *, packed: bool = False) -> Path:
    pages = folder / "pages"
    pages.mkdir(parents=True, exist_ok=True)
    lines = [line if isinstance(line, str) else json.dumps(line) for line in records]
    (folder / "gold.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for record in records:
        if isinstance(record, dict) and record.get("id"):
            html = f"<p>{record.get('text')}</p>".encode()
            if packed:
                (pages / f"{record['id']}.html.gz").write_bytes(gzip.compress(html))
            else:
                (pages / f"{record['id']}.html").write_bytes(html)
    return folder


def record(number: int, site: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": f"page{number}",
        "lang": "en",
        "site": site or f"paper{number}.example",
        "text": f"Text {number}.",
        **more,
    }


def many(tmp_path: Path, sites: int, pages_each: int = 3) -> Corpus:
    records: list[dict[str, Any] | str] = [
        record(site * 100 + page, f"paper{site}.com")
        for site in range(sites)
        for page in range(pages_each)
    ]
    return load_corpus(write_set(tmp_path / "news", records))


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_set_is_read_with_its_pages(tmp_path, packed):
    gold = record(1, title="Head", authors=["A. B."], date="2020-01-02", without=["Ad"])
    corpus = load_corpus(write_set(tmp_path / "news", [gold], packed=packed))
    (page,) = corpus
    assert (page.id, page.set, page.title, page.authors) == ("page1", "news", "Head", ("A. B.",))
    assert (page.with_, page.without, page.page_type) == ((), ("Ad",), "article")
    assert page.html == b"<p>Text 1.</p>"


def test_page_comes_without_the_json_ld_that_is_its_gold_text(tmp_path):
    data = '<script type="application/ld+json">{"articleBody": "Rain."}</script>'
    write_set(tmp_path / "news", [record(1, gold="publisher"), record(2, gold="hand")])
    for number in (1, 2):
        page = tmp_path / "news" / "pages" / f"page{number}.html"
        page.write_text(f"<head>{data}<script>1</script></head><p>Rain.</p>", "utf-8")
    publisher, hand = load_corpus(tmp_path)
    assert publisher.html == b"<head><script>1</script></head><p>Rain.</p>"
    assert data.encode() in hand.html


@pytest.mark.parametrize(
    ("words", "group"),
    [(59, "0-59 words"), (60, "60-120 words"), (250, "121-250 words"), (251, "251 words and more")],
)
def test_pages_are_grouped_by_the_length_of_their_gold_text(tmp_path, words, group):
    (page,) = load_corpus(write_set(tmp_path / "news", [record(1, text="word " * words)]))
    assert page.length == group


def test_fifth_of_the_sites_is_sealed_in_every_set(tmp_path):
    for name in ("a", "b"):
        hosts = [f"{name}.paper{number}.com" for number in range(200)]
        write_set(tmp_path / name, [record(n, host) for n, host in enumerate(hosts)])
    corpus = load_corpus(tmp_path)
    sealed, development = corpus.part(SEALED), corpus.part(DEVELOPMENT)
    assert 0.1 < len(sealed) / len(corpus) < 0.3
    assert len(sealed) + len(development) == len(corpus)
    assert not set(sealed.sites) & set(development.sites)
    for site in sealed.sites:
        assert part_of(site) == SEALED
        assert {page.set for page in sealed if page.owner == site} == {"a", "b"}


def test_part_without_a_site_is_refused(tmp_path):
    corpus = load_corpus(write_set(tmp_path / "news", [record(1)]))
    (other,) = {SEALED, DEVELOPMENT} - {part_of(corpus.pages[0].owner)}
    with pytest.raises(CorpusError, match=f"no page of a site that is {other}"):
        corpus.part(other)


def test_folder_of_sets_is_read_in_order(tmp_path):
    write_set(tmp_path / "b", [record(1)])
    write_set(tmp_path / "a", [record(2), record(1)])
    assert [f"{p.set}/{p.id}" for p in load_corpus(tmp_path)] == ["a/page2", "a/page1", "b/page1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "x", ', r"gold\.jsonl:2: broken JSON at column \d+"),
        ("[1]", r"gold\.jsonl:2: a JSON object expected, not list"),
        ({"lang": "en", "site": "x.example"}, r'gold\.jsonl:2: "id" missing'),
        ({"id": "x", "lang": 3, "site": "x.example"}, r'gold\.jsonl:2: "lang" missing'),
        (record(2, text=None), r"gold\.jsonl:2: page 'page2' has no text"),
        (record(2, text=" \n"), r"gold\.jsonl:2: page 'page2' has no text"),
        (record(2, text=7), r'gold\.jsonl:2: "text" must be a string or null'),
        (record(2, authors="A. B."), r'gold\.jsonl:2: "authors" must be a list'),
        (record(1), r"gold\.jsonl:2: id 'page1' is already on line 1"),
    ],
    ids=["json", "list", "no-id", "lang", "no-text", "blank", "number", "authors", "twice"],
)
def test_invalid_line_is_named(tmp_path, line, message):
    write_set(tmp_path / "news", [record(1), line])
    with pytest.raises(CorpusError, match=message) as caught:
        load_corpus(tmp_path / "news")
    assert "\n" not in str(caught.value)


def test_line_without_its_page_is_named(tmp_path):
    folder = write_set(tmp_path / "news", [record(1)])
    (folder / "pages" / "page1.html").unlink()
    with pytest.raises(CorpusError, match=r"gold\.jsonl:1: no page pages/page1\.html\[\.gz\]"):
        load_corpus(folder)


def test_phrases_can_replace_a_text(tmp_path):
    record_of_phrases = record(1, text=None, **{"with": ["some words"]})
    (page,) = load_corpus(write_set(tmp_path / "news", [record_of_phrases]))
    assert (page.text, page.with_) == (None, ("some words",))


@pytest.mark.parametrize(
    ("folder", "message"),
    [(".", r"holds no gold\.jsonl"), ("nowhere", "no such folder"), ("news", "empty")],
)
def test_folder_without_gold_is_refused(tmp_path, folder, message):
    if folder == "news":
        write_set(tmp_path / "news", [])
    with pytest.raises(CorpusError, match=message):
        load_corpus(tmp_path / folder)


def test_truncated_gzip_page_is_named_when_read(tmp_path):
    folder = write_set(tmp_path / "news", [record(1)], packed=True)
    (folder / "pages" / "page1.html.gz").write_bytes(b"not gzip")
    (page,) = load_corpus(folder)
    with pytest.raises(CorpusError, match=r"page1\.html\.gz: not a readable gzip file"):
        _ = page.html


def test_fingerprint_depends_on_pages_and_gold_but_not_on_order(tmp_path):
    before = load_corpus(write_set(tmp_path / "a" / "news", [record(1), record(2)]))
    turned = load_corpus(write_set(tmp_path / "b" / "news", [record(2), record(1)]))
    assert before.fingerprint == turned.fingerprint
    (tmp_path / "b" / "news" / "pages" / "page1.html").write_bytes(b"<p>Other.</p>")
    touched = load_corpus(tmp_path / "b" / "news")
    regold = load_corpus(write_set(tmp_path / "c" / "news", [record(1), record(2, title="T")]))
    assert len({before.fingerprint, touched.fingerprint, regold.fingerprint}) == 3


def test_corpus_changed_since_training_is_refused(tmp_path):
    corpus = load_corpus(write_set(tmp_path / "news", [record(1)]))
    corpus.check_unchanged(corpus.fingerprint, "thresholds.json")
    with pytest.raises(CorpusError, match=r"news: changed since thresholds\.json was learned"):
        corpus.check_unchanged("0" * 64, "thresholds.json")


def test_selection_keeps_the_requested_pages(tmp_path):
    write_set(tmp_path / "a", [record(1), record(2, lang="de")])
    write_set(tmp_path / "b", [record(3), record(4, text=None, **{"with": ["x"]})])
    corpus = load_corpus(tmp_path)
    assert [p.id for p in corpus.select(sets=["a"], langs=["de"])] == ["page2"]
    assert [p.id for p in corpus.select(with_text=True)] == ["page1", "page2", "page3"]


def test_unknown_selection_is_refused_with_the_known_names(tmp_path):
    corpus = load_corpus(write_set(tmp_path / "news", [record(1)]))
    with pytest.raises(CorpusError, match="no lang fr; there are en"):
        corpus.select(langs=["fr"])


def test_hosts_of_one_domain_are_one_site(tmp_path):
    records: list[dict[str, Any] | str] = [
        record(1, "www1.paper.co.uk"),
        record(2, "news.paper.co.uk"),
        record(3, "10.0.0.1"),
    ]
    corpus = load_corpus(write_set(tmp_path / "news", records))
    assert corpus.sites == ("10.0.0.1", "paper.co.uk")


def test_split_divides_sites_seven_to_three(tmp_path):
    split = split_by_site(many(tmp_path, sites=40))
    assert not set(split.train.sites) & set(split.test.sites)
    assert len(split.train) + len(split.test) == 120
    assert len(split.train) / 120 == pytest.approx(0.7, abs=0.03)


def test_split_depends_only_on_the_seed(tmp_path):
    corpus = many(tmp_path, sites=40)
    assert split_by_site(corpus, seed=5) == split_by_site(corpus, seed=5)
    assert split_by_site(corpus, seed=5) != split_by_site(corpus, seed=6)


def test_folds_test_every_page_once(tmp_path):
    corpus = many(tmp_path, sites=11)
    folds = folds_by_site(corpus, k=4)
    tested = [page.id for fold in folds for page in fold.test]
    assert sorted(tested) == sorted(page.id for page in corpus)
    for fold in folds:
        assert not set(fold.train.sites) & set(fold.test.sites)
        assert len(fold.train) + len(fold.test) == len(corpus)


def test_single_site_cannot_be_split(tmp_path):
    corpus = many(tmp_path, sites=1)
    with pytest.raises(CorpusError, match=r"1 site\(s\) can't be split into 2 parts"):
        split_by_site(corpus)


def test_site_stays_on_its_side_for_any_selection(tmp_path):
    corpus = many(tmp_path, sites=40)
    whole = split_by_site(corpus)
    some = Corpus(corpus.name, corpus.pages[::2])
    chosen = whole.only(some)
    assert set(chosen.train) == set(whole.train) & set(some)
    assert set(chosen.test) == set(whole.test) & set(some)


def test_split_with_an_empty_side_is_refused(tmp_path):
    whole = split_by_site(many(tmp_path, sites=10))
    with pytest.raises(CorpusError, match="none of the requested pages is on a site for testing"):
        whole.only(whole.train)
