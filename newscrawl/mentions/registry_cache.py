"""The compiled registry (every form under every spelling) and its cache file.

Reading, checking and compiling a large registry takes a second or more. The result is cached as
JSON Lines, named by a digest of the registry and of the code that reads it, so that a change to
either compiles it again. If the file can't be read or written, only time is lost.
"""

import json
import logging
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from newscrawl.mentions.company import HOME_LANGUAGES, Company
from newscrawl.mentions.forms import Form, as_forms, spellings, stem_forms, stem_languages

logger = logging.getLogger(__name__)

# Bytes; smaller registries are compiled each time.
MIN_CACHED_BYTES = 100_000
# The oldest files are deleted first.
MAX_KEPT_FILES = 8
# Rows of a line: read line by line, the file is never in memory as a whole.
_ROWS = 500
# The code on which a compiled registry depends.
_SOURCES = (
    "registry.py",
    "registry_file.py",
    "company.py",
    "forms.py",
    "registry_cache.py",
    "vocabulary.toml",
)


# A spelling, and the form or the forms that it may mean.
Spelled = tuple[str, Form | Sequence[Form]]


@dataclass(frozen=True, slots=True)
class CompiledRegistry:
    """Companies, the companies of each group, and the forms by spelling."""

    companies: tuple[Company, ...]
    groups: Mapping[str, tuple[str, ...]]
    forms: Iterable[Spelled]


def compile_forms(companies: Sequence[Company]) -> Collection[Spelled]:
    """Return the spellings of all forms, each with the forms that it may mean."""
    by_spelling: dict[str, list[Form]] = {}
    for form in _forms_of(companies):
        for spelling in spellings(form.text):
            by_spelling.setdefault(spelling, []).append(form)
    return by_spelling.items()


def _forms_of(companies: Sequence[Company]) -> Iterable[Form]:
    for index, company in enumerate(companies):
        doubtful = set(company.ambiguous)
        languages = frozenset(company.ambiguous_in or ("*",))
        home = HOME_LANGUAGES.get(company.facts.get("country", ""), frozenset())
        for text in dict.fromkeys((company.name, *company.aliases, *company.ambiguous)):
            form = Form(index, text, languages if text in doubtful else frozenset())
            if text in company.local:
                form = form._replace(languages=home)
            yield form
            declined = form._replace(languages=form.languages or stem_languages(text))
            for stem in stem_forms(text):
                yield _stem(declined, stem)
        for stem in company.stems:
            bare = stem.replace("*", "")
            # "Mostostal* Zabrze" is certain, though "Mostostal" alone is not.
            doubt = any(
                bare.startswith(text[:-1]) and bare.count(" ") == text.count(" ")
                for text in doubtful
            )
            yield _stem(Form(index, stem, languages if doubt else frozenset()), stem)


def _stem(form: Form, stem: str) -> Form:
    head, _, rest = stem.partition("*")
    if not rest:
        return form._replace(text=head, stem=True, source=stem)
    pattern = r"[^\W\d_]{0,4}".join(re.escape(part) for part in ("", *rest.split("*")))
    rest_of = re.compile(pattern, re.IGNORECASE)
    return form._replace(text=head, stem=True, source=stem, rest=rest_of)


def registry_content(path: Path) -> list[bytes]:
    """Return the content of a registry's files; raise OSError."""
    return [part.read_bytes() for part in _registry_files(path)]


def _registry_files(path: Path) -> list[Path]:
    return sorted(path.glob("*.toml")) if path.is_dir() else [path]


def content_digest(registries: Sequence[Path]) -> str:
    """Return a digest of the files of registries; raise OSError."""
    parts = [part for path in registries for part in _registry_files(path)]
    states = ((part, part.stat()) for part in parts)
    return _digest_of(tuple((part, state.st_mtime_ns, state.st_size) for part, state in states))


# The dashboard asks at each proof. Several, since tests and people change between registries.
@lru_cache(maxsize=16)
def _digest_of(unchanged: tuple[tuple[Path, int, int], ...]) -> str:
    """Return the digest of files that have not changed since the given times."""
    return _digest(part.read_bytes() for part, _, _ in unchanged)


def _digest(contents: Iterable[bytes]) -> str:
    return sha256(b"".join(sha256(content).digest() for content in contents)).hexdigest()


# The code at the time of its import: an upgrade changes the files of a running process.
_CODE = _digest(files(__package__).joinpath(name).read_bytes() for name in _SOURCES)


