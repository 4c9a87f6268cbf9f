"""newscrawl serve: the dashboard in a browser."""

import ipaddress
from typing import Annotated

import typer

from newscrawl import settings
from newscrawl.cli.arguments import CompaniesOption, DatabaseOption, InputError
from newscrawl.cli.output import say

EXAMPLE = "Example: newscrawl serve --port 8300"

HOST, PORT = "127.0.0.1", 8300
NEEDS = ("fastapi", "uvicorn", "jinja2", "multipart", "tomlkit")


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
    database: DatabaseOption = None,
    companies: CompaniesOption = None,
) -> None:
    """Show who was in the news in a browser, with charts, articles, sources and search.

    It listens on this machine alone unless told otherwise. Programs find the same answers at
    /api, described at /api/openapi.json.
    """
    _check_installed()
    import uvicorn

    from newscrawl.dashboard import Config, create_app
    from newscrawl.dashboard.security import SHORTEST_TOKEN

    token = (token or "").strip() or None
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise InputError(f"--token has under {SHORTEST_TOKEN} characters: take a longer one")
    if token is None and not _is_this_machine(host):
        raise InputError(
            f"--host {host} lets others in: set NEWSCRAWL_SERVE_TOKEN to a secret of "
            f"{SHORTEST_TOKEN} characters or more"
        )
    config = Config(
        database_url=database or settings.NEWSCRAWL_DATABASE_URL,
        companies=companies,
        token=token,
        hosts=frozenset(name.lower() for name in (*(allow_host or ()), host)),
    )
    say(f"The dashboard is at http://{host}:{port}/ (Ctrl-C ends it)")
    uvicorn.run(create_app(config), host=host, port=port, log_level="warning", server_header=False)


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
