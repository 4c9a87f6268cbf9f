"""Show that Scrapy 2.19.0 fetches pages that robots.txt forbids: `python robots_race.py`.

The robots.txt of a server on 127.0.0.1 forbids everything, and a spider starts with five of its
pages. `--fixed` runs the same with the proposed fix. The script needs only Scrapy.
"""

import argparse
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.httpobj import urlparse_cached

STOCK = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"


class FixedRobotsTxtMiddleware(RobotsTxtMiddleware):
    """Scrapy's middleware, in which waiting requests read the parser from where it is stored."""

    async def robot_parser(self, request):
        await super().robot_parser(request)
        return self._parsers[urlparse_cached(request).netloc]


class Handler(BaseHTTPRequestHandler):
    """Serve every page, and after a delay a robots.txt that forbids all of them."""

    asked: ClassVar[list[str]] = []

    def do_GET(self):
        self.asked.append(self.path)
        body = b"hello"
        if self.path == "/robots.txt":
            time.sleep(0.2)
            body = b"User-agent: *\nDisallow: /\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class FiveStarts(scrapy.Spider):
    """Start with five pages of one host."""

    name = "five"

    async def start(self):
        for number in range(1, 6):
            yield scrapy.Request(f"{self.site}/page{number}")

    def parse(self, response):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fixed", action="store_true", help="use the proposed fix")
    settings = {"ROBOTSTXT_OBEY": True, "LOG_ENABLED": False, "TELNETCONSOLE_ENABLED": False}
    if parser.parse_args().fixed:
        settings["DOWNLOADER_MIDDLEWARES"] = {STOCK: None, FixedRobotsTxtMiddleware: 100}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    process = CrawlerProcess(settings)
    process.crawl(FiveStarts, site=f"http://127.0.0.1:{server.server_port}")
    process.start()
    server.shutdown()
    forbidden = sorted(set(Handler.asked) - {"/robots.txt"})
    print(f"Scrapy {scrapy.__version__} asked for: {' '.join(Handler.asked)}")
    print(f"Forbidden pages fetched: {len(forbidden)}")


if __name__ == "__main__":
    main()
