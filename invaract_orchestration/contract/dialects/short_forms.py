"""The short forms that people already write: `name`/`arrives`/`columns`, a `rules` list, `model.fields` with `quality`.

What they leave out stays absent: a run asks for it by name when it needs it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from invaract_orchestration.contract.report import Report, shown
from invaract_orchestration.contract.yaml_tree import MapNode, Node, ScalarNode

_Entry = tuple[ScalarNode, Node]
_BY = re.compile(r"\bby (\d{1,2}:\d{2}) UTC\b", re.IGNORECASE | re.ASCII)
_PARAMETER = re.compile(r"<(\w+)>", re.ASCII)
_EXTENSION = re.compile(r"\.(csv|tsv|txt|json|jsonl|ndjson|parquet)(\.gz)?\Z", re.IGNORECASE)
_UTC = ("UTC", "Etc/UTC")
_FORMATS = {"json": "json", "jsonl": "json", "ndjson": "json", "parquet": "parquet"}


def is_short_form(root: MapNode) -> bool:
    """Whether the file is one of the three short forms: it has no `contract` id of its own."""
    keys = {key.text for key, _ in root.entries}
    if "contract" in keys:
        return False
    is_flat = "name" in keys and bool(keys & {"columns", "arrives", "fields"})
    return is_flat or "model" in keys or (bool(keys) and keys <= {"rules", "version"})


def expand_short_form(root: MapNode, name_of_file: str, report: Report) -> MapNode:
    """The native spelling: the id from `name`, else from the file's name; location and time from `arrives`.

    A time in UTC beside another `timezone` is a problem: `freshness.expected_by` is in the contract's zone, where the hour of UTC
    changes with the season.
    """
    entries: list[_Entry] = []
    for key, value in root.entries:
        entries.append((replace(key, text="contract", written="name"), value) if key.text == "name" else (key, value))
    if not root.has("name"):
        entries.insert(0, (_key("contract", root), ScalarNode(name_of_file, root.at, is_plain=False)))
    return _from_arrives(root.with_entries(tuple(entries)), report)


def _key(text: str, node: Node, written: str = "") -> ScalarNode:
    return ScalarNode(text, node.at, written=written or text)


def _from_arrives(root: MapNode, report: Report) -> MapNode:
    arrives = root.get("arrives")
    if not isinstance(arrives, ScalarNode):
        return root
    place = next((w for w in map(_trimmed, reversed(arrives.text.split())) if _looks_like_a_path(w)), None)
    by = _BY.search(arrives.text)
    if place is not None:
        location = _PARAMETER.sub(r"{\1}", place)
        root = _with_default(root, "source", "location", location, arrives)
        root = _with_default(root, "source", "format", _format_of(location), arrives)
    if by is not None:
        grown = _with_default(root, "freshness", "expected_by", by.group(1).rjust(5, "0"), arrives)
        zone = root.get("timezone")
        if grown is not root and isinstance(zone, ScalarNode) and zone.text not in _UTC:
            message = f"expected a time in the contract's timezone {shown(zone.text)}, found {shown(by.group())}"
            report.add(("arrives",), message, at=arrives.at, hint="write freshness.expected_by, which is in that zone")
        root = grown
    return root


def _trimmed(word: str) -> str:
    return word.strip(",;()[]'\"").rstrip(".:")


def _looks_like_a_path(word: str) -> bool:
    return ("/" in word and len(word) > 1) or _EXTENSION.search(word) is not None


def _format_of(location: str) -> str:
    match = _EXTENSION.search(location)
    return _FORMATS.get(match.group(1).lower(), "csv") if match else "csv"


def _with_default(root: MapNode, part: str, key: str, text: str, origin: ScalarNode) -> MapNode:
    """The tree with `part.key`, unless the file says it itself."""
    value = ScalarNode(text, origin.at, is_plain=False, is_on_one_line=False)
    entry = (_key(key, origin), value)
    known = root.get(part)
    if known is None:
        return root.with_entries((*root.entries, (_key(part, origin, "arrives"), MapNode((entry,), origin.at))))
    if not isinstance(known, MapNode) or known.has(key):
        return root
    grown = known.with_entries((*known.entries, entry))
    return root.with_entries(tuple((k, grown if k.text == part else v) for k, v in root.entries))
