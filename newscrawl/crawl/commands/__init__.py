"""Our variants of Scrapy's commands."""
