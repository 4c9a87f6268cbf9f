"""The Scrapy components of a crawl: middlewares, extensions, item export and the add-on."""
