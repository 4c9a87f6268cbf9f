"""What an article counts for: its companies, and the marks in its text."""

from newscrawl.storage.mentions import CORRECTED
from newscrawl.storage.queries import ArticlePage
from newscrawl.storage.queries.article_details import CorrectionRow, MarkedMention


def marks_in(article_page: ArticlePage, section: str) -> list[MarkedMention | CorrectionRow]:
    """Return the marks in headline or body: mentions, and corrections with their place; of several
    at one place, counted ones come first."""
    here = [
        correction
        for correction in article_page.corrections
        if correction.section == section and correction.state != "misplaced"
    ]
    missed = [row for row in here if row.kind == "missed"]
    wrong = [row for row in here if row.kind == "wrong"]
    mentions = [
        mention
        for mention in article_page.mentions
        if mention.section == section and mention.rule != CORRECTED
    ]
    return [*missed, *mentions, *wrong]


def companies_of(article_page: ArticlePage) -> list[tuple[str, int]]:
    """Return the companies of the article, the most mentioned first."""
    counts: dict[str, int] = {}
    for mention in article_page.mentions:
        counts[mention.company] = counts.get(mention.company, 0) + 1
    return sorted(counts.items(), key=lambda count: (-count[1], count[0]))


def corrected_companies(article_page: ArticlePage) -> list[tuple[str, int]]:
    """Return the companies with mentions that a person called wrong, and how many are left."""
    companies = dict(companies_of(article_page))
    wrong = {
        correction.company for correction in article_page.corrections if correction.kind == "wrong"
    }
    return [(name, companies.get(name, 0)) for name in sorted(wrong)]
