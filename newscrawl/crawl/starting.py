"""What a crawl does before it begins, when nobody hears of signals yet."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end the process at once: it may wait long for a locked database in
    the thread of the event loop, which hears of no signal meanwhile. Nothing is lost by that, since
    nothing has begun."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [(number, signal.signal(number, signal.SIG_DFL)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
