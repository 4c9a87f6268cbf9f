"""The command `newscrawl`, also `python -m newscrawl`: it needs more than the library."""

import re
import sys
from importlib.metadata import requires


def main() -> None:
    """Run the command line; a package that is missing is one line with the extra that brings it."""
    try:
        from newscrawl.cli import main as run  # noqa: PLC0415 - the library alone lacks its packages

        run()
    except ModuleNotFoundError as error:
        extra = extra_with(error.name or "")
        if extra is None:
            raise
        advice = f"pip install 'newscrawl[{extra}]'"
        sys.stderr.write(f"newscrawl: {error.name} is not installed: {advice}\n")
        sys.exit(2)


def extra_with(module: str) -> str | None:
    """Return the first extra of pyproject.toml that brings a module; None for modules of others."""
    package = module.partition(".")[0].replace("_", "-")
    for requirement in requires("newscrawl") or ():
        match = re.match(r"([\w-]+).*\bextra == ['\"](\w+)['\"]", requirement)
        if match and match[1].lower() == package:
            return match[2]
    return None


if __name__ == "__main__":  # processes that evaluation spawns read this module too
    main()
