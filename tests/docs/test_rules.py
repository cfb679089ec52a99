"""The examples of docs/rules.md are run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.sql_functions import ROW_FUNCTIONS
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
_BLOCK = re.compile(r"```(\w+)(?: (\S+))?\n(.*?)```", re.DOTALL)


def examples() -> list[tuple[str, str, dict[str, str], list[str]]]:
    """(heading, contract, files, expected lines) of each example."""
    found = []
    contract, files = "", {}
    for part in re.split(r"^(?=#)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        heading = part.partition("\n")[0].lstrip("# ")
        for kind, name, text in _BLOCK.findall(part):
            if kind == "yaml":
                contract, files = text, {}
            elif kind == "csv":
                files[name or "batch.csv"] = text
            else:
                found.append((heading, contract, files, text.splitlines()))
    return found


@pytest.mark.parametrize(("heading", "contract", "files", "expected"), examples(), ids=[e[0] for e in examples()])
def test_example_of_the_page_is_judged_as_it_says(
    tmp_path: Path, heading: str, contract: str, files: dict[str, str], expected: list[str]
) -> None:
    head = 'contract: example\nversion: "1.0.0"\nsource: {location: batch.csv}\n'
    (tmp_path / "example.yaml").write_text(head + contract, encoding="utf-8")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path / "lake")})) as gate:
        result = gate.check(load_contract(tmp_path / "example.yaml"))
    checks = {c.check: c for c in result.checks}
    for line in expected:
        check, outcome, *failed = line.split()
        assert checks[check].outcome == outcome, f"{heading}: {checks[check]}"
        assert not failed or checks[check].failed == int(failed[0]), f"{heading}: {checks[check]}"
    named = {line.split()[0] for line in expected}
    others = {c.check for c in result.checks if c.outcome != "kept"} - named
    assert not others, f"{heading}: not told on the page: {others}"


def test_page_has_an_example_for_every_kind_of_rule() -> None:
    assert len(examples()) >= 15


def test_page_names_every_function() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert not [name for name in ROW_FUNCTIONS if f"`{name.lower()}`" not in text.lower()]
