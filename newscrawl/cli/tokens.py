"""newscrawl tokens: who may read or edit in the dashboard and its API."""

from typing import Annotated, Literal

import typer

from newscrawl.cli.arguments import DatabaseOption, FormatOption, InputError, open_for_reading
from newscrawl.cli.output import Column, exit_without, render, write_line, write_note

app = typer.Typer(
    help="Give people and programs the right to read or to edit in the dashboard.",
    no_args_is_help=True,
)
_NameArgument = Annotated[str, typer.Argument(help="Whose token it is, as in 'ann'.")]
_RightOption = Annotated[
    Literal["read", "edit"],
    typer.Option(help="read: see everything; edit: also correct, decide and change the registry."),
]
_MAX_NAME = 60


@app.command(epilog="Example: newscrawl tokens add ann --right edit")
def add(name: _NameArgument, right: _RightOption = "read", database: DatabaseOption = None) -> None:
    """Make a token and write it to standard output, once: only its hash is stored.

    As soon as there is a token, the dashboard asks everybody for one. Corrections and changes of
    the registry carry the token's name.
    """
    from newscrawl.storage.tokens import add_token

    name = name.strip()
    if not name or len(name) > _MAX_NAME or not name.isprintable():
        raise InputError(f"{name!r} can't be a name: write up to {_MAX_NAME} letters, as in ann")
    with open_for_reading(database) as store:
        secret = add_token(store, name, right)
    write_note(f"{name} may {right}. This is the token, which is shown only now:")
    write_line(secret)


@app.command("list", epilog="Example: newscrawl tokens list --format json")
def list_all(output_format: FormatOption = "table", database: DatabaseOption = None) -> None:
    """List the tokens by name, with their rights, also those that were revoked.

    Exit code 1 if there are none.
    """
    from newscrawl.storage.tokens import list_tokens

    with open_for_reading(database) as store:
        tokens = list_tokens(store)
    columns = (
        Column(key="name", heading="name", wide=True),
        Column(key="right", heading="right"),
        Column(key="made", heading="made"),
        Column(key="revoked", heading="revoked"),
    )
    rows = [
        {
            "name": token.name,
            "right": token.right,
            "made": token.made_at.date(),
            "revoked": token.revoked_at and token.revoked_at.date(),
        }
        for token in tokens
    ]
    render(rows, columns, output_format)
    exit_without(tokens, "No tokens: newscrawl tokens add NAME --right read")


@app.command(epilog="Example: newscrawl tokens revoke ann")
def revoke(name: _NameArgument, database: DatabaseOption = None) -> None:
    """Revoke a token at once, also in browsers that are signed in. Its name can't be used again.

    Exit code 1 if no token of this name is in use.
    """
    from newscrawl.storage.tokens import revoke_token

    with open_for_reading(database) as store:
        revoked = revoke_token(store, name)
    write_note(f"{name}: {'revoked' if revoked else 'no token of this name is in use'}.")
    if not revoked:
        raise typer.Exit(1)
