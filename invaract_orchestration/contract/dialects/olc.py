"""The Open Lakehouse Contract (`info`, `model`, `transformations`, `quality`, `materialization`), mapped to the native format.

What it calls accepted is the candidate; failing rows are quarantined; `model` describes the result, other columns are left out,
and values become the declared types where they can. What cannot be carried is refused by its name.
"""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from invaract_orchestration.contract.dialects import olc_fields, olc_quality, olc_steps
from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, is_true, key, listed, mapping, text, texts
from invaract_orchestration.contract.report import Report
from invaract_orchestration.contract.template import contract_id
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Mark, Node, ScalarNode

_STATUSES = ("draft", "active", "deprecated", "retired")
_FOR_PEOPLE = (
    "metadata", "observatory", "upstream", "upstream_contracts", "downstream", "schedule", "compliance", "tier",
    "contract_file_name", "dataset",
)  # fmt: skip
_LINK_TYPES = ("csv", "json", "jsonl", "ndjson", "parquet", "delta", "table", "file")
_MODES = {"append": "append", "overwrite": "overwrite", "merge": "merge", "scd2": "scd2"}
_ADDS = ("append", "merge", "compatible", "allow", "all")
_AGE = re.compile(r"([1-9][0-9]{0,5})\s*(s|m|h|d|sec|min|hour|hours|day|days|minutes|seconds)?\Z", re.ASCII)


def is_olc(root: MapNode) -> bool:
    """Whether the file is an Open Lakehouse Contract."""
    return root.has("info") and root.has("model") and not root.has("contract")


def from_olc(root: MapNode, file: str, report: Report) -> MapNode:
    """The tree in the native spelling. What cannot be carried is reported by its name and left out."""
    part = Part(root, report, ())
    at = root.at
    info = part.part("info")
    entries, table, about = _info(info, file, at)
    entries += part.moved("version", "version")
    quality = part.part("quality")
    enforced = quality.take("enforce_required") if quality is not None else None
    is_enforced = not (isinstance(enforced, ScalarNode) and enforced.text.lower() == "false")
    model = part.part("model")
    fields, field_rules, more = olc_fields.fields(model, is_enforced)
    about += more
    versions = _materialization(part, table, fields)
    entries += [(key("fields", at), _without(fields, versions.own))] if fields is not None else []
    entries += versions.entries
    names = {name.text.lower() for name in _names(fields)}
    made = [*olc_steps.extracted(part.part("extraction")), *olc_steps.steps(part.parts("transformations"), names)]
    if made:
        entries.append((key("transformations", at), ListNode(tuple(made), at)))
    function = _function(part, bool(made))
    entries += function
    entries += _source(part, is_cast=not function) + _links(part)
    entries += _quality(part, quality, field_rules, versions.keys) + _rest(part)
    about += part.kept(*_FOR_PEOPLE)
    given = part.take("extensions")
    extensions = list(given.entries) if isinstance(given, MapNode) else []
    if about:
        extensions.append((key("olc", at), mapping(at, *about)))
    if extensions:
        entries.append((key("extensions", at), mapping(at, *extensions)))
    part.end()
    return MapNode(tuple(entries), at)


def _names(fields: Node | None) -> list[ScalarNode]:
    if not isinstance(fields, ListNode):
        return []
    found = [item.get("name") for item in fields.items if isinstance(item, MapNode)]
    return [name for name in found if isinstance(name, ScalarNode)]


def _without(fields: Node, names: set[str]) -> Node:
    if not names or not isinstance(fields, ListNode):
        return fields
    kept = []
    for item in fields.items:
        name = item.get("name") if isinstance(item, MapNode) else None
        if not (isinstance(name, ScalarNode) and name.text.lower() in names):
            kept.append(item)
    return ListNode(tuple(kept), fields.at)


def _info(part: Part | None, file: str, at: Mark) -> tuple[list[Entry], ScalarNode, list[Entry]]:
    """Who and what, the table's name, and what only people read."""
    name = text(contract_id(FilePath(file).name.split(".")[0]), at)
    if part is None:
        return [(key("contract", at), name)], name, []
    table, title = part.text("table_name"), part.text("title")
    chosen = table or title
    id_ = text(contract_id(chosen.text), chosen.at) if chosen is not None else name
    entries: list[Entry] = [(key("contract", at), id_)]
    described = part.moved("description", "description")
    entries += described or ([(key("description", title.at, "title"), title)] if title is not None else [])
    owner, contact = part.text("owner"), part.take("contact")
    about = part.kept("target_layer", "classification", "domain", "system", "version")
    if owner is not None:
        own: list[Entry] = [(key("team", owner.at), owner)]
        if isinstance(contact, ScalarNode):
            own.append((key("contact", contact.at), contact))
        entries.append((key("owner", owner.at), mapping(owner.at, *own)))
    if contact is not None and (owner is None or not isinstance(contact, ScalarNode)):
        about.append((key("contact", contact.at), contact))
    status = part.text("status")
    if status is not None and status.text.lower() in _STATUSES:
        entries.append((key("status", status.at), text(status.text.lower(), status.at)))
    elif status is not None:
        about.append((key("status", status.at), status))
    part.end()
    return entries, table or id_, about


