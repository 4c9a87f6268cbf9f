"""Companies and where an article names them: `load_companies(path).find(text, title=...)`."""

from newscrawl.mentions.companies import Companies, load_companies
from newscrawl.mentions.company import CompaniesError, Company
from newscrawl.mentions.documents import with_mentions
from newscrawl.mentions.sentences import position, sentence_span

__all__ = [
    "Companies",
    "CompaniesError",
    "Company",
    "load_companies",
    "position",
    "sentence_span",
    "with_mentions",
]
