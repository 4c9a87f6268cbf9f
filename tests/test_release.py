"""make release: the version, the changelog's section, and what refuses to be released."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parent.parent
SCRIPT = PROJECT / ".ci" / "release.py"


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = spec_from_file_location("release", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_release_writes_the_version_of_the_package(release):
    text = release.VERSION_FILE.read_text("utf-8")
    assert '__version__ = "99.0.0"' in release.with_version(text, "99.0.0")


@pytest.mark.parametrize(
    ("version", "advice"),
    [("0.0.9", "choose a higher one"), ("1.0", "write it as"), ("v1.0.0", "write it as")],
)
def test_version_that_is_not_newer_is_refused(release, version, advice):
    with pytest.raises(release.ReleaseError, match=advice):
        release.with_version('__version__ = "0.1.0"', version)


def test_unreleased_changes_become_the_section_of_the_version(release):
    text = "# Changelog\n\n## [Unreleased]\n\n- One.\n\n## [0.1.0] - 2026-01-01\n\n- Zero.\n"
    assert release.with_section(text, "0.2.0", "2026-11-22") == (
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-11-22\n\n- One.\n\n"
        "## [0.1.0] - 2026-01-01\n\n- Zero.\n"
    )


def test_release_without_changes_is_refused(release):
    with pytest.raises(release.ReleaseError, match="nothing under"):
        release.with_section("## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n", "0.2.0", "2026-11-22")


def test_our_changelog_can_be_released(release):
    text = release.CHANGELOG.read_text("utf-8")
    assert "## [99.0.0] - 2026-11-22" in release.with_section(text, "99.0.0", "2026-11-22")


def test_command_without_a_version_shows_its_usage():
    ran = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "release: which version? write make release VERSION=0.2.0\n"
