"""A week of twenty papers as an operator's monitor sees it: `python -m tests.week`.

Days pass in minutes: the time of day of the monitor and of all its processes is set from step to
step. At the end each article must be stored once, or named as missing with the reason; each alarm
must have had a cause, and an end.
"""

import argparse
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.week.papers import DAY, HOUR
from tests.week.script import Plan, live_through
from tests.week.watch import Watch

# A Monday. Summer time has ended in Europe on the day before, and ends in America on the last day.
_WEEK = datetime(2026, 10, 26, tzinfo=UTC)
PLAN = Plan(
    week=_WEEK,
    wrong=((_WEEK + 5 * DAY + 9 * HOUR, 3 * DAY),),
    stopped=_WEEK + 6 * DAY,
    jumped=_WEEK + 6 * DAY + 9 * HOUR,
)


def show(watch: Watch) -> None:
    """Write what an operator sees at the end: notices, mails, and the answers of commands."""
    folder = watch.folder
    lines = [
        f"{notice.at:%m-%d %H:%M} {notice.event} {notice.cause}: {notice.subject}"
        for notice in watch.sent
    ]
    (folder / "notices.txt").write_text("\n".join(lines))
    for number, mail in enumerate(watch.mails):
        (folder / f"mail-{number:03}.eml").write_bytes(bytes(mail))
    for name, *arguments in (
        ("status", "status", "--all"),
        ("sources", "sources", "list"),
        ("coverage", "sources", "coverage", "--since", "10d"),
        ("alerts", "alerts", "list"),
    ):
        done = watch.newscrawl(*arguments)
        printed = f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        (folder / f"{name}.txt").write_text(printed)


def main() -> None:
    """Live through the week."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where all files stay; else they are deleted")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="week-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        verdict = live_through(PLAN, folder, show)
    for fate, number in verdict.fates.most_common():
        print(f"{number:6} {fate}")
    print("alarms:", *verdict.alarms, sep="\n  ")
    print("problems:", *(verdict.problems or ["none"]), sep="\n  ")
    print(f"{(time.monotonic() - began) / 60:.0f} minutes")
    sys.exit(1 if verdict.problems else 0)


if __name__ == "__main__":
    main()
