"""The pages for a browser, each in a module of its own."""

from newscrawl.dashboard.pages import (
    article,
    company,
    compare,
    explanation,
    interface,
    overview,
    quarantine,
    registry,
    search,
    sign_in,
    sources,
)

ROUTERS = (
    overview.router,
    company.router,
    compare.router,
    explanation.router,
    article.router,
    sources.router,
    quarantine.router,
    search.router,
    registry.router,
    interface.router,
    sign_in.router,
)
