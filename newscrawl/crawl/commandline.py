"""What our variants of Scrapy's commands have in common."""

import argparse
import difflib
import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from scrapy.commands import ScrapyCommand
from scrapy.settings import BaseSettings

from newscrawl.config import SettingError
from newscrawl.sources.addresses import address_of

# A setting that a command makes for itself: its pipelines keep nothing.
STORE_NOTHING: Final = "NEWSCRAWL_STORE_NOTHING"
# What they say at the start of each crawl matters to whoever works on the settings.
_VERBOSE_LOGGERS: Final = ("scrapy.addons", "scrapy.crawler", "scrapy.middleware", "alembic")


def disable_storage(
    settings: BaseSettings, urls: Sequence[str], *, with_pipelines: bool = False
) -> None:
    """Let a command open no database and write no feed, and request the URLs on its command line
    even at private addresses, as a crawl does for `-a feeds=`."""
    settings.set(STORE_NOTHING, value=True, priority="cmdline")
    if not with_pipelines:
        settings.set("ITEM_PIPELINES", {}, "cmdline")
    named = [_host_and_port(url) for url in urls if url.startswith(("http://", "https://"))]
    allowed = settings.getlist("NEWSCRAWL_ALLOW_PRIVATE")
    settings.set("NEWSCRAWL_ALLOW_PRIVATE", ",".join([*allowed, *named]), "cmdline")


def _host_and_port(url: str) -> str:
    host, port = address_of(url)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def reduce_logging(settings: BaseSettings) -> None:
    """Silence Scrapy's messages about its own components, unless LOG_LEVEL is DEBUG."""
    if settings["LOG_LEVEL"] == "DEBUG":
        return
    for name in _VERBOSE_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    # Else each page's lines are made up, to be thrown away by whoever would print them.
    logging.getLogger("scrapy").setLevel(settings["LOG_LEVEL"])


def print_error(message: str) -> None:
    """Print one line that says why a command does nothing."""
    sys.stderr.write(f"newscrawl: {message}\n")


def unknown_source(name: str, names: Sequence[str]) -> str:
    """Return the message about an unknown source, with similar names."""
    near = difflib.get_close_matches(name, names, n=3)
    advice = f"did you mean {' or '.join(near)}?" if near else "see scrapy list"
    return f"no source {name!r}; {advice}"


def argument_error(loader: Any, name: str, arguments: Mapping[str, str]) -> str | None:
    """Return why a source can't be asked for with these arguments (`-a`); None where it can."""
    if name not in loader.list():
        return unknown_source(name, loader.list())
    try:
        loader.load(name)(**arguments)
    except SettingError as error:
        return str(error)
    return None


class StoragelessCommand(ScrapyCommand):
    """A command that asks for an address and crawls nothing, to be mixed in before Scrapy's."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options, and keep the database closed."""
        super().process_options(args, opts)
        if self.settings is not None:
            disable_storage(self.settings, args)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what Scrapy's command does; a source that isn't there ends it with one line."""
        names = self.crawler_process.spider_loader.list() if self.crawler_process else []
        if opts.spider and opts.spider not in names:
            print_error(unknown_source(opts.spider, names))
            self.exitcode = 2
            return
        if self.settings is not None:
            reduce_logging(self.settings)
        super().run(args, opts)  # type: ignore[safe-super]
