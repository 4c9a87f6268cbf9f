"""Make a release: `make release VERSION=0.2.0`; `make release-check` builds and tries one only.

The version and the changelog's section are written, the sdist and the wheel are built, the wheel is
installed into an empty environment, first as the library alone, then with the dashboard, where
`newscrawl extract` and `newscrawl serve` must work, and then the release is committed and tagged.
Nothing is pushed or uploaded.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VERSION_FILE = PROJECT / "newscrawl" / "__init__.py"
CHANGELOG = PROJECT / "CHANGELOG.md"
DIST = PROJECT / "dist"
PORT = 8399
# The C library of manylinux2014: the oldest that zig and numpy's wheels support.
GLIBC = "2.17"
PAGE = (
    "<!DOCTYPE html><html lang=en><title>A tram for the harbour</title><article>"
    "<h1>A tram for the harbour</h1>"
    + "<p>The council decided on Tuesday that Siemens will build the line after two hours.</p>" * 4
    + "</article></html>"
)


class ReleaseError(Exception):
    """A release that can't be made: one line that says why and what to do."""


def main(arguments: list[str]) -> int:
    """Make the release that the arguments name, or only try one with --check."""
    if len(arguments) != 1:
        sys.stderr.write("release: which version? write make release VERSION=0.2.0\n")
        return 2
    try:
        if arguments == ["--check"]:
            try_wheel(build())
        else:
            release(arguments[0])
    except ReleaseError as error:
        sys.stderr.write(f"release: {error}\n")
        return 2
    return 0


def release(version: str) -> None:
    """Write, build, try, commit and tag the version."""
    if run("git", "status", "--porcelain"):
        raise ReleaseError("there are changes that are not committed: commit or stash them")
    texts = {
        VERSION_FILE: with_version(VERSION_FILE.read_text("utf-8"), version),
        CHANGELOG: with_section(
            CHANGELOG.read_text("utf-8"), version, f"{datetime.now(UTC):%Y-%m-%d}"
        ),
    }
    for file, text in texts.items():
        file.write_text(text, "utf-8")
    try:
        try_wheel(build())
    except ReleaseError:
        run("git", "checkout", "--", *map(str, texts))
        raise
    run("git", "commit", "--quiet", "--message", f"Release {version}", "--", *map(str, texts))
    run("git", "tag", "--annotate", f"v{version}", "--message", f"newscrawl {version}")
    print(
        f"v{version} is committed and tagged, its files are in dist/; push it with\n"
        "git push --follow-tags"
    )


def with_version(text: str, version: str) -> str:
    """Return newscrawl/__init__.py with the version; raise ReleaseError unless it is newer."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ReleaseError(f"{version!r} is not a version: write it as 0.2.0")
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)"$', text, re.MULTILINE)
    if found is None:
        raise ReleaseError("newscrawl/__init__.py has no line with __version__")
    if numbers(version) <= numbers(found[1]):
        raise ReleaseError(f"{version} is not newer than {found[1]}: choose a higher one")
    return text.replace(found[0], f'__version__ = "{version}"')


def with_section(text: str, version: str, day: str) -> str:
    """Return the changelog with its unreleased part as the version's; raise ReleaseError where
    nothing is unreleased."""
    head, mark, rest = text.partition("## [Unreleased]\n")
    unreleased = rest.partition("\n## [")[0]
    if not mark or not unreleased.strip():
        raise ReleaseError("CHANGELOG.md has nothing under ## [Unreleased]: write what is new")
    return f"{head}{mark}\n## [{version}] - {day}\n{rest}"


def numbers(version: str) -> tuple[int, ...]:
    """Return the version's numbers, which compare as versions do."""
    return tuple(map(int, version.split(".")))


def build() -> Path:
    """Build the sdist, and from it the wheel with the compiled kernel; return the wheel.

    On Linux, zig compiles the kernel against the C library of manylinux, so that no compiler is
    needed here, nor where the wheel is installed. Raise ReleaseError if the wheel has no kernel.
    """
    for file in DIST.glob("newscrawl-*"):
        file.unlink()
    with tempfile.TemporaryDirectory(prefix="newscrawl-build-") as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        run(python, "-m", "pip", "install", "--quiet", "build", "wheel", "ziglang")
        compiler, machine = os.environ.copy(), platform.machine()
        if sys.platform == "linux":
            command = f"{python} -m ziglang cc -target {machine}-linux-gnu.{GLIBC}"
            compiler |= {"CC": command, "LDSHARED": f"{command} -shared"}
        run(python, "-m", "build", "--outdir", str(DIST), str(PROJECT), environment=compiler)
        wheel = next(DIST.glob("newscrawl-*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            if not any(re.search(r"kernel\.\S+\.(so|pyd)$", name) for name in archive.namelist()):
                raise ReleaseError(
                    f"{wheel.name} has no compiled kernel: see why by pip -v wheel ."
                )
        if sys.platform == "linux":
            tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
            run(python, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, str(wheel))
    return next(DIST.glob("newscrawl-*.whl"))


def try_wheel(wheel: Path) -> None:
    """Install the wheel into an empty environment, and use it there; raise ReleaseError."""
    with tempfile.TemporaryDirectory(prefix="newscrawl-release-") as folder:
        environment = Path(folder, "venv")
        venv.create(environment, with_pip=True)
        programs = environment / "bin"
        install = (str(programs / "pip"), "install", "--quiet")
        Path(folder, "page.html").write_text(PAGE, "utf-8")
        run(*install, str(wheel), cwd=folder)
        library = "import newscrawl; print(newscrawl.extract(open('page.html').read()).title)"
        if "A tram for the harbour" not in run(str(programs / "python"), "-c", library, cwd=folder):
            raise ReleaseError("the wheel's newscrawl.extract finds no article in a page of ours")
        run(*install, f"{wheel}[dashboard]", cwd=folder)
        command = str(programs / "newscrawl")
        version = run(command, "--version", cwd=folder)
        if "extraction: compiled" not in version:
            raise ReleaseError(f"the wheel's kernel is not used: {version.strip()}")
        if "A tram for the harbour" not in run(command, "extract", "page.html", cwd=folder):
            raise ReleaseError("the wheel's `newscrawl extract` finds no article in a page of ours")
        run(command, "db", "upgrade", cwd=folder)
        _try_dashboard(command, folder)
    print(f"{wheel.name} works in an empty environment: newscrawl extract, newscrawl serve")


def _try_dashboard(command: str, folder: str) -> None:
    server = subprocess.Popen([command, "serve", "--port", str(PORT)], cwd=folder)
    try:
        for _ in range(120):
            if server.poll() is not None:
                raise ReleaseError("the wheel's `newscrawl serve` ended by itself")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=30) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.5)
        raise ReleaseError("the wheel's `newscrawl serve` does not answer")
    finally:
        server.terminate()
        server.wait()


def run(
    *command: str, cwd: str | Path = PROJECT, environment: Mapping[str, str] | None = None
) -> str:
    """Run a command and return what it prints; raise ReleaseError with its last line on failure."""
    ran = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode:
        last = (ran.stderr or ran.stdout).strip().splitlines()[-1:] or ["no output"]
        raise ReleaseError(f"{' '.join(command[:4])} failed: {last[0]}")
    return ran.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
