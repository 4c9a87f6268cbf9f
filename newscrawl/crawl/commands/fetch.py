"""`scrapy fetch` prints a page as it was downloaded, without a database."""

from scrapy.commands import fetch

from newscrawl.crawl.commandline import LookingCommand


class Command(LookingCommand, fetch.Command):
    """Scrapy's, that stores nothing."""
