"""The page on which a person ticks what is content."""

from collections.abc import Iterator

from lxml import etree

from newscrawl.training.label import Draft, Label
from newscrawl.training.web_page import E, document, plain

KEYS = (
    ("j k", "next, previous block"),
    ("space", "tick"),
    ("shift + click", "tick from the last one to here"),
    ("a n", "tick all, none"),
    ("ctrl + enter", "save"),
)


def render(draft: Draft, position: int, total: int) -> str:
    """The form for one page, counted from 0."""
    complaint = draft.complaint
    heading = f"Page {position + 1} of {total}: {draft.candidate.name}"
    alert = [E.p(plain(complaint), {"class": "complaint", "role": "alert"})] if complaint else []
    return document(
        f"{heading} – newscrawl label",
        [
            E.h1(plain(heading)),
            *alert,
            E.p(*_keys(), {"class": "faint"}),
            E.form(
                E.input(type="hidden", name="position", value=str(position)),
                *_facts(draft.label),
                E.ol(*_blocks(draft)),
                E.div(
                    E.button("Save", name="do", value="save", type="submit"),
                    E.button(
                        "Skip this page", name="do", value="skip", type="submit", formnovalidate=""
                    ),
                    E.span({"id": "count", "class": "faint", "role": "status"}),
                    {"class": "bar"},
                ),
                method="post",
                action="save",
                autocomplete="off",
            ),
        ],
        style="label.css",
        script="label.js",
    )


def render_end(saved: int, folder: str) -> str:
    """The last page: what was done."""
    pages = "1 page" if saved == 1 else f"{saved} pages"
    body = [E.h1(f"{pages} saved"), E.p(plain(f"in {folder}. You may close this window."))]
    return document("Done – newscrawl label", body, style="label.css")


def _keys() -> Iterator[etree._Element]:
    for key, meaning in KEYS:
        yield E.span(E.kbd(key), f" {meaning}  ", {"class": "key"})


def _facts(label: Label) -> Iterator[etree._Element]:
    values = {
        "title": label.title,
        "authors": "; ".join(label.authors),
        "date": label.date,
        "lang": label.lang,
        "site": label.site,
        "page_type": label.page_type,
    }
    notes = {"authors": "authors (a; b)", "lang": "language", "page_type": "page type"}
    demands = {
        "lang": {"required": "", "pattern": "[a-z]{2}", "title": "two letters, as in de"},
        "site": {"required": "", "placeholder": "example.org"},
    }
    fields = [
        E.label(
            notes.get(name, name),
            E.input(demands.get(name, {}), name=name, value=plain(value), dir="auto"),
        )
        for name, value in values.items()
    ]
    yield E.div(*fields, {"class": "facts"})


def _blocks(draft: Draft) -> Iterator[etree._Element]:
    kept = frozenset(draft.label.kept)
    for number, text in enumerate(draft.candidate.blocks):
        box = E.input(type="checkbox", name="kept", value=str(number))
        if number in kept:
            box.set("checked", "")
        yield E.li(E.label(box, E.span(plain(text), dir="auto")))
