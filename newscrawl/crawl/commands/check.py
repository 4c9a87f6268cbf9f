"""`scrapy check`, with exit codes that scripts can trust: 0 kept, 1 broken, 2 bad input."""

import argparse
from collections.abc import Callable
from typing import Any

from itemadapter import ItemAdapter, is_item
from scrapy.commands import check
from scrapy.contracts import Contract
from scrapy.exceptions import ContractFail

from newscrawl.crawl.commandline import argument_error, print_error


class Command(check.Command):
    """Check the contracts of spiders; a wrong name or argument ends it with one line."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check them, live: without a network each is an error."""
        loader = self.crawler_process.spider_loader if self.crawler_process else None
        for name in args:
            if told := argument_error(loader, name, opts.spargs):
                print_error(told)
                self.exitcode = 2
                return
        super().run(args, opts)


class ListingContract(Contract):
    """`@listing`: the callback gets the first of the source's feeds and sitemaps, or of those of
    `-a feeds=` and `-a sitemaps=`."""

    name = "listing"

    def __init__(self, method: Callable[..., Any], *args: Any) -> None:
        super().__init__(method, *args)
        self._method: Any = method

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Name the listing's URL."""
        listings: tuple[str, ...] = self._method.__self__.listing_urls
        if not listings:
            raise ContractFail("the source has no feed and no sitemap")
        return {**args, "url": listings[0], "meta": {"allow_offsite": True}}


class FilledContract(Contract):
    """`@filled FIELD ...`: no item has one of the fields empty."""

    name = "filled"

    def post_process(self, output: list[Any]) -> None:
        """Look at each item."""
        for item in (ItemAdapter(one) for one in output if is_item(one)):
            if empty := [name for name in self.args if not item.get(name)]:
                raise ContractFail(f"Empty fields: {', '.join(empty)}")
