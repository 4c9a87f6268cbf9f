"""The values in a page's scripts: JSON, objects of JavaScript, and the flight data of React."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

MAX_SCRIPT: Final = 2_000_000  # characters; ours
MAX_OBJECTS: Final = 20  # ours: of a script
# Ours: objects of a page that are no JSON and are rewritten, and the characters of each.
MAX_REWRITTEN: Final = 5
MAX_JAVASCRIPT: Final = 500_000
MAX_DEPTH: Final = 80
MAX_REFERENCES: Final = 30
MAX_ENTRIES: Final = 200_000  # ours: values that references lead to

_DECODER: Final = json.JSONDecoder(strict=False)
_SPACE: Final = re.compile(r"\s*")
_PUSH: Final = re.compile(r"__next_f[^;]{0,60}?push\(\s*(?=\[)")
_ROW: Final = re.compile(rb"\s*([0-9a-f]+):(?:T([0-9a-f]+),)?")
_TOKEN: Final = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*+"?+|'(?:[^'\\]|\\.)*+'?+|`(?:[^`\\]|\\.)*+`?+)"""
    r"""|(?P<key>[A-Za-z_$\d][\w$]*+)(?=\s*:)|(?P<comment>//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+)"""
    r"""|(?P<bare>[^\s{}\[\](),:"'`]+(?:[^\S\n]+[^\s{}\[\](),:"'`]+)*+(?:\([^(){}\[\]]*+\))?+)"""
    r"""|(?P<comma>,(?=\s*[}\]]))""",
    re.DOTALL,
)
_TRUTHS: Final = {"!0": "true", "!1": "false"}
_LITERAL: Final = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_OBJECT: Final = re.compile(r"(?:=|return|\((?:[\w$.\s]{1,60},){0,4})\s*(?=[{\[](?!\s*[}\]]))")
# A string that is parsed as JSON, or holds data or HTML.
_PARSED: Final = re.compile(
    r"JSON\.parse\(\s*(?=[\"'`])|[=(]\s*(?=[\"'`]\s*(?:[{<]|%7b))", re.IGNORECASE
)
# Angular's signs of JSON in a script.
_ANGULAR: Final = {"&q;": '"', "&s;": "'", "&l;": "<", "&g;": ">", "&a;": "&"}
_ARGUMENTS: Final = re.compile(r"function\s*\(([\w$,\s]*)\)\s*\{")
_CALL: Final = re.compile(r'\s*;?\s*\}\s*\)?\s*\(((?:"(?:[^"\\]|\\.)*+"|[^")])*+)\)')
_BOUND: Final = "\0"
_ESCAPE: Final = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r?\n)|(.))", re.DOTALL
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "v": "", "0": ""}
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class FlightElement:
    """An element of React: its tag, "" for a component, its children, and the properties of a
    component."""

    tag: str
    names: str
    children: Any
    properties: tuple[Any, ...]

    def markup(self, inner: str) -> str:
        """Return the element with its inner HTML."""
        if not self.tag:
            return inner
        return f'<{self.tag} class="{self.names}">{inner}</{self.tag}>'


def values_of_scripts(scripts: Sequence[tuple[str, str]]) -> Iterator[Any]:
    """Yield the values of a page's scripts, given as type and text; those of the longest first, in
    which data are."""
    flight = [
        part
        for _, text in scripts
        for push in _PUSH.finditer(text[:MAX_SCRIPT])
        for value in _json(text, push.end())
        for part in value[1:2]
    ]
    if flight:
        yield from _flight_values("".join(part for part in flight if isinstance(part, str)))
    attempts = iter(range(MAX_REWRITTEN))
    for declared, script in sorted(scripts, key=lambda script: -len(script[1])):
        kind, text = declared.lower(), script[:MAX_SCRIPT]
        if "json" in kind:
            if "ld+" not in kind:
                if text.lstrip().startswith("{&q;"):
                    for sign, letter in _ANGULAR.items():
                        text = text.replace(sign, letter)
                yield from map(_unfolded, _json(text))
        elif "template" in kind or "html" in kind:
            yield text
        elif not _PUSH.search(text):
            yield from map(_unfolded, _objects(text, attempts))


def _json(text: str, start: int = 0) -> list[Any]:
    space = _SPACE.match(text, start)
    try:
        return [_DECODER.raw_decode(text, space.end() if space else start)[0]]
    except (ValueError, RecursionError):
        return []


def _objects(script: str, attempts: Iterator[int]) -> Iterator[Any]:
    """Yield the objects that a script assigns, returns or passes on; those that are no JSON while
    there are `attempts`."""
    for begin in islice(_PARSED.finditer(script), MAX_OBJECTS):
        if literal := _TOKEN.match(script, begin.end()):
            string = _string(literal[0])
            yield unquote(string) if string[:1] == "%" else string
    end = 0
    for _ in range(MAX_OBJECTS):
        opening = _OBJECT.search(script, end)
        if opening is None:
            return
        end = opening.end()
        try:
            value, end = _DECODER.raw_decode(script, end)
        except (ValueError, RecursionError):
            if next(attempts, None) is None:
                return
            before = _ARGUMENTS.search(script, 0, opening.start())
            names = before[1].split(",") if before else ()
            value = _javascript(script[end : end + MAX_JAVASCRIPT], names)
        yield value


