"""What arrived for a transformation: which columns its rows have, and whether every file agrees on them.

`fields` say what is published, so a field that the source does not have is for the function to make; the result is compared
with all of them. A source that says its columns in `source.fields` is compared with those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from invaract_orchestration.checks.header import check_headers, match_columns
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.schema_match import ObservedColumn, ObservedSchema, check_schema
from invaract_orchestration.contract.field_types import STRING
from invaract_orchestration.contract.fields import FieldSpec
from invaract_orchestration.contract.model import Contract, Source
from invaract_orchestration.contract.sides import source_side
from invaract_orchestration.intake.batch import Arriving, Batch, BatchFile
from invaract_orchestration.intake.column_names import NameIndex
from invaract_orchestration.intake.csv_header import FileHeader

_AS_WRITTEN = ("format", "decimal_separator", "group_separator", "timezone", "source_timezone", "may_be_absent", "complete")
Judged = tuple[Arriving, tuple[CheckResult, ...]]


def judge_csv(contract: Contract, batch: Batch, headers: Sequence[FileHeader]) -> Judged:
    """Every header against the fields that the files have; an extra column that is accepted is a text to the function."""
    agreed = _declared(contract) or _fields_in(contract, headers)
    known = NameIndex.of(f.name for f in agreed)
    is_named = (contract.source or Source()).header != "positional"
    names = dict.fromkeys(n for h in headers for n in h.names if n and known.find(n) is None)
    extra = names if is_named and contract.schema_policy.extra_fields == "accept" else {}
    own = source_side(contract, (*agreed, *(FieldSpec(name=n, type=STRING) for n in extra)))
    files = tuple(BatchFile(file=h.file, names=h.names, feeds=tuple(match_columns(own, h))) for h in headers)
    results = check_headers(source_side(contract, agreed) if agreed else contract, headers)
    return Arriving(contract=own, batch=replace(batch, files=files)), results


def _fields_in(contract: Contract, headers: Sequence[FileHeader]) -> tuple[FieldSpec, ...]:
    """The fields that some file has, be it under a name that is not written quite like theirs, and those that may be absent."""
    source = contract.source or Source()
    if source.header == "positional":
        return tuple(f for f in contract.fields if f.phase != "post")
    index = NameIndex.of(f.name for f in contract.fields)
    there = {found[0] for h in headers for n in h.names if (found := index.find(n)) is not None}
    there |= {name for h in headers for name in h.file.columns_beside(h.names, index.exact)}
    return tuple(f for f in contract.fields if f.name in there or f.may_be_absent)


def judge_typed(contract: Contract, batch: Batch, observed: Sequence[ObservedSchema]) -> Judged:
    """The source's own columns and types; several files have to agree on them."""
    fields = _declared(contract) or tuple(_typed_fields(contract, observed))
    policy = contract.schema_policy.model_copy(update={"extra_fields": "accept", "type_changes": "reject"})
    own = source_side(contract, fields).model_copy(update={"schema_policy": policy})
    own = own.placed(contract.base, contract.environment, contract.declared)
    found = {c.name for schema in observed for c in schema.columns}
    absent = frozenset(f.name for f in fields if f.name not in found)
    return Arriving(contract=own, batch=replace(batch, absent=absent)), _not_kept(check_schema(own, observed))


def _typed_fields(contract: Contract, observed: Sequence[ObservedSchema]) -> Iterable[FieldSpec]:
    columns: dict[str, ObservedColumn] = {}
    for schema in observed:
        for column in schema.columns:
            columns.setdefault(column.name, column)
    for name, column in columns.items():
        spec = contract.field(name)
        if spec is not None and column.type in (None, spec.type):
            yield spec
        elif column.type is not None and not isinstance(column.type, str):
            yield FieldSpec(name=name, type=column.type)
    yield from (f for f in contract.fields if f.may_be_absent and f.name not in columns)


def judge_json(contract: Contract, batch: Batch) -> Arriving:
    """Every field, as the keys of records are known only when they are read; see `judge_json_keys`."""
    return Arriving(contract=source_side(contract, _declared(contract) or contract.fields), batch=batch)


def judge_json_keys(
    contract: Contract, arriving: Arriving, session: Any, now: datetime, lineage: Mapping[str, tuple[tuple[str, str], ...]]
) -> Judged:
    """The keys that the records have. One that no record has is missing when the function makes something of it."""
    own = arriving.contract
    read = {column for sources in lineage.values() for _, column in sources}
    is_declared = bool(_declared(contract))
    needed = [
        f if is_declared or any(r == f.name or r.startswith(f.name + ".") for r in read) else
        f.model_copy(update={"may_be_absent": True})
        for f in own.fields
    ]  # fmt: skip
    observed = session.observe(own, arriving.batch, now)
    results = check_schema(own.model_copy(update={"fields": tuple(needed)}), observed)
    found = {c.name for schema in observed for c in schema.columns}
    there = source_side(contract, tuple(f for f in own.fields if f.name in found))
    checked = {f.name: f for f in there.fields}
    fields = tuple(checked.get(f.name, FieldSpec(name=f.name, type=f.type, may_be_absent=True)) for f in own.fields)
    judged = there.model_copy(update={"fields": fields}).placed(contract.base, contract.environment, contract.declared)
    return Arriving(contract=judged, batch=arriving.batch), _not_kept(results)


def judge_result(contract: Contract, batch: Batch, observed: Sequence[ObservedSchema]) -> tuple[Batch, tuple[CheckResult, ...]]:
    """The function's result against the contract's fields, in their types."""
    found = {c.name for schema in observed for c in schema.columns}
    absent = frozenset(f.name for f in contract.fields if f.name not in found)
    return replace(batch, absent=absent), check_schema(contract, observed)


def _declared(contract: Contract) -> tuple[FieldSpec, ...]:
    """The columns that `source.fields` names; what the contract asks of a field of that name and type is asked of them too."""
    found = []
    for spec in contract.source.fields if contract.source is not None else ():
        own = contract.field(spec.name)
        if own is None or own.type != spec.type:
            found.append(spec)
            continue
        written = {name: getattr(spec, name) for name in _AS_WRITTEN}
        found.append(own.model_copy(update={**written, "required": own.required or spec.required}))
    return tuple(found)


def _not_kept(results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
    """What differs: that a source is as agreed is told of the result, under the same names."""
    return tuple(r for r in results if r.outcome != "kept")
