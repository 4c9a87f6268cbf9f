"""Runs the bench. Workers read no `__main__.py`: the bench's own modules cost them nothing."""

from benchmarks.ingest import main

main()
