"""Frames in memory whose moments are in nanoseconds, as pandas made them for years: a table holds microseconds."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from invaract_orchestration.errors import InputUnreadable

_TO = "us"


def in_microseconds(frame: Any) -> Any:
    """A pandas or polars frame or an Arrow table with its moments in microseconds; anything else, and a stream, as it is.

    Raises:
        InputUnreadable: a moment is finer than that. An engine would cut it off without a word.
    """
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return _arrow(frame)
    if hasattr(frame, "iloc"):
        return _pandas(frame)
    if hasattr(frame, "get_columns") and hasattr(frame, "with_columns"):
        return _polars(frame)
    return frame


def _arrow(table: Any) -> Any:
    for position, column in enumerate(table.schema):
        type_ = _coarser(column.type)
        if type_ == column.type:
            continue
        try:
            values = table.column(position).cast(type_)
        except pa.ArrowInvalid:  # its text holds the value
            raise _too_fine(column.name) from None
        table = table.set_column(position, pa.field(column.name, type_, column.nullable, column.metadata), values)
    return table


def _coarser(type_: pa.DataType) -> pa.DataType:
    """The type with microseconds wherever it has nanoseconds."""
    if pa.types.is_timestamp(type_):
        return pa.timestamp(_TO, type_.tz) if type_.unit == "ns" else type_
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_coarser(type_.value_type)))
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_coarser(field.type)) for field in type_])
    return type_


def _pandas(frame: Any) -> Any:
    changed = frame
    for position, (name, type_) in enumerate(frame.dtypes.items()):
        coarse = _coarse_series(frame.iloc[:, position], name, type_)
        if coarse is None:
            continue
        if changed is frame:
            changed = frame.copy(deep=False)
        changed.isetitem(position, coarse)
    return changed


def _coarse_series(fine: Any, name: object, type_: Any) -> Any:
    """The column with microseconds, or none when it has no nanoseconds."""
    arrow = getattr(type_, "pyarrow_dtype", None)
    if arrow is not None and _coarser(arrow) != arrow:
        try:
            return fine.astype(type(type_)(_coarser(arrow)))
        except pa.ArrowInvalid:
            raise _too_fine(name) from None
    if arrow is not None or getattr(type_, "kind", "") != "M" or _unit(type_) != "ns":
        return None
    coarse = fine.dt.as_unit(_TO)
    if not (fine.isna() | (coarse.dt.as_unit("ns") == fine)).all():
        raise _too_fine(name)
    return coarse


def _unit(type_: Any) -> str:
    """The unit of a type of moments, with a zone or without."""
    import numpy as np  # pandas is there, so it is

    found: str = getattr(type_, "unit", None) or np.datetime_data(type_)[0]
    return found


def _polars(frame: Any) -> Any:
    for name, type_ in frame.schema.items():
        if getattr(type_, "time_unit", None) != "ns" or type(type_).__name__ != "Datetime":
            continue
        coarse = frame.get_column(name).dt.cast_time_unit(_TO)
        if not coarse.dt.cast_time_unit("ns").equals(frame.get_column(name), check_names=False):
            raise _too_fine(name)
        frame = frame.with_columns(coarse)
    return frame


def _too_fine(name: object) -> InputUnreadable:
    return InputUnreadable(
        f"the frame's column {name!r} holds moments finer than a microsecond",
        hint="round them first, such as df['at'].dt.floor('us') in pandas",
    )

