"""Holds the shape of the house: what may import what, and where heavy libraries live."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Program

PACKAGE = ROOT / "memcli"

# From the top; a room imports from the rows below its own, never sideways, never up.
ROWS = (
    ("__main__",),
    ("cli", "mcp", "api"),
    ("formats",),
    ("ops",),
    ("workspace",),
    ("edit", "backends", "providers"),
    ("changes",),
    ("history", "lock"),
    ("store",),
    ("text", "rank"),
    ("config", "layout", "tables", "disk"),
    ("model", "errors"),
    ("__init__",),
)
ROW_OF = {room: number for number, row in enumerate(ROWS) for room in row}

HOMES = {
    "typer": ("cli/",),
    "rich": ("formats/pretty.py", "formats/progress.py"),
    "numpy": ("providers/minilm/", "store/arrays.py"),
    "sqlite3": ("store/",),
    "sqlite_utils": ("store/schema.py",),
    "ollama": ("providers/ollama.py",),
    "httpx": ("providers/",),
    "watchdog": ("ops/watch.py",),
    "tomli_w": ("ops/config.py",),
    "mcp": ("mcp/",),
    "pydantic": ("mcp/",),
    "platformdirs": ("config.py", "layout.py"),
}
HEAVY = ("numpy", "ollama", "rich", "watchdog", "sqlite_utils", "pydantic", "httpx", "typer", "mcp")

FILES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """The full names of all modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if is_module(name) else str(node.module)


def is_module(name: str) -> bool:
    full = ROOT.joinpath(*name.split("."))
    return full.with_suffix(".py").exists() or (full / "__init__.py").exists()


def room_of(module: str) -> str:
    return ([*module.split("."), "__init__"])[1]


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    own = room_of(name_of(path))
    assert own in ROW_OF, f"{own} has no place in the picture"
    for module in imports(path):
        if module.partition(".")[0] != "memcli":
            continue
        other = room_of(module)
        assert other == own or ROW_OF[other] > ROW_OF[own], f"{path} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_library_is_imported_in_its_home_alone(path: Path) -> None:
    inside = str(path.relative_to(PACKAGE))
    for module in imports(path):
        library = module.partition(".")[0]
        if library in HOMES:
            assert inside.startswith(HOMES[library]), f"{inside} imports {library}"
        else:
            assert library == "memcli" or library in sys.stdlib_module_names, library


def test_no_circle_of_files() -> None:
    graph = {
        name_of(path): {one for one in imports(path) if one.startswith("memcli")} for path in FILES
    }
    done: set[str] = set()

    def visit(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join([*trail, module])
        if module in done or module not in graph:
            return
        for other in graph[module]:
            visit(other, (*trail, module))
        done.add(module)

    for module in graph:
        visit(module, ())


LOADED = """
import sys
from memcli.cli.app import main
code = main(sys.argv[1:])
print(*[name for name in sys.modules if "." not in name], file=sys.stderr)
sys.exit(code)
"""


def test_a_light_call_loads_nothing_heavy(mem: Program) -> None:
    mem("index", code=0)
    for words in (
        ("search", "--mode", "keyword", "acknowledge after commit"),
        ("append-daily", "--stage", "build", "the queue was drained"),
    ):
        loaded = loaded_by(mem, *words)
        assert loaded.isdisjoint(HEAVY), (words, loaded.intersection(HEAVY))
        assert "memcli" in loaded


def loaded_by(mem: Program, *words: str) -> set[str]:
    """The top-level modules in the process after a run that succeeded."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        cwd=mem.cwd,
        env=mem.environ(),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())
