"""What is still to be fetched, in the database: a crawl that is killed goes on where it stopped.

Three things are kept for each source.

- The **queue** (`Frontier.offer`, `take`, `settle`): every article address that a feed or sitemap
  told of. It leaves the state "pending" in the very transaction that stores its article, so that
  each article is stored exactly once, whenever a crawl is killed. What crawls die of is taken
  last and alone (`take_suspect`), and given up in the end.
- Its **listings** (`Frontier.listing`, `read`, `unchanged`, `broken`): feeds and sitemaps with
  the validators of conditional requests, the hash of their body and the time of their next poll.
- Its **poll** (`Frontier.finish`, `due_sources`): when a crawl of the source is worth it again.

A scheduler asks `due_sources(database, now, slugs)` which crawls to start, and starts each by
`scrapy crawl SLUG -a polls=due`, which asks only for listings that are due; a crawl without
that argument asks for all of them. Only one crawl of a source may run at a time.
"""

from newscrawl.storage.frontier.crawl import Frontier
from newscrawl.storage.frontier.listings import KnownListing, Reading
from newscrawl.storage.frontier.polls import DueSource, due_sources
from newscrawl.storage.frontier.queue import Offer, Offered, Outcome, Settlement
from newscrawl.storage.frontier.schedule import Schedule, publishing_interval
from newscrawl.storage.frontier.taking import MOST_DEATHS, Waiting

__all__ = [
    "MOST_DEATHS",
    "DueSource",
    "Frontier",
    "KnownListing",
    "Offer",
    "Offered",
    "Outcome",
    "Reading",
    "Schedule",
    "Settlement",
    "Waiting",
    "due_sources",
    "publishing_interval",
]
