"""Responses that were packed for the way are unpacked, and nothing is made of the packed bytes."""

from scrapy import Request
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.http import Response, TextResponse


class Unpacking(HttpCompressionMiddleware):
    """Unpacks as Scrapy does, which first looks for the charset of the packed bytes.

    Where no header names one it guesses, for as long as extraction takes, and then forgets what it
    found. A response that isn't known to be a text has no charset to be looked for.
    """

    def process_response(  # type: ignore[override]
        self, request: Request, response: Response
    ) -> Request | Response:
        """Return the response with its unpacked body."""
        if isinstance(response, TextResponse) and "Content-Encoding" in response.headers:
            plain = {name: getattr(response, name) for name in Response.attributes}
            response = Response(**plain)
        return super().process_response(request, response)
