"""The digest: one text for one meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from invaract_orchestration.contract.digest import canonical_json, contract_digest
from invaract_orchestration.contract.load import load_contract, load_contract_text

BASE = """\
contract: orders
version: "1.0.0"
fields:
- {name: id, type: int, required: true}
- {name: amount, type: "decimal(10,2)", min: 0.1, allowed: [1, 2]}
keys: [[id]]
publish: {target: out/orders}
"""


def digest(text: str) -> str:
    return contract_digest(load_contract_text(text))


def test_digest_is_of_the_canonical_text() -> None:
    contract = load_contract_text(BASE)
    assert canonical_json(contract) == (
        '{"contract":"orders","fields":[{"name":"id","required":true,"type":"int"},{"allowed":["1.00","2.00"],'
        '"min":"0.10","name":"amount","type":"decimal(10,2)"}],"keys":[{"columns":["id"]}],"publish":{"target":'
        '"out/orders"},"version":"1.0.0"}'
    )
    assert contract_digest(contract) == "sha256:d49f57ff9bd857cdbd511a83666559b88de7f842df17d0d9f9999123d1b6ad19"


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n" + BASE,
        BASE.replace("type: int, required: true", "required: true, type: INTEGER"),
        BASE.replace("fields:", "columns:"),
        BASE.replace("fields:\n", "model:\n  fields:\n").replace("- {", "  - {"),
        BASE.replace("0.1,", "'0.10',").replace("[1, 2]", "[1.0, 2.00]"),
        BASE.replace("[[id]]", "[{columns: [id], across: batch}]"),
        BASE + "environments: {prod: {publish.target: out/prod}}\n",
        BASE + "status: active\nquarantine: {keep: 30d}\nquality: {on_row_failure: reject}\n",
        BASE.replace('"1.0.0"', "1.0.0"),
    ],
)
def test_another_spelling_has_the_same_digest(text: str) -> None:
    assert digest(text) == digest(BASE)


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace("1.0.0", "1.0.1"),
        BASE.replace("0.1,", "0.11,"),
        BASE.replace("[1, 2]", "[2, 1]"),
        BASE.replace("out/orders", "out/other"),
        BASE.replace("required: true", "required: false"),
        BASE + "status: draft\n",
        BASE + "extensions: {a: b}\n",
    ],
)
def test_another_meaning_has_another_digest(text: str) -> None:
    assert digest(text) != digest(BASE)


def test_environment_is_no_part_of_the_digest(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(BASE + "environments: {prod: {publish.target: out/prod, source.location: x.csv}}\n")
    assert contract_digest(load_contract(file, env="prod")) == digest(BASE)
