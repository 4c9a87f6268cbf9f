"""Installation in layers: what each extra brings, in environments that have nothing else.

The environments are made of links to the packages that are installed here, as their metadata state
what they need.
"""

import os
import subprocess
import tomllib
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parent.parent
LAYERS = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
LIBRARY = """
import newscrawl
from newscrawl.mentions import load_companies

page = "<html lang=en><title>A tram</title><article><h1>A tram</h1>" + 5 * (
    "<p>The council decided on Tuesday that Siemens will build the line after two hours.</p>"
) + "</article></html>"
article = newscrawl.extract(page)
print(article.title, *{mention.company for mention in load_companies().find(article.text)})
"""


def requirements_of(*extras: str) -> list[Requirement]:
    """The requirements of newscrawl with extras, those of the extras' own extras included."""
    requirements = list(map(Requirement, LAYERS["dependencies"]))
    for extra in extras:
        for requirement in map(Requirement, LAYERS["optional-dependencies"][extra]):
            if requirement.name == "newscrawl":
                requirements += requirements_of(*requirement.extras)
            else:
                requirements.append(requirement)
    return requirements


def packages_of(*extras: str) -> dict[str, Distribution]:
    """All packages that `pip install newscrawl[...]` brings on this machine, by name."""
    waiting, packages = requirements_of(*extras), {}
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in packages:
            continue
        packages[name] = distribution(name)
        for text in packages[name].requires or ():
            needed = Requirement(text)
            names = requirement.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": n}) for n in names):
                waiting.append(needed)
    return packages


def environment(folder: Path, *extras: str) -> Path:
    """Make an environment with newscrawl and the packages of these extras; return its Python."""
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for package in packages_of(*extras).values():
        for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            (site / top).symlink_to(str(package.locate_file(top)))
    for name in ("newscrawl", "spiders", "pipelines"):
        (site / name).symlink_to(PROJECT / name)
    metadata = site / "newscrawl-0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    lines = [
        f'Requires-Dist: {requirement}; extra == "{extra}"'
        for extra, requirements in LAYERS["optional-dependencies"].items()
        for requirement in requirements
    ]
    metadata.write_text(
        "\n".join(["Metadata-Version: 2.4", "Name: newscrawl", "Version: 0", *lines])
    )
    return folder / "bin" / "python"


def run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the Python of an environment in its folder, isolated from ours."""
    return subprocess.run(
        [python, "-I", *arguments],
        cwd=python.parent,
        env=os.environ | {"SCRAPY_SETTINGS_MODULE": "newscrawl.settings"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_library_is_at_most_twelve_packages_and_finds_articles_and_companies(tmp_path):
    packages = packages_of()
    assert len(packages) <= 12, sorted(packages)
    python = environment(tmp_path)
    ran = run(python, "-c", LIBRARY)
    assert (ran.returncode, ran.stdout) == (0, "A tram Siemens\n"), ran.stderr
    ran = run(python, "-m", "newscrawl", "extract", "page.html")
    assert ran.returncode == 2
    assert ran.stderr == ("newscrawl: typer is not installed: pip install 'newscrawl[crawl]'\n")


@pytest.mark.thorough
def test_crawl_has_scrapy_and_questions_and_names_what_monitor_and_dashboard_need(tmp_path):
    python = environment(tmp_path, "crawl")
    assert "ft\n" in run(python, "-m", "scrapy", "list").stdout
    assert run(python, "-m", "newscrawl", "db", "upgrade").returncode == 0
    articles = run(python, "-m", "newscrawl", "articles")
    assert articles.returncode == 1, articles.stderr
    ran = run(python, "-m", "newscrawl", "metrics")
    assert (ran.returncode, ran.stderr) == (
        2,
        "newscrawl: prometheus_client is not installed: pip install 'newscrawl[monitor]'\n",
    )
    ran = run(python, "-m", "newscrawl", "serve")
    assert ran.returncode == 2
    assert ran.stderr.endswith("pip install 'newscrawl[dashboard]'\n")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("extra", "module"),
    [
        ("monitor", "newscrawl.monitoring.scheduler"),
        ("monitor", "newscrawl.monitoring.metrics"),
        ("dashboard", "newscrawl.dashboard.app"),
        ("archive", "newscrawl.archive.ingest"),
    ],
)
def test_each_extra_is_enough_for_its_modules(tmp_path, extra, module):
    ran = run(environment(tmp_path, extra), "-c", f"import {module}")
    assert ran.returncode == 0, ran.stderr


def test_all_has_every_extra_of_users():
    names = {requirement.name for requirement in requirements_of("all")}
    for extra in set(LAYERS["optional-dependencies"]) - {
        "train",
        "network",
        "plots",
        "bench",
        "dev",
    }:
        assert {requirement.name for requirement in requirements_of(extra)} <= names
