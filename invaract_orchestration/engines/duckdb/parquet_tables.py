"""Parquet files that are one table together, as a relation."""

from __future__ import annotations

from collections.abc import Sequence

from invaract_orchestration.contract.field_types import TIMESTAMP
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.types import duckdb_type
from invaract_orchestration.engines.parquet_tables import TOO_FINE, parquet_table
from invaract_orchestration.intake.listing import ListedFile

_FILE = "invaract: file"


def parquet_relation(what: str, files: Sequence[ListedFile]) -> str:
    """The rows of a table's files. Raises what `parquet_table` does."""
    table = parquet_table(what, files)
    chosen = []
    for name, type_ in table.columns:
        column = q.name(name)
        if name in table.fine:
            is_whole = f"{column} IS NULL OR epoch_ns({column}) % 1000 = 0"
            own = f"CAST({column} AS {duckdb_type(table.fine[name])})"
            chosen.append(f"CASE WHEN {is_whole} THEN {own} ELSE error({q.text(TOO_FINE)}) END AS {column}")
        elif type_ == TIMESTAMP:
            chosen.append(f"CAST({column} AS TIMESTAMPTZ) AS {column}")  # one of 96 bits has no zone in the reader's eyes
        else:
            chosen.append(column)
    how = f"filename={q.text(_FILE)}, hive_partitioning=false, union_by_name=true"
    source = f"read_parquet({q.paths(f.path for f in table.files)}, {how})"
    chosen += [f"{q.name(f'invaract: {name}')} AS {q.name(name)}" for name in table.folders]
    return f"(SELECT {', '.join(chosen)} FROM {source}{_folders(table.files, table.folders)})"


def _folders(files: Sequence[ListedFile], names: Sequence[str]) -> str:
    """The values of the folders by file, joined to the rows."""
    if not names:
        return ""
    values = [[str(f.path), *(dict(f.partition).get(n) for n in names)] for f in files]
    rows = ", ".join("(" + ", ".join("NULL::VARCHAR" if v is None else q.text(v) for v in row) + ")" for row in values)
    columns = ", ".join(q.name(n) for n in ("invaract: of", *(f"invaract: {name}" for name in names)))
    return f' JOIN (VALUES {rows}) AS folders({columns}) ON {q.name(_FILE)} = {q.name("invaract: of")}'
