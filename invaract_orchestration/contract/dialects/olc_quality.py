"""Quality rules of an Open Lakehouse Contract: every shorthand is the SQL that it stands for."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from invaract_orchestration.contract.dialects.olc_parts import (
    Entry,
    Part,
    is_null,
    is_true,
    key,
    listed,
    mapping,
    rule_name,
    text,
    texts,
)  # fmt: skip
from invaract_orchestration.contract.dialects.olc_references import found_in_link, lookup_step, made_in_post
from invaract_orchestration.contract.dialects.olc_steps import over_source
from invaract_orchestration.contract.yaml_tree import ListNode, MapNode, Node, ScalarNode

_SEVERITIES = {"error": "error", "critical": "error", "warning": "warn", "warn": "warn", "info": "warn"}
_SHORT = ("not_null", "accepted_values", "regex_match", "range", "lifecycle_window", "referential_integrity")
_WINDOW = re.compile(r"([1-9][0-9]{0,4})d\Z", re.ASCII)


def row_rules(parts: list[Part], steps: list[Node]) -> list[Node]:
    """The native row rules. What a rule needs of a link is put at the end of `steps`."""
    return [rule for part in parts for rule in _row_rule(part, steps)]


def dataset_rules(parts: list[Part]) -> tuple[list[Node], list[Node]]:
    """The native dataset rules, and keys for the rules that something is unique."""
    rules: list[Node] = []
    keys: list[Node] = []
    for part in parts:
        if part.node.has("unique"):
            keys += _unique(part)
        elif part.node.has("null_ratio"):
            rules += _null_ratio(part)
        elif part.node.has("row_count_between"):
            rules += _row_count(part)
        else:
            rules += _query(part)
    return rules, keys


def _row_rule(part: Part, steps: list[Node]) -> list[Node]:
    short = next((kind for kind in _SHORT if part.node.has(kind)), None)
    part.ignore("category", "description")
    own = _common(part)
    if short is None:
        entries = [*part.moved("name", "name"), *part.moved("sql", "sql"), *own]
        for bound in ("must_be_between", "must_be_less_than", "must_be_greater_than"):
            if part.take(bound) is not None:
                part.refuse(bound, f"'{bound}' on a row rule cannot be carried", "write the comparison in its sql")
        part.end()
        return [mapping(part.node.at, *entries)]
    name = part.text("name")
    value = part.take(short)
    part.end()
    if value is None:
        part.refuse(short, f"'{short}' says nothing")
        return []
    items = value.items if isinstance(value, ListNode) else (value,)
    given = name if len(items) == 1 else None
    return [rule for item in items for rule in _short_rules(part, short, item, given, own, steps)]


def _common(part: Part) -> list[Entry]:
    """Severity and phase of a rule."""
    entries = part.moved("phase", "phase")
    severity = part.only("severity", _SEVERITIES, "it is no severity")
    if severity is not None:
        entries.append((key("severity", severity.at), text(_SEVERITIES[severity.text.lower()], severity.at)))
    return entries


def _short_rules(
    part: Part, kind: str, value: Node, name: ScalarNode | None, own: list[Entry], steps: list[Node]
) -> list[Node]:  # fmt: skip
    if isinstance(value, ScalarNode):
        if kind != "not_null":
            part.refuse(kind, f"expected a mapping under '{kind}'")
            return []
        return [_rule(kind, value, f"{_column(value)} IS NOT NULL", name, own)]
    if not isinstance(value, MapNode):
        part.refuse(kind, f"expected a mapping under '{kind}'")
        return []
    inner = Part(value, part.report, (*part.place, kind))
    inner.ignore("category", "description")
    given = inner.text("name") or name
    own = [*own, *_common(inner)]
    columns = _columns_of(inner)
    if not columns:
        inner.refuse("field", f"'{kind}' names no field")
        return []
    if kind == "referential_integrity":
        rules = [rule for column in columns for rule in _in_link(inner, column, given, own, steps)]
        inner.end()
        return rules
    condition = _condition(kind, inner)
    inner.end()
    if condition is None:
        part.refuse(kind, f"'{kind}' does not say what it asks for")
        return []
    is_one = len(columns) == 1
    return [_rule(kind, c, condition.replace("{column}", _column(c)), given if is_one else None, own) for c in columns]


def _columns_of(part: Part) -> list[ScalarNode]:
    """The columns that a shorthand names; `column` is another word for `field`."""
    named = [*texts(part.take("field")), *texts(part.take("fields"))]
    other = [*texts(part.take("column")), *texts(part.take("columns"))]
    return named or other


def _condition(kind: str, part: Part) -> str | None:
    """The SQL of a shorthand, with `{column}` for the column."""
    match kind:
        case "not_null":
            return "{column} IS NOT NULL"
        case "accepted_values":
            values = [v for v in texts(part.take("values")) if not is_null(v)]
            return f"{{column}} IN ({', '.join(map(_literal, values))})" if values else "false"
        case "regex_match":
            pattern = part.text("pattern")
            return f"{{column}} RLIKE {_quoted(pattern.text)}" if pattern is not None else None
        case "range":
            is_open = part.take("inclusive")
            strict = isinstance(is_open, ScalarNode) and not is_true(is_open)
            low, high = part.text("min"), part.text("max")
            bounds = [f"{{column}} {'>' if strict else '>='} {_literal(low)}"] if low is not None else []
            bounds += [f"{{column}} {'<' if strict else '<='} {_literal(high)}"] if high is not None else []
            return " AND ".join(bounds) or None
        case "lifecycle_window":
            window = part.text("window")
            days = _WINDOW.match(window.text) if window is not None else None
            if days is not None:
                return f"{{column}} >= date_sub(current_date(), {days.group(1)})"
            part.refuse("window", "expected a window of days, such as 30d")
            return None
    raise AssertionError(kind)


def _in_link(
    part: Part, column: ScalarNode, name: ScalarNode | None, own: list[Entry], steps: list[Node]
) -> list[Node]:  # fmt: skip
    """A rule that a value is found in a link: a step looks it up in the rule's phase."""
    found = found_in_link(part, column)
    if found is None:
        return []
    looked_up, made = found
    said = next((v.text for k, v in own if k.text == "phase" and isinstance(v, ScalarNode)), None)
    phase = said or ("post" if column.text.lower() in made_in_post(steps) else "pre")
    steps.append(lookup_step(looked_up, phase, column.at))
    own = [*(e for e in own if e[0].text != "phase"), (key("phase", column.at), text(phase, column.at))]
    return [_rule("referential_integrity", column, f"{_column(text(made, column.at))} IS NOT NULL", name, own)]


