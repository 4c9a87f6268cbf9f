"""A local news world, and how fast the whole line crawls it: `make bench-crawl`."""
