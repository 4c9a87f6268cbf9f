"""Compare each package with its budget: `make lint` fails where it grew.

.ci/budget has a line for each package with its limits: lines, percent of names that say nothing,
helpers with one caller for 1,000 lines. An increase needs a line with the number and the purpose:
`storage +120 subjects`. `python .ci/budget.py --lower` writes the present
figures where they are lower. No file may import, even through others, a file that imports it.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
BUDGET = PROJECT / ".ci" / "budget"
ROOTS = ("newscrawl", "spiders", "pipelines", "benchmarks", "tests")
# Pronouns and bare participles: a reader can't tell what they hold.
EMPTY = frozenset(
    re.findall(
        r"\w+",
        """one ones found known given asked named others other kept seen made taken left whole rest
        own told said held gone wanted past these those them it both such called stated written""",
    )
)


@dataclass
class Figures:
    """What is counted of a package."""

    lines: int = 0
    bound: int = 0
    helpers: int = 0
    empty: Counter[str] = field(default_factory=Counter)

    @property
    def names(self) -> float:
        """Return how many names of variables and arguments say nothing, in percent."""
        return 100 * self.empty.total() / max(1, self.bound)

    @property
    def helpers_per_thousand(self) -> float:
        """Return the helpers that one place of their file uses, for 1,000 lines."""
        return 1000 * self.helpers / max(1, self.lines)

    def add(self, text: str, is_python: bool) -> None:
        """Count a file."""
        self.lines += text.count("\n")
        if not is_python:
            return
        uses = Counter(re.findall(r"\b_[a-z]\w+\b", text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                is_private = node.name.startswith("_") and not node.name.startswith("__")
                self.helpers += is_private and uses[node.name] == 2
                continue
            name = node.arg if isinstance(node, ast.arg) else ""
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            if name not in ("", "self", "cls", "_"):
                self.bound += 1
                self.empty[name] += name in EMPTY


@dataclass
class Limits:
    """What a package may have."""

    lines: int
    names: float
    helpers: float


def sources() -> Iterator[tuple[Path, str]]:
    """Yield the files of all packages, relative to the project, with their texts."""
    for root in ROOTS:
        for path in sorted((PROJECT / root).rglob("*.py*")):
            if path.suffix in (".py", ".pyx"):
                yield path.relative_to(PROJECT), path.read_text("utf-8")


def package_of(path: Path) -> str:
    """Return the package that a file counts for: newscrawl/storage/engine.py for storage."""
    return path.parts[1] if path.parts[0] == "newscrawl" and len(path.parts) > 2 else path.parts[0]


def circle() -> list[str]:
    """Return files that import each other in a circle, also within functions; none if there is no
    circle."""
    texts = {path: text for path, text in sources() if path.suffix == ".py"}
    modules = {".".join(path.with_suffix("").parts): path for path in texts}
    imports = {}
    for path, text in texts.items():
        targets = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                members = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= {node.module, *members}
        # A package's __init__ that only hands names on makes no circle.
        imports[path] = {modules[target] for target in targets & modules.keys()} - {path}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [str(path) for path in error.args[1]]
    return []


def read_budget() -> dict[str, Limits]:
    """Return the limits of each package, with the lines that were added for a reason."""
    budget = {}
    for line in BUDGET.read_text("utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        package, lines, *rest = line.split()
        if not lines.startswith("+"):
            budget[package] = Limits(int(lines), *map(float, rest))
        elif rest:
            budget[package].lines += int(lines)
        else:
            raise SystemExit(f"budget: {line!r} does not say for what")
    return budget


def write_lower(figures: dict[str, Figures]) -> None:
    """Write the present figures into the budget where they are lower; reasons stay until then."""
    budget = read_budget()
    lines: list[str] = []
    written: set[str] = set()  # a merge may have left a package twice
    for line in BUDGET.read_text("utf-8").splitlines():
        package, _, addition = line.partition(" ")
        if line.startswith("#") or not line.strip():
            lines.append(line)
        elif not addition.strip().startswith("+") and package in figures.keys() - written:
            written.add(package)
            limits, now = budget[package], figures[package]
            names = min(limits.names, round(now.names + 0.05, 1))
            helpers = min(limits.helpers, round(now.helpers_per_thousand + 0.05, 1))
            number = min(limits.lines, now.lines)
            lines.append(f"{package:12} {number:6} {names:5.1f} {helpers:5.1f}")
    BUDGET.write_text("\n".join(lines) + "\n", "utf-8")


def main(arguments: list[str]) -> int:
    """Print what exceeds its budget, or lower the budget with --lower; return the exit status."""
    figures: dict[str, Figures] = defaultdict(Figures)
    for path, text in sources():
        figures[package_of(path)].add(text, path.suffix == ".py")
    if arguments == ["--lower"]:
        write_lower(figures)
        return 0
    budget = read_budget()
    faults = [f"{package}: no line in .ci/budget" for package in figures.keys() - budget.keys()]
    for package, limits in budget.items():
        now = figures[package]
        if now.lines > limits.lines:
            faults.append(
                f"{package} has {now.lines} lines of {limits.lines}: delete some, or add to "
                f".ci/budget: {package} +{now.lines - limits.lines} FOR WHAT"
            )
        if now.names > limits.names:
            common = ", ".join(f"{name} {count}" for name, count in now.empty.most_common(6))
            faults.append(
                f"{package}: {now.names:.2f} % of its names say nothing, of {limits.names}: "
                f"{common}"
            )
        if now.helpers_per_thousand > limits.helpers:
            faults.append(
                f"{package}: {now.helpers_per_thousand:.2f} helpers with one caller for 1,000 "
                f"lines, of {limits.helpers}: write them where they are called"
            )
    files = circle()
    if files:
        faults.append(f"files import each other in a circle: {' < '.join(files)}")
    for fault in faults:
        sys.stderr.write(f"budget: {fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
