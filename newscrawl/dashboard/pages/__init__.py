"""The pages for a browser."""

from newscrawl.dashboard.pages import (
    access,
    article,
    overview,
    registry,
    reports,
    sources,
)

ROUTERS = tuple(page.router for page in (overview, article, sources, registry, reports, access))
