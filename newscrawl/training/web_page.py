"""Web pages of ours that show text of strangers.

A document is built as a tree, so that text can only ever become text; the policy in its head
forbids, on top of that, every script, style, image and connection that is not ours.
"""

import base64
import hashlib
import re
from collections.abc import Iterable
from importlib.resources import files

from lxml import etree
from lxml.builder import ElementMaker

E = ElementMaker()

# What XML can't hold, and marks that turn the direction of all text after them around.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)


def plain(text: str) -> str:
    """The text with a sign in place of every character that no document may hold."""
    return _UNFIT.sub("\ufffd", text)


def document(
    title: str, body: Iterable[etree._Element], *, style: str, script: str | None = None
) -> str:
    """A whole HTML document with its own style sheet and, if any, script: files beside this one."""
    css = _read(style)
    directives = ["default-src 'none'", f"style-src {_hash(css)}", "base-uri 'none'"]
    directives.append("form-action 'self'" if script else "form-action 'none'")
    last = []
    if script:
        code = _read(script)
        directives.append(f"script-src {_hash(code)}")
        last.append(E.script(code))
    tree = E.html(
        E.head(
            E.meta(charset="utf-8"),
            E.meta({"http-equiv": "Content-Security-Policy", "content": "; ".join(directives)}),
            E.meta(name="referrer", content="same-origin"),
            E.meta(name="viewport", content="width=device-width, initial-scale=1"),
            E.title(plain(title)),
            E.style(css),
        ),
        E.body(*body, *last),
        lang="en",
    )
    return str(etree.tostring(tree, method="html", encoding="unicode", doctype="<!DOCTYPE html>"))


def _read(name: str) -> str:
    return files("newscrawl.training").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
