"""Where the rows of an Open Lakehouse Contract come from: its source or server, its schema policy and its links."""

from __future__ import annotations

from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, key, listed, mapping, text
from invaract_orchestration.contract.yaml_tree import ListNode, Mark, Node, ScalarNode

ADDS = ("append", "merge", "compatible", "allow", "all")
"""Words for a table that takes new columns."""
_LINK_TYPES = ("csv", "json", "jsonl", "ndjson", "parquet", "delta", "table", "file")


def source(root: Part, *, is_cast: bool) -> list[Entry]:
    """Where rows come from; `server` says it where there is no `source`."""
    part, server = root.part("source"), root.part("server")
    at = root.node.at
    policy = _schema_policy(root, server, is_cast=is_cast)
    if part is None and server is None:
        return policy
    if part is None and server is not None:
        return [(key("source", at), _read(server, at)), *policy]
    assert part is not None  # one of the two is there
    part.only("type", ("landing", "file", "table", "delta"), "only files and tables are read")
    part.only("load_mode", ("full",), "a batch is what its source holds")
    why = "a batch is what its source holds; write {name} in the path for the part that changes"
    part.unless_off(
        "query", "watermark_field", "cdc_op_field", "cdc_delete_values", "cdc_timestamp_field", "dlt", "partition", "lookback",
        "from_date", "to_date", "pipeline_log_table", "pipeline_name", "manifest_path", "watermark_date_parts",
        "partition_filters", "target_path", why=why,
    )  # fmt: skip
    part.ignore("watermark_strategy")
    if server is not None:
        server.ignore("type", "path", "format", "mode", "schema_policy")
        server.unless_off("cast_to_string", "post_ingestion", why="`source` says how rows are read")
        server.end()
    return [(key("source", at), _read(part, at)), *policy]


def _read(part: Part, at: Mark) -> Node:
    type_, path, pattern = part.take("type"), part.text("path"), part.text("pattern")
    part.ignore("mode", "schema_policy")
    part.unless_off("cast_to_string", why="values become the types of the model")
    is_table = isinstance(type_, ScalarNode) and type_.text in ("table", "delta")
    format_ = part.only("format", ("csv", "json", "jsonl", "ndjson", "parquet", "delta"), "there is no reader for it")
    name = "delta" if is_table else (format_.text.lower() if format_ is not None else "parquet")
    name = {"jsonl": "json", "ndjson": "json"}.get(name, name)
    entries: list[Entry] = [(key("format", at), text(name, at))]
    if path is not None:
        place = f"{path.text.rstrip('/')}/{pattern.text}" if pattern is not None else path.text
        entries.append((key("location", path.at, "path"), text(place, path.at)))
    entries += [(name, flatten) for name, value in part.moved("flatten_nested", "flatten") if (flatten := _flatten(value))]
    entries += _options(part, name, at)
    if name == "csv":
        entries.append((key("header", at), text("names", at)))
    empty = part.only("empty_behavior", ("skip", "fail"), "it is no such behaviour")
    if empty is not None:
        entries.append((key("empty", at), text("no_op" if empty.text == "skip" else "reject", empty.at)))
    after = part.part("post_ingestion")
    if after is not None:
        action = after.only("action", ("retain", "archive", "delete"), "it is no such action")
        after.unless_off("cleanup_is_blocking", "archive_path", why="the gate archives beside the files")
        after.end()
        if action is not None:
            entries.append((key("after", at), text({"retain": "keep"}.get(action.text, action.text), action.at)))
    part.end()
    return mapping(at, *entries)


def _flatten(node: Node) -> Node | None:
    """All columns, those that are named, or none."""
    if isinstance(node, ScalarNode) and node.text.lower() in ("true", "false"):
        return ListNode((text("*", node.at),), node.at) if node.text.lower() == "true" else None
    return listed(node)


def _options(part: Part, format_: str, at: Mark) -> list[Entry]:
    given = part.part("options")
    found: list[Entry] = [(key("shape", at), text("any", at))] if format_ == "json" else []
    if given is not None:
        found += given.moved("delimiter", "delimiter") or given.moved("sep", "delimiter")
        found += given.moved("quote", "quote") + given.moved("escape", "escape") + given.moved("encoding", "encoding")
        given.ignore("header", "multiline", "multiLine", "inferSchema", "infer_schema")
        given.end()
    return [(key("options", at), mapping(at, *found))] if found else []


def _schema_policy(root: Part, server: Part | None, *, is_cast: bool) -> list[Entry]:
    at = root.node.at
    own = server.part("schema_policy") if server is not None else None
    part = root.part("schema_policy") or own
    extra = "accept"
    if part is not None:
        unknown = part.only("unknown_fields", ("allow", "drop", "quarantine"), "it is no such policy")
        extra = "reject" if unknown is not None and unknown.text == "quarantine" else "accept"
        part.only("evolution", (*ADDS, "strict"), "the gate never changes a table's columns to others")
        part.end()
    words = {"extra_fields": extra, "missing_optional": "accept", "type_changes": "cast" if is_cast else "reject"}
    return [(key("schema_policy", at), mapping(at, *((key(k, at), text(v, at)) for k, v in words.items())))]


def links(root: Part) -> list[Entry]:
    """Rows of reference."""
    found = []
    for part in root.parts("links"):
        at = part.node.at
        type_ = part.only("type", _LINK_TYPES, "there is no reader for it")
        entries = [*part.moved("name", "name"), *(part.moved("path", "location") or part.moved("table", "location"))]
        entries += part.moved("columns", "columns", listed) + part.moved("filter", "filter")
        if type_ is not None and type_.text != "file":
            format_ = {"jsonl": "json", "ndjson": "json", "table": "delta"}.get(type_.text, type_.text)
            entries.append((key("format", type_.at), text(format_, type_.at)))
        part.ignore("broadcast", "table")
        part.unless_off("query", why="a link is read as it is; write a step of kind sql")
        part.end()
        found.append(mapping(at, *entries))
    return [(key("links", root.node.at), ListNode(tuple(found), root.node.at))] if found else []
