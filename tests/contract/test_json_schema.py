"""The generated schema: fresh, complete, and of one mind with the loader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from invaract_orchestration.contract.json_schema import contract_schema, is_fresh, main
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import ContractError


class Plain(yaml.SafeLoader):
    """Values as an editor's YAML 1.2 reads them: `on` and `no` are texts."""


Plain.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if not tag.endswith(("bool", "timestamp")) or first in "tf"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def accepted(text: str) -> bool:
    validator = jsonschema.Draft202012Validator(contract_schema())
    return validator.is_valid(yaml.load(text, Loader=Plain))


def parts() -> Iterator[tuple[str, str, dict[str, Any], bool]]:
    schema = contract_schema()
    for name, part in (("Contract", schema), *schema["$defs"].items()):
        for key, entry in part.get("properties", {}).items():
            yield name, key, entry, key in part.get("required", ())


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(contract_schema())


def test_generated_file_is_fresh() -> None:
    assert is_fresh()
    assert main(["--check"]) == 0


def test_stale_file_fails_the_check_until_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "contract.schema.json"
    assert main(["--check", "--file", str(file)]) == 1
    assert main(["--write", "--file", str(file)]) == 0
    assert main(["--check", "--file", str(file)]) == 0


def test_every_key_of_the_contract_says_what_it_means() -> None:
    silent = [f"{n}.{k}" for n, k, entry, _ in parts() if "description" not in entry]
    plan_rules = ("columns", "scope", "type", "tags")  # said by the rule's own description
    assert [s for s in silent if s.split(".")[1] not in plan_rules] == []


def test_no_key_offers_null() -> None:
    assert "null" not in str(contract_schema()["properties"])


@pytest.mark.parametrize(
    ("part", "key", "default"),
    [
        ("Source", "header", "exact"), ("SchemaPolicy", "extra_fields", "reject"),
        ("SchemaPolicy", "missing_optional", "reject"), ("SchemaPolicy", "type_changes", "reject"),
        ("Source", "empty", "reject"), ("Quality", "on_row_failure", "reject"), ("FieldSpec", "severity", "error"),
        ("SourceOptions", "delimiter", ","), ("SourceOptions", "quote", '"'), ("SourceOptions", "encoding", "utf-8"),
        ("SourceOptions", "null_values", [""]), ("Publish", "mode", "append"), ("Publish", "evolve", "refuse"),
        ("Keep", "passed", "30d"), ("Keep", "rejected", "30d"), ("QuarantinePlace", "keep", "30d"),
        ("Source", "after", "keep"), ("Key", "nulls", "fail"), ("RequiredGroupBy", "scope", "any"),
        ("Publish", "partition", {}), ("Contract", "status", "active"),
    ],
)  # fmt: skip
def test_default_is_stated(part: str, key: str, default: object) -> None:
    found = {(n, k): entry for n, k, entry, _ in parts()}
    assert found[part, key]["default"] == default


ACCEPTED = [
    "contract: a\ntransformations: [{trim: {fields: [x]}}, {sql: SELECT * FROM source, phase: pre}]\n",
    "contract: a\nfields: [{name: x, type: int, min: 0, max: 5, allowed: [1, 2]}]\n",
    "name: a\nversion: 1\nowner: depot\narrives: daily\ncolumns: [{name: x, type: string, not_blank: spaces}]\n",
    "rules: [{type: forbid_cross_join}, {type: required_group_by, columns: [a], scope: final}]\n",
    "model: {fields: [{name: x, type: int}]}\n",
    "contract: a\nkeys: [[x], {columns: [x, y], across: target}]\nfields: [{name: x, type: int}, {name: y, type: int}]\n",
    "contract: a\nenvironments: {prod: {publish.target: x, source.inputs.t: y}}\n",
]
REFUSED = [
    "contract: a\nfeilds: []\n",
    "contract: a\nfields: [{name: x, type: int, uniqe: true}]\n",
    "contract: a\nstatus: activ\n",
    "contract: a\nversion: 1.10\n",
    "contract: a\nfields: [{name: x, type: int, required: 'yes'}]\n",
    "contract: a\nenvironments: {prod: {publish.mode: append}}\n",
    "contract: a\ntransformations: [{trim: {feilds: [x]}}]\n",
    "contract: a\ntransformations: [{trimm: {fields: [x]}}]\n",
    "contract: a\ntransformations: [{deduplicate: {on: [x]}}]\n",
    "status: active\n",
    "contract: 1a\n",
    "contract: a\nquarantine: {keep: 1week}\n",
    "contract: a\nrules: [{type: nothing}]\n",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_schema_takes_what_the_loader_takes(text: str) -> None:
    load_contract_text(text)
    assert accepted(text)


@pytest.mark.parametrize("text", REFUSED)
def test_schema_refuses_what_the_loader_refuses(text: str) -> None:
    with pytest.raises(ContractError):
        load_contract_text(text)
    assert not accepted(text)
