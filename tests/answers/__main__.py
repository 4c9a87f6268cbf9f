"""Write all answers, a line each, or freeze them as those that the test expects.

`python -m tests.answers` writes them to standard output, `python -m tests.answers --freeze` into
the file that tests/answers/test_answers.py compares.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.answers.dump import EXPECTED, pack, write_answers


def main() -> int:
    """Write or freeze the answers of an SQLite database."""
    with TemporaryDirectory() as folder:
        lines = list(write_answers(f"sqlite:///{folder}/news.sqlite", Path(folder)))
    if "--freeze" in sys.argv[1:]:
        EXPECTED.write_bytes(pack(lines))
        sys.stderr.write(f"{len(lines):,} answers in {EXPECTED}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
