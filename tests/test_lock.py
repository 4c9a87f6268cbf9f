"""The lock files name all that is installed, each with its hashes, in the pinned versions."""

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text())
RUNNING = ("dashboard", "monitor", "parquet", "postgres", "reports", "s3")
LOCKS = {"requirements.lock": RUNNING, "requirements-dev.lock": ("dev",)}


def locked(file: str) -> dict[str, list[tuple[Requirement, int]]]:
    """The pinned requirements of a lock file by name, and the number of their hashes."""
    pinned: dict[str, list[tuple[Requirement, int]]] = {}
    for entry in re.split(r"\n(?=\S)", (PROJECT / file).read_text()):
        if entry.startswith("#"):
            continue
        head, *hashes = re.split(r" \\\n\s+--hash=sha256:", entry.rstrip())
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in hashes), head
        requirement = Requirement(head)
        pinned.setdefault(canonicalize_name(requirement.name), []).append(
            (requirement, len(hashes))
        )
    return pinned


def direct(file: str) -> Iterator[Requirement]:
    """The requirements that our own files name for what a lock file installs."""
    for line in (PROJECT / "requirements.txt").read_text().splitlines():
        if line and not line.startswith(("#", "-e")):
            yield Requirement(line)
    texts = PYPROJECT["build-system"]["requires"] + PYPROJECT["project"]["dependencies"]
    extras = list(LOCKS[file])
    for extra in extras:
        for text in PYPROJECT["project"]["optional-dependencies"][extra]:
            if text.startswith("newscrawl["):
                extras += Requirement(text).extras
            else:
                texts.append(text)
    yield from map(Requirement, texts)


def installed(requirements: list[Requirement]) -> Iterator[Requirement]:
    """The requirements, and all that they require on this machine, as the packages state them."""
    waiting, names = requirements, set()
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in names:
            continue
        names.add(str(requirement))
        yield requirement
        try:
            texts = requires(requirement.name) or []
        except PackageNotFoundError:
            continue  # an extra that this environment lacks
        for line in map(Requirement, texts):
            extras = requirement.extras or {""}
            if line.marker is None or any(line.marker.evaluate({"extra": name}) for name in extras):
                waiting.append(line)


@pytest.mark.parametrize("file", LOCKS)
def test_all_that_is_installed_is_pinned_with_hashes(file):
    pinned = locked(file)
    assert len(pinned) > 50
    assert [name for name, entries in pinned.items() if not all(n for _, n in entries)] == []
    for requirement in installed(list(direct(file))):
        entries = pinned.get(canonicalize_name(requirement.name))
        assert entries, f"{file} lacks {requirement}: make lock"
        versions = [next(iter(entry.specifier)).version for entry, _ in entries]
        assert any(map(requirement.specifier.contains, versions)), f"{requirement}: make lock"


def test_development_runs_what_is_deployed():
    development = locked("requirements-dev.lock")
    for name, entries in locked("requirements.lock").items():
        versions = {str(requirement.specifier) for requirement, _ in development[name]}
        assert {str(requirement.specifier) for requirement, _ in entries} == versions


def test_lock_files_are_made_and_installed_by_make():
    text = (PROJECT / "Makefile").read_text()
    for file, extras in LOCKS.items():
        assert f"--require-hashes -r {file}\n" in text
        assert re.search(rf"--extra {','.join(extras)} .*-o {file} ", text)


def test_actions_are_pinned_by_digest():
    text = (PROJECT / ".github" / "workflows" / "ci.yml").read_text()
    actions = re.findall(r"uses: (.*)", text)
    assert actions
    assert [
        action for action in actions if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", action)
    ] == []


def test_image_is_made_of_the_lock_file_and_hides_no_failed_step():
    text = (PROJECT / "Dockerfile").read_text()
    assert "--require-hashes -r requirements.lock" in text
    assert "--no-deps --no-build-isolation ." in text
    assert not re.search(r"\|\||;\s*true|\bset \+e", text)
