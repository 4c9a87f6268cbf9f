"""newscrawl serve and tokens: the dashboard in a browser, and who may read or edit in it."""

import ipaddress
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from newscrawl import config, storage
from newscrawl.cli.arguments import Format, InputError, source_catalog
from newscrawl.cli.output import Column, exit_if, exit_without, render, write_line, write_note

if TYPE_CHECKING:
    from newscrawl.storage import Database

EXAMPLE = "Example: newscrawl serve --port 8300"

HOST, PORT = "127.0.0.1", 8300


def serve(
    host: str = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535)] = PORT,
    token: Annotated[str | None, typer.Option(envvar="NEWSCRAWL_SERVE_TOKEN")] = None,
    allow_host: list[str] | None = None,
    archive: Path | None = None,
    database: str | None = None,
    companies: Path | None = None,
) -> None:
    """Serve the dashboard: companies in the news with charts, articles, sources and search.

    It listens on this machine only, unless --host names another address. Programs get the same
    answers at /api, described at /api/openapi.json.

    --host ADDRESS: The address to listen on.
    --port: 0 takes any free one.
    --token SECRET: The secret that visitors must enter; needed if other machines have access.
    --allow-host NAME: A further host name that requests may use.
    --archive FOLDER: A folder of WARC files with the crawled pages, to explain extraction from.
    --companies FILE: A companies file of your own, to edit on the registry's page.
    """
    import uvicorn

    from newscrawl.dashboard import Config, create_app
    from newscrawl.dashboard.explanations import Explainer
    from newscrawl.dashboard.security import MIN_TOKEN

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
            f"can't listen on {host}, port {port}: {cause}. --port 0 takes a free one "
            "(in a checkout: make serve PORT=8377)"
        ) from error


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


tokens = typer.Typer(
    help="Give people and programs the right to read or to edit in the dashboard.",
    no_args_is_help=True,
)
_MAX_NAME = 60


@tokens.command(epilog="Example: newscrawl tokens add ann --right edit")
def add(store: "Database", name: str, right: Literal["read", "edit"] = "read") -> None:
    """Make a token and write it to standard output, once: only its hash is stored.

    As soon as there is a token, the dashboard asks everybody for one. Corrections and changes of
    the registry carry the token's name.

    name: Whose token it is, as in 'ann'.
    --right: read: see everything; edit: also correct, decide and change the registry.
    """
    from newscrawl.storage.tokens import add_token

    name = name.strip()
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        raise InputError(f"{name!r} can't be a name: write up to {_MAX_NAME} letters, as in ann")
    secret = add_token(store, name, right)
    write_note(f"{name} may {right}. This is the token, which is shown only now:")
    write_line(secret)


@tokens.command("list", epilog="Example: newscrawl tokens list --format json")
def list_all(store: "Database", output_format: Format = "table") -> None:
    """List the tokens by name, with their rights, also those that were revoked.

    Exit code 1 if there are none.
    """
    from newscrawl.storage.tokens import list_tokens

    tokens = list_tokens(store)
    columns = (
        Column("name", wide=True),
        Column("right"),
        Column("made", of=lambda token: token.made_at.date()),
        Column("revoked", of=lambda token: token.revoked_at and token.revoked_at.date()),
    )
    render(tokens, columns, output_format)
    exit_without(tokens, "No tokens: newscrawl tokens add NAME --right read")


@tokens.command(epilog="Example: newscrawl tokens revoke ann")
def revoke(store: "Database", name: str) -> None:
    """Revoke a token at once, also in browsers that are signed in. Its name can't be used again.

    Exit code 1 if no token of this name is in use.

    name: Whose token it is, as in 'ann'.
    """
    from newscrawl.storage.tokens import revoke_token

    revoked = revoke_token(store, name)
    write_note(f"{name}: {'revoked' if revoked else 'no token of this name is in use'}.")
    exit_if(not revoked)
