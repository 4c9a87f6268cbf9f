"""docs/commands.md says what the commands say."""

import subprocess
import sys
from pathlib import Path

import newscrawl

DOCUMENT = Path(newscrawl.__file__).parent.parent / "docs" / "commands.md"
COMMAND = ("typer", "newscrawl.cli", "utils", "docs", "--name", "newscrawl", "--title", "Commands")


def test_commands_document_equals_the_help_of_the_commands():
    made = subprocess.run(
        [sys.executable, "-m", *COMMAND], capture_output=True, text=True, check=True
    ).stdout
    assert DOCUMENT.read_text().strip() == made.strip(), "write it anew: make commands"
