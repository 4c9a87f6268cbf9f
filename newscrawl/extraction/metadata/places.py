"""Places that may give a field of the metadata, and what they give.

A place is a function that reads a page's signals; its name and first line say what it reads. Each
field has a tuple of places, the most trusted first: to prefer another place, move its name there.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Value = TypeVar("Value")
Signals = TypeVar("Signals")
Place = Callable[[Signals], Iterable[Value | None]]


# What the page states, shows beside the headline or in its address, names as its change, or holds
# anywhere. What a listing gives comes after the first.
Rank = Literal["stated", "shown", "change", "text", ""]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The rank of a value, and the name of the place that gave it if it is one place's."""

    rank: Rank = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Candidate(Generic[Value]):
    """A value that a page gives for a field, and the name of the place that has it."""

    value: Value
    place: str


def candidates_in(
    places: Sequence[Place[Signals, Value]], signals: Signals
) -> Iterator[Candidate[Value]]:
    """Yield what the places give, in their order, without empty texts; a place is read only when
    it is its turn."""
    for place in places:
        for value in place(signals):
            if value is not None and value != "":
                yield Candidate(value, place.__name__)


def first_in(places: Sequence[Place[Signals, Value]], signals: Signals) -> Value | None:
    """Return the first value that the places give."""
    return next((candidate.value for candidate in candidates_in(places, signals)), None)
