"""What DuckDB computes otherwise than Spark, spelled so that it computes the same.

A text becomes a value only in Spark's forms (DuckDB takes `1_0`, `0x1F`, `epoch` and rounds `1.5` to a whole number), small
whole numbers widen where a literal stands beside them, floats are rounded as they are written, logarithms of nothing are null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from invaract_orchestration.engines.duckdb import sql_text as q

_B = r"[\x00-\x20\x7F]*"
_SIGN = "[+-]?"
_REAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_DAY = "[0-9]{4,6}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]{1,6})?)?"
_ZONE = "(?:Z|UTC|GMT|[+-][0-9]{1,2}(?::?[0-9]{2})?)"
_TEXT = "VARCHAR"
_VALUE = "invaract_value"
_MANY = "reads_many_rows"
_LAST_SIGMA = "(\\p{L}\\p{M}*)\u03a3(\\P{L}|$)"
_UNITS = {"YY": "YEAR", "YYYY": "YEAR", "MM": "MONTH", "MON": "MONTH", "DD": "DAY"}
_DATES = "BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"

Sql = Callable[[str], str]
"""A text of SQL around that of a value, which may stand in it more than once."""


def spelled(tree: exp.Expr) -> exp.Expr:
    """The tree with every node that DuckDB would read otherwise replaced by its text."""
    root = exp.paren(tree)
    for many in root.find_all(exp.AggFunc, exp.Window, exp.Query):
        for around in _around(many):
            around.meta[_MANY] = True
    for node in reversed(list(root.walk())):  # children first: what a node's text holds is final
        said = None if node is root else _said(node)
        if said is not None:
            node.replace(exp.Var(this=said))
    found: exp.Expr = root.this
    return found


def _around(node: exp.Expr) -> Iterator[exp.Expr]:
    above = node.parent
    while above is not None and not isinstance(above, exp.Query):
        yield above
        above = above.parent


def _try(node: exp.Expr, text: str) -> str:
    """What may fail in a TRY, which takes no aggregates."""
    return text if node.meta.get(_MANY) else f"TRY({text})"


def _said(node: exp.Expr) -> str | None:
    match node:
        case exp.Cast() | exp.TryCast():
            return _cast(node.this, node.args["to"])
        case exp.TsOrDsToDate():
            return _cast(node.this, exp.DataType.build("date"))
        case exp.ArrayContains():
            return _contains(node)
        case exp.Anonymous() if str(node.this).lower() == "make_date":
            return _try(node, node.sql("duckdb"))
        case exp.Extract():
            return _date_part(node)
        case exp.AddMonths() | exp.TsOrDsAdd():
            added = exp.Var(this=_try(node, f"CAST({node.sql('duckdb')} AS DATE)"))
            return once(added, lambda x: f"CASE WHEN {x} {_DATES} THEN {x} END")
        case exp.DateTrunc() | exp.TimestampTrunc() if node.args["unit"].name.upper() in _UNITS:
            return f"date_trunc('{_UNITS[node.args['unit'].name.upper()]}', {node.this.sql('duckdb')})"
    return _calculation(node) or _text_function(node)


def _calculation(node: exp.Expr) -> str | None:
    match node:
        case exp.Literal() if not node.is_string and node.this.isdigit() and isinstance(node.parent, exp.Binary):
            return f"CAST({node.this} AS INTEGER)" if int(node.this) < 1 << 31 else None
        case exp.Round():
            return _round(node)
        case exp.Ln() | exp.Log():
            return _logarithm(node)
        case exp.Ceil() | exp.Floor():
            return once(node.this, lambda x: _whole(x, "ceil" if isinstance(node, exp.Ceil) else "floor"))
        case exp.Abs():
            return once(node.this, lambda x: f"TRY(abs({x}))")
        case exp.Sum() if not _is_bare(node):
            return once(node, lambda x: f"CASE WHEN typeof({x}) <> 'HUGEINT' OR TRY_CAST({x} AS BIGINT) IS NOT NULL THEN {x} END")
        case exp.CountIf() if not _is_bare(node):
            return f"coalesce({node.sql('duckdb')}, 0)"  # of no rows it is null otherwise
        case exp.Mod():
            return f"{node.this.sql('duckdb')} % NULLIF({node.expression.sql('duckdb')}, 0)"
        case exp.IntDiv():
            return f"CAST({node.this.sql('duckdb')} AS BIGINT) // CAST({node.expression.sql('duckdb')} AS BIGINT)"
    return None


def _date_part(node: exp.Extract) -> str | None:
    value = node.expression.sql("duckdb")
    match node.this.name:
        case "SECOND":  # with its fraction
            return f"CAST(extract(microseconds FROM {value}) * 0.000001 AS DECIMAL(8, 6))"
        case "YEAROFWEEK":
            return f"extract(isoyear FROM {value})"
    return None


def _is_bare(call: exp.Expr) -> bool:
    """Whether an aggregate stands where DuckDB takes the call and nothing around it: under OVER or FILTER, or in a PIVOT."""
    above = call.parent.parent if isinstance(call.parent, exp.Alias) else call.parent
    return isinstance(call.parent, exp.Window | exp.Filter) or isinstance(above, exp.Pivot)


def _whole(x: str, name: str) -> str:
    return f"CASE WHEN typeof({x}) IN ('DOUBLE', 'FLOAT') THEN TRY_CAST({name}({x}) AS BIGINT) ELSE {name}({x}) END"


def _text_function(node: exp.Expr) -> str | None:
    match node:
        case exp.Replace() if node.args.get("replacement") is None:
            return f"replace({node.this.sql('duckdb')}, {node.expression.sql('duckdb')}, '')"
        case exp.Trim() if not node.args.get("expression"):
            called = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
            return f"{called}({node.this.sql('duckdb')}, ' ')"
        case exp.SplitPart():
            return f"CASE WHEN {node.args['part_index'].sql('duckdb')} <> 0 THEN {node.sql('duckdb')} END"
        case exp.Pad():
            return _try(node, node.sql("duckdb"))
        case exp.Substring() if node.args.get("length") is not None:
            length, start = node.args["length"].sql("duckdb"), node.args["start"].sql("duckdb")
            empty = f"left({node.this.sql('duckdb')}, 0)"
            return f"CASE WHEN {length} > 0 THEN {node.sql('duckdb')} WHEN {length} <= 0 AND {start} IS NOT NULL THEN {empty} END"
        case exp.Left() | exp.Right():
            name, text, length = type(node).__name__.lower(), node.this.sql("duckdb"), node.expression.sql("duckdb")
            return f"CASE WHEN {length} > 0 THEN {name}({text}, {length}) WHEN {length} <= 0 THEN {name}({text}, 0) END"
        case exp.Lower():
            return lowered(node.this.sql("duckdb"))
        case exp.ILike():
            return f"{lowered(node.this.sql('duckdb'))} LIKE {lowered(node.expression.sql('duckdb'))}"
        case exp.Upper():
            return once(node.this, _upper)
    return None


def lowered(text: str) -> str:
    """Small letters: one capital becomes two characters, and a sigma at the end of a word has a form of its own."""
    dotted = f"replace({text}, '\u0130', 'i\u0307')"
    return f"lower(regexp_replace({dotted}, {q.text(_LAST_SIGMA)}, '\\1\u03c2\\2', 'g'))"


_EXPANDED = tuple(c for c in map(chr, range(0x80, 0x10000)) if not 0xD800 <= ord(c) < 0xE000 and len(c.upper()) > 1)
"""Letters whose capital has several characters, which DuckDB leaves as they are."""


def _upper(x: str) -> str:
    expanded = x
    for letter in _EXPANDED:
        expanded = f"replace({expanded}, '{letter}', '{letter.upper()}')"
    return f"CASE WHEN regexp_matches({x}, '[{''.join(_EXPANDED)}]') THEN upper({expanded}) ELSE upper({x}) END"


def once(value: exp.Expr, sql: Sql) -> str:
    """SQL around a value that is computed once, however often it stands in it."""
    text, bare = value.sql("duckdb"), value.unnest()
    if isinstance(bare, exp.Column | exp.Literal) or bare.meta.get("is_column"):
        return f"({sql(text)})"
    return f"list_transform([{text}], lambda {_VALUE}: {sql(_VALUE)})[1]"


# -- from one type to another


def _cast(value: exp.Expr, to: exp.DataType) -> str:
    target = to.sql("duckdb")
    if to.is_type(*exp.DataType.INTEGER_TYPES):
        return once(value, lambda x: _from_text(x, target, f"{_B}({_SIGN}[0-9]+){_B}"))
    if to.is_type("decimal"):
        return once(value, lambda x: _from_text(x, target, f"{_B}({_SIGN}{_REAL}){_B}"))
    if to.is_type("float", "double"):
        return once(value, lambda x: _real(x, target))
    if to.is_type("boolean"):
        return once(value, _truth)
    if to.is_type("date"):
        return once(value, _date)
    if to.is_type("timestamp", "timestamptz", "timestampntz"):
        zoned = target if to.is_type("timestampntz") else "TIMESTAMPTZ"  # to_timestamp() gives an instant too
        return once(value, lambda x: _time(x, zoned))
    if to.is_type("text", "varchar"):
        zoneless = q.text(r"\+00$")
        return once(
            value,
            lambda x: (
                f"CASE WHEN typeof({x}) = 'TIMESTAMP WITH TIME ZONE' THEN regexp_replace(CAST({x} AS {_TEXT}), {zoneless}, '') "
                f"ELSE CAST({x} AS {_TEXT}) END"
            ),
        )
    return once(value, lambda x: f"TRY_CAST({x} AS {target})")


def _from_text(x: str, target: str, form: str, otherwise: str | None = None) -> str:
    """What a text says in a form, whose first group it is, null where it is in no such form; any other value is cast."""
    said = f"TRY_CAST(regexp_extract(CAST({x} AS {_TEXT}), {q.text(f'^{form}$')}, 1) AS {target})"
    return f"CASE WHEN typeof({x}) = '{_TEXT}' THEN {otherwise or said} ELSE TRY_CAST({x} AS {target}) END"


def _real(x: str, target: str) -> str:
    word = f"lower(trim(CAST({x} AS {_TEXT}), ' \t\n\r\f\v'))"
    said = f"TRY_CAST(regexp_extract(CAST({x} AS {_TEXT}), {q.text(f'^{_B}({_SIGN}{_REAL})[dDfF]?{_B}$')}, 1) AS {target})"
    named = (
        f"CASE {word} WHEN 'nan' THEN 'nan'::{target} WHEN 'inf' THEN 'inf'::{target} WHEN '+inf' THEN 'inf'::{target} "
        f"WHEN 'infinity' THEN 'inf'::{target} WHEN '+infinity' THEN 'inf'::{target} WHEN '-inf' THEN '-inf'::{target} "
        f"WHEN '-infinity' THEN '-inf'::{target} ELSE {said} END"
    )
    return _from_text(x, target, "", named)


def _truth(x: str) -> str:
    word = f"lower(trim(CAST({x} AS {_TEXT}), ' \t\n\r\f\v'))"
    named = (
        f"CASE WHEN {word} IN ('t', 'true', 'y', 'yes', '1') THEN true "
        f"WHEN {word} IN ('f', 'false', 'n', 'no', '0') THEN false END"
    )
    return _from_text(x, "BOOLEAN", "", named)


def _date(x: str) -> str:
    def said(form: str, rest: str) -> str:
        part = f"nullif(regexp_extract(CAST({x} AS {_TEXT}), {q.text(f'^{_B}({form}){_B}$')}, 1), '')"
        return f"TRY_CAST({part} || {q.text(rest)} AS DATE)"

    whole = f"TRY_CAST(regexp_extract(CAST({x} AS {_TEXT}), {q.text(rf'^{_B}({_DAY})(?:[ T](?s:.*))?{_B}$')}, 1) AS DATE)"
    return _from_text(x, "DATE", "", f"coalesce({whole}, {said('[0-9]{4,6}', '-01-01')}, {said('[0-9]{4,6}-[0-9]{1,2}', '-01')})")


def _time(x: str, target: str) -> str:
    form = f"^{_B}({_DAY}(?:[ T]{_CLOCK}(?: ?{_ZONE})?)?){_B}$"
    said = f"TRY_CAST(regexp_replace(regexp_extract(CAST({x} AS {_TEXT}), {q.text(form)}, 1), ' ?(UTC|GMT)$', 'Z') AS {target})"
    short = f"TRY_CAST({_date(x)} AS {target})"
    is_short = f"regexp_full_match(CAST({x} AS {_TEXT}), {q.text(f'{_B}[0-9]{{4,6}}(-[0-9]{{1,2}})?{_B}')})"
    return _from_text(x, target, "", f"CASE WHEN {is_short} THEN {short} ELSE {said} END")


# -- functions


def _round(node: exp.Round) -> str:
    digits = node.args["decimals"].sql("duckdb") if node.args.get("decimals") else "0"

    def said(x: str) -> str:
        exact = f"round(TRY_CAST(CAST({x} AS {_TEXT}) AS DECIMAL(38,19)), {digits})"  # as written, half away from zero
        return (
            f"CASE WHEN typeof({x}) IN ('DOUBLE', 'FLOAT') THEN "
            f"coalesce(CAST({exact} AS DOUBLE), round(CAST({x} AS DOUBLE), {digits})) ELSE TRY(round({x}, {digits})) END"
        )

    return once(node.this, said)


def _logarithm(node: exp.Expr) -> str:
    if isinstance(node, exp.Ln):
        return once(node.this, lambda x: f"CASE WHEN {x} > 0 THEN ln({x}) END")
    of = node.args.get("expression") or node.this
    base = node.this.sql("duckdb") if node.args.get("expression") else "10"
    return once(of, lambda x: f"CASE WHEN {x} > 0 THEN log({base}, {x}) END")


def _contains(node: exp.ArrayContains) -> str:
    wanted = node.expression.sql("duckdb")
    return once(
        node.this,
        lambda x: (
            f"CASE WHEN list_contains({x}, {wanted}) THEN true "
            f"WHEN len({x}) = list_count({x}) AND ({wanted}) IS NOT NULL THEN false END"
        ),
    )
