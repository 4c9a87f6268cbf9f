"""newscrawl serve: the dashboard in a browser."""

import ipaddress
import os
import socket
from pathlib import Path
from typing import Annotated

import typer

from newscrawl import config, storage
from newscrawl.cli.arguments import DatabaseOption, InputError, source_catalog
from newscrawl.cli.output import write_note

EXAMPLE = "Example: newscrawl serve --port 8300"

HOST, PORT = "127.0.0.1", 8300


TokenOption = Annotated[
    str | None,
    typer.Option(
        envvar="NEWSCRAWL_SERVE_TOKEN",
        help="The secret that visitors must enter; needed if other machines have access.",
        metavar="SECRET",
    ),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(help="A further host name that requests may use.", metavar="NAME"),
]
ArchiveOption = Annotated[
    Path | None,
    typer.Option(
        envvar="NEWSCRAWL_ARCHIVE",
        help="A folder of WARC files with the crawled pages, to explain extraction from.",
        metavar="FOLDER",
    ),
]
EditedCompaniesOption = Annotated[
    Path | None,
    typer.Option(
        "--companies",
        envvar="NEWSCRAWL_COMPANIES",
        help="A companies file of your own, to edit on the registry's page.",
        metavar="FILE",
    ),
]


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.", metavar="ADDRESS")] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = PORT,
    token: TokenOption = None,
    allow_host: AllowHostOption = None,
    archive: ArchiveOption = None,
    database: DatabaseOption = None,
    companies: EditedCompaniesOption = None,
) -> None:
    """Serve the dashboard: companies in the news with charts, articles, sources and search.

    It listens on this machine only, unless --host names another address. Programs get the same
    answers at /api, described at /api/openapi.json.
    """
    import uvicorn

    from newscrawl.cli.explainer import Explainer, find_mentions_again
    from newscrawl.cli.recipients import save_from_form
    from newscrawl.dashboard import Config, create_app
    from newscrawl.dashboard.security import MIN_TOKEN
    from newscrawl.monitoring.alerts import send_test
    from newscrawl.monitoring.delivery import configured_recipients

    url = database or config.NEWSCRAWL_DATABASE_URL
    try:
        proxies = tuple(
            ipaddress.ip_network(name) for name in sorted(_names(config.NEWSCRAWL_SERVE_PROXY))
        )
    except ValueError as error:
        raise InputError(
            f"NEWSCRAWL_SERVE_PROXY: {error}; write addresses or networks, as in 127.0.0.1"
        ) from error
    secret = (token or "").strip() or None
    if secret is not None and (len(secret) < MIN_TOKEN or not secret.isascii()):
        raise InputError(
            f"the token must have {MIN_TOKEN} letters, digits or signs of ASCII or more: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe())' makes one"
        )
    if secret is None and not (bool(proxies) or _has_tokens(url)) and not _is_this_machine(host):
        raise InputError(
            f"--host {host} gives other machines access: make a token (newscrawl tokens add NAME), "
            f"or set NEWSCRAWL_SERVE_TOKEN to a secret of {MIN_TOKEN} characters or more"
        )
    path = archive or (Path(config.NEWSCRAWL_ARCHIVE) if config.NEWSCRAWL_ARCHIVE else None)
    if path and not path.is_dir():
        write_note(f"No archive at {path} yet: only pages fetched anew can be explained.")
    dashboard = Config(
        database_url=url,
        catalog=source_catalog(),
        companies=companies,
        token=secret,
        needs_token=not _is_this_machine(host),
        proxies=proxies,
        editors=_names(config.NEWSCRAWL_SERVE_EDITORS),
        hosts=frozenset(name.lower() for name in (*(allow_host or ()), host)),
        explain=Explainer(path),
        find_again=find_mentions_again,
        save_recipient=save_from_form,
        send_test=send_test,
        settings_recipients=configured_recipients,
    )
    application = create_app(dashboard)
    with _open_socket(host, port) as sock:
        at = f"[{host}]" if ":" in host else host
        write_note(f"The dashboard is at http://{at}:{sock.getsockname()[1]}/ (Ctrl-C ends it)")
        # Uvicorn's own evaluation of proxies' headers would hide the address of a request.
        settings = uvicorn.Config(
            application, log_level="warning", server_header=False, proxy_headers=False
        )
        server = uvicorn.Server(settings)
        server.run(sockets=[sock])


def _names(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, text.split(","))))


def _has_tokens(url: str) -> bool:
    """Return whether the database has tokens; False if it can't be read yet."""
    from newscrawl.storage.tokens import has_tokens

    try:
        with storage.open_database(url, create=False) as store:
            return has_tokens(store)
    except storage.StorageError:
        return False


def _open_socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        # The socket's own message repeats the address.
        cause = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        raise InputError(
            f"can't listen on {host}, port {port}: {cause}. --port 0 takes a free one"
        ) from error


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
