"""The tables, a module for each group of them; all must be imported here to be known."""

from newscrawl.storage.models.alerts import CompanyAlert, WatchedCompany
from newscrawl.storage.models.analysis import (
    Appearance,
    Boilerplate,
    CountedArticle,
    DailyCompany,
    DailyCompanySource,
    DailySource,
    DailyTotal,
    MentionChange,
    Sketch,
    SketchValue,
    Story,
)
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
from newscrawl.storage.models.memory import TemplateMemory
from newscrawl.storage.models.progress import Progress
from newscrawl.storage.models.quarantine import QuarantinedRevision
from newscrawl.storage.models.robots import RobotsPolicy
from newscrawl.storage.models.sources_health import SourceHealth
from newscrawl.storage.models.watch import Incident, Lease, SourceStats, Worker

__all__ = [
    "Appearance",
    "Article",
    "ArticleUrl",
    "Base",
    "Boilerplate",
    "Company",
    "CompanyAlert",
    "CountedArticle",
    "Coverage",
    "DailyCompany",
    "DailyCompanySource",
    "DailySource",
    "DailyTotal",
    "FrontierUrl",
    "Incident",
    "Lease",
    "Listing",
    "Mention",
    "MentionChange",
    "Poll",
    "Progress",
    "QuarantinedRevision",
    "Revision",
    "RobotsPolicy",
    "Run",
    "Sketch",
    "SketchValue",
    "Source",
    "SourceHealth",
    "SourceStats",
    "Story",
    "TemplateMemory",
    "WatchedCompany",
    "Worker",
]
