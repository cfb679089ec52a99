"""Counting keys: one pass over the key columns with a bitmap where their span allows, one shuffle where it does not."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.checks.measurements import KeyCount
from invaract_orchestration.checks.proven import integer_span
from invaract_orchestration.contract.field_types import DATE, FLOATS, INTEGERS, STRING, FieldType
from invaract_orchestration.contract.model import Contract, Key
from invaract_orchestration.engines.spark import spark_sql
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.files import candidate_frame
from invaract_orchestration.engines.spark.frames import table_frame
from invaract_orchestration.engines.spark.session import PrivateSession, expressions, translated
from invaract_orchestration.errors import GateError

_BITMAP_BUDGET = 1 << 28
"""Bits; a bucket of Spark's bitmaps holds 32,768 of them in 4 KiB, so that each task shuffles at most 32 MiB."""
_BITS_A_ROW = 8
"""More bits are taken where there are more rows: beyond that, shuffling the keys themselves moves less."""
_ROWS_A_PART = 250_000
"""Rows whose keys are counted by one task, in a memory of some ten megabytes."""
_TEXT_FUNCTIONS = {
    "casefold": str.casefold,
    "nfc": lambda s: unicodedata.normalize("NFC", s),
    "nfkc": lambda s: unicodedata.normalize("NFKC", s),
}


def count_key(
    session: PrivateSession, contract: Contract, candidate: Candidate, key: Key, target: TargetState | None
) -> KeyCount:
    """See `Measurer.count_key`."""
    _register_text_functions(session, contract, key)
    parts = [_key_part(contract, candidate, name) for name in key.columns]
    not_null = " AND ".join(f"{q.name(candidate.spelled.get(n, n))} IS NOT NULL" for n in key.columns)
    frame = candidate_frame(session.spark, candidate)
    in_target = _in_target(session, contract, candidate, key, parts, not_null, target)
    with translated("checking keys"):
        nulls, duplicate_rows, duplicate_keys = _duplicates(contract, candidate, key, frame, parts, not_null)
    return KeyCount(
        rows=candidate.rows, null_rows=nulls, duplicate_rows=duplicate_rows, duplicate_keys=duplicate_keys,
        in_target=in_target, evidence="key pass",
    )  # fmt: skip


