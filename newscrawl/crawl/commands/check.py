"""`scrapy check`, with exit codes that scripts can trust: 0 kept, 1 broken, 2 bad input."""

import argparse

from scrapy.commands import check

from newscrawl.crawl.commandline import complain, refusal


class Command(check.Command):
    """Check the contracts of spiders; a wrong name or argument ends it with one line."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check them, live: without a network each is an error."""
        loader = self.crawler_process.spider_loader if self.crawler_process else None
        for name in args:
            if told := refusal(loader, name, opts.spargs):
                complain(told)
                self.exitcode = 2
                return
        super().run(args, opts)
