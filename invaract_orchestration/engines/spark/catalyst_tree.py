"""Catalyst's JSON of a plan or expression: a list of nodes in pre-order, read into a tree without recursion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from invaract_orchestration.contract.field_types import (
    Array,
    FieldType,
    Map,
    Struct,
    TypeSyntaxError,
    parse_type,
)

Json = dict[str, Any]


@dataclass(slots=True)
class CatalystNode:
    """One node: its class without the package, its fields, its position in the list, its children in order."""

    kind: str
    fields: Json
    place: int = 0
    children: list[CatalystNode] = field(default_factory=list)
    parent: CatalystNode | None = None

    def nested(self, name: str) -> list[list[Json]]:
        """A field that holds a list of expressions, each in pre-order."""
        value = self.fields.get(name) or []
        return value if value and isinstance(value[0], list) else ([value] if value else [])


def read_tree(nodes: list[Json]) -> CatalystNode:
    """The tree of a pre-order list."""
    made = [CatalystNode(_kind(one), one, at) for at, one in enumerate(nodes)]
    open_: list[tuple[CatalystNode, int]] = []
    for node in made:
        if open_:
            parent, left = open_.pop()
            parent.children.append(node)
            node.parent = parent
            if left > 1:
                open_.append((parent, left - 1))
        count = int(node.fields.get("num-children", 0))
        if count:
            open_.append((node, count))
    return made[0]


def children_first(root: CatalystNode) -> Iterator[CatalystNode]:
    """Every node after its children, these from left to right."""
    stack: list[tuple[CatalystNode, bool]] = [(root, False)]
    while stack:
        node, is_ready = stack.pop()
        if is_ready or not node.children:
            yield node
            continue
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(node.children))


def catalyst_type(json: Any) -> FieldType | None:
    """The field type of Spark's JSON of a type; null for one that no field can have."""
    if isinstance(json, str):
        try:
            return parse_type("string" if json.startswith(("varchar", "char", "string collate")) else json)
        except TypeSyntaxError:
            return None
    if not isinstance(json, dict):
        return None
    match json.get("type"):
        case "struct":
            parts = [(str(one["name"]), catalyst_type(one["type"])) for one in json["fields"]]
            known = tuple((name, part) for name, part in parts if part is not None)
            return Struct(known) if len(known) == len(parts) else None
        case "array":
            element = catalyst_type(json["elementType"])
            return None if element is None else Array(element)
        case "map":
            key, value = catalyst_type(json["keyType"]), catalyst_type(json["valueType"])
            return None if key is None or value is None else Map(key, value)
    return None


def _kind(node: Json) -> str:
    """The class without its package; that of a Scala object ends in a dollar sign."""
    name = str(node["class"])
    return name.rpartition(".")[2].rpartition("$")[2] or name.rstrip("$").rpartition(".")[2]
