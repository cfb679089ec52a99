"""The parity table of docs/engines.md, made from the behaviour suite and its named gaps.

    python -m tests.spark.parity_table --write
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from tests.spark.gaps import GAPS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "engines.md"
SUITES = (
    "tests/engines/test_batches.py", "tests/engines/test_parquet_tables.py", "tests/engines/test_modes.py",
    "tests/behaviours/test_measurer.py", "tests/behaviours/test_conditions.py",
    "tests/spark/test_parity.py", "tests/spark/test_values.py", "tests/spark/test_generated_conditions.py", "tests/spark/test_generated_tables.py",
)  # fmt: skip
BEGIN, END = "<!-- parity: begin -->", "<!-- parity: end -->"


def table() -> str:
    """One line for each behaviour; a number points to the reason below."""
    lines = ["| behaviour | duckdb | spark | spark-connect |", "|---|---|---|---|"]
    reasons: list[str] = []
    for suite in SUITES:
        for name, on_every_engine in behaviours(ROOT / suite):
            marks = [mark(engine, name, on_every_engine, reasons) for engine in ("duckdb", "spark", "spark-connect")]
            lines.append(f"| {name.removeprefix('test_').replace('_', ' ')} | {' | '.join(marks)} |")
    notes = [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join([*lines, "", *notes])


def behaviours(path: Path) -> list[tuple[str, bool]]:
    """The tests that compare engines, and whether they do it on every engine."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            names = {argument.arg for argument in node.args.args}
            is_always_run = not any("skipif" in ast.dump(mark) for mark in node.decorator_list)
            if is_always_run and names & {"lake", "measurer", "engine", "spark"}:
                found.append((node.name, bool(names & {"lake", "measurer", "engine"})))
    return found


def mark(engine: str, name: str, on_every_engine: bool, reasons: list[str]) -> str:
    if engine == "spark-connect" and not on_every_engine:
        return "not generated"
    found = sorted({reason for (on, test), reason in GAPS.items() if on == engine and test.partition("[")[0] == name})
    for reason in found:
        if reason not in reasons:
            reasons.append(reason)
    return "yes" if not found else "yes, but " + ", ".join(str(reasons.index(r) + 1) for r in found)


def page() -> str:
    """The page with a fresh table."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(page(), encoding="utf-8")
