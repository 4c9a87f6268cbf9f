"""The tables, a module for each group of them; all must be imported here to be known."""

from newscrawl.storage.models.articles import (
    Article,
    ArticleUrl,
    Company,
    Coverage,
    Mention,
    Revision,
    Run,
    Source,
)
from newscrawl.storage.models.base import Base
from newscrawl.storage.models.frontier import FrontierUrl, Listing, Poll

__all__ = [
    "Article",
    "ArticleUrl",
    "Base",
    "Company",
    "Coverage",
    "FrontierUrl",
    "Listing",
    "Mention",
    "Poll",
    "Revision",
    "Run",
    "Source",
]
