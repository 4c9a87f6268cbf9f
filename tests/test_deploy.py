"""The files that operators copy: they name commands, options and settings that are there."""

import ast
import configparser
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import newscrawl
from newscrawl import settings
from newscrawl.cli import app
from newscrawl.storage import upgrade_database

yaml: Any = pytest.importorskip("yaml", reason="comes with the extra cluster; make dev installs it")

PROJECT = Path(newscrawl.__file__).parent.parent
DEPLOY = PROJECT / "docs" / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
CRONTAB = next(
    line
    for line in (PROJECT / "docs" / "operations.md").read_text().splitlines()
    if line.startswith("*/10 * * * *")
)


COMPOSE = yaml.safe_load((PROJECT / "compose.yaml").read_text())
OURS = {name: one for name, one in COMPOSE["services"].items() if one["image"] == "newscrawl"}
# The base image of the Dockerfile, or another one with Python that the engine can get.
BASE_IMAGE = os.environ.get("NEWSCRAWL_TEST_BASE_IMAGE", "docker.io/library/python:3.13-slim")


def commands() -> list[str]:
    """The command lines of all units, of the containers and of the crontab."""
    starts = [re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE) for unit in UNITS]
    containers = [shlex.join(["/newscrawl", *service["command"]]) for service in OURS.values()]
    units = [line for start in starts for line in start]
    return [*units, *containers, CRONTAB.partition("&& /opt")[2]]


@pytest.mark.parametrize("line", commands())
def test_deployed_command_lines_are_valid(line):
    program, name, *arguments = shlex.split(line.partition("2>>")[0])
    assert program.endswith("/newscrawl")
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    if hasattr(command, "commands"):
        name, *arguments = arguments
        command = command.commands[name]
    # Parses the arguments, and raises where one is unknown; runs nothing.
    assert command.make_context(name, list(arguments)).params


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_units_stop_in_order_and_read_the_environment(unit):
    parsed = configparser.RawConfigParser(strict=False)
    parsed.optionxform = str  # type: ignore[assignment,method-assign]
    parsed.read(unit)
    service = parsed["Service"]
    assert service["EnvironmentFile"] == "/etc/newscrawl/environment"
    if "monitor" in service["ExecStart"]:
        assert service["KillMode"] == "mixed"


@pytest.mark.parametrize("file", ["docs/deploy/systemd/environment", ".env.example"])
def test_environment_file_names_existing_settings(file):
    text = (PROJECT / file).read_text()
    names = set(re.findall(r"\b(NEWSCRAWL_\w+)=", text))
    assert names
    assert {name for name in names if not hasattr(settings, name)} == set()


def test_scrapyd_egg_names_importable_settings():
    call = ast.parse((DEPLOY / "scrapyd" / "setup.py").read_text()).body[-1]
    assert isinstance(call, ast.Expr)
    assert isinstance(call.value, ast.Call)
    keywords = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.value.keywords}
    assert keywords["packages"] == []
    (entry,) = keywords["entry_points"]["scrapy"]
    name, module = entry.split(" = ")
    assert name == "settings"
    assert importlib.import_module(module).BOT_NAME == "newscrawl"


def test_prometheus_rules_use_existing_metrics():
    rules = (DEPLOY / "prometheus-rules.yml").read_text()
    source = (PROJECT / "newscrawl" / "monitoring" / "metrics.py").read_text()
    metrics_named = re.findall(r"newscrawl_(\w+)", " ".join(re.findall(r"expr: (.*)", rules)))
    assert len(metrics_named) >= 3
    for metric in metrics_named:
        assert f'"{metric}"' in source or f'"newscrawl_{metric}"' in source


def test_documented_metrics_equal_the_existing_ones():
    documented = (PROJECT / "docs" / "operations.md").read_text()
    source = (PROJECT / "newscrawl" / "monitoring" / "metrics.py").read_text()
    for name in re.findall(r'gauge\(\s*"(\w+)"', source):
        short = name.replace("new_articles_day", "new_articles_hour`, `_day")
        assert f"newscrawl_{short}`" in documented


