"""The package of the benchmarks: its commands, and that it is not installed."""

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from benchmarks.ablation import ablation
from benchmarks.cost.command import cost
from benchmarks.extraction.command import benchmark
from benchmarks.extraction.floors import check_floors
from benchmarks.figures.command import draw_figures
from benchmarks.metadata import compare_metadata
from benchmarks.paper_tables import paper_tables
from benchmarks.publisher_labels import publisher_labels
from benchmarks.template_memory import template_memory

ROOT = Path(__file__).parents[2]
COMMANDS = (
    *(ablation, benchmark, check_floors, compare_metadata, cost, draw_figures),
    *(paper_tables, publisher_labels, template_memory),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_help_of_each_command_fits_the_screen(command, run_benchmark):
    ran = run_benchmark(command, "--help")
    assert ran.code == 0
    assert "Usage" in ran.out
    assert ran.fits


def test_benchmarks_and_tests_are_not_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = [path.parent.name for path in ROOT.glob("*/__init__.py")]
    installed = {name for name in packages if any(fnmatch(name, one) for one in patterns)}
    assert installed == {"newscrawl", "pipelines", "spiders"}
