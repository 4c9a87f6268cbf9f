"""The application: its pages, its API, and the pages of errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from newscrawl.dashboard import api, pages
from newscrawl.dashboard.companies_file import CompaniesFile, CompaniesFileError
from newscrawl.dashboard.config import Config
from newscrawl.dashboard.jobs import CountingJobs, RematchJob
from newscrawl.dashboard.rendering import (
    STATIC,
    AppState,
    Store,
    app_state,
    choices,
    filters_of,
    identity_of_request,
    page_before,
    render,
    usable_filters,
)
from newscrawl.dashboard.security import HEADERS, FormSeal, Guard, Sessions
from newscrawl.storage import QuestionError, StorageError

DESCRIPTION = (
    "How often companies are in the news, when, and together with which others. Counts are null "
    "where no source was covered; each comes with its completeness."
)
# And the pages of companies.
_FILTERED = frozenset({"/", "/search", "/compare", "/sources", "/proof", "/report", "/queries"})
RETRY_AFTER = 5  # seconds until a page without a database is loaded again


def create_app(config: Config) -> FastAPI:
    """Return the ASGI application; it opens the database at the first request."""
    store = Store(config.database_url)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()

    static = Mount("/static", StaticFiles(directory=STATIC), name="static")
    app = FastAPI(
        title="newscrawl",
        description=DESCRIPTION,
        version=version("newscrawl"),
        docs_url=None,  # their pages load scripts from other hosts
        redoc_url=None,
        openapi_url="/api/openapi.json",
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        lifespan=lifespan,
        # An application includes routers anew, at its first request, which takes 0.15 seconds.
        routes=[*api.make_routes(), *pages.ROUTES, static],
    )
    registry_file = CompaniesFile(config.companies) if config.companies else None
    sessions = Sessions(config.clock)
    app.state.dashboard = AppState(
        config=config,
        store=store,
        seal=FormSeal(),
        sessions=sessions,
        registry=registry_file,
        job=RematchJob(config.database_url),
        counting=CountingJobs(config.database_url),
    )
    app.add_exception_handler(StorageError, _no_database)
    app.add_exception_handler(CompaniesFileError, _no_registry)
    app.add_exception_handler(QuestionError, _bad_filter)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _write_refused)
    app.add_exception_handler(Exception, _internal_error)
    app.add_middleware(
        Guard,
        config=config,
        reading=store.reading,
        sessions=sessions,
        no_database=_no_database,
    )
    return app


def _no_database(request: Request, error: Exception) -> Response:
    again = {"Retry-After": str(RETRY_AFTER)}
    reason = str(error)
    if identity_of_request(request) is None and app_state(request).config.is_closed:
        reason = "Nobody can be signed in. The command newscrawl status says why, on the server."
    answer = _answer(request, 503, "The database is out of reach", reason, again_in=RETRY_AFTER)
    answer.headers.update(again)
    return answer


def _no_registry(request: Request, error: Exception) -> Response:
    return _answer(request, 503, "The companies file is out of reach", str(error))


def _bad_filter(request: Request, error: Exception) -> Response:
    """Answer a faulty filter; a page with filters shows them again, without the faulty ones."""
    path = request.url.path
    if (path not in _FILTERED and not path.startswith("/company/")) or _has_filters(request):
        return _answer(request, 422, "This page can't be shown", str(error))
    filters, changes = usable_filters(request)
    with app_state(request).store.reading() as database:
        offered = choices(database, filters)
    return render(
        request,
        "bad_filter.html",
        status=422,
        reason=str(error),
        filters=filters,
        choices=offered,
        others=changes,
        # A report has no form of filters: the page that leads to it has.
        action=page_before(request)[1].partition("?")[0] if path == "/report" else path,
    )


def _has_filters(request: Request) -> bool:
    """Return whether the filters of the address can be used, so that something else is wrong."""
    try:
        filters_of(request)
    except QuestionError:
        return False
    return True


def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as registered above
    faults = [f"{fault['loc'][-1]}: {fault['msg']}" for fault in error.errors()]
    return _answer(request, 422, "This page can't be shown", "; ".join(faults))


def _write_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as registered above
    titles = {404: "Page not found", 405: "Method not allowed", 403: "Invalid form", 503: "Busy"}
    title = titles.get(error.status_code, "Error")
    # The framework's own message "Not Found" gives no advice.
    unnamed = error.status_code == 404 and error.detail == "Not Found"
    reason = "There is no page at this address: check its spelling." if unnamed else error.detail
    answer = _answer(request, error.status_code, title, str(reason))
    answer.headers.update(error.headers or {})
    return answer


def _internal_error(request: Request, _: Exception) -> Response:
    """Answer an unexpected error, whose traceback is in the server's log. The guard, which adds
    the headers to all other answers, does not handle it."""
    reason = "This is a bug. The output of newscrawl serve says where it happened."
    answer = _answer(request, 500, "Internal error", reason)
    answer.headers.update(HEADERS)
    return answer


def _answer(
    request: Request, status: int, title: str, reason: str, *, again_in: int | None = None
) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": reason}, status_code=status)
    back = ("the overview", "/")
    if status == 404:
        back = "the overview", f"/{usable_filters(request)[0].address()}"
    elif status == 422:
        back = page_before(request)
    return render(
        request,
        "error.html",
        status=status,
        title=title,
        reason=reason,
        again_in=again_in,
        back=back,
    )
