"""Slowly changing dimensions, type 2: a changed row closes the one that was current and opens a new one, in one commit.

The statement is one MERGE. Its source holds every row of the candidate once, matched by its key with the current row of the
table, and once more without a key where that current row differs: the first closes, the second opens.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, QueryBuilder
from deltalake.transaction import AddAction, RemoveAction

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.contract.field_types import STRING, TIMESTAMP, Array, FieldType, Map, Struct
from invaract_orchestration.contract.model import Versions
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import delta_schema
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.publish.intent import PublishIntent
from invaract_orchestration.publish.preconditions import refuse_older_versions

_KEY, _FROM, _NUMBER = "invaract_key_", "invaract_from", "invaract_number"


def merge_versions(intent: PublishIntent, table: DeltaTable, properties: CommitProperties) -> dict[str, int | None]:
    """Commit the candidate as new versions; how many rows were opened, and how many closed.

    Raises:
        NotSupported: a column of a nested type, which cannot be compared with the current row's.
        TargetRefused: a changed row is older than the current version of its key.
    """
    columns = intent.candidate.columns
    nested = [n for n, t in columns if isinstance(t, Array | Map | Struct)]
    if nested:
        raise NotSupported(f"mode scd2 cannot compare column {nested[0]!r}, which is nested", hint="use mode merge")
    spelled = intent.candidate.spelled
    keys = [spelled.get(k, k) for k in intent.publish.keys]
    own = intent.publish.versions or Versions()
    tracked = [spelled.get(n, n) for n in own.track] or [n for n, _ in columns if n not in keys]
    said = _Said.of(intent, own)
    if own.since:
        refuse_older_versions(_older(intent.candidate, table, keys, tracked, own, said))
    opened = {own.valid_from: f"s.{_name(_FROM)}", own.valid_to: said.open, own.current: "true"}
    if own.number:
        opened[own.number] = f"s.{_name(_NUMBER)}"
    metrics = (
        table.merge(
            _versions(intent.candidate, table, keys, tracked, said),
            " AND ".join(f"t.{_name(k)} = s.{_name(_KEY + k)}" for k in keys) + f" AND t.{_name(own.current)}",
            source_alias="s", target_alias="t", commit_properties=properties,
        )
        .when_matched_update({own.valid_to: said.since, own.current: "false"}, predicate=_differs(tracked))
        .when_not_matched_insert({**{n: f"s.{_name(n)}" for n, _ in columns}, **opened})
        .execute()
    )  # fmt: skip
    return {"inserted": metrics["num_target_rows_inserted"], "updated": metrics["num_target_rows_updated"], "deleted": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What the contract says of versions, as SQL: since when a row and the first version of a key hold, what open ones say."""

    since: str
    first: str
    open: str
    current: str
    number: str | None

    @classmethod
    def of(cls, intent: PublishIntent, own: Versions) -> _Said:
        spec = intent.contract.field(own.since) if own.since else None
        type_ = spec.type if spec is not None else TIMESTAMP
        since = _literal(datetime.now(UTC))
        if spec is not None:
            since = f"s.{_name(intent.candidate.spelled.get(spec.name, spec.name))}"
        return cls(
            since=since, first=since if own.first is None else _value(own.first, type_),
            open="NULL" if own.open is None else _value(own.open, type_), current=own.current, number=own.number,
        )  # fmt: skip


def _versions(
    candidate: Candidate, table: DeltaTable, keys: list[str], tracked: list[str], said: _Said
) -> pa.RecordBatchReader:
    every = ", ".join(f"s.{_name(n)}" for n, _ in candidate.columns)
    own = ", ".join(f"s.{_name(k)} AS {_name(_KEY + k)}" for k in keys)
    types = dict(candidate.columns)
    none = ", ".join(f"CASE WHEN true THEN NULL ELSE s.{_name(k)} END AS {_name(_KEY + k)}" for k in keys if k in types)
    same = " AND ".join(f"t.{_name(k)} = s.{_name(k)}" for k in keys)
    started = f"{said.first} AS {_name(_FROM)}, CAST(1 AS INT) AS {_name(_NUMBER)}"
    next_number = f"CAST(t.{_name(said.number)} + 1 AS INT)" if said.number else "CAST(1 AS INT)"
    changed = f"{said.since} AS {_name(_FROM)}, {next_number} AS {_name(_NUMBER)}"
    sql = (
        f"SELECT {every}, {own}, {started} FROM s UNION ALL SELECT {every}, {none}, {changed} "
        f"FROM s JOIN t ON {same} WHERE t.{_name(said.current)} AND ({_differs(tracked)})"
    )
    session = QueryBuilder().register("s", _as_table(candidate)).register("t", table)
    stream: Any = session.execute(sql)
    return pa.RecordBatchReader.from_stream(stream)


def _older(
    candidate: Candidate, table: DeltaTable, keys: list[str], tracked: list[str], own: Versions, said: _Said
) -> int:
    same = " AND ".join(f"t.{_name(k)} = s.{_name(k)}" for k in keys)
    session = QueryBuilder().register("s", _as_table(candidate)).register("t", table)
    found: Any = session.execute(
        f"SELECT count(*) AS n FROM s JOIN t ON {same} WHERE t.{_name(own.current)} AND ({_differs(tracked)}) "
        f"AND {said.since} < t.{_name(own.valid_from)}"
    )
    return int(pa.table(found).column("n")[0].as_py())


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


def _value(written: str, type_: FieldType) -> str:
    text = "'" + written.replace("'", "''") + "'"
    return text if type_ == STRING else f"CAST({text} AS {'TIMESTAMP' if type_ == TIMESTAMP else type_})"


def _literal(moment: datetime) -> str:
    return f"CAST('{moment.isoformat()}' AS TIMESTAMP)"


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
