"""Call every tool of the benchmark by one signature, and run one of them in a process.

The benchmark starts this file as a script, `python peers.py NAME`, in the environment of
the tool: so it imports nothing of ours (but newscrawl itself, for our own methods), only
the standard library at the top, and keeps to Python 3.7, the last one dragnet runs on.

Pages come on standard input, one JSON object a line (`id`, `path`, `url`; `left_out`, a pattern
of what no tool may read, where JSON-LD holds the gold text);
one JSON line per page goes to standard output. A tool that raises gave no text.
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import resource
import socket
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = dict[str, Any]  # text, and where the tool knows them title, authors, date
    Extractor = Callable[[Any, str | None], Fields]  # the page as `Peer.takes_bytes` says

MEMORY_LIMIT = 6 << 30  # bytes of address space, so that a page can't exhaust the machine's memory
MAIN_ENV, BENCH_ENV, PY312_ENV, PY37_ENV = "main", "bench", "py312", "py37"


@dataclass(frozen=True)
class Peer:
    """One row of the benchmark.

    `package` is the distribution whose version is shown in the table, `paper` the row's name
    in Table 5 of Barbaresi & Lejeune 2020 (empty: not there), `environment` the virtual
    environment that it runs in. `metadata_build` builds the variant that also fills title,
    authors and date, where that is not what the tool does anyway. One that `takes_bytes` gets
    the page as UTF-8, as the bare parse does; the others get the same characters as text.
    """

    name: str
    package: str
    build: Callable[[], Extractor]
    paper: str = ""
    environment: str = BENCH_ENV
    metadata_build: Callable[[], Extractor] | None = None
    takes_bytes: bool = False


def _load(module: str) -> Any:
    return importlib.import_module(module)


def _newscrawl(method: str) -> Extractor:
    extract = _load("newscrawl").extract

    def run(html: bytes, url: str | None) -> Fields:
        article = extract(html, url, method=method)
        return {
            "text": article.text,
            "title": article.title,
            "authors": list(article.authors),
            "date": article.published.isoformat() if article.published else None,
        }

    return run


def _lxml_parse() -> Extractor:
    parse = bare_parser()

    def run(html: bytes, _url: str | None) -> Fields:
        parse(html)
        return {"text": ""}

    return run


def bare_parser() -> Callable[[bytes], Any]:
    """Return the fastest possible reader: bytes to an lxml tree, nothing else."""
    html = _load("lxml.html")

    def parse(page: bytes) -> Any:
        return html.document_fromstring(page, parser=html.HTMLParser(encoding="utf-8"))

    return parse


def _trafilatura(options: dict[str, bool]) -> Extractor:
    extract = _load("trafilatura").extract
    return lambda html, url: {"text": extract(html, url=url, **options)}


def _trafilatura_metadata(options: dict[str, bool]) -> Extractor:
    bare_extraction = _load("trafilatura").bare_extraction

    def run(html: str, url: str | None) -> Fields:
        metadata = bare_extraction(html, url=url, with_metadata=True, **options)
        if metadata is None:
            return {"text": ""}
        return {
            "text": metadata.text,
            "title": metadata.title,
            "authors": metadata.author.split("; ") if metadata.author else [],
            "date": metadata.date,
        }

    return run


def _readability() -> Extractor:
    document, to_text = _load("readability").Document, _load("html_text").extract_text

    def run(html: str, url: str | None) -> Fields:
        page = document(html, url=url)
        return {"text": to_text(page.summary()), "title": page.short_title()}

    return run


def _newspaper() -> Extractor:
    article_class = _load("newspaper").Article

    def run(html: str, url: str | None) -> Fields:
        article = article_class(url or "http://localhost/", fetch_images=False)
        article.download(input_html=html)
        article.parse()
        return {
            "text": article.text,
            "title": article.title,
            "authors": article.authors,
            "date": str(article.publish_date or ""),
        }

    return run


def _goose() -> Extractor:
    goose = _load("goose3").Goose({"enable_image_fetching": False})

    def run(html: str, _url: str | None) -> Fields:
        article = goose.extract(raw_html=html)
        return {
            "text": article.cleaned_text,
            "title": article.title,
            "authors": article.authors,
            "date": article.publish_date,
        }

    return run


def _paragraph_text(paragraphs: Any) -> Fields:
    return {"text": "\n\n".join(p.text for p in paragraphs if not p.is_boilerplate)}


def _justext(language: str | None) -> Extractor:
    """Return a method; None for all languages' stop words as one list, as JT in the paper."""
    justext = _load("justext")
    names = [language] if language else sorted(justext.get_stoplists())
    words = frozenset().union(*map(justext.get_stoplist, names))
    return lambda html, _url: _paragraph_text(justext.justext(html, words))