def _rule(kind: str, column: ScalarNode, sql: str, name: ScalarNode | None, own: list[Entry]) -> Node:
    at = column.at
    given = name or text(rule_name(f"{column.text}_{kind}"), at)
    return mapping(at, (key("name", at), given), (key("sql", at), text(sql, at)), *own)


def _column(node: ScalarNode) -> str:
    return "`" + node.text.replace("`", "``") + "`"


def _literal(node: ScalarNode) -> str:
    is_number = node.is_plain and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", node.text) is not None
    return node.text if is_number or (node.is_plain and node.text in ("true", "false")) else _quoted(node.text)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _unique(part: Part) -> list[Node]:
    value, at = part.take("unique"), part.node.at
    part.ignore("category", "description")
    name, own = part.text("name"), _severity_of(part)
    part.end()
    columns: list[Node]
    if isinstance(value, MapNode):
        inner = Part(value, part.report, (*part.place, "unique"))
        inner.ignore("category", "description")
        columns = [*_columns_of(inner)]
        name, own = inner.text("name") or name, [*own, *_severity_of(inner)]
        inner.end()
    else:
        columns = list(listed(value).items) if value is not None else []
    entries: list[Entry] = [(key("columns", at), ListNode(tuple(columns), at)), *own]
    default = "_".join(c.text for c in columns if isinstance(c, ScalarNode)) + "_unique"
    return [mapping(at, *entries, (key("name", at), name or text(rule_name(default), at)))]


def _severity_of(part: Part) -> list[Entry]:
    part.ignore("phase")
    return [entry for entry in _common(part) if entry[0].text == "severity"]


def _null_ratio(part: Part) -> list[Node]:
    inner, at = part.part("null_ratio"), part.node.at
    part.ignore("category", "description")
    name, own = part.text("name"), _severity_of(part)
    part.end()
    if inner is None:
        return []
    inner.ignore("category", "description")
    field, name = inner.text("field"), inner.text("name") or name
    share = mapping(at, *([(key("column", at), field)] if field is not None else []), *inner.moved("max", "max"))
    own += _severity_of(inner)
    inner.end()
    default = text(rule_name(f"{field.text if field is not None else 'column'}_null_ratio"), at)
    return [mapping(at, (key("name", at), name or default), (key("null_share", at), share), *own)]


def _row_count(part: Part) -> list[Node]:
    inner, at = part.part("row_count_between"), part.node.at
    part.ignore("category", "description")
    name, own = part.text("name"), _severity_of(part)
    part.end()
    if inner is None:
        return []
    inner.ignore("category", "description")
    bounds = mapping(at, *inner.moved("min", "min"), *inner.moved("max", "max"))
    name, own = inner.text("name") or name, [*own, *_severity_of(inner)]
    inner.end()
    return [mapping(at, (key("name", at), name or text("row_count_between", at)), (key("row_count", at), bounds), *own)]


def _query(part: Part) -> list[Node]:
    """A query over `source`, which is the candidate here; without a bound it says itself whether it holds."""
    at = part.node.at
    part.ignore("category", "description")
    own = _severity_of(part)
    sql = part.text("sql")
    bounds: list[Entry] = [*part.moved("must_be_greater_than", "greater_than"), *part.moved("must_be_less_than", "less_than")]
    bounds += part.between("must_be_between")
    entries = part.moved("name", "name")
    part.end()
    if sql is None:
        part.refuse("sql", "a dataset rule needs `sql`, `unique`, `null_ratio` or `row_count_between`")
        return []
    over = over_source(sql)
    query = _over_candidate(over.text if isinstance(over, ScalarNode) else sql.text, is_condition=not bounds)
    if not bounds:
        bounds = [(key("equal_to", at), text("1", at))]
    written = text(query, sql.at) if query is not None else sql
    return [mapping(at, *entries, (key("sql", sql.at), written), (key("must_be", at), mapping(at, *bounds)), *own)]


def _over_candidate(sql: str, *, is_condition: bool) -> str | None:
    """The query over the table that the native format calls `candidate`; none where it is no query, which is reported later."""
    try:
        tree = parse_one(sql, read="spark")
    except SqlglotError:
        return None
    if not isinstance(tree, exp.Query):
        return None
    for table in tree.find_all(exp.Table):
        if table.name.lower() == "source" and not table.db:
            alias = table.alias
            table.replace(exp.to_table("candidate").as_(alias) if alias else exp.to_table("candidate").as_("source"))
    if is_condition and isinstance(tree, exp.Select) and len(tree.selects) == 1:
        inner = tree.selects[0].unalias()
        tree.set("expressions", [exp.Cast(this=exp.paren(inner), to=exp.DataType.build("int"))])
    return str(tree.sql(dialect="spark"))


