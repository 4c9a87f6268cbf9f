"""The pages for a browser."""

from newscrawl.dashboard.pages import (
    access,
    article,
    overview,
    proof,
    registry,
    reports,
    saved_queries,
    sources,
)

ROUTES = tuple(
    route
    for page in (overview, proof, article, sources, registry, reports, saved_queries, access)
    for route in page.router.routes
)
