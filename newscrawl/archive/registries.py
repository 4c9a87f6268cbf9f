"""The registries that workers look companies and sources up in, read once in a process."""

from functools import cache
from pathlib import Path

from newscrawl.mentions import Companies, load_companies
from newscrawl.sources import Source, load_sources


@cache
def companies_of(path: Path | None) -> Companies:
    """The companies of a file, or the bundled ones; raises CompaniesError."""
    return load_companies(path)


@cache
def bundled_sources() -> tuple[Source, ...]:
    """The sources that come with newscrawl."""
    return tuple(load_sources())
