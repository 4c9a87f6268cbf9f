"""Signing in, where the application was started with a token."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from newscrawl.dashboard.rendering import desk_of, render
from newscrawl.dashboard.security import SESSION_COOKIE, same, session_of

router = APIRouter()

WRONG_PAUSE = 1.0  # seconds that a wrong token costs
SIGNED_IN_FOR = 30 * 24 * 3600  # seconds


@router.get("/sign-in", response_class=HTMLResponse)
def ask(request: Request, then: str = "/") -> HTMLResponse:
    """The form for the token."""
    return render(request, "sign_in.html", then=_here(then), wrong=False)


@router.post("/sign-in", response_class=HTMLResponse)
async def take(
    request: Request,
    token: Annotated[str, Form(max_length=500)] = "",
    then: Annotated[str, Form(max_length=2000)] = "/",
    seal: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """A cookie for the right token."""
    desk = desk_of(request)
    if not desk.seal.holds(request, seal):
        raise HTTPException(403, "Load the page anew and send the form again.")
    if desk.config.token is None or not same(token.strip(), desk.config.token):
        await asyncio.sleep(WRONG_PAUSE)
        return render(request, "sign_in.html", status=401, then=_here(then), wrong=True)
    answer = RedirectResponse(_here(then), status_code=303)
    answer.set_cookie(
        SESSION_COOKIE,
        session_of(desk.config.token),
        max_age=SIGNED_IN_FOR,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/sign-out")
def leave(request: Request, seal: Annotated[str, Form(max_length=200)] = "") -> Response:
    """Forget this browser."""
    if not desk_of(request).seal.holds(request, seal):
        raise HTTPException(403, "Load the page anew and send the form again.")
    answer = RedirectResponse("/sign-in", status_code=303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


def _here(address: str) -> str:
    """The address if it is a path on this site, else the first page."""
    outside = not address.startswith("/") or address.startswith(("//", "/\\"))
    return "/" if outside or any(ord(sign) < 32 for sign in address) else address
