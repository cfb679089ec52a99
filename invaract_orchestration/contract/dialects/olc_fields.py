"""Fields of an Open Lakehouse Contract."""

from __future__ import annotations

from dataclasses import replace

from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, is_true, key, mapping, text, word
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Node, ScalarNode

_TYPES = {
    "float": "double", "float32": "double", "float64": "double", "number": "double", "real": "double",
    "numeric": "decimal(38,18)", "decimal": "decimal(38,18)",
    "text": "string", "str": "string", "varchar": "string", "char": "string", "uuid": "string",
    "json": "string", "datetime": "timestamp", "int64": "bigint", "int32": "int", "bool": "boolean",
}  # fmt: skip
"""Types whose name says less, or something else, than the native one: a float is read with the digits that it is written with."""


def olc_type(node: Node) -> Node:
    """A type in the native spelling."""
    if not isinstance(node, ScalarNode):
        return node
    return replace(node, text=_TYPES.get(node.text.strip().lower(), node.text))


def fields(part: Part | None, is_required_checked: bool) -> tuple[Node | None, list[tuple[ScalarNode, Part]], list[Entry]]:
    """The native fields, the rules that stand with a field, and what only people read."""
    if part is None:
        return None, [], []
    found = [_field(inner, is_required_checked) for inner in part.parts("fields")]
    about = part.kept("grain", "grain_key")
    part.end()
    rules = [(name, rule) for _, name, inner in found for rule in inner if name is not None]
    return ListNode(tuple(node for node, _, _ in found), part.node.at), rules, about


def _field(part: Part, is_required_checked: bool) -> tuple[MapNode, ScalarNode | None, list[Part]]:
    name = part.text("name")
    entries = [*part.moved("name", "name"), *part.moved("type", "type", olc_type), *part.moved("description", "description")]
    required, nullable = part.take("required"), part.take("nullable")
    is_not_null = isinstance(nullable, ScalarNode) and nullable.is_plain and nullable.text.lower() == "false"
    if is_required_checked and (is_true(required) or is_not_null):
        entries.append((key("required", part.node.at), word("true", part.node.at)))
    entries += part.moved("accepted_values", "allowed") + part.moved("min", "min") + part.moved("max", "max")
    entries += part.moved("max_length", "max_length") + part.moved("pattern", "pattern")
    tags = [tag for tag in ("pii", "phi", "sensitive") if is_true(part.take(tag))]
    if tags:
        labels = ListNode(tuple(text(tag, part.node.at) for tag in tags), part.node.at)
        entries.append((key("sensitivity_tags", part.node.at), labels))
    type_ = part.node.get("type")
    if isinstance(type_, ScalarNode) and "struct<" in type_.text.lower():
        entries.append((key("complete", part.node.at), word("true", part.node.at)))
    part.ignore("classification", "security_groups", "milestone", "extraction_task", "extraction_examples", "source_name")
    part.unless_off("masking", "masking_format", "pii_vault", why="it would change what is published")
    part.unless_off("generated", why="the gate makes no columns of its own")
    part.unless_off("foreign_key", why="it names another contract; write it as a dataset rule `references`")
    rules = part.parts("rules")
    part.end()
    return mapping(part.node.at, *entries), name, rules
