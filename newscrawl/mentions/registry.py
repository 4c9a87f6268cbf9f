"""The registry of companies, and the search for them."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import overload

from newscrawl.items import CompanyStructure, Mention
from newscrawl.mentions.company import CompaniesError, Company
from newscrawl.mentions.legal_forms import ShortForms
from newscrawl.mentions.matcher import Matcher
from newscrawl.mentions.registry_cache import (
    CompiledRegistry,
    RegistryCache,
    compile_registry,
    content_digest,
)
from newscrawl.mentions.registry_file import (
    RegistryFile,
    check,
    check_structure,
    companies_by_name,
    no_company,
    read_file,
)
from newscrawl.mentions.score import Evidence
from newscrawl.mentions.vocabulary import load_vocabulary

BUNDLED = Path(__file__).parent / "companies"


class Companies(Sequence[Company]):
    """A registry of companies that finds their mentions. Safe to share between threads."""

    def __init__(self, companies: Sequence[Company] | CompiledRegistry) -> None:
        if not isinstance(companies, CompiledRegistry):
            companies = CompiledRegistry(compile_registry(companies, {}, load_vocabulary()))
        self._compiled = companies
        self._companies, self._groups = companies.companies, companies.groups

    @cached_property
    def _matcher(self) -> Matcher:
        # Most questions to a registry don't search a text.
        with _garbage_collection_off():
            return Matcher(self._compiled, load_vocabulary())

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

    def is_registered(self, name: str) -> bool:
        """Return whether a company of the registry has this very form, certain or not."""
        return self._matcher.is_registered(name)

    def prepare(self) -> None:
        """Build what the first text would wait for, so that processes which are forked from this
        one share it."""
        self._matcher.prepare()

    def find_with_evidence(
        self,
        text: str,
        *,
        title: str = "",
        language: str | None = None,
        source: str | None = None,
    ) -> list[tuple[Mention, Evidence]]:
        """Return the mentions as `find` does, with the data for their scores."""
        return self._matcher.find_with_evidence(text, title, language, source)

    def by_name(self, name: str) -> Company | None:
        """Return the company of this name or unambiguous alias, in any case."""
        return self._by_name.get(name.casefold())

    @cached_property
    def _by_name(self) -> dict[str, Company]:
        return companies_by_name(self._companies)

    def spellings(self) -> list[str]:
        """Return the names and aliases of all companies, and the names of the groups."""
        names = [*self._groups]
        for company in self._companies:
            names += [company.name, *company.aliases, *company.ambiguous]
        return names

    @cached_property
    def structure(self) -> CompanyStructure:
        """Return the owners of brands and subsidiaries with their days, the groups, and the names
        of all companies."""
        owners = {company.name: self.by_name(company.owner or "") for company in self._companies}
        parents = {name: owner.name for name, owner in owners.items() if owner}
        tenures = {company.name: company.tenure for company in self._companies}
        owned = {name: tenures[name] for name in parents if tenures[name] != (None, None)}
        spellings = {
            member.name: (member.name, *member.aliases, *member.ambiguous)
            for member in self._companies
        }
        return CompanyStructure(
            parents=parents, owned=owned, groups=self._groups, spellings=spellings
        )

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


def load_companies(
    path: str | Path | None = None, *, alone: bool = False, cache: str | Path | None = None
) -> Companies:
    """Return the bundled companies, and those of a file (TOML or CSV) or folder of one's own.

    Own entries replace the bundled ones of the same name, and own names and aliases no longer
    stand for a bundled company. With `bundled = false` in the file, or with `alone`, the file's
    companies are the only ones.

    Raise CompaniesError with file, line, fault and advice if a file can't be read or a
    definition would flood, clash with another or never match. A large registry's compiled
    form is cached in the folder `cache`, by default the user's.
    """
    own_file = Path(path) if path is not None else None
    registries = [BUNDLED] if own_file is None else [own_file] if alone else [own_file, BUNDLED]
    with _garbage_collection_off():
        registry_cache = RegistryCache(registries, Path(cache) if cache is not None else None)
        compiled = registry_cache.read()
        if compiled is None:
            companies, groups = read_companies(own_file, alone=alone, cache=cache)
            uses_bundled = any(company.origin == "bundled" for company in companies)
            base = _bundled_content(cache) if own_file is not None and uses_bundled else None
            content = compile_registry(companies, groups, load_vocabulary(), base)
            registry_cache.write(content)
            compiled = CompiledRegistry(content)
        return Companies(compiled)


@dataclass(frozen=True)
class CompanyFinder:
    """Finds one company in texts by the registry of a file or folder, or by the bundled one, also
    if that can't be read; it can be sent to another process, where it loads the registry."""

    company: str
    language: str | None
    registry: Path | None

    def __call__(self, text: str) -> bool:
        """Return whether the text has the company's name or one of its other forms."""
        mentions = self._companies.find(text, language=self.language)
        return self.company in text or any(mention.company == self.company for mention in mentions)

    @cached_property
    def _companies(self) -> Companies:
        try:
            return load_companies(self.registry)
        except (OSError, CompaniesError):
            return load_companies()


