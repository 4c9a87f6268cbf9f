"""What programs can ask, as a page: read from the API's own description."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from newscrawl.dashboard.rendering import render

router = APIRouter()


@router.get("/api", response_class=HTMLResponse)
def interface(request: Request) -> HTMLResponse:
    """The API's questions and their parameters."""
    described: dict[str, Any] = request.app.openapi()
    questions = [
        (path, about["get"]["description"], about["get"].get("parameters", []))
        for path, about in described["paths"].items()
        if "get" in about
    ]
    host = request.headers.get("Host", "")
    return render(request, "interface.html", questions=questions, host=host)
