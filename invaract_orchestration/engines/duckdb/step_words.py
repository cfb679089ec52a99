"""Steps in DuckDB's words: what each mark of a step's query is, and a query as text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlglot import exp

from invaract_orchestration.candidate import step_marks as m
from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.fields import FieldSpec
from invaract_orchestration.contract.json_paths import json_path
from invaract_orchestration.contract.step_checks import groups
from invaract_orchestration.engines.duckdb import spark_sql
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.json_forms import is_value
from invaract_orchestration.engines.duckdb.row_conditions import blanks
from invaract_orchestration.engines.duckdb.text_forms import read_text
from invaract_orchestration.engines.duckdb.types import duckdb_type

_TIMES = (ft.DATE, ft.TIMESTAMP, ft.TIMESTAMP_NTZ)


def step_text(tree: exp.Query, now: datetime, tables: Mapping[str, str]) -> str:
    """A step's query as DuckDB reads it; `tables` gives the relation for `source` and each link, by its name in lower case."""

    def sql(node: exp.Expr) -> str:
        return spark_sql.rendered(spark_sql.guarded(node), now)

    return spark_sql.rendered(m.over(m.written(spark_sql.guarded(tree), _WORDS, sql), tables), now)


def _cast(value: str, from_text: str, to_text: str) -> str:
    from_, to = ft.parse_type(from_text), ft.parse_type(to_text)
    if to == ft.STRING:
        return _as_text(value, from_)
    if from_ == ft.STRING:
        return _read(value, to)
    is_exact = to in ft.INTEGERS and (from_ in ft.FLOATS or isinstance(from_, ft.Decimal))
    if is_exact:
        return _exact(value, from_text, to_text)
    if from_ in _TIMES:
        moment = value if from_ != ft.TIMESTAMP else f"({value} AT TIME ZONE 'UTC')"
        local = f"CAST({moment} AS {'DATE' if to == ft.DATE else 'TIMESTAMP'})"
        return f"({local} AT TIME ZONE 'UTC')" if to == ft.TIMESTAMP else local
    return f"TRY_CAST({value} AS {duckdb_type(to)})"


def _as_text(value: str, from_: ft.FieldType) -> str:
    if from_ == ft.TIMESTAMP:
        return f"CAST(({value} AT TIME ZONE 'UTC') AS VARCHAR)"
    return f"CAST({value} AS VARCHAR)"


def _read(text: str, to: ft.FieldType) -> str:
    """A text in the strict form of a type; a time may be a date alone, or have no zone."""
    if to in (ft.TIMESTAMP, ft.TIMESTAMP_NTZ):
        spec = FieldSpec(name="value", type=to, timezone="any" if to == ft.TIMESTAMP else None)
        reading = read_text(text, to, spec, "UTC")
        day = read_text(text, ft.DATE, FieldSpec(name="value", type=ft.DATE), "UTC")
        midnight = f"CAST({day.value} AS TIMESTAMP)"
        midnight = f"({midnight} AT TIME ZONE 'UTC')" if to == ft.TIMESTAMP else midnight
        return f"CASE WHEN {reading.is_right} THEN {reading.value} WHEN {day.is_right} THEN {midnight} END"
    reading = read_text(text, to, FieldSpec(name="value", type=to), "UTC")
    return f"CASE WHEN {reading.is_right} THEN {reading.value} END"


def _exact(value: str, from_text: str, to_text: str) -> str:
    cast = f"TRY_CAST({value} AS {duckdb_type(ft.parse_type(to_text))})"
    return f"CASE WHEN {cast} = {value} THEN {cast} END"


def _trim(value: str, side: str) -> str:
    call = {"both": "trim", "left": "ltrim", "right": "rtrim"}[side]
    return f"{call}({value}, {q.text(blanks())})"


def _json(value: str, path: str) -> str:
    parts = "".join(f"[{p}]" if isinstance(p, int) else f'."{p}"' for p in json_path(path))
    return f"CASE WHEN {is_value(value)} THEN TRY(json_extract_string({value}, {q.text('$' + parts)})) END"


def _json_text(value: str, _: str) -> str:
    return f"CAST(to_json({value}) AS VARCHAR)"


def _regex(value: str, pattern: str) -> str:
    text = q.text(pattern)
    found = f"regexp_extract({value}, {text}, {1 if groups(pattern) else 0})"
    return f"CASE WHEN regexp_matches({value}, {text}) THEN {found} END"


def _day(value: str, from_text: str) -> str:
    from_ = ft.parse_type(from_text)
    if from_ == ft.DATE:
        return value
    if from_ == ft.STRING:
        dashed = f"(substr({value}, 1, 4) || '-' || substr({value}, 5, 2) || '-' || substr({value}, 7, 2))"
        compact = f"CASE WHEN regexp_full_match({value}, '[0-9]{{8}}') THEN {dashed} ELSE {value} END"
        return f"coalesce({_read(f'({compact})', ft.DATE)}, {_utc_day(_read(value, ft.TIMESTAMP))})"
    return _utc_day(value) if from_ == ft.TIMESTAMP else f"CAST({value} AS DATE)"


def _utc_day(value: str) -> str:
    return f"CAST(({value}) AT TIME ZONE 'UTC' AS DATE)"


def _moment(value: str, from_text: str) -> str:
    from_ = ft.parse_type(from_text)
    if from_ == ft.TIMESTAMP:
        return value
    if from_ == ft.STRING:
        return f"coalesce({_read(value, ft.TIMESTAMP)}, CAST({_day(value, from_text)} AS TIMESTAMP) AT TIME ZONE 'UTC')"
    return f"(CAST({value} AS TIMESTAMP) AT TIME ZONE 'UTC')"


def _passed(unit: str, first: str, last: str) -> str:
    days = f"date_diff('day', {first}, {last})"
    months = (
        f"((year({last}) - year({first})) * 12 + month({last}) - month({first}) - CASE "
        f"WHEN {last} >= {first} AND day({last}) < day({first}) THEN 1 "
        f"WHEN {last} < {first} AND day({last}) > day({first}) THEN -1 ELSE 0 END)"
    )
    seconds = {"hours": 3600, "minutes": 60, "seconds": 1}
    if unit in seconds:
        return f"((epoch_us({last}) - epoch_us({first})) // {seconds[unit] * 1_000_000})"
    return {"days": days, "weeks": f"({days} // 7)", "months": months, "years": f"({months} // 12)"}[unit]


def _split(value: str, delimiter: str) -> str:
    return f"string_split({value}, {q.text(delimiter)})"


def _list(value: str) -> str:
    return f"CASE WHEN {is_value(value)} AND json_type({value}) = 'ARRAY' THEN json_extract_string({value}, '$[*]') END"


def _days(first: str, last: str, step: str) -> str:
    series = f"generate_series(CAST({first} AS TIMESTAMP), CAST({last} AS TIMESTAMP), INTERVAL {int(step)} DAY)"
    return f"CASE WHEN {first} <= {last} THEN CAST({series} AS DATE[]) ELSE CAST([] AS DATE[]) END"


_WORDS: m.Words = {
    m.CAST: _cast, m.EXACT: _exact, m.TRIM: _trim, m.JSON: _json, m.JSON_TEXT: _json_text, m.REGEX: _regex, m.DAY: _day,
    m.MOMENT: _moment, m.PASSED: _passed, m.SPLIT: _split, m.DAYS: _days, m.LIST: _list, m.EACH: lambda value: f"unnest({value})",
    m.TRY: lambda value: f"TRY({value})",
}  # fmt: skip
