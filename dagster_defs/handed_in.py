"""What a producer returned, as a batch for the gate.

Rows become a Parquet file in a restricted folder for the time of the run, so that they have what every batch has: a digest of
their content. The same rows again are the same submission, and a correction is told from a retry. A Spark DataFrame stays lazy,
so that its plan can be judged: it has no digest, and is named after asset and partition.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dagster_defs.slices import PARTITION, Parameters, is_told_apart, parameters_of
from invaract_orchestration.contract.model import Contract, Source
from invaract_orchestration.errors import EngineFailure, NotSupported, UsageError
from invaract_orchestration.intake.parameters import UnsafeName, fill, placeholders
from invaract_orchestration.intake.query_tables import tables_read

_FOLDER = Path("_invaract") / "handed_in"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """What the rows are for: one partition of one asset (`partition` is null for an asset without). `run` stays for retries."""

    asset: str
    partition: str | None
    parameters: Parameters | None
    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A batch as the gate takes it: the contract, perhaps over another source, and what to call the gate with."""

    contract: Contract
    call: dict[str, Any] = field(default_factory=dict)


@contextmanager
def offered(contract: Contract, rows: Any, slot: Slot, lake_root: Path, engine: str = "duckdb") -> Iterator[Offer]:
    """The batch that a producer's result stands for; nothing returned means the contract's own source.

    Raises:
        UsageError: the result is nothing that holds rows, or the partitions do not fit the contract.
        NotSupported: the result is known and not possible here.
    """
    if rows is None:
        yield _own_source(contract, slot)
    elif isinstance(rows, str):
        yield _query(contract, rows, slot)
    elif _library(rows) == "pyspark":
        yield _frame(contract, rows, slot, engine)
    elif inspect.isroutine(rows) or isinstance(rows, functools.partial):
        own = _own_source(contract, slot)
        yield Offer(contract=contract, call={**own.call, "transform": rows})
    else:
        folder = lake_root / _FOLDER / uuid.uuid4().hex
        try:
            yield _written(contract, rows, slot, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _own_source(contract: Contract, slot: Slot) -> Offer:
    parameters = parameters_of(contract, slot.partition, slot.parameters)
    if not is_told_apart(slot.partition, parameters, slot.parameters):
        raise UsageError(
            f"{slot.asset} has partitions, and the contract's source and target are the same for all of them",
            hint="put the partition into the contract, such as source.location: in/{day}.csv",
        )
    return Offer(contract=contract, call={"parameters": parameters})


def _query(contract: Contract, sql: str, slot: Slot) -> Offer:
    parameters = parameters_of(contract.with_query(sql), slot.partition, slot.parameters)
    for name, partition in _further(slot, parameters).items():
        sql, parameters = f"{sql}\n/* {{{name}}} */", {**parameters, name: partition}
    call: dict[str, Any] = {"transform": sql, "parameters": parameters}
    if not tables_read(fill(sql, parameters)):
        digest = hashlib.sha256("\n".join([slot.asset, str(slot.partition), sql]).encode()).hexdigest()
        call["submission_id"] = f"q-{digest[:24]}"
    return Offer(contract=contract, call=call)


def _frame(contract: Contract, rows: Any, slot: Slot, engine: str) -> Offer:
    if engine != "spark":
        raise NotSupported(
            "a Spark DataFrame needs the Spark engine",
            hint="say engine: spark on the resource, or INVARACT_ENGINE=spark; else return its rows with .toArrow()",
        )
    words = [slot.asset, slot.partition if slot.partition is not None else f"run {slot.run}"]
    digest = hashlib.sha256("\n".join(words).encode()).hexdigest()
    parameters = parameters_of(contract, slot.partition, slot.parameters)
    return Offer(contract=contract, call={"frame": rows, "parameters": parameters, "submission_id": f"f-{digest[:24]}"})


def _further(slot: Slot, parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameter that the partition needs where the others do not tell it from the next one."""
    if is_told_apart(slot.partition, parameters, slot.parameters):
        return {}
    name = PARTITION
    while name in parameters:
        name += "_"
    return {name: str(slot.partition)}


def _library(rows: Any) -> str:
    return type(rows).__module__.partition(".")[0]


def _written(contract: Contract, rows: Any, slot: Slot, folder: Path) -> Offer:
    source = contract.source or Source()
    used = placeholders(source.location or "")
    parameters = parameters_of(contract, slot.partition, slot.parameters)
    further = _further(slot, parameters)
    used, parameters = (*used, *further), {**parameters, **further}
    location = str(folder / "-".join(["rows", *(f"{{{name}}}" for name in used)])) + ".parquet"
    try:
        path = Path(fill(location, parameters))
    except UnsafeName:
        path = None  # the gate refuses it with its own words, and puts it on record
    if path is not None:
        _write(rows, path)
    changed: dict[str, Any] = {"format": "parquet", "location": location, "sql": None, "inputs": {}, "after": "keep"}
    offer = contract.model_copy(update={"source": source.model_copy(update=changed)})
    return Offer(
        contract=offer.placed(contract.base, contract.environment, contract.declared), call={"parameters": parameters}
    )


def _write(rows: Any, path: Path) -> None:
    import pyarrow as pa  # nothing heavy is loaded with the definitions
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, mode=0o700)
    try:
        reader = pa.RecordBatchReader.from_stream(_stream(rows))
        with pq.ParquetWriter(path, reader.schema, coerce_timestamps="us") as writer:
            for batch in reader:
                writer.write_batch(batch)
    except UsageError:
        raise
    except Exception as error:  # noqa: BLE001  # a lazy frame is computed here, and its library's message may hold values
        raise EngineFailure(
            f"the rows that were returned could not be written down: {type(error).__name__}",
            hint="cast columns of mixed types, and times finer than a microsecond, before returning them",
        ) from None


def _stream(rows: Any) -> Any:
    """Anything that gives Arrow record batches; a lazy frame is computed here, once."""
    library = _library(rows)
    if library == "pandas" and hasattr(rows, "columns"):
        import pyarrow as pa  # see _write

        return pa.Table.from_pandas(rows, preserve_index=False)
    if library == "polars" and hasattr(rows, "collect"):
        return rows.collect()
    if hasattr(rows, "__arrow_c_stream__"):
        return rows
    raise UsageError(
        f"a producer returned {library}.{type(rows).__qualname__}, which holds no rows",
        hint="return a DataFrame (pandas, polars, pyarrow, Spark), a DuckDB relation, SQL text, a function of session and rows, "
        "or nothing",
    )
