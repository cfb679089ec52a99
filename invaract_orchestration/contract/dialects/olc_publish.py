"""How an Open Lakehouse Contract is published: its materialization and its keys."""

from __future__ import annotations

from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, is_true, key, listed, mapping, text
from invaract_orchestration.contract.dialects.olc_source import ADDS
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Mark, Node, ScalarNode

_MODES = {"append": "append", "overwrite": "overwrite", "merge": "merge", "scd2": "scd2"}


class Published:
    """What materialization says: entries of `publish`, keys, and the fields that the publishing itself makes."""

    def __init__(self, entries: list[Entry], keys: list[Node], own: set[str]) -> None:
        self.entries, self.keys, self.own = entries, keys, own


def materialization(root: Part, table: ScalarNode, fields: Node | None) -> Published:
    """Where rows go and how. `table` is the name of the table where no place is said."""
    part, at = root.part("materialization"), root.node.at
    primary, natural = _key(root, "primary_key"), _key(root, "natural_key")
    unique: list[Node] = [mapping(at, (key("columns", at), listed(primary)))] if primary is not None else []
    target: Node = table
    publish: list[Entry] = []
    own: set[str] = set()
    if part is not None:
        strategy = part.only("strategy", _MODES, "the gate has no such way to publish")
        mode = _MODES[strategy.text.lower()] if strategy is not None else "append"
        publish.append((key("mode", at), text(mode, at)))
        history = part.node.get("scd2") if mode == "scd2" else None
        business = history.get("business_key") if isinstance(history, MapNode) else None
        chosen = (natural or business or primary) if mode == "scd2" else primary
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
            "table_properties", "compaction", "unknown_member", "scd1", "secondary_targets", "dlt_destination", "dlt_credentials",
            "dlt_dataset_name", *(("scd2",) if not versions else ()),
            why="there is nothing like it here",
        )  # fmt: skip
        part.ignore("soft_delete_value", "reprocess_policy")
        part.end()
    publish.insert(0, (key("target", at), target))
    policy = root.node.get("schema_policy")
    evolution = policy.get("evolution") if isinstance(policy, MapNode) else None
    if isinstance(evolution, ScalarNode) and evolution.text in ADDS:
        publish.append((key("evolve", evolution.at), text("add_columns", evolution.at)))
    return Published([(key("publish", at), mapping(at, *publish))], unique, own)


def _key(root: Part, name: str) -> Node | None:
    """The columns of a key, or none where it is left out, null or empty."""
    found = root.take(name)
    return None if isinstance(found, ListNode) and not found.items else found


def _scd2(part: Part | None, fields: Node | None, at: Mark) -> tuple[list[Entry], set[str]]:
    """How versions are written, and the fields of the model that they are."""
    if part is None:
        return [], set()
    entries: list[Entry] = []
    names = (
        ("effective_from_field", "valid_from"), ("effective_from", "valid_from"), ("effective_to_field", "valid_to"),
        ("effective_to", "valid_to"), ("current_flag_field", "current"), ("current_flag", "current"),
        ("version_column", "number"), ("timestamp_field", "since"), ("change_date_field", "since"),
        ("start_date_default", "first"), ("effective_from_default", "first"), ("end_date_default", "open"),
        ("effective_to_default", "open"),
    )  # fmt: skip
    for written, native in names:
        moved = part.moved(written, native)
        entries += moved if native not in {name.text for name, _ in entries} else []
    entries += part.moved("track_columns", "track", listed) or part.moved("hash_columns", "track", listed)
    part.ignore("hash_columns", "business_key", "surrogate_key_strategy")
    part.unless_off("surrogate_key", why="the gate makes no keys of its own")
    part.unless_off("change_reason_column", "default_effective_from", "merge_dedup_guard", why="there is nothing like it here")
    unknown = part.part("unknown_member")
    if unknown is not None and is_true(unknown.take("enabled")):
        part.refuse("unknown_member", "'unknown_member' cannot be carried: the gate makes no rows of its own")
    part.end()
    columns = ("valid_from", "valid_to", "current", "number")
    made = {v.text.lower() for k, v in entries if k.text in columns and isinstance(v, ScalarNode)}
    return [(key("versions", at), mapping(at, *entries))], made
