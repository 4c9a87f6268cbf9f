"""A long run of a fuzzer: `python -m tests.fuzz feeds 50000`."""

import argparse
import sys
from importlib import import_module

KINDS = ("feeds", "pages", "http")


def main() -> int:
    """Run the fuzzer of the kind that was named; 1 where an example failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("count", type=int, help="number of examples")
    parser.add_argument("--seed", type=int, default=0, help="other examples (default: 0)")
    arguments = parser.parse_args()
    failed: int = import_module(f"tests.fuzz.{arguments.kind}").run(arguments.count, arguments.seed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
