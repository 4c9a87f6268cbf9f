"""JSON as publishers write it by hand and scripts as objects: read to the end of what is there."""

import re
from collections.abc import Iterator
from typing import Any, Final

# Ours: bounds on hostile input.
MAX_DEPTH: Final = 20
MAX_VALUES: Final = 20_000

_OPENING: Final = re.compile(r"[{\[]")
_BLANK: Final = re.compile(
    r"(?:[\s,;\ufeff]+|/\*.*?(?:\*/|\Z)|//[^\n]*|<!--.*?(?:-->|\Z))*+", re.DOTALL
)
# Keys, in marks or bare.
_NEXT_KEY: Final = r"""(?:"[^"\n]{0,80}"|'[^'\n]{0,80}'|[@$\w][\w@$.-]{0,80})\s{0,99}:"""
_KEY: Final = re.compile(rf"(?={_NEXT_KEY})[\"']?([^\"':\n]*)[\"']?\s{{0,99}}:")
_NEXT_VALUE: Final = r"(?:[\"'\[\]{}\d-]|(?:true|false|null|undefined)\b)"
# A quotation mark ends a text where JSON goes on behind it: with the end of what holds it, with the
# next key of an object (a comma may lack), or with the next value of a list.
_ENDS_IN_OBJECT: Final = {
    mark: re.compile(
        rf"{mark}(?=\s{{0,99}}(?:[}}\]]|\Z|;|[\"'][@$\w]{{1,80}}[\"']\s{{0,99}}:"
        rf"|,\s{{0,99}}(?:{_NEXT_KEY}|[}}\],]|//|/\*|\Z)))"
    )
    for mark in "\"'"
}
_ENDS_IN_LIST: Final = {
    mark: re.compile(rf"{mark}(?=\s{{0,99}}(?:\]|\Z|,\s{{0,99}}(?:{_NEXT_VALUE}|\Z)))")
    for mark in "\"'"
}
_BARE: Final = re.compile(r"[^,}\]\n]*")
_TEMPLATE: Final = re.compile(r"\{\{.*?(?:\}\}|\Z)|\{%.*?(?:%\}|\Z)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LITERALS: Final = {"true": True, "false": False, "!0": True, "!1": False}
_NUMBER: Final = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?")
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def parse(text: str) -> Any:
    """Return the first object or list of a text; None if there is none."""
    return next(values_in(text), None)


def values_in(text: str) -> Iterator[Any]:
    """Yield the objects and lists that follow one another in a text.

    What is open at the end is closed; keys and texts may be in single quotes or none, and what is
    neither text nor number nor truth is None.
    """
    reader = _Reader(text)
    while opening := _OPENING.search(text, reader.at):
        reader.at = opening.start()
        yield reader.value(0, _ENDS_IN_LIST)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0
        self._left = MAX_VALUES

    def value(self, depth: int, ends: dict[str, re.Pattern[str]]) -> Any:
        sign = self._text[self.at : self.at + 1]
        self._left -= 1
        if sign in ('"', "'"):
            return self._string(ends[sign])
        if template := _TEMPLATE.match(self._text, self.at):
            self.at = template.end()
            return None
        if sign == "{" and depth < MAX_DEPTH:
            return self._object(depth + 1)
        if sign == "[" and depth < MAX_DEPTH:
            return self._list(depth + 1)
        bare = _BARE.match(self._text, self.at)
        word = bare[0].strip() if bare else ""
        self.at += len(bare[0]) if bare else 0
        if number := _NUMBER.fullmatch(word):
            return float(number[0]) if "." in word else int(number[0])
        return _LITERALS.get(word.lower())

    def _object(self, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        self.at += 1
        while self._goes_on("}"):
            if key := _KEY.match(self._text, self.at):
                self.at = key.end()
                while self._text[self.at : self.at + 1].isspace():
                    self.at += 1
                if self._text[self.at : self.at + 1] in (",", "}", "]", ""):
                    values.setdefault(key[1], None)
                else:
                    values.setdefault(key[1], self.value(depth, _ENDS_IN_OBJECT))
            else:
                self.at += 1
        return values

    def _list(self, depth: int) -> list[Any]:
        values: list[Any] = []
        self.at += 1
        while self._goes_on("]"):
            before = self.at
            values.append(self.value(depth, _ENDS_IN_LIST))
            self.at += self.at == before
        return values

    def _goes_on(self, end: str) -> bool:
        """Go to the next part of an object or list, and return whether there is one."""
        if blank := _BLANK.match(self._text, self.at):
            self.at = blank.end()
        if self._text[self.at : self.at + 1] == end:
            self.at += 1
            return False
        return self.at < len(self._text) and self._left > 0

    def _string(self, end: re.Pattern[str]) -> str:
        start = self.at + 1
        closing = end.search(self._text, start)
        while closing and _is_escaped(self._text, closing.start()):
            closing = end.search(self._text, closing.end())
        stop = closing.start() if closing else len(self._text)
        self.at = closing.end() if closing else stop
        return _ESCAPE.sub(_unescape, self._text[start:stop])


def _is_escaped(text: str, at: int) -> bool:
    slashes = 0
    while text[at - slashes - 1 : at - slashes] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _unescape(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _CONTROLS.get(escape[3], escape[3])
