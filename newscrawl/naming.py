"""Which of several names is meant by what a person wrote."""

from collections.abc import Sequence


def match(given: str, names: Sequence[str]) -> tuple[str | None, list[str]]:
    """The name meant, whatever its case, or None and the nearest names."""
    from difflib import get_close_matches  # noqa: PLC0415 - most commands are given right names

    folded = {name.casefold(): name for name in reversed(names)}
    wanted = given.strip().casefold()
    if wanted in folded:
        return folded[wanted], []
    return None, [folded[name] for name in get_close_matches(wanted, folded, n=3, cutoff=0.6)]
