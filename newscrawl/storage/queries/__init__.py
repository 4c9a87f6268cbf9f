"""All reads of the database: each question is a function that returns frozen dataclasses.

An article counts if its kind is one of COUNTED_KINDS, with headline and body; or if only its
headline and standfirst may be read (any other access than "open"): such articles are counted
with the others, and also separately as `limited`. Pages of other kinds (section fronts, consent
pages) never count. An article counts for its UTC day of publication, or of its first fetch where it
gives none.

On a day on which nothing was crawled, counts are None and not 0. `Completeness` describes how
complete a count is.

The modules: `counts` has questions about mentions, `comparisons` those that compare companies or
periods, with the test of a change, and about companies that are mentioned together;
`company_counts` has the numbers of each company, group or owner that they begin with;
`completeness` is about the coverage and health of sources, and what is in the database;
`article_lists` and `article_details` about articles and stories; `text_search` the search; `proof`
the articles behind a number, and `left_out` what it leaves out. `questions` describes how a
question is declared, `newscrawl.storage.scope` and `rollup_tables` limit it to days and sources.
"""

from types import ModuleType as _ModuleType

from newscrawl.storage.queries.article_details import *
from newscrawl.storage.queries.article_lists import *
from newscrawl.storage.queries.comparisons import *
from newscrawl.storage.queries.completeness import *
from newscrawl.storage.queries.counts import *
from newscrawl.storage.queries.proof import *
from newscrawl.storage.queries.questions import *
from newscrawl.storage.queries.text_search import *
from newscrawl.storage.scope import *

# Each module lists its public names.
__all__ = [
    name
    for name, value in globals().items()
    if not name.startswith("_") and not isinstance(value, _ModuleType)
]
