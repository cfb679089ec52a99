"""A contract written as an Open Data Contract (ODCS 3), with what both can say; the rest is told by its place."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import yaml
from sqlglot import exp

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.dataset_queries import TABLE
from invaract_orchestration.contract.diff import differences
from invaract_orchestration.contract.expression_names import first_offset
from invaract_orchestration.contract.expressions import parse_sql
from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.contract.model import Contract, DatasetRule, FieldSpec, Key
from invaract_orchestration.errors import NotSupported

_API = "v3.0.2"
_LOGICAL = {ft.STRING: "string", ft.BOOLEAN: "boolean", ft.DATE: "date", ft.BINARY: "string"}
_OPTIONS = (("min_length", "minLength"), ("max_length", "maxLength"), ("pattern", "pattern"), ("format", "format"))
_BOUNDS = {
    "equal_to": "mustBe", "greater_than": "mustBeGreaterThan", "at_least": "mustBeGreaterOrEqualTo",
    "less_than": "mustBeLessThan", "at_most": "mustBeLessOrEqualTo",
}  # fmt: skip


def to_odcs(contract: Contract) -> tuple[str, tuple[str, ...]]:
    """The text of an ODCS file, and the places of the contract that it cannot say, as it reads back.

    Raises:
        NotSupported: the contract has no fields, so there is no table to describe.
    """
    if not contract.fields:
        raise NotSupported(f"{contract.contract} has no fields, and an ODCS file describes a table", hint="write its `fields`")
    text = yaml.safe_dump(_document(contract), sort_keys=False, allow_unicode=True, width=120)
    again = load_contract_text(text, file=f"{contract.contract}.odcs.yaml")
    lost = [change.place for change in differences(contract, again) if change.what != "added"]
    return text, tuple(dict.fromkeys(lost))


def _document(contract: Contract) -> dict[str, Any]:
    known = contract.extensions.get("odcs")
    status = contract.status
    document = {"apiVersion": _API, "kind": "DataContract", "id": contract.contract, "name": contract.contract,
                "version": contract.version, "status": status}  # fmt: skip
    if contract.description is not None:
        document["description"] = {"purpose": contract.description}  # type: ignore[assignment]
    document["schema"] = [_table(contract)]  # type: ignore[assignment]
    return {**document, **(known if isinstance(known, dict) else {})}


def _table(contract: Contract) -> dict[str, Any]:
    target = contract.publish.target if contract.publish is not None else contract.contract
    primary = next((key.columns for key in contract.keys if key == Key(columns=key.columns)), ())
    parted = contract.publish.partition_by if contract.publish is not None else ()
    properties = [_property(spec) for spec in contract.fields]
    marks = ((primary, "primaryKey", "primaryKeyPosition"), (parted, "partitioned", "partitionKeyPosition"))
    for entry in properties:
        for columns, flag, position in marks:
            if entry["name"] in columns:
                entry |= {flag: True, position: columns.index(entry["name"]) + 1}
    table: dict[str, Any] = {"name": contract.contract, "physicalName": target, "properties": properties}
    rules = [said for rule in contract.quality.dataset_rules if (said := _rule(rule)) is not None]
    return {**table, "quality": rules} if rules else table


def _property(spec: FieldSpec) -> dict[str, Any]:
    said: dict[str, Any] = {"name": spec.name, **_type(spec)}
    if spec.description is not None:
        said["description"] = spec.description
    if spec.severity == "warn":
        return said  # every check of an ODCS column is an error
    said |= {key: True for key in ("required", "unique") if getattr(spec, key)}
    options = {name: getattr(spec, key) for key, name in _OPTIONS if getattr(spec, key) is not None}
    options |= {name: _number(text) for text, name in ((spec.min, "minimum"), (spec.max, "maximum")) if text is not None}
    return {**said, "logicalTypeOptions": options} if options else said


def _type(spec: FieldSpec) -> dict[str, Any]:
    inner: ft.FieldType = spec.type
    if isinstance(inner, ft.Struct) and spec.fields:
        declared = {child.name: child for child in spec.fields}
        children = [_property(declared.get(name, FieldSpec(name=name, type=type_))) for name, type_ in inner.fields]
        return {"logicalType": "object", "properties": children}
    return {"logicalType": _logical(inner), "physicalType": str(inner)}


def _logical(type_: ft.FieldType) -> str:
    if isinstance(type_, ft.Array):
        return "array"
    if isinstance(type_, ft.Struct | ft.Map):
        return "object"
    if isinstance(type_, ft.Decimal) or type_ in ft.FLOATS:
        return "number"
    if type_ in ft.INTEGERS:
        return "integer"
    return _LOGICAL.get(type_, "timestamp")


def _over_table(sql: str) -> str:
    """The query with the word that ODCS has for its table in the place of the candidate."""
    tree = parse_sql(sql, into=None)
    tables = [t for t in tree.find_all(exp.Table) if t.name.lower() == TABLE and not t.db] if tree is not None else []
    for start in sorted((first_offset(table) for table in tables), reverse=True):
        end = start + len(TABLE)
        if sql[start:end].lower() == TABLE:  # one in backticks is left as it is: the name is then another table's too
            sql = sql[:start] + "${table}" + sql[end:]
    return sql


def _number(text: str) -> int | float | str:
    """The bound as a number where YAML's numbers hold exactly that; a day or an instant stays a text."""
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    try:
        value = float(text)
    except ValueError:
        return text
    return value if Decimal(repr(value)) == Decimal(text) and "e" not in repr(value) else text


def _rule(rule: DatasetRule) -> dict[str, Any] | None:
    said: dict[str, Any] = {"name": rule.name, **({"severity": "warning"} if rule.severity == "warn" else {})}
    if rule.row_count is not None:
        rows = (("mustBeGreaterOrEqualTo", rule.row_count.min), ("mustBeLessOrEqualTo", rule.row_count.max))
        return {**said, "type": "library", "metric": "rowCount", **{key: bound for key, bound in rows if bound is not None}}
    if rule.sql is not None and rule.must_be is not None:
        bounds = {_BOUNDS[key]: _number(text) for key, text in rule.must_be.model_dump(exclude_none=True).items()}
        return {**said, "type": "sql", "query": _over_table(rule.sql), **bounds}
    return None
