"""The budget of each package: what grows needs a reason, and nothing imports in a circle."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parent.parent / ".ci" / "budget.py"
MODULE = "def _shorten(found):\n    return found[:2]\n\n\nprint(_shorten('abc'))\n"


@pytest.fixture
def budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script over a project with a package of five lines, one name and one helper."""
    spec = spec_from_file_location("budget", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "budget", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PROJECT", tmp_path)
    monkeypatch.setattr(module, "BUDGET", tmp_path / "budget")
    (tmp_path / "newscrawl" / "storage").mkdir(parents=True)
    (tmp_path / "newscrawl" / "storage" / "engine.py").write_text(MODULE)
    return module


@pytest.mark.parametrize(
    ("limits", "faults"),
    [
        ("storage 5 100 200", []),
        ("storage 4 100 200", ["storage has 5 lines of 4: delete some, or add"]),
        ("storage 4 100 200\nstorage +1 subjects", []),
        ("storage 5 99 200", ["storage: 100.00 % of its names say nothing, of 99.0: found 1"]),
        ("storage 5 100 199", ["storage: 200.00 helpers with one caller for 1,000 lines"]),
        ("", ["storage: no line in .ci/budget"]),
    ],
)
def test_package_beyond_its_budget_is_named(budget, capsys, limits, faults):
    budget.BUDGET.write_text(limits)
    assert budget.main([]) == (1 if faults else 0)
    for fault in faults:
        assert fault in capsys.readouterr().err


def test_more_lines_without_a_reason_are_refused(budget):
    budget.BUDGET.write_text("storage 4 100 200\nstorage +1")
    with pytest.raises(SystemExit, match="does not say for what"):
        budget.main([])


def test_limits_are_lowered_and_never_raised(budget):
    merged = "# what for\nstorage 3 99 99\nstorage 4 100 300\nstorage +9 subjects\n"
    budget.BUDGET.write_text(merged)
    assert budget.main(["--lower"]) == 0
    assert budget.BUDGET.read_text() == "# what for\nstorage           5 100.0 200.1\n"


def test_circle_of_files_is_shown_also_within_functions(budget, capsys):
    budget.BUDGET.write_text("newscrawl 9 0 0\nstorage 5 100 200")
    (budget.PROJECT / "newscrawl" / "a.py").write_text("from newscrawl import b\n")
    (budget.PROJECT / "newscrawl" / "b.py").write_text("def run():\n    import newscrawl.a\n")
    assert budget.main([]) == 1
    assert "newscrawl/a.py < newscrawl/b.py < newscrawl/a.py" in capsys.readouterr().err