def _function(root: Part, has_steps: bool) -> list[Entry]:
    """The function that makes the rows. The contract names it; whoever runs the contract gives it."""
    part = root.part("external_logic")
    if part is None:
        return []
    part.only("type", ("python",), "only a Python function makes rows here")
    part.unless_off("args", "output_path", "output_format", "kernel_name", "handles_output", why="the function returns its rows")
    part.ignore("engine")
    path, entry = part.text("path"), part.text("entrypoint")
    part.end()
    if has_steps:
        hint = "do in the function what they do"
        root.refuse("external_logic", "'external_logic' cannot be carried beside transformations", hint)
    if path is None:
        return []
    name = f"{path.text}:{entry.text if entry is not None else 'run'}"
    return [(key("function", path.at, "external_logic"), text(name, path.at))]


def _source(root: Part, *, is_cast: bool) -> list[Entry]:
    """Where rows come from; `server` says it where there is no `source`."""
    part, server = root.part("source"), root.part("server")
    at = root.node.at
    policy = _schema_policy(root, server, is_cast=is_cast)
    if part is None and server is None:
        return policy
    if part is None and server is not None:
        return [(key("source", at), _read(server, at)), *policy]
    assert part is not None  # one of the two is there
    part.only("type", ("landing", "file", "table"), "only files and tables are read")
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
    is_table = isinstance(type_, ScalarNode) and type_.text == "table"
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
        part.only("evolution", (*_ADDS, "strict"), "the gate never changes a table's columns to others")
        part.end()
    words = {"extra_fields": extra, "missing_optional": "accept", "type_changes": "cast" if is_cast else "reject"}
    return [(key("schema_policy", at), mapping(at, *((key(k, at), text(v, at)) for k, v in words.items())))]


def _links(root: Part) -> list[Entry]:
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
        part.end()
        found.append(mapping(at, *entries))
    return [(key("links", root.node.at), ListNode(tuple(found), root.node.at))] if found else []


class _Versions:
    """What materialization says: entries of `publish`, keys, and the fields that the publishing itself makes."""

    def __init__(self, entries: list[Entry], keys: list[Node], own: set[str]) -> None:
        self.entries, self.keys, self.own = entries, keys, own


def _materialization(root: Part, table: ScalarNode, fields: Node | None) -> _Versions:
    part, at = root.part("materialization"), root.node.at
    primary, natural = root.take("primary_key"), root.take("natural_key")
    unique: list[Node] = [mapping(at, (key("columns", at), listed(primary)))] if primary is not None else []
    target: Node = table
    publish: list[Entry] = []
    own: set[str] = set()
    if part is not None:
        strategy = part.only("strategy", _MODES, "the gate has no such way to publish")
        mode = _MODES[strategy.text.lower()] if strategy is not None else "append"
        publish.append((key("mode", at), text(mode, at)))
        chosen = (natural or primary) if mode == "scd2" else primary
        if mode in ("merge", "scd2") and chosen is not None:
            publish.append((key("keys", at), listed(chosen)))
        part.only("format", ("delta",), "the gate publishes Delta tables")
        target = part.text("target_path") or part.text("location") or table
        part.ignore("location", "cluster_by", "merge_dedup_guard")
        publish += part.moved("partition_by", "partition_by", listed)
        versions: list[Entry] = []
        if mode == "scd2":
            unique = []
            versions, own = _scd2(part.part("scd2"), fields, at)
            publish += versions
        part.unless_off(
            "reprocess_date_column", "fact", "soft_delete_column", "soft_delete_time_column", "soft_delete_reason_column",
            "table_properties", "compaction", "unknown_member", *(("scd2",) if not versions else ()),
            why="there is nothing like it here",
        )  # fmt: skip
        part.ignore("soft_delete_value", "reprocess_policy")
        part.end()
    publish.insert(0, (key("target", at), target))
    policy = root.node.get("schema_policy")
    evolution = policy.get("evolution") if isinstance(policy, MapNode) else None
    if isinstance(evolution, ScalarNode) and evolution.text in _ADDS:
        publish.append((key("evolve", evolution.at), text("add_columns", evolution.at)))
    return _Versions([(key("publish", at), mapping(at, *publish))], unique, own)


