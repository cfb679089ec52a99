"""The examples of docs/contract.md with transformations are run as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.engines.delta.read import read_columns
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate

PAGE = Path(__file__).parents[2] / "docs" / "contract.md"
_BLOCK = re.compile(r"```(\w+) (\S+)\n(.*?)```", re.DOTALL)


def examples() -> list[tuple[str, dict[str, str], list[str]]]:
    """(contract, files, published rows) of each example."""
    found: list[tuple[str, dict[str, str], list[str]]] = []
    contract, files = "", {}
    for kind, name, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "yaml":
            contract, files = text, {}
        elif kind == "csv":
            files[name] = text
        else:
            found.append((contract, files, text.splitlines()))
    return found


@pytest.mark.parametrize(("contract", "files", "expected"), examples(), ids=[e[0].split()[1] for e in examples()])
def test_example_of_the_page_publishes_what_it_says(
    tmp_path: Path, contract: str, files: dict[str, str], expected: list[str]
) -> None:
    (tmp_path / "example.yaml").write_text(contract, encoding="utf-8")
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path / "lake")})) as gate:
        result = gate.run(load_contract(tmp_path / "example.yaml"))
    assert result.state == "published", result.message
    rows = read_columns(str(tmp_path / "published"), None, None).read_all().to_pylist()
    told = sorted(json.dumps(row, default=str) for row in rows)
    assert told == sorted(json.dumps(json.loads(line)) for line in expected)


def test_page_has_its_examples() -> None:
    assert [contract.split()[1] for contract, _, _ in examples()] == ["orders", "visits"]