class RegistryCache:
    """The cache file of registries that are used together; does nothing for small ones."""

    def __init__(self, registries: Sequence[Path], folder: Path | None = None) -> None:
        self._folder = folder or cache_folder()
        self._path = self._place(registries)

    def _place(self, registries: Sequence[Path]) -> Path | None:
        try:
            contents = [content for path in registries for content in registry_content(path)]
        except OSError:
            return None
        if sum(map(len, contents)) < MIN_CACHED_BYTES:
            return None
        contents += [str(len(registries)).encode(), _CODE.encode()]
        return self._folder / f"companies-{_digest(contents)[:32]}.json"

    def read(self) -> CompiledRegistry | None:
        """Return the compiled registry; None if it is missing or can't be used."""
        if self._path is None:
            return None
        try:
            with self._path.open("rb") as lines:
                return _parse_lines(json.loads(line) for line in lines)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            logger.debug("%s is not used: %s", self._path, error)
            return None

    def write(self, compiled: CompiledRegistry) -> None:
        """Write the file atomically; a folder that can't be written to is only logged."""
        if self._path is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with TemporaryDirectory(dir=self._folder) as folder:
                whole = Path(folder, self._path.name)
                with whole.open("w", encoding="utf-8", newline="\n") as file:
                    for part in _plain(compiled):
                        file.write(json.dumps(part, ensure_ascii=False, separators=(",", ":")))
                        file.write("\n")
                whole.replace(self._path)
            self._delete_oldest(self._path)
        except OSError as error:
            logger.debug("%s is not kept: %s", self._path, error)

    def _delete_oldest(self, newest: Path) -> None:
        """Delete all but the newest files; those that seem newer than the file that was just
        written come from a clock that was wrong and go first."""
        times = {path: path.stat().st_mtime for path in self._folder.glob("companies-*.json")}
        now = times.pop(newest, math.inf)
        oldest = sorted(times, key=lambda path: (times[path] <= now, times[path]))
        for path in oldest[: max(0, len(oldest) + 1 - MAX_KEPT_FILES)]:
            with suppress(OSError):
                path.unlink()


def cache_folder() -> Path:
    """Return the user's cache folder: newscrawl in $XDG_CACHE_HOME or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "newscrawl"
    except RuntimeError:
        return Path(os.devnull) / "newscrawl"


def _plain(compiled: CompiledRegistry) -> Iterator[Any]:
    """Yield lists and texts only: the groups and the number of each kind of row, then the rows and
    the spellings, some hundred at a time. A stem's pattern is written as its source."""
    forms: dict[Form, int] = {}
    spelled = [
        (spelling, [forms.setdefault(form, len(forms)) for form in as_forms(found)])
        for spelling, found in compiled.forms
    ]
    facts: dict[tuple[tuple[str, str], ...], int] = {}
    # Of thousands of forms the same is in doubt, in the same languages.
    kinds: dict[tuple[frozenset[str], frozenset[str], bool], int] = {}
    rows = (
        [_row(company, facts) for company in compiled.companies],
        [
            [
                form.company,
                form.source or form.text,
                kinds.setdefault((form.ambiguous, form.languages, form.stem), len(kinds)),
            ]
            for form in forms
        ],
    )
    groups = {name: list(members) for name, members in compiled.groups.items()}
    yield {
        "groups": groups,
        "facts": [dict(one) for one in facts],
        "kinds": [[sorted(doubtful), sorted(home), stem] for doubtful, home, stem in kinds],
        "rows": [len(part) for part in (*rows, spelled)],
    }
    for part in rows:
        yield from (part[start : start + _ROWS] for start in range(0, len(part), _ROWS))
    for start in range(0, len(spelled), _ROWS):
        texts, numbers = zip(*spelled[start : start + _ROWS], strict=True)
        # One text is read much faster than hundreds.
        yield ["\n".join(texts), [n[0] if len(n) == 1 else n for n in numbers]]


def _row(company: Company, facts: dict[tuple[tuple[str, str], ...], int]) -> dict[str, Any]:
    """Return the fields of a company that are not empty; of its facts their number, as thousands of
    companies have the same, such as country and sector."""
    row = {field.name: getattr(company, field.name) for field in fields(company)}
    number = facts.setdefault(tuple(company.facts.items()), len(facts))
    return {key: value for key, value in row.items() if value} | {"facts": number}


def _parse_lines(lines: Iterator[Any]) -> CompiledRegistry:
    head: dict[str, Any] = next(lines, {})
    companies, forms = (
        chain.from_iterable(islice(lines, -(-count // _ROWS))) for count in head["rows"][:2]
    )
    facts = [MappingProxyType(one) for one in head["facts"]]
    known = tuple(_company(row, facts) for row in companies)
    alone = list(_forms_of_rows(forms, head["kinds"], len(known)))
    spelled = [(text, [_meant(number, alone) for number in numbers]) for text, numbers in lines]
    counted = sum(text.count("\n") + 1 for text, _ in spelled)
    places = sum(len(meant) for _, meant in spelled)
    if [len(known), len(alone), counted, places] != [*head["rows"], counted]:
        raise ValueError("lines are missing")
    groups = {name: tuple(members) for name, members in head["groups"].items()}
    return CompiledRegistry(known, groups, _parted(spelled))


def _meant(number: Any, alone: Sequence[Form]) -> Form | Sequence[Form]:
    return alone[number] if type(number) is int else tuple(alone[one] for one in number)


def _parted(lines: list[tuple[str, list[Form | Sequence[Form]]]]) -> Iterator[Spelled]:
    """Yield the spellings of all lines, and release each line before the next one: a dictionary of
    all would take a tenth of the memory that loading takes."""
    lines.reverse()
    while lines:
        text, meant = lines.pop()
        yield from zip(text.split("\n"), meant, strict=True)


def _forms_of_rows(rows: Iterable[Any], kinds: Iterable[Any], companies: int) -> Iterator[Form]:
    shared = [(frozenset(doubtful), frozenset(home), stem) for doubtful, home, stem in kinds]
    numbers = range(companies)
    for company, text, kind in rows:
        doubtful, languages, stem = shared[kind]
        form = Form(numbers[company], text, doubtful, False, languages)
        yield _stem(form, text) if stem else form


def _company(row: dict[str, Any], facts: Sequence[Mapping[str, str]]) -> Company:
    for key, value in row.items():
        if isinstance(value, list):
            row[key] = tuple(value)
    row["facts"] = facts[row["facts"]]
    return Company(**row)
