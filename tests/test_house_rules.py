"""The limits of CONTRIBUTING.md that no linter knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST_MODULE, LONGEST_BODY = 350, 40


def modules() -> Iterator[tuple[str, str]]:
    """Place and text of every module of the packages."""
    for package in ("invaract_orchestration", "dagster_defs", "airflow_plugin"):
        for file in sorted((ROOT / package).rglob("*.py")):
            yield file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")


def bodies(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Name of every function, and the lines from its first statement to its last; a docstring is none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if statements:
                yield node.name, (node.end_lineno or 0) - statements[0].lineno + 1


def test_no_module_is_longer_than_the_limit() -> None:
    lengths = {place: len(text.splitlines()) for place, text in modules()}
    assert len(lengths) > 300
    assert {place: lines for place, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_no_function_body_is_longer_than_the_limit() -> None:
    long = [
        f"{place}: {name}, {lines} lines"
        for place, text in modules()
        for name, lines in bodies(ast.parse(text))
        if lines > LONGEST_BODY
    ]
    assert long == []
    assert dict(bodies(ast.parse('def f():\n    """One."""\n    a = 1\n\n    return a\n\ndef g(): pass'))) == {"f": 3, "g": 1}
