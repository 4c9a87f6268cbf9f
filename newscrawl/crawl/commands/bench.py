"""`scrapy bench`: how fast this machine crawls a server of its own with Scrapy alone."""

import argparse

from scrapy.commands import bench

from newscrawl.crawl.commandline import disable_storage

# Where Scrapy's own server for it listens (scrapy.utils.benchserver).
_SERVER = "http://localhost:8998/"
# What makes crawls of others' sites polite; this server is ours.
_NO_DELAYS = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "ROBOTSTXT_OBEY": False}


class Command(bench.Command):
    """Scrapy's, that stores nothing and waits for nobody."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options, and allow the server."""
        super().process_options(args, opts)
        if self.settings is not None:
            disable_storage(self.settings, [_SERVER])
            self.settings.setdict(_NO_DELAYS, priority="cmdline")
