"""Run the scores."""

from benchmarks.scores.command import app
from newscrawl.cli import main

main(app)
