"""The Open Lakehouse Contract (`info`, `model`, `transformations`, `quality`, `materialization`), mapped to the native format.

What it calls accepted is the candidate; failing rows are quarantined; `model` describes the result, other columns are left out,
and values become the declared types where they can. What cannot be carried is refused by its name.
"""

from __future__ import annotations

import re
from pathlib import Path as FilePath

from invaract_orchestration.contract.dialects import olc_fields, olc_publish, olc_quality, olc_source, olc_steps
from invaract_orchestration.contract.dialects.olc_blank_keys import blank_keys, not_null_columns
from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, is_true, key, mapping, text, texts
from invaract_orchestration.contract.dialects.olc_references import typed_links
from invaract_orchestration.contract.report import Report
from invaract_orchestration.contract.template import contract_id
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Mark, Node, ScalarNode

_STATUSES = ("draft", "active", "deprecated", "retired")
_FOR_PEOPLE = (
    "metadata", "observatory", "upstream", "upstream_contracts", "upstream_sources", "downstream", "schedule", "compliance",
    "tier", "contract_file_name", "dataset",
)  # fmt: skip
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
    versions = olc_publish.materialization(part, table, fields)
    entries += [(key("fields", at), _without(fields, versions.own))] if fields is not None else []
    entries += versions.entries
    names = {name.text.lower() for name in _names(fields)}
    made = [*olc_steps.extracted(part.part("extraction")), *olc_steps.steps(part.parts("transformations"), names)]
    rules = olc_quality.row_rules([rule for _, rule in field_rules], made)
    rules += olc_quality.row_rules(quality.parts("row_rules") if quality is not None else [], made)
    made, blank = blank_keys(made, not_null_columns(fields, rules))
    if made:
        entries.append((key("transformations", at), ListNode(tuple(made), at)))
    function = _function(part, bool(made))
    entries += function
    entries += olc_source.source(part, is_cast=not function) + typed_links(olc_source.links(part), made, fields)
    entries += _quality(part, quality, [*rules, *blank], versions.keys) + _rest(part)
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
    about = part.kept(
        "target_layer", "classification", "domain", "system", "version", "data_product", "data_product_output"
    )
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


def _quality(root: Part, part: Part | None, rows: list[Node], keys: list[Node]) -> list[Entry]:
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
    whole: list[Node] = []
    if part is not None:
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
            name = "max_age" if column else "every"  # without a column it is the table that may be no older
            entry = (key(name, at), text(match.group(1) + (match.group(2) or "h")[0], at))
            entries.append((key("freshness", at), mapping(at, entry, *column)))
    if inner is not None:
        inner.ignore("description")
        inner.end()
    rows = part.part("row_count")
    part.ignore("availability", "completeness")  # kept over many runs, and watched from outside of them
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


