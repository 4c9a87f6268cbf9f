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

__all__ = [
    "Article",
    "ArticleUrl",
    "Base",
    "Company",
    "Coverage",
    "Mention",
    "Revision",
    "Run",
    "Source",
]
