"""A page becomes an article."""

from newscrawl.items import Article


def extract(
    html: bytes | str,
    url: str | None = None,
    *,
    encoding: str | None = None,
    language: str | None = None,
    method: str = "combined",
) -> Article:
    """Take the article out of a page. Never raises for any input."""
    raise NotImplementedError
