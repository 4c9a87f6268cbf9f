"""References to characters ("&amp;", "&#8217;") in texts, whatever they refer to."""

import html
import re
from typing import Final

# Python refuses to make a number of more than 4,300 decimal digits.
_NO_CHARACTER: Final = re.compile(r"&#[0-9]{4000,}")
_BEYOND_UNICODE: Final = "&#1114112"


def unescape(text: str) -> str:
    """The text with its references resolved; what refers to no character becomes a U+FFFD."""
    return html.unescape(_NO_CHARACTER.sub(_BEYOND_UNICODE, text) if "&#" in text else text)
