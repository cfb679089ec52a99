"""A contract that was made in Python is held to what a file's is."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration import Contract
from invaract_orchestration.contract.model import FieldSpec, Key, Publish, Quality, RowRule, Source
from invaract_orchestration.errors import ContractError
from invaract_orchestration.settings import read_settings
from invaract_orchestration.wiring import open_gate

TWICE = Quality(row_rules=(RowRule(name="r", sql="v > 0"), RowRule(name="r", sql="id > 0")))


def contract(root: Path, **changes: object) -> Contract:
    (root / "a.csv").write_text("id,v\n1,5\n2,-3\n")
    fields = tuple(FieldSpec(name=n, type="int") for n in ("id", "v"))  # type: ignore[arg-type]  # text is taken
    said = {"source": Source(location=str(root / "a.csv")), "fields": fields, "publish": Publish(target=str(root / "t")), **changes}
    return Contract(contract="made", version="1.0.0", **said)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["run", "check"])
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"quality": TWICE}, "'r'"), ({"keys": (Key(columns=("nope",)),)}, "unknown column 'nope'"),
        ({"quality": Quality(row_rules=(RowRule(name="r", sql="sum(v) > 0"),))}, "sum"),
        ({"fields": (FieldSpec(name="id", type="int", pattern="a"),)}, "'pattern' is for string"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_contract_that_does_not_fit_together_is_refused_before_anything_is_read(
    tmp_path: Path, kind: str, changes: dict[str, object], problem: str
) -> None:
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        with pytest.raises(ContractError) as raised:
            getattr(gate, kind)(contract(tmp_path, **changes))
        assert list(gate.audit.attempts()) == []
    assert any(problem in p.message for p in raised.value.problems), raised.value
    assert not (tmp_path / "t").exists()


def test_contract_that_fits_together_is_judged_as_a_files(tmp_path: Path) -> None:
    kept, broken = (Quality(row_rules=(RowRule(name="r", sql=sql),)) for sql in ("v > -5", "v > 0"))
    with open_gate(read_settings({"INVARACT_LAKE_ROOT": str(tmp_path)})) as gate:
        rejected = gate.run(contract(tmp_path, quality=broken))
        published = gate.run(contract(tmp_path, quality=kept).model_copy(update={"version": "1.0.1"}))
    assert (rejected.state, [c.check for c in rejected.blocking]) == ("rejected", ["r"])
    assert (published.state, published.counts.inserted) == ("published", 2)
