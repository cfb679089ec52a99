"""Transformations of an Open Lakehouse Contract: the same kinds, some of them in another spelling."""

from __future__ import annotations

import re
from dataclasses import replace

from invaract_orchestration.contract.dialects.olc_fields import olc_type
from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, key, listed, mapping, text, texts
from invaract_orchestration.contract.transformations import STEP_KINDS
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Node, ScalarNode

_LISTS = frozenset({
    "fields", "on", "by", "sort_by", "key", "sources", "columns", "group_by", "id_vars", "value_vars", "value_cols", "values",
})  # fmt: skip
"""Options that are lists; one name may stand for a list of it."""
_DATASET = re.compile(r"\{\s*dataset\s*\}")
_PIVOT_NAMES = (
    ("{pivot_alias}", "{pivot}"), ("{pivot_value}", "{pivot}"), ("{value_alias}", "{value}"), ("{value_col}", "{value}"),
)  # fmt: skip


def steps(parts: list[Part], names: set[str]) -> list[Node]:
    """The native steps. `names` are the fields of the model, in lower case."""
    return [step for part in parts if (step := _step(part, names)) is not None]


def extracted(part: Part | None) -> list[Node]:
    """The steps of an extraction by patterns; any other way to extract is refused."""
    if part is None:
        return []
    provider = part.only("provider", ("regex",), "only patterns give the same result every time")
    column, patterns = part.text("text_column"), part.part("patterns")
    part.ignore(
        "output_schema", "model", "temperature", "max_tokens", "response_format", "batch_size", "concurrency", "retry",
        "prompt_template", "system_prompt", "fallback_model", "fallback_provider", "max_cost_per_run", "pii_fields",
    )  # fmt: skip
    part.unless_off(
        "confidence", "preprocessing", "context_columns", "redact_pii_before_llm", "max_rows_per_run",
        why="there is nothing like it here",
    )  # fmt: skip
    part.end()
    if provider is None or column is None or patterns is None:
        return []
    at = part.node.at
    found: list[Node] = []
    for name, pattern in patterns.node.entries:
        options = mapping(at, (key("field", at), name), (key("source", at), column), (key("pattern", at), pattern))
        found.append(mapping(at, (key("regex_extract", at), options), (key("phase", at), text("pre", at))))
    return found


def _step(part: Part, names: set[str]) -> Node | None:
    at = part.node.at
    kinds = [k for k in (*STEP_KINDS, "deduplicate_by_latest") if part.take(k) is not None]
    entries = part.moved("phase", "phase")
    part.end()
    if len(kinds) != 1:
        part.report.add(part.place, f"expected exactly one kind of step, found {', '.join(kinds) or 'none'}", at=at)
        return None
    kind = kinds[0]
    if kind == "sql":
        return mapping(at, *entries, *part.moved("sql", "sql", over_source))
    inner = part.part(kind)
    if inner is None:
        return None
    native = "deduplicate" if kind == "deduplicate_by_latest" else kind
    options = _OPTIONS.get(kind, _plain)(inner, names)
    return mapping(at, *entries, (key(native, at, kind), mapping(inner.node.at, *options)))


def over_source(node: Node) -> Node:
    """A query over `source`, which may also be written `{dataset}`."""
    return replace(node, text=_DATASET.sub("source", node.text)) if isinstance(node, ScalarNode) else node


def _plain(part: Part, names: set[str]) -> list[Entry]:
    """The options as they are, without those that are null; the native model says which of them it knows."""
    entries: list[Entry] = []
    for name, value in part.node.entries:
        found = part.take(name.text)
        if found is not None:
            entries.append((name, listed(value) if name.text in _LISTS else value))
    return entries


def _lookup(part: Part, names: set[str]) -> list[Entry]:
    return [(name, value) for name, value in part.node.entries if part.take(name.text) is not None]


def _rename(part: Part, names: set[str]) -> list[Entry]:
    old, new = part.text("from") or part.text("from_name"), part.text("to") or part.text("to_name")
    part.ignore("from", "from_name", "to", "to_name")
    given = part.part("mappings")
    part.end()
    entries = list(given.node.entries) if given is not None else []
    if old is not None and new is not None:
        entries.append((old, new))
    return [(key("mappings", part.node.at), mapping(part.node.at, *entries))] if entries else []


def _cast(part: Part, names: set[str]) -> list[Entry]:
    columns = part.part("columns")
    part.end()
    if columns is None:
        return []
    typed = mapping(columns.node.at, *((name, olc_type(value)) for name, value in columns.node.entries))
    return [(key("columns", columns.node.at), typed)]


def _json_extract(part: Part, names: set[str]) -> list[Entry]:
    return [(name, olc_type(value) if name.text == "cast" else value) for name, value in _plain(part, names)]


