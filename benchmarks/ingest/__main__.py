"""Run the ingestion benchmark. Workers don't import `__main__.py`, so it costs them nothing."""

from benchmarks.ingest import main

main()
