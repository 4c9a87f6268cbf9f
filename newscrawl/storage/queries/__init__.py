"""Every read: each question an analyst asks is one function that returns frozen dataclasses.

What counts. An article counts if its kind is one of COUNTED_KINDS, with headline and body;
or if only its headline and standfirst may be read (access "paywalled" or "disallowed"): such
articles are counted with the others and told apart as `limited`. Pages of other kinds
(section fronts, consent pages) never count. An article counts for its UTC day of
publication, or of its first fetch where it gives none.

What a zero means. On a day that nobody looked, counts are None: a gap, no zero. `Reach`
says how far a count can be trusted.
"""

from newscrawl.storage.queries.counting import company_ranking, mention_counts, reach
from newscrawl.storage.queries.listing import (
    articles,
    company_names,
    coverage,
    facts,
    source_slugs,
)
from newscrawl.storage.queries.rows import (
    ArticleRow,
    By,
    CompanyCount,
    CoverageDay,
    CoverageLevel,
    DatabaseFacts,
    Hits,
    MentionCount,
    Reach,
    Scope,
)

__all__ = [
    "ArticleRow",
    "By",
    "CompanyCount",
    "CoverageDay",
    "CoverageLevel",
    "DatabaseFacts",
    "Hits",
    "MentionCount",
    "Reach",
    "Scope",
    "articles",
    "company_names",
    "company_ranking",
    "coverage",
    "facts",
    "mention_counts",
    "reach",
    "source_slugs",
]
