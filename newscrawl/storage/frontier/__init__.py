"""The frontier: the pages to fetch, in the database. A killed crawl resumes from it.

For each source it has:

- the **queue** (`Frontier.enqueue`, `dequeue`, `mark_done`): every article URL in a feed or
  sitemap. It leaves the state "pending" in the transaction that stores its article, so that each
  article is stored exactly once whenever a crawl is killed. Pages that may have killed a crawl are
  dequeued last and alone (`dequeue_quarantined`), and finally given up.
- the **listings** (`Frontier.listings`, `record_reading`, `record_unchanged`, `record_failure`):
  feeds and sitemaps with the validators of conditional requests, the hash of their body and the
  time of their next poll.
- the **gaps** (`Frontier.overlap`, `estimate_gap`): whether a listing still has an article of its
  last reading, and how many articles may be missing if it has none.
- the **poll** (`Frontier.finish`, `due_sources`): when the source is to be crawled again.

A scheduler gets the sources to crawl from `due_sources(database, now, slugs)`, and starts each
crawl by `scrapy crawl SLUG -a polls=due`, which requests only the listings that are due; a crawl
without that argument requests all of them. Only one crawl of a source may run at a time.
"""
