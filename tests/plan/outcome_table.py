"""The table of docs/plan-rules.md: each case with the outcome that each front end gave when it was last run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.plan.cases import EVERY_FRONT_END, Case

BEGIN, END = "<!-- outcomes: begin -->", "<!-- outcomes: end -->"


def write_table(path: Path, cases: list[Case], outcomes: Mapping[tuple[str, str], str]) -> None:
    """Replace the table; a front end that was not run keeps what it had."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    known = read_table(old)
    cells = {case.id: [shown(case, front_end, outcomes, known) for front_end in EVERY_FRONT_END] for case in cases}
    lines = [summary([cell for row in cells.values() for cell in row], len(cases)), ""]
    lines += ["| case | rule | " + " | ".join(EVERY_FRONT_END) + " |", "|---|---|" + "---|" * len(EVERY_FRONT_END)]
    for case in cases:
        lines.append(f"| {case.id} | {case.entry['rule']['type']} | " + " | ".join(cells[case.id]) + " |")
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


def summary(cells: list[str], count: int) -> str:
    """How many outcomes there are, and how many are not those that the cases ask for."""
    given = [cell for cell in cells if cell != "-"]
    differing, missing = given.count("differs"), given.count("not run")
    return f"{count} cases, {len(given)} outcomes on {len(EVERY_FRONT_END)} front ends: {differing} differ, {missing} not run."


def read_table(text: str) -> dict[tuple[str, str], str]:
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line.startswith("| ")]
    return {(front_end, row[0]): cell for row in rows[1:] for front_end, cell in zip(EVERY_FRONT_END, row[2:], strict=False)}


def shown(case: Case, front_end: str, outcomes: Mapping[tuple[str, str], str], known: Mapping[tuple[str, str], str]) -> str:
    if front_end not in case.front_ends:
        return "-"
    outcome = outcomes.get((front_end, case.id))
    if outcome is None:
        return known.get((front_end, case.id), "not run")
    return str(case.entry["expect"]) if outcome == "passed" else "differs"