def _justext_by_language() -> Extractor:
    """Detect the language by py3langid from the page's text, as JT_langid in the paper."""
    justext, langid = _load("justext"), _load("py3langid")
    to_text = _load("html_text").extract_text
    lists = {
        code: justext.get_stoplist(name)
        for code, name in JUSTEXT_LANGUAGES.items()
        if name in justext.get_stoplists()
    }

    def run(html: str, _url: str | None) -> Fields:
        language = langid.classify(to_text(html))[0]
        if language in lists:
            return _paragraph_text(justext.justext(html, lists[language]))
        # No stop words for this language: the author's advice, footnote 15 of the paper.
        paragraphs = justext.justext(html, frozenset(), stopwords_low=0, stopwords_high=0)
        return _paragraph_text(paragraphs)

    return run


JUSTEXT_LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
    "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
    "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ko": "Korean", "lt": "Lithuanian",
    "lv": "Latvian", "mk": "Macedonian", "nb": "Norwegian_Bokmal", "nl": "Dutch",
    "no": "Norwegian_Bokmal", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian",
    "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
}  # fmt: skip


def _boilerpy(extractor: str) -> Extractor:
    engine = getattr(_load("boilerpy3.extractors"), extractor)()

    def run(html: str, _url: str | None) -> Fields:
        document = engine.get_doc(html)
        return {"text": document.content, "title": document.title}

    return run


def _inscriptis() -> Extractor:
    get_text = _load("inscriptis").get_text
    return lambda html, _url: {"text": get_text(html)}


def _html2text() -> Extractor:
    converter_class = _load("html2text").HTML2Text

    def run(html: str, _url: str | None) -> Fields:
        converter = converter_class(bodywidth=0)  # addresses of links and images are not words
        converter.ignore_links = converter.ignore_images = True
        return {"text": converter.handle(html)}

    return run


def _html_text() -> Extractor:
    extract_text = _load("html_text").extract_text
    return lambda html, _url: {"text": extract_text(html)}


def _resiliparse() -> Extractor:
    extract = _load("resiliparse.extract.html2text").extract_plain_text
    return lambda html, _url: {"text": extract(html, main_content=True)}


def _news_please() -> Extractor:
    from_html = _load("newsplease").NewsPlease.from_html

    def run(html: str, url: str | None) -> Fields:
        article = from_html(html, url=url, fetch_images=False)
        return {
            "text": article.maintext,
            "title": article.title,
            "authors": article.authors,
            "date": str(article.date_publish or ""),
        }

    return run


def _dragnet() -> Extractor:
    extract = _load("dragnet").extract_content
    return lambda html, _url: {"text": extract(html)}


def _rs_trafilatura() -> Extractor:
    extract = _load("rs_trafilatura").extract

    def run(html: str, url: str | None) -> Fields:
        result = extract(html, url=url)
        return {"text": result.main_content, "title": result.title}

    return run


def _trafilatura_peer(name: str, **options: bool) -> Peer:
    return Peer(
        name,
        "trafilatura",
        partial(_trafilatura, options),
        metadata_build=partial(_trafilatura_metadata, options),
    )


def _boilerpy_peer(name: str, extractor: str, paper: str) -> Peer:
    return Peer(name, "boilerpy3", partial(_boilerpy, extractor), paper)


