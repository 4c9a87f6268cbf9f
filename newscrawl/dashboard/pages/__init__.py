"""The pages for a browser."""

from newscrawl.dashboard.pages import (
    access,
    article,
    cure,
    overview,
    pasted_companies,
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
        pasted_companies,
        reports,
        saved_queries,
        access,
    )
    for route in page.router.routes
)
