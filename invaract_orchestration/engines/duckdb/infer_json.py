"""Names and types of JSON records that have no contract yet."""

from __future__ import annotations

import json
from typing import Any

import duckdb

from invaract_orchestration.contract.field_types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    MAX_DECIMAL_PRECISION,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Decimal,
    FieldType,
    Struct,
)  # fmt: skip
from invaract_orchestration.contract.model import FieldSpec, Source, SourceOptions
from invaract_orchestration.contract.template import DraftColumn, FileDraft
from invaract_orchestration.engines.duckdb import sql_text as q
from invaract_orchestration.engines.duckdb.json_forms import is_record
from invaract_orchestration.engines.duckdb.rows import json_lines
from invaract_orchestration.engines.duckdb.session import DeclaredFormBreach, translated
from invaract_orchestration.engines.duckdb.text_forms import read_text
from invaract_orchestration.errors import InputUnreadable
from invaract_orchestration.intake.batch import Batch, BatchFile
from invaract_orchestration.intake.listing import ListedFile
from invaract_orchestration.intake.wording import quoted

_KINDS: dict[str, FieldType] = {
    "BOOLEAN": BOOLEAN, "UBIGINT": BIGINT, "BIGINT": BIGINT, "HUGEINT": BIGINT, "DOUBLE": DOUBLE, "VARCHAR": STRING,
    "NULL": STRING,
}  # fmt: skip
_TIMES = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
_WHOLE = (BIGINT, Decimal(MAX_DECIMAL_PRECISION, 0))


def infer_json(connection: duckdb.DuckDBPyConnection, file: ListedFile) -> FileDraft:
    """The keys of all records, with the type that all of their values have.

    Raises:
        InputUnreadable: the file is no JSON of one record a line or of one array.
    """
    for shape in ("lines", "array"):
        options = SourceOptions(shape=shape)
        batch = Batch(source=Source(format="json", options=options), files=(BatchFile(file=file),))
        lines = f"(SELECT line FROM ({json_lines(batch, 'skip')}) WHERE {is_record('line')})"
        try:
            with translated(f"reading {file.name}"):
                row: Any = connection.execute(
                    f"SELECT count(*), CAST(json_group_structure(CAST(line AS JSON)) AS VARCHAR) FROM {lines}"
                ).fetchone()
        except (DeclaredFormBreach, InputUnreadable):
            continue
        if row[0]:
            keys = json.loads(row[1])
            if not isinstance(keys, dict) or not all(key.strip() for key in keys):
                what = "a key of its records has no name" if isinstance(keys, dict) else "its records have no keys"
                raise InputUnreadable(f"file {quoted(file.name)}: {what}", hint="every column of a contract has a name")
            columns = [_column(connection, lines, key, shape_) for key, shape_ in keys.items()]
            return FileDraft(format="json", columns=tuple(columns), options=options, rows=row[0])
    raise InputUnreadable(
        f"file {quoted(file.name)} holds no JSON records", hint="expected one object a line, or one array of objects"
    )


def json_types(connection: duckdb.DuckDBPyConnection, batch: Batch) -> dict[str, FieldType | None]:
    """See `EngineSession.json_types`.

    Raises:
        InputUnreadable: the files are no JSON of the declared shape.
    """
    lines = f"(SELECT line FROM ({json_lines(batch, 'skip')}) WHERE {is_record('line')})"
    try:
        with translated("reading the records"):
            structure = "CAST(json_group_structure(CAST(line AS JSON)) AS VARCHAR)"
            (found,) = connection.execute(f"SELECT {structure} FROM {lines}").fetchall()
    except DeclaredFormBreach:
        raise InputUnreadable(
            "a file is no JSON of the declared shape",
            hint="source.options.shape: lines is one record a line, array is one array of records a file",
        ) from None
    shapes = json.loads(found[0]) if found[0] else {}
    if not isinstance(shapes, dict):
        return {}
    return {key: None if shape == "NULL" else _type(shape) or STRING for key, shape in shapes.items()}


def _column(connection: duckdb.DuckDBPyConnection, lines: str, key: str, shape: Any) -> DraftColumn:
    type_ = _type(shape)
    if type_ is None:
        note = "values of several kinds, which one type cannot hold: agree on one"
        return DraftColumn(spec=FieldSpec(name=key, type=STRING), note=note)
    if shape == "NULL":
        return DraftColumn(spec=FieldSpec(name=key, type=STRING), note="no value in this file")
    if type_ == STRING:
        type_ = _first_fit(connection, lines, key, _TIMES) or STRING
    elif type_ in (BIGINT, DOUBLE):  # what the engine calls a double may be a whole number of many digits
        type_ = _first_fit(connection, lines, key, _WHOLE) or DOUBLE
    return DraftColumn(spec=FieldSpec(name=key, type=type_))


def _type(shape: Any) -> FieldType | None:
    """The field type of DuckDB's description of a JSON value, none when values of several kinds are mixed."""
    if isinstance(shape, str):
        return _KINDS.get(shape)
    if isinstance(shape, list):
        element = _type(shape[0]) if len(shape) == 1 else None
        return None if element is None else Array(element)
    parts = [(name, _type(inner)) for name, inner in shape.items()]
    known = [(name, part) for name, part in parts if part is not None]
    return Struct(tuple(known)) if known and len(known) == len(parts) else None


def _first_fit(connection: duckdb.DuckDBPyConnection, lines: str, key: str, types: tuple[FieldType, ...]) -> FieldType | None:
    """The first of the types whose form all values have."""
    value = f"from_json(line, {q.text(json.dumps({key: 'VARCHAR'}))}).{q.name(key)}"
    forms = [read_text("v", t, FieldSpec(name="x", type=t), "UTC").is_right for t in types]
    tests = ", ".join(f"bool_and(coalesce({form}, false)) FILTER (v IS NOT NULL)" for form in forms)
    with translated("reading the records"):
        row: Any = connection.execute(f"SELECT {tests} FROM (SELECT {value} AS v FROM {lines})").fetchone()
    return next((type_ for type_, fits in zip(types, row, strict=True) if fits), None)
