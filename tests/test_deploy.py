"""The files that operators copy: they name commands, options and settings that are there."""

import ast
import configparser
import importlib
import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

import newscrawl
from newscrawl import settings
from newscrawl.cli import app

PROJECT = Path(newscrawl.__file__).parent.parent
DEPLOY = PROJECT / "docs" / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
CRONTAB = next(
    line
    for line in (PROJECT / "docs" / "operations.md").read_text().splitlines()
    if line.startswith("*/10 * * * *")
)


def commands() -> list[str]:
    """The command lines of all units and of the crontab."""
    starts = [re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE) for unit in UNITS]
    return [line for found in starts for line in found] + [CRONTAB.partition("&& /opt")[2]]


@pytest.mark.parametrize("line", commands())
def test_deployed_command_lines_are_valid(line: str) -> None:
    program, name, *arguments = shlex.split(line.partition("2>>")[0])
    assert program.endswith("/newscrawl")
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    # Parses the arguments, and raises where one is unknown; runs nothing.
    assert command.make_context(name, list(arguments)).params


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_units_stop_in_order_and_read_the_environment(unit: Path) -> None:
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(unit)
    service = parsed["Service"]
    assert service["EnvironmentFile"] == "/etc/newscrawl/environment"
    if "monitor" in service["ExecStart"]:
        assert service["KillMode"] == "mixed"


def test_environment_file_names_existing_settings() -> None:
    text = (DEPLOY / "systemd" / "environment").read_text()
    names = set(re.findall(r"\b(NEWSCRAWL_\w+)=", text))
    assert names
    assert {name for name in names if not hasattr(settings, name)} == set()


def test_scrapyd_egg_names_importable_settings() -> None:
    call = ast.parse((DEPLOY / "scrapyd" / "setup.py").read_text()).body[-1]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    given = {one.arg: ast.literal_eval(one.value) for one in call.value.keywords}
    assert given["packages"] == []
    (entry,) = given["entry_points"]["scrapy"]
    name, module = entry.split(" = ")
    assert name == "settings"
    assert importlib.import_module(module).BOT_NAME == "newscrawl"


def test_prometheus_rules_use_existing_metrics() -> None:
    rules = (DEPLOY / "prometheus-rules.yml").read_text()
    source = (PROJECT / "newscrawl" / "monitoring" / "metrics.py").read_text()
    asked = re.findall(r"newscrawl_(\w+)", " ".join(re.findall(r"expr: (.*)", rules)))
    assert len(asked) >= 3
    for metric in asked:
        assert f'"{metric}"' in source or f'"newscrawl_{metric}"' in source


def test_documented_metrics_equal_the_existing_ones() -> None:
    documented = (PROJECT / "docs" / "operations.md").read_text()
    source = (PROJECT / "newscrawl" / "monitoring" / "metrics.py").read_text()
    for name in re.findall(r'gauge\(\s*"(\w+)"', source):
        short = name.replace("new_articles_day", "new_articles_hour`, `_day")
        assert f"newscrawl_{short}`" in documented