# The variants of combined are the same network at other thresholds: docs/algorithms.md has them.
OUR_METHODS = ("combined", "fe", "pr", "tb", "cetr", "cetr-km", "cetr-tm")
BARE_PARSE = "lxml parse"

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        *(
            Peer(
                f"newscrawl {method}",
                "newscrawl",
                partial(_newscrawl, method),
                environment=MAIN_ENV,
                takes_bytes=True,
            )
            for method in OUR_METHODS
        ),
        _trafilatura_peer("trafilatura"),
        _trafilatura_peer("trafilatura fast", fast=True),
        _trafilatura_peer("trafilatura precision", favor_precision=True),
        _trafilatura_peer("trafilatura recall", favor_recall=True),
        Peer("resiliparse", "resiliparse", _resiliparse),
        Peer("rs-trafilatura", "rs-trafilatura", _rs_trafilatura, environment=PY312_ENV),
        Peer("readability-lxml", "readability-lxml", _readability, "READ"),
        Peer("newspaper4k", "newspaper4k", _newspaper, "NPAPER"),
        Peer("goose3", "goose3", _goose, "GOOSE"),
        Peer("justext", "justext", partial(_justext, None), "JT"),
        Peer("justext English", "justext", partial(_justext, "English"), "JT_en"),
        Peer("justext by language", "justext", _justext_by_language, "JT_langid"),
        _boilerpy_peer("boilerpy3", "DefaultExtractor", "BP3"),
        _boilerpy_peer("boilerpy3 article", "ArticleExtractor", "BP3_Art"),
        _boilerpy_peer("boilerpy3 largest", "LargestContentExtractor", "BP3_Larg"),
        _boilerpy_peer("boilerpy3 everything", "KeepEverythingExtractor", "BP3_KeepE"),
        Peer("inscriptis", "inscriptis", _inscriptis, "INSCRI"),
        Peer("html2text", "html2text", _html2text, "HTML2T"),
        Peer("html-text", "html-text", _html_text),
        Peer("dragnet", "dragnet", _dragnet, "DRAGNET", PY37_ENV),
        Peer("news-please", "news-please", _news_please, "NPLEASE"),
        Peer(BARE_PARSE, "lxml", _lxml_parse, takes_bytes=True),
    )
}

XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
DECLARED_CHARSET = re.compile(rb"""<meta[^>]+charset=["']?\s*([\w-]+)""", re.IGNORECASE)


def decode(page: bytes) -> str:
    """Return text by UTF-8 where that is valid, else by what the page declares, else windows-1252.

    Every tool gets the same characters: charsets are not what is measured here.
    """
    declared = DECLARED_CHARSET.search(page[:4096])
    label = declared.group(1).decode("ascii").lower() if declared else "windows-1252"
    charsets = ["utf-8", "gb18030" if label in ("gb2312", "gbk") else label]  # as browsers do
    for charset in charsets:
        try:
            return XML_DECLARATION.sub("", page.decode(charset), count=1)
        except (UnicodeDecodeError, LookupError):
            continue
    return XML_DECLARATION.sub("", page.decode("windows-1252", "replace"), count=1)


def _measure(
    page: Fields,
    extract: Extractor,
    parse: Callable[[bytes], Any] | None,
    *,
    takes_bytes: bool = False,
) -> Fields:
    """Run the tool over one page; times are CPU seconds of this process.

    Where `parse` is given, the bare parse of the same page is timed just before.
    """
    stored = Path(page["path"]).read_bytes()
    stored = gzip.decompress(stored) if page["path"].endswith(".gz") else stored
    if page.get("left_out"):
        stored = re.sub(page["left_out"].encode("ascii"), b"", stored)
    html = decode(stored)
    report: Fields = {"id": page["id"], "error": None}
    encoded = html.encode("utf-8", "replace")
    if parse is not None:
        start = time.process_time()
        parse(encoded)
        report["parse_seconds"] = time.process_time() - start
    start = time.process_time()
    try:
        answer = extract(encoded if takes_bytes else html, page.get("url"))
    except Exception as error:  # noqa: BLE001  a peer may raise anything; it is counted
        answer = {"text": ""}
        report["error"] = f"{type(error).__name__}: {error}"[:200]
    report["seconds"] = time.process_time() - start
    report.update(answer, text=answer.get("text") or "")
    return report


def _no_network(*_: Any) -> None:
    raise OSError("the benchmark does not go online")


def _serve(name: str, with_metadata: bool) -> None:
    """Answer each page on standard input with one line; what a tool prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    setattr(socket.socket, "connect", _no_network)  # noqa: B010  assigning to a method
    peer = PEERS[name]
    extract = (peer.metadata_build if with_metadata and peer.metadata_build else peer.build)()
    parse = None if with_metadata else bare_parser()
    print(json.dumps({"ready": name}), file=answers, flush=True)
    for line in sys.stdin:
        report = _measure(json.loads(line), extract, parse, takes_bytes=peer.takes_bytes)
        print(json.dumps(report, default=str), file=answers, flush=True)


if __name__ == "__main__":
    sys.path.pop(0)  # our own module names (metrics, corpus) must not shadow a tool's
    _serve(sys.argv[1], with_metadata="--metadata" in sys.argv[2:])
