"""The house rules that no linter knows: sizes of files and functions, docstrings, no circles."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(init.parent.name for init in ROOT.glob("*/__init__.py"))
FILES = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))

MOST_LINES = 300
REASON = "Longer than 300 lines: "
MOST_PARAMETERS = 8


@functools.cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def _place(file: Path, line: int = 1) -> str:
    return f"{file.relative_to(ROOT)}:{line}"


def _too_many_parameters(tree: ast.Module) -> Iterator[tuple[int, str, int]]:
    """Line, name and number of parameters; those that a method is called on don't count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            every = node.args
            names = [a.arg for a in (*every.posonlyargs, *every.args, *every.kwonlyargs)]
            names += [a.arg for a in (every.vararg, every.kwarg) if a is not None]
            count = len(names) - (names[:1] in (["self"], ["cls"]))
            if count > MOST_PARAMETERS:
                yield node.lineno, getattr(node, "name", "lambda"), count


def test_the_packages_are_found() -> None:
    assert {"gdl", "propnet", "ggp_agent", "games"} <= set(PACKAGES) and len(FILES) > 100


def test_every_module_says_what_it_is() -> None:
    assert [_place(file) for file in FILES if not ast.get_docstring(_tree(file))] == []


def test_long_files_say_why() -> None:
    without_reason = [
        f"{_place(file)} has {lines} lines"
        for file in FILES
        if (lines := len(file.read_text().splitlines())) > MOST_LINES
        and REASON not in (ast.get_docstring(_tree(file)) or "")
    ]
    assert without_reason == []


def test_files_that_have_become_short_give_no_reason() -> None:
    outlived = [
        _place(file)
        for file in FILES
        if REASON in (ast.get_docstring(_tree(file)) or "")
        and len(file.read_text().splitlines()) <= MOST_LINES
    ]
    assert outlived == []


def test_no_function_has_too_many_parameters() -> None:
    found = [
        f"{_place(file, line)} {name} has {count} parameters"
        for file in FILES
        for line, name, count in _too_many_parameters(_tree(file))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(a, b, c, d, e, f, g, h): ...", []),
        ("def f(a, b, c, d, /, e, f, *, g, h, i): ...", [(1, "f", 9)]),
        ("class A:\n  async def f(self, a, b, c, d, e, f, g, h): ...", []),
        ("class A:\n  def f(cls, a, b, c, d, e, f, g, *h, **i): ...", [(2, "f", 9)]),
        ("lambda a, b, c, d, e, f, g, h, i: 0", [(1, "lambda", 9)]),
    ],
)
def test_parameters_are_counted(text: str, found: list[tuple[int, str, int]]) -> None:
    assert list(_too_many_parameters(ast.parse(text))) == found


def _imports() -> dict[str, set[str]]:
    """Module → modules of ours that it imports when it is loaded (not those for types alone)."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True)
    return {m: graph.find_modules_directly_imported_by(m) for m in sorted(graph.modules)}


def _assert_no_circle(imports: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(f"imports in a circle: {' <- '.join(error.args[1])}", pytrace=False)


def test_no_module_is_imported_by_what_it_imports() -> None:
    _assert_no_circle(_imports())


def test_no_folder_is_imported_by_what_it_imports() -> None:
    """A folder inside another one is part of it: the two may know each other."""
    imports = _imports()
    folders = {m for m in imports if (ROOT / m.replace(".", "/")).is_dir()}
    between: dict[str, set[str]] = {folder: set() for folder in folders}

    def folder_of(module: str) -> str:
        return module if module in folders else module.rpartition(".")[0]

    for module, imported in imports.items():
        own = folder_of(module)
        for other in map(folder_of, imported):
            if not f"{own}.".startswith(f"{other}.") and not f"{other}.".startswith(f"{own}."):
                between[own].add(other)
    _assert_no_circle(between)
