"""`scrapy parse` prints the result of one URL, and stores nothing."""

import argparse
import warnings
from typing import Any

from scrapy import Request, Spider
from scrapy.commands import parse
from scrapy.exceptions import DropItem, ScrapyDeprecationWarning
from scrapy.utils.defer import deferred_from_coro
from twisted.python.failure import Failure

from newscrawl.archive.ingest import OriginFinder
from newscrawl.crawl.commandline import argument_error, disable_storage, print_error, reduce_logging
from newscrawl.crawl.conversion import REFUSALS
from newscrawl.crawl.errors import cause_of


class Command(parse.Command):
    """Print the article of a page, with its mentions, or the pages that a feed or sitemap lists.

    Without --spider, the source is found by the URL.
    """

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options, and disable storage."""
        super().process_options(args, opts)
        opts.output = opts.output or opts.overwrite_output
        if self.settings is not None:
            disable_storage(self.settings, args, with_pipelines=opts.pipelines)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Request the URL; set exit code 1 if there is no result."""
        if self.settings is not None:
            reduce_logging(self.settings)
        # The Deferred that Scrapy's own command returns.
        warnings.filterwarnings("ignore", ".* returned", ScrapyDeprecationWarning)
        super().run(args, opts)
        if not self.exitcode and not any([*self.items.values(), *self.requests.values()]):
            self.exitcode = 1

    def set_spidercls(self, url: str, opts: argparse.Namespace) -> None:
        """Find the source of the URL; print one line if there is none."""
        if self.crawler_process is None:
            return
        name = opts.spider
        if not name:
            loader: Any = self.crawler_process.spider_loader
            spiders = [loader.load(slug) for slug in loader.list()]
            sources = [spider.source for spider in spiders if hasattr(spider, "source")]
            source = OriginFinder(sources).source(url)
            name = source and source.slug
        message: str | None = f"no source of the registry covers {url}: name one, as in --spider=ft"
        if name:
            message = argument_error(self.crawler_process.spider_loader, name, opts.spargs)
        if message:
            print_error(message)
            self.exitcode = 2
            return
        opts.spider = name
        super().set_spidercls(url, opts)

    def prepare_request(
        self, spider: Spider, request: Request, opts: argparse.Namespace
    ) -> Request:
        """Request the URL of the command line, whatever its site, and report a failure."""
        meta = {"allow_offsite": True, "handle_httpstatus_list": [*REFUSALS]}
        request.meta.update(meta)
        request.errback = self._fetch_failed
        return super().prepare_request(spider, request, opts)

    def print_results(self, opts: argparse.Namespace) -> None:
        """Print the result if the server responded."""
        answer: Any = self.first_response
        if answer is not None:
            super().print_results(opts)

    def _fetch_failed(self, failure: Failure) -> None:
        request: Request = failure.request  # type: ignore[attr-defined]
        print_error(f"can't fetch {request.url}: {cause_of(failure).reason}")
        self.exitcode = 1

    def scraped_data(self, args: Any) -> Any:
        """Process the results of a page; with --pipelines, in the pipelines."""
        items, requests, opts, depth, spider, callback = args
        if not opts.pipelines or opts.output:
            return super().scraped_data(args)

        async def processed() -> Any:
            scraper: Any = self.pcrawler.engine.scraper
            done = []
            for item in items:
                try:
                    done.append(await scraper.itemproc.process_item_async(item))
                except DropItem as error:
                    print_error(f"dropped ({type(error).__name__}): {error}")
            opts.pipelines = False  # the pipelines have finished
            result = super(Command, self).scraped_data(
                (done, requests, opts, depth, spider, callback)
            )
            opts.pipelines = True
            return result

        return deferred_from_coro(processed())
