"""Why an article's page became this article: its blocks, kept and dropped."""

import re
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from newscrawl.dashboard.config import Explain, UnexplainedError
from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.storage import queries
from newscrawl.templating import content_hash

router = APIRouter()

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


@router.get("/article/explanation", response_class=HTMLResponse)
def explanation(request: Request, url: str) -> Response:
    """The explanation of the archived page, or what else can be done."""
    explain, urls = _explain(request, url)
    try:
        return _document(explain(urls, False).document)
    except UnexplainedError as error:
        return render(request, "explanation.html", status=404, url=url, reason=str(error))


@router.post("/article/explanation", response_class=HTMLResponse)
def fetched(
    request: Request,
    url: Annotated[str, Form(max_length=4000)],
    seal: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """The explanation of the page as it is today, fetched now."""
    if not desk_of(request).seal.holds(request, seal):
        raise HTTPException(403, "Load the page anew and send the form again.")
    explain, urls = _explain(request, url)
    try:
        return _document(explain(urls, True).document)
    except UnexplainedError as error:
        return render(request, "explanation.html", status=502, url=url, reason=str(error))


def _explain(request: Request, url: str) -> tuple[Explain, list[str]]:
    """What explains pages, and the article's addresses. Only pages of stored articles are
    explained, so that nobody has us fetch what they like."""
    desk = desk_of(request)
    with desk.store.reading() as database:
        found = queries.article_page(database, url)
    if found is None:
        raise HTTPException(404, "No article with this address is in the database.")
    if desk.config.explain is None:
        raise HTTPException(404, "This dashboard was started without explanations.")
    return desk.config.explain, list(dict.fromkeys((found.row.url, *found.addresses)))


def _document(document: str) -> HTMLResponse:
    """The document as it is; its one style sheet is allowed by its hash, and nothing else."""
    found = _STYLE.search(document)
    style = content_hash(found[1] if found else "")
    policy = (
        f"default-src 'none'; style-src {style}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return HTMLResponse(document, headers={"Content-Security-Policy": policy})
