"""Scrapy's settings for newscrawl. `scrapy crawl ft -s NAME=VALUE` overrides any of them."""

from newscrawl.config import *  # noqa: F403 - Scrapy finds our own settings (NEWSCRAWL_*) here, too
from newscrawl.config import NEWSCRAWL_CONTACT, user_agent

# --- Item pipelines and feed exports ------------------------------------------------------------

ITEM_PIPELINES = {
    "pipelines.extraction.ExtractionPipeline": 100,  # extracts the article of a page
    "pipelines.stats.SourceStatsPipeline": 150,  # counts the results of extraction
    "pipelines.mentions.MentionsPipeline": 200,  # finds the companies in the article
    "pipelines.storage.StoragePipeline": 300,  # stores both in one transaction
}

# What -O, -o and FEEDS write: an ArticleItem for each article that was stored.
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORTERS = {
    "csv": "newscrawl.crawl.exports.CsvExporter",
    "xml": "newscrawl.crawl.exports.XmlExporter",
    "parquet": "newscrawl.crawl.exports.ParquetExporter",
}

# --- Scrapy ---------------------------------------------------------------

BOT_NAME = "newscrawl"
SPIDER_MODULES = ["spiders"]
NEWSPIDER_MODULE = "spiders"
ADDONS = {"newscrawl.crawl.warc.Replay": 200}
# The spider of each source that has no class of its own in SPIDER_MODULES.
NEWSCRAWL_SPIDER_CLASS = "spiders.news.NewsSpider"
SPIDER_LOADER_CLASS = "newscrawl.crawl.commandline.RegistrySpiderLoader"
COMMANDS_MODULE = "newscrawl.crawl.commands"
SPIDER_CONTRACTS = {
    "newscrawl.crawl.commands.check.ListingContract": 20,
    "newscrawl.crawl.commands.check.FilledContract": 21,
}
LOG_FORMATTER = "newscrawl.crawl.extensions.ShortLogFormatter"
LOG_LEVEL = "INFO"
DEFAULT_DROPITEM_LOG_LEVEL = "INFO"
LOG_VERSIONS: list[str] = []
STATS_DUMP = False  # one line shows the results; -s STATS_DUMP=1 shows all counts

SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"  # the newest article first, as listed

# Polite
USER_AGENT = user_agent(NEWSCRAWL_CONTACT)
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "newscrawl"
CONCURRENT_REQUESTS = 4  # items in process delay the end of a crawl
CONCURRENT_REQUESTS_PER_DOMAIN = 2
# Bytes of pages in process above which no more are requested: those of two batches.
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 20_000_000
CONCURRENT_ITEMS = 1  # a page has one article; Scrapy starts this number of tasks for each response
DOWNLOAD_DELAY = 0.5
DOWNLOAD_DELAY_JITTER = 0.0  # Scrapy's would shorten every second delay, by up to a half
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 1.0
AUTOTHROTTLE_MAX_DELAY = 60.0
RETRY_TIMES = 2
RETRY_GIVE_UP_LOG_LEVEL = "DEBUG"  # the spider logs each failed page once
COOKIES_ENABLED = False
REFERER_ENABLED = True
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
}

# A crawl that is stopped ends within seconds, even if a server doesn't respond.
DOWNLOADER = "newscrawl.crawl.extensions.EndingDownloader"

# Protection against hostile servers
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
DOWNLOAD_TIMEOUT = 30
DOWNLOAD_MAXSIZE = 8 * 1024 * 1024  # the largest article pages stay below 5 MB
DOWNLOAD_WARNSIZE = 0
REDIRECT_MAX_TIMES = 5
METAREFRESH_ENABLED = False
DOWNLOAD_HANDLERS = {
    "http": "newscrawl.crawl.sending.ReportingHandler",
    "https": "newscrawl.crawl.sending.ReportingHandler",
    **dict.fromkeys(("data", "file", "ftp", "s3")),  # http and https only
}
DNSCACHE_ENABLED = True  # so connections use the address that was checked

EXTENSIONS = {
    "scrapy.extensions.feedexport.FeedExporter": None,
    "newscrawl.crawl.exports.FeedExports": 0,
    "newscrawl.crawl.extensions.MonitorLink": 0,
    "scrapy.extensions.throttle.AutoThrottle": None,
    "newscrawl.crawl.extensions.CrawlDelayThrottle": 0,
}
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "newscrawl.crawl.middlewares.SourceOffsiteMiddleware": 50,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "newscrawl.crawl.middlewares.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "newscrawl.crawl.middlewares.RetryAfterMiddleware": 550,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "newscrawl.crawl.middlewares.CompressionMiddleware": 590,
    "newscrawl.crawl.warc.ArchivingMiddleware": 880,  # what passed the check, and still compressed
    "newscrawl.crawl.middlewares.PrivateAddressMiddleware": 890,  # the last one before the network
}
