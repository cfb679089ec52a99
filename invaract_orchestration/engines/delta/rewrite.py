"""Writing a candidate's rows again through deltalake, where its files cannot be promoted: one commit for each mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from invaract_orchestration.candidate.candidate import Candidate, CandidateFile
from invaract_orchestration.contract.field_types import Decimal, FieldType
from invaract_orchestration.engines.delta.scd2 import merge_versions
from invaract_orchestration.engines.delta.spark_text import delta_predicate
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.publish.intent import PublishIntent

_MOST_PARTITIONS = 200

Rewrite = Callable[[PublishIntent, DeltaTable, CommitProperties], dict[str, int | None]]



def rewriting(intent: PublishIntent) -> Rewrite:
    """How a publication's mode commits; each gives the counts that are known."""
    special = {
        "merge": _merge, "scd2": merge_versions, "replace_where": _replace_where, "replace_partitions": _replace_partitions,
    }  # fmt: skip
    return special.get(intent.publish.mode, _write)


def _write(intent: PublishIntent, table: DeltaTable, properties: CommitProperties) -> dict[str, int | None]:
    mode: Any = "overwrite" if intent.publish.mode == "overwrite" else "append"
    write_deltalake(table, candidate_rows(intent.candidate), mode=mode, commit_properties=properties)
    return {"inserted": intent.candidate.rows, "updated": 0}


def _added(intent: PublishIntent, table: DeltaTable, properties: CommitProperties) -> dict[str, int | None]:
    write_deltalake(table, candidate_rows(intent.candidate), mode="append", commit_properties=properties)
    return {"inserted": intent.candidate.rows, "updated": 0, "deleted": 0}


def _replace_where(intent: PublishIntent, table: DeltaTable, properties: CommitProperties) -> dict[str, int | None]:
    predicate = _beside_constraints(delta_predicate(intent.publish.where or ""), table)
    write_deltalake(
        table, candidate_rows(intent.candidate), mode="overwrite", predicate=predicate, commit_properties=properties
    )
    return {"inserted": intent.candidate.rows, "updated": 0}


def _replace_partitions(intent: PublishIntent, table: DeltaTable, properties: CommitProperties) -> dict[str, int | None]:
    partitions = tuple(table.metadata().partition_columns)
    if not partitions:
        raise NotSupported("the target has no partitions to replace", hint="use mode replace_where or overwrite")
    types = dict(intent.candidate.columns)
    replaced = sorted({tuple(v for _, v in _laid_out(f, partitions)) for f in intent.candidate.files if f.rows})
    if not replaced:
        spelled = {intent.candidate.spelled.get(k, k): v for k, v in intent.publish.partition.items()}
        if set(spelled) != set(partitions):
            return _added(intent, table, properties)
        replaced = [tuple(spelled[p] for p in partitions)]
    if len(replaced) > _MOST_PARTITIONS:
        raise NotSupported(
            f"replacing {len(replaced)} partitions of this table at once would have to rewrite it",
            hint=f"submit at most {_MOST_PARTITIONS} partitions at a time",
        )
    each = (" AND ".join(_is_in(n, v, types[n]) for n, v in zip(partitions, values, strict=True)) for values in replaced)
    predicate = _beside_constraints(" OR ".join(f"({condition})" for condition in each), table)
    write_deltalake(
        table, candidate_rows(intent.candidate), mode="overwrite", predicate=predicate, commit_properties=properties
    )
    return {"inserted": intent.candidate.rows, "updated": 0}


def _beside_constraints(predicate: str, table: DeltaTable) -> str:
    """deltalake judges predicate and constraints as one condition, which its query engine simplifies wrong where both compare
    one column (`id > 0` and `id >= 7`; two lists): the same predicate in a form that is not taken apart."""
    has_constraints = any(name.startswith("delta.constraints.") for name in table.metadata().configuration)
    return f"({predicate}) IS TRUE" if has_constraints else predicate


def _laid_out(file: CandidateFile, partitions: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The partition of a file; a null among them is broken before, and a candidate of another layout is not replaced by."""
    values = tuple((k, v) for k, v in file.partition if v is not None)
    if tuple(k for k, _ in values) != partitions:
        raise NotSupported("the candidate is not laid out by the target's partitions", hint="declare publish.partition_by")
    return values


def _is_in(name: str, value: str, type_: FieldType) -> str:
    column, text = '"' + name.replace('"', '""') + '"', "'" + value.replace("'", "''") + "'"
    if isinstance(type_, Decimal):
        return f"{column} = CAST({text} AS DECIMAL({type_.precision},{type_.scale}))"
    return f"{column} = {text}"


def _merge(intent: PublishIntent, table: DeltaTable, properties: CommitProperties) -> dict[str, int | None]:
    names = [intent.candidate.spelled.get(k, k) for k in intent.publish.keys]
    same = " AND ".join(f't."{n}" = s."{n}"' for n in (n.replace('"', '""') for n in names))
    metrics = (
        table.merge(
            candidate_rows(intent.candidate), same, source_alias="s", target_alias="t", commit_properties=properties
        )
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .execute()
    )
    return {"inserted": metrics["num_target_rows_inserted"], "updated": metrics["num_target_rows_updated"], "deleted": 0}


def candidate_rows(candidate: Candidate) -> pa.RecordBatchReader:
    """The candidate's rows as a stream of Arrow batches."""
    import pyarrow.dataset as ds  # it brings pandas along, which promoting needs nothing of

    reader: pa.RecordBatchReader = ds.dataset([f.path for f in candidate.files], format="parquet").scanner().to_reader()
    return reader


