"""Versions of an article: one as it should be, and a shell without its text."""

from collections.abc import Sequence
from typing import Any

from newscrawl.items import Document, Mention
from tests.worlds import body, document, headline

URL = "https://ft.example/a"
TEXT = " ".join(
    f"Quay {number} of the harbour was closed by crew {number}." for number in range(60)
)
SHELL = "Please enable JavaScript to read this page."
GOOD = [headline("Siemens"), body("Siemens"), body("Bosch", 9)]


def good(text: str = TEXT, *, mentions: Sequence[Mention] = GOOD, **given: Any) -> Document:
    return document(text=text, mentions=mentions, **given)


def shell(text: str = SHELL, **given: Any) -> Document:
    return document(title="Financial Times", text=text, **given)
