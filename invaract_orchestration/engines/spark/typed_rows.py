"""The rows of typed sources: Parquet files, tables, queries and frames."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import reduce
from typing import Any

from invaract_orchestration.contract.field_types import STRING
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.folders import Folders
from invaract_orchestration.engines.spark.frames import typed_frames
from invaract_orchestration.engines.spark.rows import RECORD, WITH_NULLS, Held, Rows, as_payload, union, with_held
from invaract_orchestration.engines.spark.session import PrivateSession
from invaract_orchestration.engines.spark.text_forms import read_text
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.engines.spark.valid_values import valid_value
from invaract_orchestration.intake.batch import Batch


def typed_rows(session: PrivateSession, contract: Contract, batch: Batch, frame: Any) -> Rows:
    """The readings of a typed source; `frame` is that of a table, query or caller."""
    folders = Folders.of(contract, batch)
    fields = contract.fields
    present = {f.name for f in fields} - batch.absent - set(folders.columns)
    types = [STRING if f.name in folders.columns else f.type for f in fields]

    def chosen() -> Any:
        parts = []
        for native, found in typed_frames(session.spark, contract, batch, frame):
            fine = found - set(folders.columns)
            held = [Held(f"x{i}") for i in range(len(fields))]
            casts = _typed_casts(contract, folders, fine, held)
            kept = (_fine_text(f"v{i}") if f.name in fine else as_payload(f"v{i}", types[i]) for i, f in enumerate(fields))
            packed = ", ".join(f"{q.text(f.name)}, {payload}" for f, payload in zip(fields, kept, strict=True))
            place = ["_metadata.file_path AS f", "_metadata.row_index + 1 AS n"] if batch.files else ["'' AS f", "0L AS n"]
            own = native.selectExpr(*place, *(f"{q.name(s.name)} AS v{i}" for i, s in enumerate(fields) if s.name in present))
            values = (
                folders.value(spec.name, spec.type) if spec.name not in present
                else f"v{i}" if spec.name in fine else valid_value(f"v{i}", spec.type)
                for i, spec in enumerate(fields)
            )  # fmt: skip
            columns = [f"{value} AS v{i}" for i, value in enumerate(values)]
            plain = with_held(folders.joined(session.spark, own).selectExpr("f", "n", *columns), held)
            parts.append(plain.selectExpr("f", "n", f"to_json(named_struct({packed}), {WITH_NULLS}) AS p", *casts))
        return reduce(union, parts)

    is_judged = [f.name in folders.columns or contract.schema_policy.type_changes == "accept" for f in fields]
    rights = tuple((f"{f.name}|type", f.name, f"t{i}") for i, f in enumerate(fields) if is_judged[i])
    return Rows(
        quick=lambda: chosen().drop("f", "n", "p").selectExpr(f"'{RECORD}' AS k", "*"), numbered=chosen,
        values={f.name: f"v{i}" for i, f in enumerate(fields)}, rights=rights, structure=(), is_text=False,
        names=folders.names,
    )  # fmt: skip


def _typed_casts(contract: Contract, folders: Folders, fine: Container[str], held: Sequence[Held]) -> list[str]:
    casts, oks = [], []
    for i, spec in enumerate(contract.fields):
        if spec.name in folders.columns:
            read = read_text(f"v{i}", spec.type, spec, contract.timezone, held[i])
            cast, is_same = read.value, read.is_right
        elif spec.name in fine:
            is_same = f"v{i} % 1000 = 0"
            cast = f"CASE WHEN {is_same} THEN CAST({q.moment(f'v{i}')} AS {spark_type(spec.type)}) END"
        elif contract.schema_policy.type_changes == "accept":
            cast = held[i](f"TRY_CAST(v{i} AS {spark_type(spec.type)})")
            is_same = f"{cast} = v{i}"
        else:
            casts.append(f"v{i}")
            continue
        casts.append(f"{cast} AS v{i}")
        oks.append(f"(v{i} IS NULL OR coalesce({is_same}, false)) AS t{i}")
    return [*casts, *oks]


def _fine_text(nanoseconds: str) -> str:
    """The moment with every digit that is not a zero at its end."""
    digits = f"lpad(CAST(pmod({nanoseconds}, 1000L) AS STRING), 3, '0')"
    finer = f"concat(date_format({q.moment(nanoseconds)}, 'yyyy-MM-dd HH:mm:ss.SSSSSS'), {digits})"
    whole = f"CAST({q.moment(nanoseconds)} AS STRING)"
    return f"CASE WHEN {nanoseconds} % 1000 = 0 THEN {whole} ELSE trim(TRAILING '0' FROM {finer}) END"
