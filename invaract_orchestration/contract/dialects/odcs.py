"""The Open Data Contract (ODCS 3), mapped to the native format: one table of it, its columns, keys and rules.

Where data comes from is not said there: a run names it. What cannot be carried is refused by its name, and what only people read
is kept under `extensions.odcs`.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from invaract_orchestration.contract.dialects.olc_parts import Entry, Part, is_true, key, mapping, rule_name, text, word
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
    return [(key("description", found.at), found)] if len(found.entries) > (purpose is not None) else []


def _table(part: Part, name: ScalarNode) -> list[Entry]:
    at = part.node.at
    target = part.text("physicalName") or part.text("name") or name
    part.ignore("name", "physicalType", "businessName", "tags", "dataGranularityDescription", "customProperties", "logicalType",
                "authoritativeDefinitions", "description", "id")  # fmt: skip
    columns = part.parts("properties")
    keys = sorted((_position(c, "primaryKeyPosition"), c) for c in columns if is_true(c.take("primaryKey")))
    parted = sorted((_position(c, "partitionKeyPosition"), c) for c in columns if is_true(c.take("partitioned")))
    fields = ListNode(tuple(_field(c)[0] for c in columns), at)
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


def _field(part: Part, *, is_column: bool = True) -> tuple[MapNode, str]:
    """A column, or a field inside of one, and its type."""
    at = part.node.at
    type_, inner = _type(part)
    entries = [*part.moved("name", "name"), (key("type", at, "logicalType"), text(type_, at))]
    entries += part.moved("description", "description")
    entries += [(k, word(str(is_true(v)).lower(), v.at)) for n in ("required", "unique") for k, v in part.moved(n, n)]
    entries += _options(part)
    if inner:
        entries.append((key("fields", at, "properties"), ListNode(inner, at)))
    part.ignore(*_ABOUT_A_COLUMN)
    part.ignore("primaryKeyPosition", "partitionKeyPosition", *(("primaryKey", "partitioned") if is_column else ()))
    part.unless_off("transformSourceObjects", "transformLogic", "transformDescription", why="write it as a transformation")
    part.unless_off("quality", why="rules of a column are required, unique, minimum, maximum, pattern and lengths")
    if not is_column:
        part.unless_off("primaryKey", "partitioned", why="a key is of columns, not of fields inside of one")
    part.end()
    return mapping(at, *entries), type_


def _options(part: Part) -> list[Entry]:
    options = part.part("logicalTypeOptions")
    if options is None:
        return []
    entries: list[Entry] = []
    for written, native in (("minLength", "min_length"), ("maxLength", "max_length"), ("pattern", "pattern"),
                            ("minimum", "min"), ("maximum", "max"), ("format", "format")):  # fmt: skip
        entries += options.moved(written, native)
    options.unless_off("exclusiveMinimum", "exclusiveMaximum", zero_is_off=False, why="bounds are inclusive; write a row rule")
    options.unless_off("minItems", "minProperties", why="there is nothing like it here")
    options.unless_off("multipleOf", "maxItems", "uniqueItems", "maxProperties", "required", "timezone", "defaultTimezone",
                       zero_is_off=False, why="there is nothing like it here")  # fmt: skip
    options.end()
    return entries


def _type(part: Part) -> tuple[str, tuple[Node, ...]]:
    """The type, and the fields inside of it: the physical type where it is one that is known, else the logical one."""
    logical, physical = part.text("logicalType"), part.text("physicalType")
    nested, items = part.parts("properties"), part.part("items")
    if nested:
        inner = [(p, *_field(p, is_column=False)) for p in nested]
        types = ", ".join(f"{_quoted_name(p)}: {type_}" for p, _, type_ in inner)
        return f"struct<{types}>", tuple(node for _, node, _ in inner if len(node.entries) > 2)  # more than name and type
    if items is not None:
        return _array(items)
    if physical is not None:
        written = re.sub(r"(?i)\A(?:n?var)?char(?:acter)?(?:\s*\(\s*\d+\s*\))?\Z", "string", physical.text)
        try:
            parse_type(written)
        except TypeSyntaxError:
            pass
        else:
            return written, ()
    if logical is None:
        part.refuse("logicalType", "a column needs a logicalType or a physicalType that is known")
        return "string", ()
    found = _TYPES.get(logical.text)
    if found is None:
        part.refuse("logicalType", f"logicalType {logical.text} cannot be carried", f"what can be: {', '.join(_TYPES)}")
    return found or "string", ()


def _array(items: Part) -> tuple[str, tuple[Node, ...]]:
    """An array; what is asked of its elements is carried where they are objects, of their fields."""
    element, inner = _type(items)
    items.ignore(*_ABOUT_A_COLUMN, "name", "description")
    items.unless_off("required", "unique", "primaryKey", "partitioned", "logicalTypeOptions", "quality", "transformLogic",
                     why="checks of an array's elements are those of their fields")  # fmt: skip
    items.end()
    return f"array<{element}>", inner


def _quoted_name(part: Part) -> str:
    name = part.text("name")
    return "`" + (name.text if name is not None else "").replace("`", "``") + "`"


def _rule(part: Part) -> Node | None:
    """A query over the table, or the number of its rows."""
    at = part.node.at
    type_ = part.text("type")
    kind = type_.text if type_ is not None else "library"
    part.ignore("description", "dimension", "method", "schedule", "scheduler", "businessImpact", "tags",
                "customProperties", "authoritativeDefinitions")  # fmt: skip
    severity = part.text("severity")
    name, id_ = part.text("name"), part.text("id")
    query, rule = part.text("query"), part.text("metric") or part.text("rule")
    part.ignore("rule")
    if kind == "sql":
        part.ignore("unit")
    else:
        part.only("unit", ("rows",), "a number of rows is counted")
    bounds = _bounds(part)
    part.end()
    entries: list[Entry] = [(key("name", at), _rule_name(name or id_, query, at))]
    if severity is not None and severity.text.lower() in ("warning", "info"):
        entries.append((key("severity", at), text("warn", at)))
    if kind == "sql" and query is not None and bounds:
        sql = re.sub(r"(?i)\$\{?(object|table)\}?|\{(object|table)\}", "candidate", query.text)
        return mapping(at, *entries, (key("sql", query.at), replace(query, text=sql)), (key("must_be", at), mapping(at, *bounds)))
    if kind == "library" and rule is not None and rule.text == "rowCount" and bounds:
        return mapping(at, *entries, *_row_count(bounds, at))
    part.refuse("type", f"a rule of type {kind} cannot be carried here", "rules of type sql and rowCount can, with a bound")
    return None


def _rule_name(given: ScalarNode | None, query: ScalarNode | None, at: Mark) -> ScalarNode:
    """The rule's name, else its id, else one that follows from what it asks: never from where it stands in the file."""
    if given is not None:
        return text(rule_name(given.text), given.at)
    return text("row_count" if query is None else f"sql_{hashlib.sha256(query.text.encode()).hexdigest()[:8]}", at)


def _bounds(part: Part) -> list[Entry]:
    """The bounds of a rule's number, each said once."""
    bounds = [e for written, native in _BOUNDS.items() for e in part.moved(written, native)] + part.between("mustBeBetween")
    said: set[str] = set()
    for bound, _ in bounds:
        if bound.text in said:
            part.refuse(bound.written, f"'{bound.written}' says a bound that another key says too", "keep one of them")
        said.add(bound.text)
    return bounds


def _row_count(bounds: list[Entry], at: Mark) -> list[Entry]:
    """Inclusive bounds are those of `row_count`; others are bounds of a query that counts."""
    inclusive = {"at_least": "min", "at_most": "max"}
    if all(bound.text in inclusive for bound, _ in bounds):
        own = [(replace(bound, text=inclusive[bound.text]), value) for bound, value in bounds]
        return [(key("row_count", at), mapping(at, *own))]
    return [(key("sql", at), text("select count(*) from candidate", at)), (key("must_be", at), mapping(at, *bounds))]
