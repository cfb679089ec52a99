"""Slowly changing dimensions, type 2: a changed row closes the one that was current and opens a new one, in one commit.

The statement is one MERGE. Its source holds every row of the candidate once, matched by its key with the current row of the
table, and once more without a key where that current row differs: the first closes, the second opens.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder
from deltalake.transaction import AddAction, RemoveAction

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.contract.field_types import Array, Map, Struct
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import delta_schema
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.publish.intent import PublishIntent
from invaract_orchestration.publish.preconditions import CURRENT, VALID_FROM, VALID_TO

_KEY = "invaract_key_"


def merge_versions(intent: PublishIntent, table: DeltaTable, properties: CommitProperties) -> dict[str, int | None]:
    """Commit the candidate as new versions; how many rows were opened, and how many closed.

    Raises:
        NotSupported: a column of a nested type, which cannot be compared with the current row's.
    """
    columns = intent.candidate.columns
    nested = [n for n, t in columns if isinstance(t, Array | Map | Struct)]
    if nested:
        raise NotSupported(f"mode scd2 cannot compare column {nested[0]!r}, which is nested", hint="use mode merge")
    keys = [intent.candidate.spelled.get(k, k) for k in intent.publish.keys]
    tracked = [n for n, _ in columns if n not in keys]
    now = _literal(datetime.now(UTC))
    metrics = (
        table.merge(
            _versions(intent.candidate, table, keys, tracked),
            " AND ".join(f"t.{_name(k)} = s.{_name(_KEY + k)}" for k in keys) + f" AND t.{_name(CURRENT)}",
            source_alias="s", target_alias="t", commit_properties=properties,
        )
        .when_matched_update({VALID_TO: now, CURRENT: "false"}, predicate=_differs(tracked))
        .when_not_matched_insert(
            {**{n: f"s.{_name(n)}" for n, _ in columns}, VALID_FROM: now, VALID_TO: "NULL", CURRENT: "true"}
        )
        .execute()
    )  # fmt: skip
    return {"inserted": metrics["num_target_rows_inserted"], "updated": metrics["num_target_rows_updated"], "deleted": 0}


def _versions(candidate: Candidate, table: DeltaTable, keys: list[str], tracked: list[str]) -> pa.RecordBatchReader:
    every = ", ".join(f"s.{_name(n)}" for n, _ in candidate.columns)
    own = ", ".join(f"s.{_name(k)} AS {_name(_KEY + k)}" for k in keys)
    types = dict(candidate.columns)
    none = ", ".join(f"CASE WHEN true THEN NULL ELSE s.{_name(k)} END AS {_name(_KEY + k)}" for k in keys if k in types)
    same = " AND ".join(f"t.{_name(k)} = s.{_name(k)}" for k in keys)
    sql = (
        f"SELECT {every}, {own} FROM s UNION ALL "
        f"SELECT {every}, {none} FROM s JOIN t ON {same} WHERE t.{_name(CURRENT)} AND ({_differs(tracked)})"
    )
    session = QueryBuilder().register("s", _as_table(candidate)).register("t", table)
    stream: Any = session.execute(sql)
    return pa.RecordBatchReader.from_stream(stream)


def _as_table(candidate: Candidate) -> DeltaTable:
    """The candidate's files as a table of their own, in their restricted place, so that they can be joined as a stream."""
    known = open_table(candidate.location)
    if known is not None:
        return known
    schema = delta_schema(candidate.columns, frozenset())
    table = DeltaTable.create(candidate.location, schema)
    root = candidate.location.rstrip("/") + "/"
    added: list[AddAction | RemoveAction] = [
        AddAction(
            path=f.path.removeprefix(root), size=f.size, partition_values={}, modification_time=0, data_change=True,
            stats=f'{{"numRecords": {f.rows}}}',
        )
        for f in candidate.files
    ]  # fmt: skip
    table.create_write_transaction(added, "append", schema)
    return DeltaTable(candidate.location)


def _differs(tracked: list[str]) -> str:
    return " OR ".join(f"(t.{_name(n)} IS DISTINCT FROM s.{_name(n)})" for n in tracked) or "false"


def _literal(moment: datetime) -> str:
    return f"CAST('{moment.isoformat()}' AS TIMESTAMP)"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
