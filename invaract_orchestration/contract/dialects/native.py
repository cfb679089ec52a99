"""The accepted spellings of the native format, mapped to the one that the model has."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from invaract_orchestration.contract.binding import describe
from invaract_orchestration.contract.dialects.short_forms import expand_short_form, is_short_form
from invaract_orchestration.contract.report import Report
from invaract_orchestration.contract.template import contract_id
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Node, ScalarNode

_Entry = tuple[ScalarNode, Node]
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+\Z", re.ASCII)
_WHOLE = re.compile(r"\d+\Z", re.ASCII)
_NUMERIC = re.compile(r"[-+]?[\d_]*\.?[\d_]+([eE][-+]?\d+)?\Z", re.ASCII)
FIELD_SPELLINGS = ("fields", "columns", "model")


def normalize(root: MapNode, file: str, report: Report) -> MapNode:
    """The tree in the model's spelling. What cannot be carried is reported by name and left out."""
    is_short = is_short_form(root)
    root = _one_field_list(root, report)
    if is_short:
        root = expand_short_form(root, contract_id(Path(file).name.split(".")[0]), report)
    root = _checked_version(root, is_short, report)
    return root.with_entries(tuple(_entry(key, value) for key, value in root.entries))


def _entry(key: ScalarNode, value: Node) -> _Entry:
    if key.text == "owner" and isinstance(value, ScalarNode) and not value.is_null:
        return key, MapNode(((ScalarNode("team", value.at, written="team"), value),), value.at)
    if key.text == "keys" and isinstance(value, ListNode):
        return key, replace(value, items=tuple(_key_entry(item) for item in value.items))
    if key.text == "fields":
        return key, _field_list(value)
    return key, value


def _key_entry(item: Node) -> Node:
    if isinstance(item, MapNode) or (isinstance(item, ScalarNode) and item.is_empty):
        return item
    return MapNode(((ScalarNode("columns", item.at, written="columns"), item),), item.at)


def _field_list(node: Node) -> Node:
    if not isinstance(node, ListNode):
        return node
    return replace(node, items=tuple(_field(i) if isinstance(i, MapNode) else i for i in node.items))


def _field(node: MapNode) -> MapNode:
    entries: list[_Entry] = []
    for key, value in node.entries:
        if key.text == "fields":
            value = _field_list(value)
        if key.text == "not_blank" and isinstance(value, ScalarNode) and value.is_plain:
            if value.text == "false":
                continue
            if value.text == "true":
                value = replace(value, text="whitespace", is_on_one_line=False)
        entries.append((key, value))
    return node.with_entries(tuple(entries))


def _one_field_list(root: MapNode, report: Report) -> MapNode:
    given = [key for key, _ in root.entries if key.text in FIELD_SPELLINGS]
    for extra in given[1:]:
        message = f"the fields stand twice, as '{given[0].text}' and as '{extra.text}'"
        report.add((extra.text,), message, at=extra.at, hint="keep one of them")
    entries: list[_Entry] = []
    for key, value in root.entries:
        if key in given[1:]:
            continue
        if key.text == "model" and key in given:
            entries.extend(_model_fields(value, report, key))
        elif key in given:
            entries.append((replace(key, text="fields", written=key.text), value))
        else:
            entries.append((key, value))
    return root.with_entries(tuple(entries))


def _model_fields(node: Node, report: Report, model: ScalarNode) -> list[_Entry]:
    if not isinstance(node, MapNode):
        report.add(("model",), f"expected a mapping with 'fields', found {describe(node)}", at=model.at)
        return []
    for key, _ in node.entries:
        if key.text != "fields":
            message = f"unknown key '{key.text}'"
            hint = "known keys here: 'fields'"
            report.add(("model",), message, hint=hint, code="contract.unknown_key", at=key.at)
    return [(replace(k, written="model.fields"), v) for k, v in node.entries if k.text == "fields"]


def _checked_version(root: MapNode, is_short: bool, report: Report) -> MapNode:
    key, version = root.key("version"), root.get("version")
    if not isinstance(version, ScalarNode) or version.is_empty or _SEMANTIC.match(version.text):
        return root
    if is_short and _WHOLE.match(version.text):
        return root
    hint = None
    if version.is_plain and _NUMERIC.match(version.text):
        parts = [*version.text.strip("+-").split("."), "0", "0"][:3]
        hint = f'YAML reads it as a number; write the three parts in quotes, such as "{".".join(parts)}"'
    report.locate(("version",), version, "version")
    found = f"expected a version MAJOR.MINOR.PATCH, found {describe(version)}"
    report.add(("version",), found, hint=hint, code="contract.version")
    return root.with_entries(tuple(e for e in root.entries if e[0] is not key))
