"""The Open Data Contract (ODCS 3), mapped to the native format: one table of it, its columns, keys and rules.

Where data comes from is not said there: a run names it. What cannot be carried is refused by its name, and what only people read
is kept under `extensions.odcs`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, is_true, key, mapping, text, texts, word
from invaract_orchestration.contract.field_types import TypeSyntaxError, parse_type
from invaract_orchestration.contract.report import Report
from invaract_orchestration.contract.template import contract_id
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Mark, Node, ScalarNode

_TYPES = {
    "string": "string", "integer": "bigint", "number": "double", "boolean": "boolean", "date": "date", "timestamp": "timestamp",
}  # fmt: skip
_FOR_PEOPLE = (
    "tenant", "domain", "dataProduct", "tags", "team", "roles", "support", "price", "customProperties",
    "authoritativeDefinitions", "contractCreatedTs", "slaProperties", "slaDefaultElement", "servers",
)  # fmt: skip
_ABOUT_A_COLUMN = (
    "businessName", "classification", "criticalDataElement", "examples", "tags", "customProperties", "authoritativeDefinitions",
    "encryptedName", "id", "physicalName",
)  # fmt: skip
_BOUNDS = {
    "mustBe": "equal_to", "mustBeGreaterThan": "greater_than", "mustBeGreaterOrEqualTo": "at_least",
    "mustBeGreaterThanOrEqualTo": "at_least", "mustBeLessThan": "less_than", "mustBeLessOrEqualTo": "at_most",
    "mustBeLessThanOrEqualTo": "at_most",
}  # fmt: skip
_STATUSES = {"proposed": "draft", "draft": "draft", "active": "active", "deprecated": "deprecated", "retired": "retired"}


def is_odcs(root: MapNode) -> bool:
    """Whether the file is an Open Data Contract."""
    return root.has("apiVersion") and root.has("kind") and not root.has("contract")


def from_odcs(root: MapNode, report: Report) -> MapNode:
    """The tree in the native spelling. What cannot be carried is reported by its name and left out."""
    part, at = Part(root, report, ()), root.at
    api = part.text("apiVersion")
    if api is not None and not re.match(r"v3\.\d+\.\d+\Z", api.text):
        part.refuse("apiVersion", f"ODCS {api.text} cannot be carried", "versions 3.x are")
    part.only("kind", ("datacontract",), "it is no data contract")
    name = part.text("name") or part.text("id") or text("contract", at)
    part.ignore("id")
    entries: list[Entry] = [(key("contract", name.at, "name"), text(contract_id(name.text), name.at))]
    entries += part.moved("version", "version")
    status = part.only("status", _STATUSES, "it is no status")
    if status is not None:
        entries.append((key("status", status.at), text(_STATUSES[status.text.lower()], status.at)))
    about = _description(part, entries)
    tables = part.parts("schema")
    if len(tables) == 1:
        entries += _table(tables[0], name)
    elif tables:
        part.refuse("schema", f"a contract is about one table, and this one has {len(tables)}", "write one file for each of them")
    about += part.kept(*_FOR_PEOPLE)
    part.end()
    if about:
        entries.append((key("extensions", at), mapping(at, (key("odcs", at), mapping(at, *about)))))
    return MapNode(tuple(entries), at)


def _description(part: Part, entries: list[Entry]) -> list[Entry]:
    found = part.take("description")
    if isinstance(found, ScalarNode):
        entries.append((key("description", found.at), found))
    if not isinstance(found, MapNode):
        return []
    purpose = found.get("purpose")
    if purpose is not None:
        entries.append((key("description", found.at), purpose))
    return [(key("description", found.at), found)]


def _table(part: Part, name: ScalarNode) -> list[Entry]:
    at = part.node.at
    target = part.text("physicalName") or part.text("name") or name
    part.ignore("name", "physicalType", "businessName", "tags", "dataGranularityDescription", "customProperties", "logicalType",
                "authoritativeDefinitions", "description", "id")  # fmt: skip
    columns = part.parts("properties")
    keys = sorted((_position(c, "primaryKeyPosition"), c) for c in columns if is_true(c.take("primaryKey")))
    parted = sorted((_position(c, "partitionKeyPosition"), c) for c in columns if is_true(c.take("partitioned")))
    fields = ListNode(tuple(_field(c) for c in columns), at)
    rules = ListNode(tuple(rule for q in part.parts("quality") if (rule := _rule(q)) is not None), at)
    part.end()
    publish: list[Entry] = [(key("target", at), target)]
    if parted:
        publish.append((key("partition_by", at), _names([c for _, c in parted], at)))
    entries: list[Entry] = [(key("fields", at), fields), (key("publish", at), mapping(at, *publish))]
    if keys:
        unique = mapping(at, (key("columns", at), _names([c for _, c in keys], at)))
        entries.append((key("keys", at), ListNode((unique,), at)))
    if rules.items:
        entries.append((key("quality", at), mapping(at, (key("dataset_rules", at), rules))))
    return entries


def _position(part: Part, name: str) -> tuple[int, int]:
    found = part.text(name)
    given = int(found.text) if found is not None and re.fullmatch(r"-?[0-9]{1,6}", found.text) else 0
    return given, part.node.at.line * 10_000 + part.node.at.column


def _names(parts: list[Part], at: Mark) -> ListNode:
    found = (p.node.get("name") for p in parts)
    return ListNode(tuple(n for n in found if n is not None), at)


def _field(part: Part) -> MapNode:
    at = part.node.at
    entries = [*part.moved("name", "name"), (key("type", at, "logicalType"), text(_type(part), at))]
    entries += part.moved("description", "description")
    entries += [(k, word(str(is_true(v)).lower(), v.at)) for n in ("required", "unique") for k, v in part.moved(n, n)]
    options = part.part("logicalTypeOptions")
    if options is not None:
        for written, native in (("minLength", "min_length"), ("maxLength", "max_length"), ("pattern", "pattern"),
                                ("minimum", "min"), ("maximum", "max"), ("format", "format")):  # fmt: skip
            entries += options.moved(written, native)
        options.unless_off("exclusiveMinimum", "exclusiveMaximum", why="bounds are inclusive; write a row rule")
        options.unless_off("multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "required",
                           "timezone", "defaultTimezone", why="there is nothing like it here")  # fmt: skip
        options.end()
    part.ignore(*_ABOUT_A_COLUMN, "primaryKeyPosition", "partitionKeyPosition", "primaryKey", "partitioned")
    part.unless_off("transformSourceObjects", "transformLogic", "transformDescription", why="write it as a transformation")
    part.unless_off("quality", why="rules of a column are required, unique, minimum, maximum, pattern and lengths")
    part.end()
    return mapping(at, *entries)


def _type(part: Part) -> str:
    """The physical type where it is one that is known, else the logical one."""
    logical, physical = part.text("logicalType"), part.text("physicalType")
    nested = part.parts("properties") if part.node.has("properties") else []
    items = part.part("items")
    if nested:
        return "struct<" + ", ".join(f"`{_name_of(p)}`: {_type(p)}" for p in nested) + ">"
    if items is not None:
        return f"array<{_type(items)}>"
    if physical is not None:
        written = re.sub(r"(?i)\A(?:n?var)?char(?:acter)?(?:\s*\(\s*\d+\s*\))?\Z", "string", physical.text)
        try:
            parse_type(written)
        except TypeSyntaxError:
            pass
        else:
            return written
    if logical is None:
        part.refuse("logicalType", "a column needs a logicalType or a physicalType that is known")
        return "string"
    found = _TYPES.get(logical.text)
    if found is None:
        part.refuse("logicalType", f"logicalType {logical.text} cannot be carried", f"what can be: {', '.join(_TYPES)}")
    return found or "string"


def _name_of(part: Part) -> str:
    name = part.text("name")
    return name.text if name is not None else ""


def _rule(part: Part) -> Node | None:
    """A query over the table, or the number of its rows."""
    at = part.node.at
    type_ = part.text("type")
    kind = type_.text if type_ is not None else "library"
    part.ignore("description", "dimension", "method", "schedule", "scheduler", "businessImpact", "tags", "id", "unit",
                "customProperties", "authoritativeDefinitions")  # fmt: skip
    severity = part.text("severity")
    name, query, rule = part.text("name"), part.text("query"), part.text("metric") or part.text("rule")
    part.ignore("rule")
    bounds = [e for written, native in _BOUNDS.items() for e in part.moved(written, native)]
    between = texts(part.take("mustBeBetween"))
    if len(between) == 2:
        bounds += [(key("at_least", at), between[0]), (key("at_most", at), between[1])]
    part.end()
    entries: list[Entry] = [(key("name", at), name or text(f"rule_line_{at.line}_{at.column}", at))]
    if severity is not None and severity.text.lower() in ("warning", "info"):
        entries.append((key("severity", at), text("warn", at)))
    if kind == "sql" and query is not None and bounds:
        sql = re.sub(r"(?i)\$\{?(object|table)\}?|\{(object|table)\}", "candidate", query.text)
        return mapping(at, *entries, (key("sql", query.at), replace(query, text=sql)), (key("must_be", at), mapping(at, *bounds)))
    if kind == "library" and rule is not None and rule.text == "rowCount" and bounds:
        count = "select count(*) from candidate"
        return mapping(at, *entries, (key("sql", at), text(count, at)), (key("must_be", at), mapping(at, *bounds)))
    part.refuse("type", f"a rule of type {kind} cannot be carried here", "rules of type sql and rowCount can, with a bound")
    return None
