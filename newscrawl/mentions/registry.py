"""The registry of companies, and the search for them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import overload

from newscrawl.items import Mention
from newscrawl.mentions.company import Company
from newscrawl.mentions.forms import Form
from newscrawl.mentions.matcher import Matcher
from newscrawl.mentions.registry_cache import Compiled, CompiledFile, compile_forms
from newscrawl.mentions.registry_file import check, read_entries
from newscrawl.mentions.vocabulary import Vocabulary, load_vocabulary

BUNDLED = Path(__file__).parent / "companies"


class Companies(Sequence[Company]):
    """A registry of companies that finds their mentions. Safe to share between threads."""

    def __init__(
        self,
        companies: Sequence[Company],
        words: Vocabulary | None = None,
        forms: Mapping[str, Sequence[Form]] | None = None,
    ) -> None:
        self._companies = tuple(companies)
        self._by_name = {
            form.casefold(): company
            for company in reversed(self._companies)
            for form in (*company.aliases, company.name)
            if form == company.name or form in company.certain
        }
        self._matcher = Matcher(
            self._companies,
            words or load_vocabulary(),
            forms if forms is not None else compile_forms(self._companies),
        )

    def find(
        self,
        text: str,
        *,
        title: str = "",
        language: str | None = None,
        source: str | None = None,
    ) -> list[Mention]:
        """Return the mentions in an article, title first, each section in reading order.

        Offsets are characters of `title` and `text` as given. `language` (ISO 639-1) allows the
        case endings of that language; without it only endings that the script makes certain.
        `source` is the newspaper, by URL, host or name: its publisher does not count in
        sentences about its own rights, subscriptions and the like.
        Never raises; an ambiguous name counts only with support in title or text.
        """
        return self._matcher.find(text, title, language, source)

    def named(self, name: str) -> Company | None:
        """Return the company of this name or unambiguous alias, in any case."""
        return self._by_name.get(name.casefold())

    def __iter__(self) -> Iterator[Company]:
        return iter(self._companies)

    def __len__(self) -> int:
        return len(self._companies)

    @overload
    def __getitem__(self, index: int) -> Company: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Company]: ...

    def __getitem__(self, index: int | slice) -> Company | Sequence[Company]:
        return self._companies[index]


def load_companies(path: str | Path | None = None, *, cache: str | Path | None = None) -> Companies:
    """Read a companies file (TOML or CSV), a folder of them, or the bundled registry.

    Raise CompaniesError with file, line, fault and advice if a file can't be read or a
    definition would flood, clash with another or never match. A large registry's compiled
    form is cached in the folder `cache`, by default the user's.
    """
    registry = Path(path) if path is not None else BUNDLED
    words = load_vocabulary()
    kept = CompiledFile(registry, Path(cache) if cache is not None else None)
    compiled = kept.read()
    if compiled is None:
        entries = read_entries(registry)
        check(entries, words)
        companies = tuple(entry.company for entry in entries)
        compiled = Compiled(companies, compile_forms(companies))
        kept.write(compiled)
    return Companies(compiled.companies, words, compiled.forms)