def _javascript(script: str, arguments: Sequence[str]) -> Any:
    """Return the object with which a script begins, None if it can't be read: its tokens are
    rewritten as JSON, what would have to be run as null. The names of `arguments` are bound to the
    values with which the function around it is called at once."""
    names = [name.strip() for name in arguments]

    def rewrite(token: re.Match[str]) -> str:
        text = token[0]
        match token.lastgroup:
            case "string":
                return text if _is_json(text) else json.dumps(_string(text))
            case "key":
                return f'"{text}"'
            case "bare" if text in names:
                return json.dumps(_BOUND + text)
            case "bare":
                literal = _TRUTHS.get(text, text)
                return literal if _LITERAL.fullmatch(literal) else "null"
            case _:
                return ""

    text = _TOKEN.sub(rewrite, script)
    try:
        value, end = _DECODER.raw_decode(text)
        call = _CALL.match(text, end) if names else None
        values = json.loads(f"[{call[1]}]", strict=False) if call else []
    except (ValueError, RecursionError):
        return None
    bound = dict(zip((_BOUND + name for name in names), values, strict=False))

    def argument(value: Any) -> Any:
        is_name = isinstance(value, str) and value[:1] == _BOUND
        return bound.get(value) if is_name else value

    return _References(argument).follow(value) if names else value


def _is_json(literal: str) -> bool:
    return literal[0] == '"' == literal[1:][-1:] and "\\" not in literal


def _string(literal: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        if code := match[1] or match[2] or match[3]:
            return chr(min(int(code, 16), 0x10FFFF))
        return "" if match[4] else _ESCAPES.get(match[5], match[5])

    text = _ESCAPE.sub(escaped, literal[1:-1])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(slots=True)
class _References:
    """Values in which some stand for others: `target` gives the one for which each stands, or
    itself."""

    target: Callable[[Any], Any]
    count: int = 0

    def follow(self, value: Any, depth: int = 0) -> Any:
        """Return a value with what its parts refer to, within limits."""
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_ENTRIES:
            return None
        value = self.target(value)
        if isinstance(value, dict):
            return {key: self.follow(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.follow(inner, depth + 1) for inner in value]
        if isinstance(value, FlightElement):
            children = self.follow(value.children, depth + 1)
            properties = tuple(self.follow(inner, depth + 1) for inner in value.properties)
            return replace(value, children=children, properties=properties)
        return value


def _in_list(entries: list[Any], value: Any) -> Any:
    """Return the value at a place of a list whose members are the places of theirs, as Nuxt and
    SvelteKit write it."""
    for _ in range(MAX_REFERENCES):
        if type(value) is not int or not 0 <= value < len(entries):
            return None
        value = entries[value]
        if not isinstance(value, list) or not value or not isinstance(value[0], str):
            return value
        value = value[-1]  # the kind of a value and its place: ["Reactive", 1]
    return None


def _in_store(nodes: dict[str, Any], value: Any) -> Any:
    """Return the object that is stored once, by a key, as Apollo writes it."""
    for _ in range(MAX_REFERENCES):
        reference = value.get("__ref") if isinstance(value, dict) else None
        if not isinstance(reference, str):
            return value
        value = nodes.get(reference)
    return None


def _unfolded(value: Any) -> Any:
    if isinstance(value, list) and len(value) > 2 and isinstance(value[0], list | dict):
        members = list(value[0].values()) if isinstance(value[0], dict) else value[0]
        if members and type(members[-1]) is int:
            return _References(partial(_in_list, value)).follow(0)
    if isinstance(value, dict):
        inner = [value, *(inner for inner in value.values() if isinstance(inner, dict))]
        nodes = {key: node for each in inner for key, node in each.items() if ":" in key}
        return _References(partial(_in_store, nodes)).follow(value) if nodes else value
    return value


def _in_flight(rows: dict[str, Any], referred: set[str], value: Any) -> Any:
    """Return what a value stands for in rows of React's flight data, in which "$1a" is a reference,
    and ["$", "p", key, properties] an element; add the rows referred to."""
    for _ in range(MAX_REFERENCES):
        if not isinstance(value, str) or value[:1] != "$":
            break
        if value[:2] == "$$":
            return value[1:]
        name = value.lstrip("$L@")
        referred.add(name)
        value = rows.get(name)
    if not isinstance(value, list) or len(value) < 4 or value[0] != "$":
        return value
    if not isinstance(value[3], dict):
        return None
    properties = dict(value[3])
    html, children = properties.get("dangerouslySetInnerHTML"), properties.pop("children", None)
    is_tag = isinstance(value[1], str) and _NAME.fullmatch(value[1])
    return FlightElement(
        tag=value[1] if is_tag else "",
        names=escape(str(properties.get("className", ""))),
        children=html.get("__html") if isinstance(html, dict) else children,
        properties=() if is_tag else tuple(properties.values()),
    )


def _flight_values(payload: str) -> Iterator[Any]:
    """Yield the rows of React's flight data to which no other row refers."""
    rows: dict[str, Any] = {}
    data, end = payload.encode("utf-8", "replace"), 0
    while row := _ROW.match(data, end):
        name, length = row[1].decode(), row[2]
        if length is None:
            end = data.find(b"\n", row.end()) + 1 or len(data)
            # A row of another kind than a value has a letter before it.
            line = data[row.end() : end].decode(errors="replace")
            rows.update((name, value) for value in _json(line))
        else:
            end = row.end() + int(length, 16)
            rows[name] = data[row.end() : end].decode(errors="replace")
    referred = set[str]()
    flight = _References(partial(_in_flight, rows, referred))
    values = {name: flight.follow(row) for name, row in rows.items()}
    yield [value for name, value in values.items() if name not in referred]
