"""newscrawl label: a person ticks what is content, and a corpus grows by a gold line."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from newscrawl.cli.extract import read_page
from newscrawl.cli.output import say

EXAMPLE = "Example: newscrawl label page1.html page2.html --set corpus/mine"


def label(
    pages: Annotated[list[str], typer.Argument(help="Files or URLs.", metavar="FILE|URL...")],
    folder: Annotated[
        Path, typer.Option("--set", help="The set that grows: gold.jsonl, pages/.", metavar="DIR")
    ] = Path("corpus/labelled"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="Fetch from private addresses too.")
    ] = False,
) -> None:
    """Tick what is content on pages, in your browser, and save them as labelled pages.

    The boxes begin as our method would tick them. Each saved page adds a line to gold.jsonl
    and a file to pages/, which train, evaluate and benchmark read.

    Exit code 1 where nothing was saved.
    """
    from newscrawl.training.label import Candidate, LabelledSet, LabelServer

    candidates = []
    for name in pages:
        read = read_page(name, allow_private=allow_private)
        candidates.append(Candidate(name, read.html, read.url, read.encoding))
    server = LabelServer(tuple(candidates), LabelledSet(folder), port)
    say(f"label {len(candidates)} page(s) at {server.url}  (Ctrl-C ends)")
    if browser:
        webbrowser.open(server.url)
    server.run()
    say(f"{server.saved} saved in {folder}")
    if not server.saved:
        raise typer.Exit(1)
