"""What a process may use, tried by processes that use more."""

import signal
import subprocess
import sys

import pytest

# A hard cap: what the limits end is over in two seconds.
_CAP = 60


def run(code: str) -> subprocess.CompletedProcess[str]:
    begin = "from newscrawl.workers import limit_memory, limit_processor_time\n"
    command = [sys.executable, "-c", begin + code]
    return subprocess.run(command, capture_output=True, text=True, timeout=_CAP, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't enforce RLIMIT_AS")
def test_memory_is_limited() -> None:
    code = "limit_memory(64)\nprint(len(bytearray(32 << 20)))\nbytearray(96 << 20)"
    done = run(code)
    assert done.stdout.split() == [str(32 << 20)]
    assert done.returncode == 1
    assert done.stderr.endswith("MemoryError\n")


def test_process_over_its_cpu_limit_is_ended() -> None:
    done = run("limit_processor_time(1)\nwhile True: pass")
    assert done.returncode == -signal.SIGXCPU


def test_each_task_has_its_own_time_limit() -> None:
    code = (
        "import time\n"
        "for _ in range(3):\n"
        "    limit_processor_time(2)\n"
        "    end = time.process_time() + 1\n"
        "    while time.process_time() < end: pass\n"
        "print('done')"
    )
    assert run(code).stdout == "done\n"
