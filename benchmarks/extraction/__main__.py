"""Run the extraction benchmark."""

from benchmarks.command_line import run
from benchmarks.extraction.command import benchmark

run(benchmark)
