"""Work of worker processes; a module of its own, since each of them imports it."""

import sys


def is_imported(module: str) -> bool:
    """Whether this process has imported the module."""
    return module in sys.modules
