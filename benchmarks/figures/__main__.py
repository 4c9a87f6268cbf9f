"""Draw the figures."""

from benchmarks.command_line import run
from benchmarks.figures.command import draw_figures

run(draw_figures)
