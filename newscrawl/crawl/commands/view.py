"""`scrapy view` opens a page in a browser, without a database."""

from scrapy.commands import view

from newscrawl.crawl.commandline import StoragelessCommand


class Command(StoragelessCommand, view.Command):
    """Scrapy's command without storage."""
