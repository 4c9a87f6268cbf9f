"""Run the cost benchmark. Its memory is measured in a process that imports no command."""

from benchmarks.command_line import run
from benchmarks.cost.command import cost

run(cost)
