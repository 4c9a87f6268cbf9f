"""The spider loader: a spider for every source of the registry."""

import sys
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.misc import load_object

from newscrawl.sources import Source, SourceError, load_sources, own_file


class RegistrySpiderLoader(SpiderLoader):
    """Loads a spider for each source: the class in SPIDER_MODULES with the source's slug as its
    name, or else NEWSCRAWL_SPIDER_CLASS."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        default: type[Spider] = load_object(settings["NEWSCRAWL_SPIDER_CLASS"])
        file = own_file(settings.get("NEWSCRAWL_SOURCES"))
        bundled, operators = _load(None), _load(file) if file else ()
        for source in (*bundled, *operators):
            base = self._spiders.get(source.slug, default)
            if issubclass(base, default):
                is_own = source in operators
                self._spiders[source.slug] = _spider_of(source, base, named_by_operator=is_own)

    def load(self, spider_name: str) -> type[Spider]:
        """Return the spider class; raise KeyError if the registry has no such source."""
        return super().load(spider_name)


def _load(path: Path | None) -> tuple[Source, ...]:
    try:
        return load_sources(path)
    except SourceError as error:
        # Scrapy builds the loader before a command could report the error in one line.
        sys.stderr.write(f"newscrawl: {error}\n")
        raise SystemExit(2) from None


def _spider_of(source: Source, base: type[Spider], *, named_by_operator: bool) -> type[Spider]:
    members: dict[str, Any] = {
        "name": source.slug,
        "source": source,
        "named_by_operator": named_by_operator,
        "__module__": base.__module__,
        "__doc__": f"{source.name} ({source.home})",
    }
    return type(base.__name__, (base,), members)
