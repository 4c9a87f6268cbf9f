"""newscrawl serve: the dashboard in a browser."""

import ipaddress
import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from newscrawl import config
from newscrawl.cli.arguments import DatabaseOption, InputError
from newscrawl.cli.output import say

EXAMPLE = "Example: newscrawl serve --port 8300"

HOST, PORT = "127.0.0.1", 8300
NEEDS = ("fastapi", "uvicorn", "multipart", "tomlkit")


def serve(
    host: Annotated[str, typer.Option(help="The address to listen at.", metavar="ADDRESS")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="NEWSCRAWL_SERVE_TOKEN",
            help="What visitors must show; needed to listen anywhere but on this machine.",
            metavar="SECRET",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name under which visitors may ask for it.", metavar="NAME"),
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            envvar="NEWSCRAWL_ARCHIVE",
            help="A folder of WARC files with the pages, to show why a block was kept.",
            metavar="FOLDER",
        ),
    ] = None,
    database: DatabaseOption = None,
    companies: Annotated[
        Path | None,
        typer.Option(
            "--companies",
            envvar="NEWSCRAWL_COMPANIES",
            help="A companies file of your own, which the registry's page edits.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Show who was in the news in a browser, with charts, articles, sources and search.

    It listens on this machine alone unless told otherwise. Programs find the same answers at
    /api, described at /api/openapi.json.
    """
    _check_installed()
    import uvicorn

    from newscrawl.cli.explaining import Explainer
    from newscrawl.dashboard import Config, create_app

    secret = _secret(token, host)
    path = archive or (Path(config.NEWSCRAWL_ARCHIVE) if config.NEWSCRAWL_ARCHIVE else None)
    if path and not path.is_dir():
        say(f"No archive at {path} yet: only pages fetched anew can be explained.")
    dashboard = Config(
        database_url=database or config.NEWSCRAWL_DATABASE_URL,
        companies=companies,
        token=secret,
        hosts=frozenset(name.lower() for name in (*(allow_host or ()), host)),
        explain=Explainer(path),
    )
    app = create_app(dashboard)
    with _listening(host, port) as sock:
        at = f"[{host}]" if ":" in host else host
        say(f"The dashboard is at http://{at}:{sock.getsockname()[1]}/ (Ctrl-C ends it)")
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", server_header=False))
        server.run(sockets=[sock])


def _secret(token: str | None, host: str) -> str | None:
    """The token without blanks; raises InputError for one that is too short, and for none where
    others could come in."""
    from newscrawl.dashboard.security import MIN_TOKEN

    secret = (token or "").strip() or None
    if secret is not None and (len(secret) < MIN_TOKEN or not secret.isascii()):
        raise InputError(
            f"the token must have {MIN_TOKEN} letters, digits or signs of ASCII or more: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe())' makes one"
        )
    if secret is None and not _is_this_machine(host):
        raise InputError(
            f"--host {host} lets others in: set NEWSCRAWL_SERVE_TOKEN to a secret of "
            f"{MIN_TOKEN} characters or more"
        )
    return secret


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # The socket's own words name the address once more.
        cause = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise InputError(
            f"can't listen at {host}, port {port}: {cause}. --port 0 takes one that is free"
        ) from error


def _check_installed() -> None:
    from importlib.util import find_spec

    missing = [name for name in NEEDS if find_spec(name) is None]
    if missing:
        raise InputError(
            f"the dashboard needs {', '.join(missing)}: pip install 'newscrawl[dashboard]'"
        )


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
