"""Work that kills its process; a module of its own, since each worker process imports it."""

import os


def square_or_die(number: int) -> int:
    """The square of a number; 7 ends the process."""
    if number == 7:
        os._exit(1)
    return number * number
