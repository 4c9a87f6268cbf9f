"""Find the companies that an article names: `load_companies(path).find(text, title=...)`."""

from newscrawl.mentions.company import CompaniesError, Company
from newscrawl.mentions.documents import position, sentence_span, with_mentions
from newscrawl.mentions.registry import Companies, load_companies

__all__ = [
    "Companies",
    "CompaniesError",
    "Company",
    "load_companies",
    "position",
    "sentence_span",
    "with_mentions",
]
