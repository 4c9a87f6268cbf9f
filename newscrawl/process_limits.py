"""What a process that reads hostile input may use: memory, and processor time.

A limit is set by a process on itself, before it reads anything. What exceeds it raises MemoryError,
or the kernel ends the process; either harms nobody else.
"""

import math
import resource
import time
from pathlib import Path

MEBIBYTE = 1024 * 1024


def limit_memory(megabytes: int) -> None:
    """Let this process map so many MiB more than it has mapped already."""
    mapped = _mapped()
    if mapped is None:
        return
    limit = mapped + megabytes * MEBIBYTE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def limit_processor_time(seconds: int) -> None:
    """Have this process ended by SIGXCPU once it has used so many seconds of a processor more.

    To be called before each piece of work: the limit counts from the start of the process.
    """
    used = math.ceil(time.process_time())
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    limit = used + seconds if hard == resource.RLIM_INFINITY else min(used + seconds, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def _mapped() -> int | None:
    """Return the bytes of address space that this process has, which are what RLIMIT_AS counts;
    None on systems that don't tell, and that mostly ignore that limit."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return None
    return pages * resource.getpagesize()
