"""`scrapy shell` opens a page in a Python shell, without a database."""

from scrapy.commands import shell

from newscrawl.crawl.commandline import StoragelessCommand


class Command(StoragelessCommand, shell.Command):
    """Scrapy's command without storage."""