def test_containers_get_each_variable_and_volume_from_a_file_or_compose():
    text = (PROJECT / "compose.yaml").read_text()
    given = set(re.findall(r"^(?:# )?(\w+)=", (PROJECT / ".env.example").read_text(), re.MULTILINE))
    assert set(re.findall(r"\$\{(\w+)", text)) == {"POSTGRES_PASSWORD"} < given
    services = COMPOSE["services"].values()
    mounted = {volume.partition(":")[0] for service in services for volume in service["volumes"]}
    assert mounted == set(COMPOSE["volumes"])
    names = {name for service in OURS.values() for name in service["environment"]}
    assert {name for name in names if not hasattr(settings, name)} == set()
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in OURS.values())


def test_image_is_built_from_files_that_are_there():
    lines = (PROJECT / "Dockerfile").read_text()
    allowed = (PROJECT / ".dockerignore").read_text().splitlines()
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.*)", lines, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    assert copied
    for name in copied:
        assert (PROJECT / name).exists()
        assert f"!{name}" in allowed
    assert lines.index("USER newscrawl") < lines.index("ENTRYPOINT")


@pytest.mark.thorough
def test_health_checks_of_containers_ask_what_is_there(newscrawl, tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/news.sqlite"
    upgrade_database(url)
    metrics = newscrawl("metrics", "--database", url).out
    checks = (PROJECT / "Dockerfile").read_text(), OURS["monitor"]["healthcheck"]["test"][1]
    readable, watched = (
        re.findall(r"newscrawl metrics \| grep -q '(.*)'", check)[0] for check in checks
    )
    assert re.search(readable, metrics, re.MULTILINE)
    assert not re.search(watched, metrics, re.MULTILINE), "no monitor runs"
    running = metrics.replace("newscrawl_workers 0", "newscrawl_workers 1")
    assert re.search(watched, running, re.MULTILINE)
    token = {"NEWSCRAWL_SERVE_TOKEN": "a token of the tests", "NEWSCRAWL_DATABASE_URL": url}
    environment = os.environ | token
    program = Path(sys.executable).with_name("newscrawl")
    serve = [program, "serve", "--host", "0.0.0.0", "--port", "0"]  # noqa: S104
    with subprocess.Popen(serve, env=environment, stderr=subprocess.PIPE, text=True) as dashboard:
        port = re.search(r":(\d+)/", dashboard.stderr.readline())
        assert port is not None
        _, *check = OURS["dashboard"]["healthcheck"]["test"]
        check[-1] = check[-1].replace("8300", port[1])
        done = subprocess.run([sys.executable, *check[1:]], check=False)
        dashboard.terminate()
    assert done.returncode == 0


@pytest.mark.thorough
def test_image_is_built_and_runs_as_another_user():
    engine = shutil.which("buildah")
    if engine is None:
        pytest.skip("buildah is not installed: apt-get install buildah")
    known = subprocess.run([engine, "images", "-q", BASE_IMAGE], capture_output=True, check=False)
    if known.returncode and subprocess.run([engine, "pull", BASE_IMAGE], check=False).returncode:
        pytest.skip(f"{BASE_IMAGE} can't be pulled: give another in NEWSCRAWL_TEST_BASE_IMAGE")
    options = shlex.split(os.environ.get("NEWSCRAWL_TEST_BUILD_OPTIONS", ""))
    build = [engine, "bud", "--format", "docker", "--build-arg", f"PYTHON={BASE_IMAGE}"]
    build += [*options, "-t", "newscrawl-test", "."]
    subprocess.run(build, cwd=PROJECT, check=True, timeout=1800)
    build = subprocess.run([engine, "from", "newscrawl-test"], capture_output=True, check=True)
    container = build.stdout.decode().strip()
    run = [engine, "run", *(["--isolation", "chroot"] if options else []), container, "--"]
    try:
        user = subprocess.run([*run, "id", "-u"], capture_output=True, check=True)
        assert user.stdout.strip() == b"10001"
        database = ["sh", "-c", "newscrawl db upgrade && newscrawl metrics | grep newscrawl_up"]
        up = subprocess.run([*run, *database], capture_output=True, check=True)
        assert b"newscrawl_up 1" in up.stdout
    finally:
        subprocess.run([engine, "rm", container], check=False)
