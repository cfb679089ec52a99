"""What cannot be computed is null and so a failure: also where an optimizer could do without computing it."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate


@pytest.mark.parametrize(
    ("sql", "failed"),
    [
        ("a * 4611686018427387904 > 0", 2), ("a + 9223372036854775807 > 0", 3), ("a + 9223372036854775807 > 0 OR a > 0", 0),
        ("a - -9223372036854775807 > 0", 3), ("a * 2 * 4611686018427387904 > 0", 3), ("a * 4 > 0", 1),
    ],
)  # fmt: skip
def test_overflow_in_a_row_rule_is_a_failure_that_no_rewriting_hides(tmp_path: Path, sql: str, failed: int) -> None:
    (tmp_path / "c.csv").write_text("a,b\n1,1\n2,1\n9223372036854775807,1\n")
    (tmp_path / "c.yaml").write_text(
        'contract: c\nversion: "1.0.0"\nsource: {location: c.csv}\nfields: [{name: a, type: bigint}, {name: b, type: int}]\n'
        f'quality: {{row_rules: [{{name: rule, sql: "{sql}"}}]}}\n'
    )
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path / "lake")})) as gate:
        result = gate.check(load_contract(tmp_path / "c.yaml"))
    assert {c.check: c.failed for c in result.checks}["rule"] == failed
