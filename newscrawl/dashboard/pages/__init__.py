"""The pages for a browser."""

from newscrawl.dashboard.pages import (
    access,
    article,
    corrections,
    overview,
    registry,
    sources,
)

ROUTERS = tuple(page.router for page in (overview, article, corrections, sources, registry, access))
