"""Texts that Unicode's normal forms can be made of in linear time.

To normalise a text its combining marks are sorted, each run of them with the square of its length:
50,000 in the wrong order take two seconds.
"""

import re
import unicodedata
from typing import Final

# Unicode Standard Annex 15, section 13, "Stream-Safe Text Format".
MAX_MARKS: Final = 30

# Marks beyond the Basic Multilingual Plane are too many to look for: all that stands there is one.
_MARKS: Final = "".join(
    chr(code) for code in range(0x300, 0xFFFF) if unicodedata.combining(chr(code))
)
_LONG_RUN: Final = re.compile(rf"[{_MARKS}\U00010000-\U0010ffff]{{{MAX_MARKS + 1},}}")


def stream_safe(text: str) -> str:
    """The text, of equal length, in which no more than `MAX_MARKS` combining marks stand in a row;
    each one more becomes a U+FFFD."""
    if text.isascii() or not _LONG_RUN.search(text):
        return text
    return _LONG_RUN.sub(_cut, text)


def _cut(run: re.Match[str]) -> str:
    return run[0][:MAX_MARKS] + "\N{REPLACEMENT CHARACTER}" * (len(run[0]) - MAX_MARKS)