def _scd2(part: Part | None, fields: Node | None, at: Mark) -> tuple[list[Entry], set[str]]:
    """How versions are written, and the fields of the model that they are."""
    if part is None:
        return [], set()
    entries: list[Entry] = []
    names = (
        ("effective_from_field", "valid_from"), ("effective_from", "valid_from"), ("effective_to_field", "valid_to"),
        ("effective_to", "valid_to"), ("current_flag_field", "current"), ("current_flag", "current"),
        ("version_column", "number"), ("timestamp_field", "since"), ("effective_from_default", "first"),
        ("effective_to_default", "open"),
    )  # fmt: skip
    for written, native in names:
        entries += part.moved(written, native)
    entries += part.moved("track_columns", "track", listed) or part.moved("hash_columns", "track", listed)
    part.ignore("hash_columns", "business_key", "surrogate_key")
    part.end()
    columns = ("valid_from", "valid_to", "current", "number")
    made = {v.text.lower() for k, v in entries if k.text in columns and isinstance(v, ScalarNode)}
    return [(key("versions", at), mapping(at, *entries))], made


def _quality(
    root: Part, part: Part | None, field_rules: list[tuple[ScalarNode, Part]], keys: list[Node]
) -> list[Entry]:  # fmt: skip
    at = root.node.at
    failure = "quarantine"
    quarantine = root.part("quarantine")
    entries: list[Entry] = []
    if quarantine is not None:
        if is_true(quarantine.take("fail_on_quarantine")):
            failure = "reject"
        enabled = quarantine.take("enabled")
        if isinstance(enabled, ScalarNode) and enabled.text.lower() == "false":
            quarantine.refuse("enabled", "a quarantine that is off cannot be carried", "failing rows are never let through")
        quarantine.only("format", ("delta",), "the quarantine is a Delta table")
        quarantine.only("write_mode", ("append",), "the quarantine only grows")
        place = quarantine.text("target") or quarantine.text("table") or quarantine.text("location")
        quarantine.ignore("table", "location", "include_error_reason", "notifications_enabled", "strict_notifications")
        quarantine.unless_off("notifications", why="write `notifications` in the native format")
        quarantine.end()
        if place is not None:
            entries.append((key("quarantine", at), mapping(at, (key("location", place.at), place))))
    rows = olc_quality.row_rules([rule for _, rule in field_rules])
    whole: list[Node] = []
    if part is not None:
        rows += olc_quality.row_rules(part.parts("row_rules"))
        whole, unique = olc_quality.dataset_rules(part.parts("dataset_rules"))
        keys = [*keys, *unique]
        part.ignore("enforce_required", "fail_pipeline_on_dataset_error")
        part.end()
    whole += _service_levels(root, entries)
    quality = mapping(
        at, (key("on_row_failure", at), text(failure, at)), (key("row_rules", at), ListNode(tuple(rows), at)),
        (key("dataset_rules", at), ListNode(tuple(whole), at)),
    )  # fmt: skip
    entries.append((key("quality", at), quality))
    if keys:
        entries.append((key("keys", at), ListNode(tuple(_distinct(keys)), at)))
    return entries


def _distinct(keys: list[Node]) -> list[Node]:
    """Keys with their columns once: a primary key that a rule calls unique too is one key, under the rule's name."""
    found: dict[frozenset[str], Node] = {}
    for node in keys:
        columns = frozenset(c.text.lower() for c in texts(node.get("columns"))) if isinstance(node, MapNode) else frozenset()
        found[columns] = node
    return list(found.values())


def _service_levels(root: Part, entries: list[Entry]) -> list[Node]:
    """How old the newest row may be, and how many rows there are."""
    part, at = root.part("service_levels"), root.node.at
    if part is None:
        return []
    freshness = part.take("freshness")
    inner = Part(freshness, part.report, (*part.place, "freshness")) if isinstance(freshness, MapNode) else None
    age = inner.text("threshold") if inner is not None else freshness
    column = inner.moved("field", "column") if inner is not None else []
    if isinstance(age, ScalarNode):
        match = _AGE.match(age.text.strip())
        if match is None:
            part.refuse("freshness", f"expected an age such as 24h, found {age.text!r}")
        else:
            entry = (key("max_age", at), text(match.group(1) + (match.group(2) or "h")[0], at))
            entries.append((key("freshness", at), mapping(at, entry, *column)))
    if inner is not None:
        inner.ignore("description")
        inner.end()
    rows = part.part("row_count")
    part.ignore("availability")
    part.end()
    if rows is None:
        return []
    bounds = mapping(at, *rows.moved("min_rows", "min"), *rows.moved("max_rows", "max"))
    rows.ignore("check_field", "skip_reprocess_days", "description")
    rows.end()
    return [mapping(at, (key("name", at), text("service_level_row_count", at)), (key("row_count", at), bounds))]


def _rest(root: Part) -> list[Entry]:
    """What would do something, and cannot be carried."""
    lineage = root.part("lineage")
    if lineage is not None:
        if is_true(lineage.take("enabled")):
            hint = "the audit holds where each row and column comes from"
            lineage.refuse("enabled", "columns of lineage cannot be carried", hint)
        lineage.taken |= {name.text for name, _ in lineage.node.entries}
    if root.take("logic") is not None:
        root.refuse("logic", "'logic' cannot be carried", "write it as a transformation of kind sql")
    root.unless_off("environments", why="write `environments` in the native format, with the names of its places")
    root.unless_off("notifications", why="write `notifications` in the native format")
    return []


