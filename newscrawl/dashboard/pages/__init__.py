"""The pages for a browser."""

from newscrawl.dashboard.pages import (
    access,
    article,
    cure,
    overview,
    proof,
    registry,
    reports,
    saved_queries,
    sources,
    suggestions,
)

ROUTES = tuple(
    route
    for page in (
        overview,
        proof,
        cure,
        article,
        sources,
        registry,
        suggestions,
        reports,
        saved_queries,
        access,
    )
    for route in page.router.routes
)