def registry_digest(own_file: Path | None) -> str:
    """Return a digest of the bundled companies and of a file or folder of one's own; raise
    OSError."""
    return content_digest([own_file, BUNDLED] if own_file else [BUNDLED])


@contextmanager
def _garbage_collection_off() -> Iterator[None]:
    """Disable garbage collection while hundreds of thousands of permanent objects are created: it
    takes a fifth of the time of loading."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # The objects become the oldest generation at once, which saves a collection of all of them.
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was_on:
            gc.enable()


def read_companies(
    own_file: Path | None, *, alone: bool = False, cache: str | Path | None = None
) -> tuple[tuple[Company, ...], dict[str, tuple[str, ...]]]:
    """Return the checked companies and groups of a registry, without the companies' compiled
    forms; see `load_companies`. Owners and groups of a file `alone` may be bundled companies, so
    they are not read."""
    file = read_file(own_file) if own_file is not None else RegistryFile()
    check(file.entries, load_vocabulary())
    companies = tuple(entry.company for entry in file.entries)
    if own_file is not None and (alone or not file.bundled):
        if not companies:
            raise no_company(own_file)
        companies = tuple(ShortForms(load_vocabulary(), ()).add_to(companies).values())
        return companies, {} if alone else check_structure(file, companies)
    if own_file is None:
        entries = read_file(BUNDLED).entries
        check(entries, load_vocabulary())
        companies = tuple(replace(entry.company, origin="bundled") for entry in entries)
    else:
        companies = _merge_companies(companies, _read_bundled(content_digest([BUNDLED]), cache))
    return companies, check_structure(file, companies)


@lru_cache(maxsize=1)
def _read_bundled(_: str, cache: str | Path | None) -> Sequence[Company]:
    """Return the bundled companies; a process that runs during an upgrade reads them again, by the
    digest of their files."""
    return CompiledRegistry(_bundled_content(cache)).companies[:]


def _bundled_content(cache: str | Path | None) -> bytes:
    """Return the content of the compiled bundled registry."""
    registry_cache = RegistryCache([BUNDLED], Path(cache) if cache is not None else None)
    content = registry_cache.read_content()
    if content is None:
        content = compile_registry(*read_companies(None), load_vocabulary())
        registry_cache.write(content)
    return content


def _merge_companies(
    own_companies: Sequence[Company], bundled: Sequence[Company]
) -> tuple[Company, ...]:
    """Return own companies, then the bundled ones with other names."""
    if not own_companies:
        return tuple(bundled)
    in_place = ShortForms(load_vocabulary(), bundled).add_to(own_companies)
    claimed = {form for company in in_place.values() for form in company.certain}
    names = {name.casefold(): company.name for name, company in in_place.items()}
    names |= {company.name.casefold(): company.name for company in own_companies}
    replaced = {company.name.casefold() for company in bundled} & names.keys()
    first = [
        replace(company, origin="override") if company.name.casefold() in replaced else company
        for company in in_place.values()
    ]
    remaining = [
        company
        if claimed.isdisjoint(company.aliases)
        and company.facts.get("parent", "").casefold() not in names
        else replace(
            company,
            aliases=tuple(alias for alias in company.aliases if alias not in claimed),
            facts=_with_owner(company.facts, names),
        )
        for company in bundled
        if company.name not in claimed and company.name.casefold() not in names
    ]
    return (*first, *remaining)


def _with_owner(facts: Mapping[str, str], names: Mapping[str, str]) -> Mapping[str, str]:
    """Return the facts with the name that the owner has in the user's file."""
    owner = names.get(facts.get("parent", "").casefold())
    return MappingProxyType({**facts, "parent": owner}) if owner else facts
