"""Install the environments of the benchmark's tools, and report why a tool is missing.

Peers are installed by pip into virtual environments of their own in the project's folder, so that
their pins don't affect ours. If pip fails, the reason is stored in the environment's folder, and
the benchmark shows it in the tool's row.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, requires
from pathlib import Path

from benchmarks.extraction import peers
from benchmarks.extraction.peers import Peer

REASONS_FILE = "newscrawl-not-installed.json"
TRANSIENT = ("WARNING:", "hint:", "note:")


@dataclass(frozen=True)
class Environment:
    """A virtual environment of the benchmark.

    `python` is the required minor version (None: ours), `because` the reason, `build_first` the
    requirements for building the rest.
    """

    folder: str
    requirements: tuple[str, ...]
    python: str | None = None
    because: str = ""
    build_first: tuple[str, ...] = ()


def extra_requirements(extra: str) -> tuple[str, ...]:
    """Return the requirements of an extra of our own pyproject.toml."""
    lines = (line.partition(";") for line in requires("newscrawl") or ())
    return tuple(name.strip() for name, _, marker in lines if f'extra == "{extra}"' in marker)


ENVIRONMENTS = {
    peers.BENCH_ENV: Environment(".venv-bench", extra_requirements("bench")),
    peers.PY312_ENV: Environment(
        ".venv-bench-py312",
        ("rs-trafilatura==0.1.1", "lxml>=6"),
        python="3.12",
        because="rs-trafilatura has wheels for CPython 3.12 only",
    ),
    peers.PY37_ENV: Environment(
        ".venv-bench-py37",
        ("dragnet==2.0.4",),
        python="3.7",
        because="dragnet's C sources need Cython 0.29 and its models scikit-learn 0.20",
        build_first=(
            "setuptools<60",
            "wheel",
            "lxml<5",
            "Cython<3",
            "numpy<1.20",
            "scikit-learn==0.20.4",
            "ftfy<5",
        ),
    ),
}


@dataclass(frozen=True)
class Installed:
    """The interpreter and version of an installed tool."""

    python: Path
    version: str


@dataclass(frozen=True)
class Missing:
    """The reason why a tool can't be run here."""

    reason: str


def find(peer: Peer, root: Path) -> Installed | Missing:
    """Return the tool in its environment under `root`, or the reason why it is missing."""
    if peer.environment == peers.MAIN_ENV:
        return Installed(Path(sys.executable), Distribution.from_name(peer.package).version)
    environment = ENVIRONMENTS[peer.environment]
    folder = (root / environment.folder).absolute()
    paths = [str(path) for path in folder.glob("lib/python3*/site-packages")]
    for distribution in Distribution.discover(name=peer.package, path=paths):
        return Installed(folder / "bin" / "python", distribution.version)
    reasons = folder / REASONS_FILE
    if reasons.is_file():
        reasons_by_peer = json.loads(reasons.read_text(encoding="utf-8"))
        if reason := reasons_by_peer.get(peer.package):
            return Missing(reason)
    return Missing("not installed here: run `make bench-peers`")


def install(
    root: Path,
    say: Callable[[str], None],
    environments: Mapping[str, Environment] = ENVIRONMENTS,
) -> None:
    """Make every environment that isn't there yet; a failure is noted, not raised."""
    for environment in environments.values():
        folder = root / environment.folder
        if (folder / "bin" / "python").exists() and not (folder / REASONS_FILE).exists():
            continue
        say(f"installing {', '.join(environment.requirements)} into {environment.folder}")
        folder.mkdir(parents=True, exist_ok=True)
        reasons = dict(_install(environment, folder))
        note = folder / REASONS_FILE
        if reasons:
            note.write_text(json.dumps(reasons, indent=1), encoding="utf-8")
        else:
            note.unlink(missing_ok=True)


def _install(environment: Environment, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (distribution, reason) for what could not be installed."""
    names = [distribution(requirement) for requirement in environment.requirements]
    python = interpreter(environment.python)
    if python is None:
        reason = f"no Python {environment.python} here: {environment.because}"
        yield from ((name, reason) for name in names)
        return
    _run([str(python), "-m", "venv", str(folder)])
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
    _run([*pip, "--upgrade", "pip"])
    if environment.build_first:
        _run([*pip, *environment.build_first])
        pip += ["--no-build-isolation", "--no-deps"]
    if _run([*pip, *environment.requirements]) is None:
        return
    for name, requirement in zip(names, environment.requirements, strict=True):
        if error := _run([*pip, requirement]):
            yield name, f"pip: {error}"


def interpreter(version: str | None) -> Path | None:
    """Return an interpreter of that minor version that really runs (a shim may not)."""
    if version is None:
        return Path(sys.executable)
    candidates: Iterable[Path] = sorted(
        (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"), reverse=True
    )
    if on_path := shutil.which(f"python{version}"):
        candidates = [Path(on_path), *candidates]
    return next((path for path in candidates if _run([str(path), "-c", ""]) is None), None)


def distribution(requirement: str) -> str:
    """Return the name of the distribution that a requirement asks for."""
    for mark in "[<>=!~ ":
        requirement = requirement.partition(mark)[0]
    return requirement


def _run(command: list[str]) -> str | None:
    """Return None if the command succeeded, else the most useful line of its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line for line in lines if "Error:" in line or line.lower().startswith("error:")]
    telling = [line for line in errors if "subprocess" not in line] or lines or ["no message"]
    return telling[-1][:160]
