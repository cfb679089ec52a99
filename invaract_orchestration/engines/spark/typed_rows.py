"""The rows of typed sources: Parquet files, tables, queries and frames."""

from __future__ import annotations

from collections.abc import Sequence
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
from invaract_orchestration.intake.batch import Batch


def typed_rows(session: PrivateSession, contract: Contract, batch: Batch, frame: Any) -> Rows:
    """The readings of a typed source; `frame` is that of a table, query or caller."""
    folders = Folders.of(contract, batch)
    fields = contract.fields
    present = {f.name for f in fields} - batch.absent - set(folders.columns)
    types = [STRING if f.name in folders.columns else f.type for f in fields]

    def chosen() -> Any:
        packed = ", ".join(f"{q.text(f.name)}, {as_payload(f'v{i}', types[i])}" for i, f in enumerate(fields))
        parts = []
        for native in typed_frames(session.spark, contract, batch, frame):
            place = ["_metadata.file_path AS f", "_metadata.row_index + 1 AS n"] if batch.files else ["'' AS f", "0L AS n"]
            own = native.selectExpr(*place, *(f"{q.name(s.name)} AS v{i}" for i, s in enumerate(fields) if s.name in present))
            columns = [f"v{i}" if s.name in present else f"{folders.value(s.name, s.type)} AS v{i}" for i, s in enumerate(fields)]
            plain = with_held(folders.joined(session, own).selectExpr("f", "n", *columns), held)
            parts.append(plain.selectExpr("f", "n", f"to_json(named_struct({packed}), {WITH_NULLS}) AS p", *casts))
        return reduce(union, parts)

    held = [Held(f"x{i}") for i in range(len(fields))]
    casts, rights = _typed_casts(contract, folders, held)
    return Rows(
        quick=lambda: chosen().drop("f", "n", "p").selectExpr(f"'{RECORD}' AS k", "*"), numbered=chosen,
        values={f.name: f"v{i}" for i, f in enumerate(fields)}, rights=rights, structure=(), is_text=False,
        names=folders.names,
    )  # fmt: skip


def _typed_casts(
    contract: Contract, folders: Folders, held: Sequence[Held]
) -> tuple[list[str], tuple[tuple[str, str, str], ...]]:
    casts, rights, oks = [], [], []
    for i, spec in enumerate(contract.fields):
        if spec.name in folders.columns:
            read = read_text(f"v{i}", spec.type, spec, contract.timezone, held[i])
            casts.append(f"{read.value} AS v{i}")
            oks.append(f"(v{i} IS NULL OR coalesce({read.is_right}, false)) AS t{i}")
        elif contract.schema_policy.type_changes == "accept":
            cast = held[i](f"TRY_CAST(v{i} AS {spark_type(spec.type)})")
            casts.append(f"{cast} AS v{i}")
            oks.append(f"(v{i} IS NULL OR coalesce({cast} = v{i}, false)) AS t{i}")
        else:
            casts.append(f"v{i}")
            continue
        rights.append((f"{spec.name}|type", spec.name, f"t{i}"))
    return [*casts, *oks], tuple(rights)