def _duplicates(
    contract: Contract, candidate: Candidate, key: Key, frame: Any, parts: Sequence[str], not_null: str
) -> tuple[int, int, int]:  # fmt: skip
    """Rows with a null, rows whose key is there more than once, and how many such keys."""
    number = _bitmap(contract, candidate, key)
    if number is not None:
        numbered = frame.selectExpr(f"CASE WHEN {not_null} THEN {number} END AS n")
        nulls, rows, distinct = _bitmaps(numbered)
        if distinct == rows - nulls:
            return nulls, 0, 0
    keyed = frame.selectExpr(*(f"{p} AS k{i}" for i, p in enumerate(parts)), f"({not_null}) AS is_whole")
    by = [*(f"k{i}" for i in range(len(parts))), "is_whole"]
    # Keys are unique but for faults: to count them before the shuffle would fill the memory of each task and spare nothing.
    grouped = keyed.repartition(candidate.rows // _ROWS_A_PART + 1, *by).groupBy(*by).count()
    (found,) = grouped.selectExpr(
        "coalesce(sum(CASE WHEN NOT is_whole THEN count END), 0) AS a",
        "coalesce(sum(CASE WHEN is_whole AND count > 1 THEN count END), 0) AS b",
        "count_if(is_whole AND count > 1) AS c",
    ).collect()
    return int(found[0]), int(found[1]), int(found[2])


def _bitmaps(numbered: Any) -> tuple[int, int, int]:
    """Rows without a number, all rows, and different numbers."""
    buckets = numbered.selectExpr("bitmap_bucket_number(n) AS b", "bitmap_bit_position(n) AS p").groupBy("b")
    counted = buckets.agg(
        *expressions(numbered, {"rows": "count(*)", "bits": "bitmap_count(bitmap_construct_agg(p))"})
    )
    (found,) = counted.selectExpr(
        "coalesce(sum(CASE WHEN b IS NULL THEN rows END), 0) AS a", "coalesce(sum(rows), 0) AS b",
        "coalesce(sum(CASE WHEN b IS NOT NULL THEN bits END), 0) AS c",
    ).collect()  # fmt: skip
    return int(found[0]), int(found[1]), int(found[2])


def _bitmap(contract: Contract, candidate: Candidate, key: Key) -> str | None:
    """The number of each row when the key is integers or dates whose span fits the budget; numbers begin with 1."""
    types = {f.name: f.type for f in contract.fields}
    number, size, budget = "0L", 1, max(_BITMAP_BUDGET, _BITS_A_ROW * candidate.rows)
    for name in key.columns:
        if types[name] not in INTEGERS and types[name] != DATE:
            return None
        column = candidate.spelled.get(name, name)
        span = integer_span(candidate, column)
        if span is None:
            return None
        low, high = span
        value = f"CAST(unix_date({q.name(column)}) AS BIGINT)" if types[name] == DATE else f"CAST({q.name(column)} AS BIGINT)"
        width = high - low + 1
        size *= width
        if size > budget or abs(low) >= 1 << 62:
            return None
        number = f"({number} * {width}L + ({value} - ({low}L)))"
    return f"({number} + 1L)"


def _in_target(
    session: PrivateSession, contract: Contract, candidate: Candidate, key: Key, parts: Sequence[str], not_null: str,
    target: TargetState | None,
) -> int:  # fmt: skip
    publish = contract.publish
    if key.across != "target" or target is None or not target.exists or publish is None:
        return 0
    is_own_key = publish.mode in ("merge", "scd2") and set(publish.keys) == set(key.columns)
    if publish.mode == "overwrite" or is_own_key:
        return 0  # the rows that hold the key now are replaced by this publication
    kept = [_canonical(q.name(_spelled(target, n)), *_type_of(contract, n)) for n in key.columns]
    with translated("checking keys against the target"):
        staying = _staying(session, contract, candidate, target)
        there = staying.selectExpr(*(f"{k} AS k{i}" for i, k in enumerate(kept)))
        own = candidate_frame(session.spark, candidate).where(not_null)
        own = own.selectExpr(*(f"{p} AS k{i}" for i, p in enumerate(parts)))
        return int(own.join(there, [f"k{i}" for i in range(len(parts))], "left_semi").count())


def _staying(session: PrivateSession, contract: Contract, candidate: Candidate, target: TargetState) -> Any:
    """The rows of the target that this publication does not replace."""
    publish = contract.publish
    assert publish is not None  # there is a target
    frame = table_frame(session.spark, target.location, target.version)
    if publish.mode == "replace_where":
        known = {c.name.lower(): q.name(c.name) for c in target.columns}
        replaced = spark_sql.condition(publish.where or "", lambda n: known.get(n.lower()), datetime.now().astimezone())
        return frame.where(f"NOT coalesce({replaced}, false)")
    beside: tuple[str, ...] = ()
    if publish.mode == "replace_partitions":
        beside = target.partition_by
    elif publish.mode == "merge":
        beside = tuple(_spelled(target, n) for n in publish.keys)
    if not beside:
        return frame
    # The candidate has the target's spelling. A null is a partition like another, and no key.
    own = candidate_frame(session.spark, candidate).selectExpr(*(f"{q.name(n)} AS p{i}" for i, n in enumerate(beside)))
    kept = frame.selectExpr("*", *(f"{q.name(n)} AS p{i}" for i, n in enumerate(beside)))
    names = [f"p{i}" for i in range(len(beside))]
    if publish.mode == "merge":
        return kept.join(own.distinct(), names, "left_anti")
    return _anti_join(kept, own.distinct(), names)


def _anti_join(left: Any, right: Any, names: list[str]) -> Any:
    """Rows of the left that no row of the right has the same values as, where null is the same as null."""
    conditions = [left[n].eqNullSafe(right[n]) for n in names]
    both = conditions[0]
    for condition in conditions[1:]:
        both = both & condition
    return left.join(right, both, "left_anti")


def _spelled(target: TargetState, name: str) -> str:
    column = target.column(name)
    if column is None:
        raise GateError(f"the target has no column {name!r}", code="publish.target_schema")
    return column.name


def _type_of(contract: Contract, name: str) -> tuple[FieldType, tuple[str, ...]]:
    spec = contract.field(name)
    if spec is None:
        raise GateError(f"key column {name!r} is no field of the contract", code="contract.invalid")
    return spec.type, spec.normalize


def _key_part(contract: Contract, candidate: Candidate, name: str) -> str:
    return _canonical(q.name(candidate.spelled.get(name, name)), *_type_of(contract, name))


def _canonical(value: str, type_: FieldType, steps: tuple[str, ...]) -> str:
    """A key's part such that equal keys are equal texts or numbers: -0.0 is 0.0, NaN is NaN, texts are normalised."""
    if type_ in FLOATS:
        return f"(CASE WHEN {value} = 0 THEN CAST(0 AS DOUBLE) ELSE CAST({value} AS DOUBLE) END)"
    return _normalized(value, steps) if type_ == STRING else value


def _normalized(value: str, steps: tuple[str, ...]) -> str:
    blanks = "".join(chr(c) for c in range(0x3001) if unicodedata.category(chr(c)) == "Zs" or chr(c) in "\t\n\v\f\r")
    for step in steps:
        if step == "trim":
            value = f"trim(BOTH {q.text(blanks)} FROM {value})"
        else:
            value = f"{'lower' if step == 'lower' else 'invaract_' + step}({value})"
    return value


def _register_text_functions(session: PrivateSession, contract: Contract, key: Key) -> None:
    """Spark has no case folding and no normal forms: Python's own are used by keys that declare them."""
    steps = {s for n in key.columns if (spec := contract.field(n)) is not None for s in spec.normalize}
    for step in steps & _TEXT_FUNCTIONS.keys():
        session.spark.udf.register(f"invaract_{step}", _null_safe(_TEXT_FUNCTIONS[step]), "string")


def _null_safe(function: Any) -> Any:
    return lambda text: None if text is None else function(text)
