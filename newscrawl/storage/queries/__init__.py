"""Every read: each question an analyst asks is one function that returns frozen dataclasses.

What counts. An article counts if its kind is one of COUNTED_KINDS, with headline and body;
or if only its headline and standfirst may be read (access "paywalled" or "disallowed"): such
articles are counted with the others and told apart as `limited`. Pages of other kinds
(section fronts, consent pages) never count. An article counts for its UTC day of
publication, or of its first fetch where it gives none.

What a zero means. On a day that nobody looked, counts are None: a gap, no zero. `Reach`
says how far a count can be trusted.
"""

from newscrawl.storage.queries.articles import (
    ArticlePage,
    ArticleRow,
    DiffLine,
    FoundArticle,
    MarkedMention,
    Snippet,
    StoryRow,
    Version,
)
from newscrawl.storage.queries.comparing import co_mentions, overview, share_of_voice
from newscrawl.storage.queries.counting import clutter, company_ranking, mention_counts
from newscrawl.storage.queries.finding import articles, company_articles, search
from newscrawl.storage.queries.listing import (
    company_names,
    countries,
    coverage,
    facts,
    languages,
    sections,
    source_slugs,
)
from newscrawl.storage.queries.pages import article_page, history
from newscrawl.storage.queries.quarantine import (
    HeldText,
    QuarantineRow,
    quarantine_sizes,
    quarantined,
    quarantined_text,
)
from newscrawl.storage.queries.reaching import reach
from newscrawl.storage.queries.rows import (
    By,
    Clutter,
    CoMention,
    CompanyCount,
    CoverageDay,
    CoverageLevel,
    DatabaseFacts,
    Group,
    Hits,
    Measure,
    MentionCount,
    Overview,
    Period,
    Reach,
    Scope,
    Share,
    Standing,
)
from newscrawl.storage.queries.stories import stories, story_articles

__all__ = [
    "ArticlePage",
    "ArticleRow",
    "By",
    "Clutter",
    "CoMention",
    "CompanyCount",
    "CoverageDay",
    "CoverageLevel",
    "DatabaseFacts",
    "DiffLine",
    "FoundArticle",
    "Group",
    "HeldText",
    "Hits",
    "MarkedMention",
    "Measure",
    "MentionCount",
    "Overview",
    "Period",
    "QuarantineRow",
    "Reach",
    "Scope",
    "Share",
    "Snippet",
    "Standing",
    "StoryRow",
    "Version",
    "article_page",
    "articles",
    "clutter",
    "co_mentions",
    "company_articles",
    "company_names",
    "company_ranking",
    "countries",
    "coverage",
    "facts",
    "history",
    "languages",
    "mention_counts",
    "overview",
    "quarantine_sizes",
    "quarantined",
    "quarantined_text",
    "reach",
    "search",
    "sections",
    "share_of_voice",
    "source_slugs",
    "stories",
    "story_articles",
]
