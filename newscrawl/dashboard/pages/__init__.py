"""The pages for a browser."""

from newscrawl.dashboard.pages import (
    access,
    article,
    company,
    corrections,
    overview,
    registry,
    sources,
)

ROUTERS = tuple(
    page.router for page in (overview, company, article, corrections, sources, registry, access)
)
