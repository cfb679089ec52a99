"""The first draft of a contract loads as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from invaract_orchestration.contract.field_types import FieldType, parse_type
from invaract_orchestration.contract.lint import lint
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import FieldSpec, SourceOptions
from invaract_orchestration.contract.template import DraftColumn, FileDraft, contract_id, draft_contract

TYPES = [parse_type(t) for t in ("string", "int", "decimal(10,2)", "date", "timestamp", "array<struct<`a b`:int>>")]


def draft_of(columns: list[tuple[str, FieldType]], format_: str = "csv") -> FileDraft:
    specs = tuple(DraftColumn(spec=FieldSpec(name=name, type=type_)) for name, type_ in columns)
    return FileDraft(format=format_, columns=specs)


def test_draft_holds_the_columns_in_their_order() -> None:
    columns = [("order id", parse_type("string")), ("on", parse_type("int")), ("amount", parse_type("decimal(10,2)"))]
    text = draft_contract("Orders 2026", draft_of(columns), "in/*.csv", "out/orders")
    contract = load_contract_text(text)
    assert contract.contract == "Orders_2026"
    assert [(f.name, str(f.type)) for f in contract.fields] == [
        ("order id", "string"), ("on", "int"), ("amount", "decimal(10,2)"),
    ]  # fmt: skip
    assert contract.source is not None
    assert contract.publish is not None
    assert (contract.source.location, contract.publish.target) == ("in/*.csv", "out/orders")
    assert lint(contract) == ()
    assert text.startswith("# The agreement about one published table.")


def test_draft_keeps_what_was_found_of_a_file() -> None:
    spec = FieldSpec(
        name="day", type=parse_type("date"), required=True, format="dd/MM/yyyy", allowed=("01/01/2026", "no"),
        description="a: 'b' # c",
    )  # fmt: skip
    text = FieldSpec(name="code", type=parse_type("string"), min_length=3, max_length=5, normalize=("trim", "lower"))
    found = FileDraft(
        format="csv", columns=(DraftColumn(spec=spec, note="7 nulls"), DraftColumn(spec=text)), rows=1000,
        options=SourceOptions(delimiter="\t", null_values=("", "N/A"), encoding="latin-1"),
    )  # fmt: skip
    written = draft_contract("x", found, "in.csv").replace('allowed: ["01/01/2026", "no"]', 'allowed: ["2026-01-01"]')
    contract = load_contract_text(written)
    assert contract.fields == (spec.model_copy(update={"allowed": ("2026-01-01",)}), text)
    assert contract.source is not None
    assert contract.source.options == found.options
    assert "# 7 nulls" in written
    assert "types from 1,000 rows" in written


def test_draft_without_target_leaves_publishing_out() -> None:
    contract = load_contract_text(draft_contract("x", draft_of([("a", parse_type("int"))], "json"), "in.json"))
    assert contract.publish is None
    assert contract.source is not None
    assert contract.source.format == "json"


def test_draft_without_columns_loads() -> None:
    assert load_contract_text(draft_contract("x", draft_of([]), "in.csv")).fields == ()


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    st.lists(st.tuples(names, st.sampled_from(TYPES)), max_size=5, unique_by=lambda c: c[0].lower()),
    names,
)
def test_draft_of_any_names_loads_with_those_names(columns: list[tuple[str, FieldType]], name: str) -> None:
    contract = load_contract_text(draft_contract(name, draft_of(columns), "in.csv", "out/x"))
    assert [(f.name, f.type) for f in contract.fields] == columns


@pytest.mark.parametrize(
    ("text", "id_"),
    [("orders", "orders"), ("2026 x", "contract_2026_x"), ("é", "contract"), ("a" * 300, "a" * 128), ("-a.b-", "a.b")],
)
def test_any_text_becomes_an_id(text: str, id_: str) -> None:
    assert contract_id(text) == id_
