"""Access: signing in, where a token is needed, and the page about the API."""

import asyncio
from typing import Annotated, Any

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from newscrawl.dashboard.rendering import app_state, page_router, render
from newscrawl.dashboard.security import SESSION_COOKIE, SIGNED_IN_FOR, identity_of
from newscrawl.storage.tokens import hash_of

router = page_router()

WRONG_PAUSE = 1.0  # seconds of the pause after a wrong token


@router.get("/sign-in")
def ask(request: Request, then: str = "/") -> HTMLResponse:
    """Show the form for the token."""
    return render(request, "sign_in.html", then=_here(then), wrong=False)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    token: Annotated[str, Form(max_length=500)] = "",
    then: Annotated[str, Form(max_length=2000)] = "/",
) -> Response:
    """Begin a session of this browser for a valid token."""
    state = app_state(request)
    hashes = [hash_of(token.strip())]
    identity = await run_in_threadpool(identity_of, state.config, state.store.reading, hashes)
    if identity is None or not identity.signed_in:
        await asyncio.sleep(WRONG_PAUSE)
        return render(request, "sign_in.html", status=401, then=_here(then), wrong=True)
    state.sessions.end(request.cookies.get(SESSION_COOKIE, ""))
    answer = RedirectResponse(_here(then), status_code=303)
    answer.set_cookie(
        SESSION_COOKIE,
        state.sessions.begin(*hashes),
        max_age=int(SIGNED_IN_FOR.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/sign-out")
def sign_out(request: Request) -> Response:
    """End the session of this browser."""
    app_state(request).sessions.end(request.cookies.get(SESSION_COOKIE, ""))
    answer = RedirectResponse("/sign-in", status_code=303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


def _here(address: str) -> str:
    """Return the address if it is a path on this site, else that of the first page."""
    outside = not address.startswith("/") or address.startswith(("//", "/\\"))
    return "/" if outside or any(ord(sign) < 32 for sign in address) else address


@router.get("/api")
def interface(request: Request) -> HTMLResponse:
    """Return the API's questions and their parameters."""
    described: dict[str, Any] = request.app.openapi()
    questions = [
        (path, about["get"]["description"], about["get"].get("parameters", []))
        for path, about in described["paths"].items()
        if "get" in about
    ]
    host = request.headers.get("Host", "")
    return render(request, "interface.html", questions=questions, host=host)
