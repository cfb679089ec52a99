"""From the neutral sketch to a native contract, node by node, so that every scalar stays as its author wrote it."""

from __future__ import annotations

from dataclasses import dataclass

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from tests.cases.sketch import NotUnderstood

_SAYS_NOTHING = frozenset(
    "multiline mode header inferschema enforceschema mergeschema samplingratio columnnameofcorruptrecord maxcolumns "
    "maxcharspercolumn ignorecorruptfiles ignoremissingfiles recursivefilelookup lineSep".lower().split()
)
_OPTIONS = {"sep": "delimiter", "delimiter": "delimiter", "quote": "quote", "escape": "escape", "encoding": "encoding",
            "charset": "encoding", "trailing_delimiter": "trailing_delimiter", "shape": "shape"}  # fmt: skip
_COLUMN = {"allowed_values": "allowed", "regex": "pattern", "nullable": "required"}
_FORMATS = {"jsonl": "json", "ndjson": "json", "json": "json"}
_QUALITY = ("on_row_failure", "row_rules", "dataset_rules", "max_quarantined")


@dataclass(frozen=True)
class Place:
    """Where the batch and the table of a case are; `sql` is a query instead of files."""

    location: str
    target: str
    sql: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    """Names and types of what a query gives, for a sketch that names none."""