def _deduplicate(part: Part, names: set[str]) -> list[Entry]:
    return [(key("on", name.at, "by") if name.text == "by" else name, value) for name, value in _plain(part, names)]


def _latest(part: Part, names: set[str]) -> list[Entry]:
    entries = [*part.moved("key_columns", "on", listed), *part.moved("timestamp_column", "sort_by", listed)]
    entries += part.moved("blank_keys", "blank_keys")
    part.end()
    return entries


def _derive(part: Part, names: set[str]) -> list[Entry]:
    for name in ("sql_duckdb", "sql_spark"):
        if part.take(name) is not None:
            part.refuse(name, f"'{name}' cannot be carried: one expression means the same on every engine", "write it as `sql`")
    return [*part.moved("field", "field"), *part.moved("sql", "sql")]


def _rollup(part: Part, names: set[str]) -> list[Entry]:
    entries = [*part.moved("group_by", "group_by", listed), *part.moved("aggregations", "aggregations")]
    columns = {"rollup_keys_column": "_lakelogic_rollup_keys", "rollup_keys_count_column": "_lakelogic_rollup_keys_count"}
    for option, default in columns.items():
        written = part.text(option)
        name = written.text if written is not None else default
        if name.lower() in names:
            part.refuse(option, f"the model has a field {name!r}, the keys of what was rolled up, which are not made here")
    part.ignore("keys", "key_expr", "distinct", "upstream_run_id_column", "upstream_run_ids_column")
    part.end()
    return entries


def _pivot(part: Part, names: set[str]) -> list[Entry]:
    entries = [*part.moved("id_vars", "id_vars", listed), *part.moved("separator", "separator")]
    entries += part.moved("pivot_col", "pivot_col") or part.moved("pivot_cols", "pivot_col", _the_one)
    entries += part.moved("value_cols", "value_cols", listed) or part.moved("value_col", "value_cols", listed)
    entries += part.moved("values", "values", listed) or part.moved("pivot_values", "values", listed)
    entries += part.moved("fill_value", "fill_value")
    entries += part.moved("name_template", "name_template", _template) or _long_names(part, entries, names)
    agg = part.text("agg")
    if agg is not None and agg.text != "first":
        entries.append((key("agg", agg.at), agg))
    part.unless_off("aggs", "value_aliases", why="write a step of kind sql")
    part.end()
    return entries


def _long_names(part: Part, entries: list[Entry], names: set[str]) -> list[Entry]:
    """A template `value_pivot` where the fields of the model are named by it, although there is one value column."""
    given = {name.text: value for name, value in entries}
    columns, values = texts(given.get("value_cols")), texts(given.get("values"))
    between = "".join(t.text for t in texts(given.get("separator"))) or "_"
    long = {f"{c.text}{between}{v.text}".lower() for c in columns for v in values}
    if len(columns) != 1 or not long & names:
        return []
    return [(key("name_template", part.node.at), text("{value}" + between + "{pivot}", part.node.at))]


def _the_one(node: Node) -> Node:
    return node.items[0] if isinstance(node, ListNode) and len(node.items) == 1 else node


def _template(node: Node) -> Node:
    if not isinstance(node, ScalarNode):
        return node
    written = node.text
    for name, native in _PIVOT_NAMES:
        written = written.replace(name, native)
    return text(written, node.at)


def _unpivot(part: Part, names: set[str]) -> list[Entry]:
    entries = [*part.moved("id_vars", "id_vars", listed), *part.moved("key_field", "key_field")]
    entries += part.moved("value_vars", "value_vars", listed) or part.moved("value_cols", "value_vars", listed)
    entries += part.moved("value_field", "value_field") + part.moved("include_nulls", "include_nulls")
    part.unless_off("value_aliases", why="rename the columns first")
    part.end()
    return [e for e in entries if not (e[0].text == "id_vars" and isinstance(e[1], ListNode) and not e[1].items)]


def _bucket(part: Part, names: set[str]) -> list[Entry]:
    entries = _plain(part, names)
    return [(name, _bins(value) if name.text == "bins" else value) for name, value in entries]


def _bins(node: Node) -> Node:
    if not isinstance(node, ListNode):
        return node
    items = tuple(_without_nulls(i) if isinstance(i, MapNode) else i for i in node.items)
    return ListNode(items, node.at)


def _without_nulls(node: MapNode) -> MapNode:
    return node.with_entries(tuple(e for e in node.entries if not (isinstance(e[1], ScalarNode) and e[1].is_null)))


_OPTIONS = {
    "rename": _rename, "cast": _cast, "json_extract": _json_extract, "deduplicate": _deduplicate,
    "deduplicate_by_latest": _latest, "derive": _derive, "rollup": _rollup, "pivot": _pivot, "unpivot": _unpivot,
    "bucket": _bucket, "lookup": _lookup,
}  # fmt: skip
