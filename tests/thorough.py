"""Examples of which `make test` runs one, and `make test-all` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_is_quick(values: Iterable[Any], *, rows: bool = False) -> list[Any]:
    """Return the parameters of a test, all but the first one marked `thorough`; with `rows`, each
    is a tuple of several arguments."""
    first, *further = values
    return [
        first,
        *(
            pytest.param(*(value if rows else (value,)), marks=pytest.mark.thorough)
            for value in further
        ),
    ]
