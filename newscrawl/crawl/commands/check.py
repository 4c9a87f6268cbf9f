"""`scrapy check` with exit codes for scripts: 0 for success, 1 for a failed contract, 2 for bad
input."""

import argparse
from collections.abc import Callable
from typing import Any

from itemadapter import ItemAdapter, is_item
from scrapy.commands import check
from scrapy.contracts import Contract
from scrapy.exceptions import ContractFail

from newscrawl.crawl.commandline import argument_error, print_error


class Command(check.Command):
    """Check the contracts of spiders; print one line for a wrong name or argument."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check the contracts on the live sites: without a network each is an error."""
        loader = self.crawler_process.spider_loader if self.crawler_process else None
        for name in args:
            if error := argument_error(loader, name, opts.spargs):
                print_error(error)
                self.exitcode = 2
                return
        super().run(args, opts)


class ListingContract(Contract):
    """`@listing`: the callback gets the first feed or sitemap of the source, or the first one of
    `-a feeds=` and `-a sitemaps=`."""

    name = "listing"

    def __init__(self, method: Callable[..., Any], *args: Any) -> None:
        super().__init__(method, *args)
        self._method: Any = method

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Set the request's URL to that of the listing."""
        listings: tuple[str, ...] = self._method.__self__.listing_urls
        if not listings:
            raise ContractFail("the source has no feed and no sitemap")
        return {**args, "url": listings[0], "meta": {"allow_offsite": True}}


class FilledContract(Contract):
    """`@filled FIELD ...`: none of the fields is empty in any item."""

    name = "filled"

    def post_process(self, output: list[Any]) -> None:
        """Check each item."""
        for item in (ItemAdapter(value) for value in output if is_item(value)):
            if empty := [name for name in self.args if not item.get(name)]:
                raise ContractFail(f"Empty fields: {', '.join(empty)}")
