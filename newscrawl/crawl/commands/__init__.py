"""Scrapy commands of our own."""
