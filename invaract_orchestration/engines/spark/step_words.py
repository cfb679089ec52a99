"""Steps in Spark's words: what each mark of a step's query is, and a query as text."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import datetime

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.fields import FieldSpec
from invaract_orchestration.contract.json_paths import json_path
from invaract_orchestration.contract.step_checks import groups
from invaract_orchestration.engines.spark import patterns, spark_sql
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.json_repeats import is_value
from invaract_orchestration.engines.spark.rows import WITH_NULLS
from invaract_orchestration.engines.spark.text_forms import matches, read_text
from invaract_orchestration.engines.spark.types import spark_type

_BLANKS = "".join(chr(c) for c in range(0x3001) if unicodedata.category(chr(c)) == "Zs" or chr(c) in "\t\n\v\f\r")
_TIMES = (ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ)


def step_text(tree: exp.Query, now: datetime, tables: Mapping[str, str]) -> str:
    """A step's query as Spark reads it; `tables` gives the relation for `source` and each link, by its name in lower case."""

    def sql(node: exp.Expr) -> str:
        return spark_sql.rendered(node, now)

    return spark_sql.rendered(m.over(m.written(tree, _WORDS, sql), tables), now)


def _cast(value: str, from_text: str, to_text: str) -> str:
    from_, to = ft.parse_type(from_text), ft.parse_type(to_text)
    if from_ == ft.STRING:
        return _read(value, to)
    is_exact = to in ft.INTEGERS and (from_ in ft.FLOATS or isinstance(from_, ft.Decimal))
    if is_exact:
        return _exact(value, from_text, to_text)
    return f"TRY_CAST({value} AS {spark_type(to)})"


def _read(text: str, to: ft.FieldType) -> str:
    """A text in the strict form of a type; a time may be a date alone, or have no zone."""
    if to in (ft.TIMESTAMP, ft.TIMESTAMP_NTZ):
        spec = FieldSpec(name="value", type=to, timezone="any" if to == ft.TIMESTAMP else None)
        reading = read_text(text, to, spec, "UTC")
        day = read_text(text, ft.DATE, FieldSpec(name="value", type=ft.DATE), "UTC")
        midnight = f"CAST({day.value} AS {spark_type(to)})"
        return f"CASE WHEN {reading.is_right} THEN {reading.value} WHEN {day.is_right} THEN {midnight} END"
    reading = read_text(text, to, FieldSpec(name="value", type=to), "UTC")
    return f"CASE WHEN {reading.is_right} THEN {reading.value} END"


def _exact(value: str, from_text: str, to_text: str) -> str:
    cast = f"TRY_CAST({value} AS {spark_type(ft.parse_type(to_text))})"
    return f"CASE WHEN {cast} = {value} THEN {cast} END"


def _trim(value: str, side: str) -> str:
    where = {"both": "BOTH", "left": "LEADING", "right": "TRAILING"}[side]
    return f"trim({where} {q.text(_BLANKS)} FROM {value})"


def _json(value: str, path: str) -> str:
    parts = "".join(f"[{p}]" if isinstance(p, int) else f"['{p}']" for p in json_path(path))
    return f"CASE WHEN {is_value(value)} THEN get_json_object({value}, {q.text('$' + parts)}) END"


def _json_text(value: str, _: str) -> str:
    return f"to_json({value}, {WITH_NULLS})"


def _regex(value: str, pattern: str) -> str:
    text = q.text(patterns.part(pattern))
    found = f"regexp_extract({value}, {text}, {1 if groups(pattern) else 0})"
    return f"CASE WHEN {value} RLIKE {text} THEN {found} END"


def _day(value: str, from_text: str) -> str:
    from_ = ft.parse_type(from_text)
    if from_ == ft.DATE:
        return value
    if from_ == ft.STRING:
        dashed = f"concat(substring({value}, 1, 4), '-', substring({value}, 5, 2), '-', substring({value}, 7, 2))"
        compact = f"CASE WHEN {matches(value, '[0-9]{8}')} THEN {dashed} ELSE {value} END"
        return f"coalesce({_read(f'({compact})', ft.DATE)}, CAST({_read(value, ft.TIMESTAMP)} AS DATE))"
    return f"CAST({value} AS DATE)"


def _moment(value: str, from_text: str) -> str:
    from_ = ft.parse_type(from_text)
    if from_ == ft.TIMESTAMP:
        return value
    if from_ == ft.STRING:
        return f"coalesce({_read(value, ft.TIMESTAMP)}, CAST({_day(value, from_text)} AS TIMESTAMP))"
    return f"CAST({value} AS TIMESTAMP)"


def _passed(unit: str, first: str, last: str) -> str:
    days = f"CAST(datediff({last}, {first}) AS BIGINT)"
    months = (
        f"CAST((year({last}) - year({first})) * 12 + month({last}) - month({first}) - CASE "
        f"WHEN {last} >= {first} AND day({last}) < day({first}) THEN 1 "
        f"WHEN {last} < {first} AND day({last}) > day({first}) THEN -1 ELSE 0 END AS BIGINT)"
    )
    seconds = {"hours": 3600, "minutes": 60, "seconds": 1}
    if unit in seconds:
        return f"((unix_micros({last}) - unix_micros({first})) div {seconds[unit] * 1_000_000}L)"
    return {"days": days, "weeks": f"({days} div 7)", "months": months, "years": f"({months} div 12)"}[unit]


def _split(value: str, delimiter: str) -> str:
    quoted = "\\Q" + delimiter.replace("\\E", "\\E\\\\E\\Q") + "\\E"
    return f"split({value}, {q.text(quoted)}, -1)"


def _list(value: str) -> str:
    return f"CASE WHEN {is_value(value)} THEN from_json({value}, 'ARRAY<STRING>') END"


def _days(first: str, last: str, step: str) -> str:
    dates = f"sequence({first}, {last}, INTERVAL '{int(step)}' DAY)"
    return f"CASE WHEN {first} <= {last} THEN {dates} ELSE CAST(array() AS ARRAY<DATE>) END"


_WORDS: m.Words = {
    m.CAST: _cast, m.EXACT: _exact, m.TRIM: _trim, m.JSON: _json, m.JSON_TEXT: _json_text, m.REGEX: _regex, m.DAY: _day,
    m.MOMENT: _moment, m.PASSED: _passed, m.SPLIT: _split, m.DAYS: _days, m.LIST: _list,
    m.EACH: lambda value: f"explode({value})", m.TRY: lambda value: f"({value})",
}  # fmt: skip
