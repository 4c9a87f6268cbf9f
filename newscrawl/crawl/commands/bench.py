"""`scrapy bench` measures how fast this machine crawls a local server with Scrapy alone."""

import argparse

from scrapy.commands import bench

from newscrawl.crawl.commandline import disable_storage

# The address of the server that Scrapy starts for it (scrapy.utils.benchserver).
_SERVER = "http://localhost:8998/"
# The settings that make crawls of other sites polite; this server is ours.
_NO_DELAYS = {"DOWNLOAD_DELAY": 0, "AUTOTHROTTLE_ENABLED": False, "ROBOTSTXT_OBEY": False}


class Command(bench.Command):
    """Scrapy's command without storage and without delays."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options, and allow the local server."""
        super().process_options(args, opts)
        if self.settings is not None:
            disable_storage(self.settings, [_SERVER])
            self.settings.setdict(_NO_DELAYS, priority="cmdline")
