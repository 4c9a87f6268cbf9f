"""Find the companies that an article names: `load_companies(path).find(text, title=...)`."""

from newscrawl.mentions.company import CompaniesError, Company
from newscrawl.mentions.documents import position, sentence_span, with_mentions
from newscrawl.mentions.registry import Companies, CompanyFinder, load_companies

__all__ = [
    "Companies",
    "CompaniesError",
    "Company",
    "CompanyFinder",
    "load_companies",
    "position",
    "sentence_span",
    "with_mentions",
]