def native_contract(text: str, place: Place) -> str:
    """The native contract's YAML. What the sketch says and this does not know is passed on for the loader to judge."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, MappingNode):
        raise NotUnderstood("the contract sketch is no mapping")
    return _written(_translated(dict(_pairs(root)), place))


def _written(node: Node) -> str:
    return str(yaml.serialize(_in_blocks(node), Dumper=yaml.SafeDumper, allow_unicode=True))


def _in_blocks(node: Node) -> Node:
    """In block style every plain scalar can stay plain, so that the loader sees what the author wrote."""
    for child in node.value if isinstance(node, SequenceNode) else []:
        _in_blocks(child)
    for _, child in node.value if isinstance(node, MappingNode) else []:
        _in_blocks(child)
    if not isinstance(node, ScalarNode):
        node.flow_style = False
    return node


def _translated(sketch: dict[str, Node], place: Place) -> MappingNode:
    native: dict[str, Node] = {"contract": sketch.pop("name", _text("demo"))}
    columns = [_column(c) for c in _items(sketch.pop("columns", _list([])))]
    columns = columns or [{"name": _text(name), "type": _text(type_)} for name, type_ in place.columns]
    native["source"] = _source(sketch, place, columns)
    native["fields"] = _list([_map(c) for c in columns])
    keys = _keys(sketch, columns)
    if keys:
        native["keys"] = _list(keys)
    if _word(sketch.pop("extra_columns", None)) in ("ignore", "allow", "accept"):
        native["schema_policy"] = _map({"extra_fields": _text("accept")})
    native["quality"] = _quality(sketch)
    native["publish"] = _publish(sketch, place, columns)
    if "plan_rules" in sketch:
        native["rules"] = sketch.pop("plan_rules")
    return _map(native | sketch)


def _source(sketch: dict[str, Node], place: Place, columns: list[dict[str, Node]]) -> Node:
    format_ = _word(sketch.pop("format", None)) or "csv"
    source = {"format": _text(_FORMATS.get(format_, format_)), "location": _text(place.location)}
    if place.sql is not None:
        source = {"format": _text("sql"), "sql": _text(place.sql)}  # its tables stand in the lake under their names
    if "plan_rules" in sketch:
        source["empty"] = _text("accept")  # the plan is the subject, not the rows that its tables happen to give
    if _word(sketch.pop("column_order", None)) in ("any", "free", "ignore"):
        source["header"] = _text("names")
    options: dict[str, Node] = {}
    for key, value in _pairs(sketch.pop("options", _map({}))):
        _add_option(key, value, format_, options, columns)
    if options:
        source["options"] = _map(options)
    return _map(source)


def _add_option(key: str, value: Node, format_: str, options: dict[str, Node], columns: list[dict[str, Node]]) -> None:
    known = key.lower()
    if known == "multiline" and format_ in ("json", "jsonl") and _word(value) == "true":
        options["shape"] = _text("array")
    elif known in _OPTIONS:
        options[_OPTIONS[known]] = value
    elif known in ("nullvalue", "null_values"):
        options["null_values"] = value if isinstance(value, SequenceNode) else _list([_text(""), value])
    elif known in ("dateformat", "timestampformat"):
        for column in columns:
            if _word(column.get("type")).startswith(known.removesuffix("format")):
                column.setdefault("format", value)
    elif known not in _SAYS_NOTHING:
        raise NotUnderstood(f"reader option {key!r} is not understood")


def _column(node: Node) -> dict[str, Node]:
    return {_COLUMN.get(key, key) if key != "nullable" else key: value for key, value in _pairs(node)}


def _keys(sketch: dict[str, Node], columns: list[dict[str, Node]]) -> list[Node]:
    own = sketch.pop("key", None)
    sets = [own] if own is not None else []
    is_across = _word(sketch.pop("unique_across_batches", None)) == "true"
    if is_across and not sets:
        sets = [_list([c["name"]]) for c in columns if _word(c.get("unique")) == "true"]
    across = {"across": _text("target")} if is_across else {}
    nulls = {"nulls": sketch.pop("key_nulls")} if "key_nulls" in sketch else {}
    return [_map({"columns": s} | across | nulls) if across or nulls else s for s in sets]


def _quality(sketch: dict[str, Node]) -> Node:
    quality = dict(_pairs(sketch.pop("quality", _map({}))))
    quality |= {key: sketch.pop(key) for key in _QUALITY if key in sketch}
    bounds = {side: sketch.pop(f"{side}_rows") for side in ("min", "max") if f"{side}_rows" in sketch}
    rules = [_map({"name": _text(f"{side}_rows"), "row_count": _map({side: n})}) for side, n in bounds.items()]
    if rules:
        quality["dataset_rules"] = _list([*_items(quality.get("dataset_rules", _list([]))), *rules])
    return _map(quality)


def _publish(sketch: dict[str, Node], place: Place, columns: list[dict[str, Node]]) -> Node:
    publish = {"target": _text(place.target)} | dict(_pairs(sketch.pop("publish", _map({}))))
    partition = publish.get("partition")
    if isinstance(partition, ScalarNode):
        pairs = [part.split("=", 1) for part in partition.value.split("/")]
        publish["partition"] = _map({name: _text(value) for name, value in pairs})
        publish.setdefault("partition_by", _list([_text(name) for name, _ in pairs]))
    if _word(publish.get("mode")) == "merge" and "keys" not in publish:
        unique = [c["name"] for c in columns if _word(c.get("unique")) == "true"]
        publish["keys"] = _list(unique)
    return _map(publish)


def merge_keys(text: str) -> str:
    """The contract's text with the keys of a merge, which a sketch gives as the table's key alone."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    parts = dict(_pairs(root))
    publish = dict(_pairs(parts["publish"]))
    if _word(publish.get("mode")) == "merge" and not _items(publish["keys"]) and "keys" in parts:
        first = _items(parts["keys"])[0]
        publish["keys"] = dict(_pairs(first))["columns"] if isinstance(first, MappingNode) else first
        parts["publish"] = _map(publish)
    return _written(_map(parts))


def _pairs(node: Node) -> list[tuple[str, Node]]:
    if not isinstance(node, MappingNode):
        raise NotUnderstood("a part of the contract sketch is no mapping")
    return [(key.value, value) for key, value in node.value]


def _items(node: Node) -> list[Node]:
    if not isinstance(node, SequenceNode):
        raise NotUnderstood("a part of the contract sketch is no list")
    return list(node.value)


def _word(node: Node | None) -> str:
    return node.value if isinstance(node, ScalarNode) else ""


def _text(value: str) -> ScalarNode:
    return ScalarNode("tag:yaml.org,2002:str", value, style="'")


def _list(items: list[Node]) -> SequenceNode:
    return SequenceNode("tag:yaml.org,2002:seq", items)


def _map(entries: dict[str, Node]) -> MappingNode:
    return MappingNode("tag:yaml.org,2002:map", [(_text(key), value) for key, value in entries.items()])
