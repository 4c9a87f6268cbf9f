"""Labelling: a person says what of a page is content, and a corpus gets a gold line.

A set of labelled pages grows by one line of gold.jsonl and one file in pages/; what they
hold is told in docs/training.md.
"""

import gzip
import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from newscrawl.extraction.blocks import clean, read_blocks
from newscrawl.extraction.extract import extract
from newscrawl.extraction.html import decode, parse
from newscrawl.items import Article
from newscrawl.training.corpus import GOLD_FILE, PAGES_FOLDER
from newscrawl.training.explain import taken_blocks

LANGUAGE = re.compile(r"[a-z]{2}")  # ISO 639-1


class LabelError(Exception):
    """A label that can't be saved; the message is one line that says what to change."""


@dataclass(frozen=True)
class Candidate:
    """A page waiting for its label. `encoding` is the charset of its HTTP header."""

    name: str
    html: bytes
    url: str | None = None
    encoding: str | None = None

    @cached_property
    def article(self) -> Article:
        return extract(self.html, self.url, encoding=self.encoding)

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """Its blocks in order, as a person reads them."""
        raw = read_blocks(parse(decode(self.html, self.encoding))).raw
        return tuple(clean(text) for text in raw)

    @property
    def site(self) -> str:
        """The host it was fetched from; empty for a file."""
        return urlsplit(self.url or "").hostname or ""

    @property
    def id(self) -> str:
        """Readable, and another one for other bytes."""
        name = self.site or Path(self.name).stem
        digest = hashlib.sha256(self.html).hexdigest()[:10]
        return f"{re.sub(r'[^a-z0-9.-]+', '-', name.lower()).strip('-.')[:60]}-{digest}"


@dataclass(frozen=True, kw_only=True)
class Label:
    """What the person said of a page; `kept` are numbers of blocks."""

    kept: Sequence[int]
    lang: str
    site: str
    title: str = ""
    authors: tuple[str, ...] = ()
    date: str = ""
    page_type: str = "article"


@dataclass(frozen=True)
class Draft:
    """A page and what the form for it holds; `complaint` says why that was not saved."""

    candidate: Candidate
    label: Label
    complaint: str = ""

    @classmethod
    def begin(cls, candidate: Candidate) -> "Draft":
        """What our method would say: where the person begins."""
        article = candidate.article
        taken = taken_blocks(candidate.blocks, article.paragraphs)
        label = Label(
            kept=tuple(number for number, ticked in enumerate(taken) if ticked),
            lang=article.language or "",
            site=candidate.site,
            title=article.title or "",
            authors=article.authors,
            date=article.published.isoformat() if article.published else "",
            page_type=article.kind,
        )
        return cls(candidate, label)


@dataclass(frozen=True)
class LabelledSet:
    """A folder with gold.jsonl and pages/ that grows."""

    folder: Path

    def add(self, candidate: Candidate, label: Label) -> str:
        """Write page and gold line; returns the page's id. The page comes first, so that a
        gold line never lacks its page.

        Raises:
            LabelError: no block, no language, no site, or a page labelled before.
        """
        record = _record(candidate, label)
        if candidate.id in self.ids():
            raise LabelError(f"{candidate.id} has a label already: drop its line in {GOLD_FILE}")
        pages = self.folder / PAGES_FOLDER
        pages.mkdir(parents=True, exist_ok=True)
        target = pages / f"{candidate.id}.html.gz"
        fresh = target.with_name(target.name + ".new")
        fresh.write_bytes(gzip.compress(_stored(candidate), mtime=0))
        fresh.replace(target)
        with (self.folder / GOLD_FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return candidate.id

    def ids(self) -> set[str]:
        """The pages that have a label."""
        path = self.folder / GOLD_FILE
        if not path.is_file():
            return set()
        lines = path.read_text("utf-8").split("\n")
        try:
            return {json.loads(line)["id"] for line in lines if line.strip()}
        except (ValueError, KeyError, TypeError) as error:
            raise LabelError(
                f"{path}: not a file of gold lines ({error}); mend it first"
            ) from error


def _record(candidate: Candidate, label: Label) -> dict[str, object]:
    kept = sorted({number for number in label.kept if 0 <= number < len(candidate.blocks)})
    if not kept:
        raise LabelError("tick at least one block, or skip the page")
    if not LANGUAGE.fullmatch(label.lang):
        raise LabelError(f"{label.lang!r} is no language: give two letters, as in 'de'")
    if not label.site.strip():
        raise LabelError("give the site, as in 'example.org': corpora are split by it")
    return {
        "id": candidate.id,
        "lang": label.lang,
        "site": label.site.strip(),
        "url": candidate.url,
        "page_type": label.page_type.strip() or "article",
        "title": label.title.strip() or None,
        "authors": list(label.authors) or None,
        "date": label.date.strip() or None,
        "text": "\n\n".join(candidate.blocks[number] for number in kept),
    }


def _stored(candidate: Candidate) -> bytes:
    """The page's bytes; as UTF-8 where only the HTTP header told their charset."""
    if candidate.encoding is None:
        return candidate.html
    return decode(candidate.html, candidate.encoding)
