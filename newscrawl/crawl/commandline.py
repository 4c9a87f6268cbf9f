"""The spiders of the registry's sources, and the common parts of our Scrapy commands."""

import argparse
import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from scrapy import Spider
from scrapy.commands import ScrapyCommand
from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.misc import load_object

from newscrawl.config import SettingError
from newscrawl.sources import SourceError, load_sources, own_file
from newscrawl.sources.urls import allowed_host
from newscrawl.text import did_you_mean, match_name

# A setting that a command sets for itself: its pipelines store nothing.
STORE_NOTHING: Final = "NEWSCRAWL_STORE_NOTHING"
# Their messages at the start of a crawl matter only to developers who change the settings.
_VERBOSE_LOGGERS: Final = ("scrapy.addons", "scrapy.crawler", "scrapy.middleware", "alembic")


def disable_storage(
    settings: BaseSettings, urls: Sequence[str], *, with_pipelines: bool = False
) -> None:
    """Keep a command from opening a database and writing feeds; let it request the URLs of its
    command line at private addresses too, as a crawl does for `-a feeds=`."""
    settings.set(STORE_NOTHING, value=True, priority="cmdline")
    if not with_pipelines:
        settings.set("ITEM_PIPELINES", {}, "cmdline")
    pages = [url for url in urls if url.startswith(("http://", "https://"))]
    allowed = [*settings.getlist("NEWSCRAWL_ALLOW_PRIVATE"), *map(allowed_host, pages)]
    settings.set("NEWSCRAWL_ALLOW_PRIVATE", ",".join(allowed), "cmdline")


def reduce_logging(settings: BaseSettings) -> None:
    """Silence Scrapy's messages about its own components, unless LOG_LEVEL is DEBUG."""
    if settings["LOG_LEVEL"] == "DEBUG":
        return
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    # Without this, the lines of each page would be formatted and then discarded.
    logging.getLogger("scrapy").setLevel(settings["LOG_LEVEL"])


def print_error(message: str) -> None:
    """Print one line that says why a command did not run."""
    sys.stderr.write(f"newscrawl: {message}\n")


def unknown_source(name: str, names: Sequence[str]) -> str:
    """Return the message about an unknown source, with similar names."""
    _, near = match_name(name, names)
    advice = did_you_mean(near) if near else "see scrapy list"
    return f"no source {name!r}; {advice}"


def argument_error(loader: Any, name: str, arguments: Mapping[str, str]) -> str | None:
    """Return why these arguments (`-a`) are invalid for a source; None if they are valid."""
    if name not in loader.list():
        return unknown_source(name, loader.list())
    try:
        loader.load(name)(**arguments)
    except SettingError as error:
        return str(error)
    return None


class RegistrySpiderLoader(SpiderLoader):
    """Loads a spider for each source: the class in SPIDER_MODULES with the source's slug as its
    name, or else NEWSCRAWL_SPIDER_CLASS."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        default: type[Spider] = load_object(settings["NEWSCRAWL_SPIDER_CLASS"])
        file = own_file(settings.get("NEWSCRAWL_SOURCES"))
        try:
            bundled, operators = load_sources(), load_sources(file) if file else ()
        except SourceError as error:
            # Scrapy builds the loader before a command could report the error in one line.
            print_error(str(error))
            raise SystemExit(2) from None
        for source in (*bundled, *operators):
            base = self._spiders.get(source.slug, default)
            if issubclass(base, default):
                members = {
                    "name": source.slug,
                    "source": source,
                    "named_by_operator": source in operators,
                    "__module__": base.__module__,
                    "__doc__": f"{source.name} ({source.home})",
                }
                self._spiders[source.slug] = type(base.__name__, (base,), members)

    def load(self, spider_name: str) -> type[Spider]:
        """Return the spider class; raise KeyError if the registry has no such source."""
        return super().load(spider_name)


class StoragelessCommand(ScrapyCommand):
    """A command that requests one URL and stores nothing; a mixin for Scrapy's commands."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options, and disable storage."""
        super().process_options(args, opts)
        if self.settings is not None:
            disable_storage(self.settings, args)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run Scrapy's command; print one line for an unknown source."""
        names = self.crawler_process.spider_loader.list() if self.crawler_process else []
        if opts.spider and opts.spider not in names:
            print_error(unknown_source(opts.spider, names))
            self.exitcode = 2
            return
        if self.settings is not None:
            reduce_logging(self.settings)
        super().run(args, opts)  # type: ignore[safe-super]
