"""`scrapy fetch` prints a page as it was downloaded, without a database."""

from scrapy.commands import fetch

from newscrawl.crawl.commandline import StoragelessCommand


class Command(StoragelessCommand, fetch.Command):
    """Scrapy's command without storage."""
