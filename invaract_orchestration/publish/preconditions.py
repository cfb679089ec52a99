"""Whether a target can take what a contract promises, as values, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from sqlglot import parse_one
from sqlglot.errors import SqlglotError

from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.contract.expression_names import columns_read
from invaract_orchestration.contract.field_types import BOOLEAN, INT, TIMESTAMP, FieldType
from invaract_orchestration.contract.model import Contract, FieldSpec
from invaract_orchestration.errors import TargetRefused

TARGET_SCHEMA = "publish.target_schema"
VALID_FROM, VALID_TO, CURRENT = "valid_from", "valid_to", "is_current"


def version_columns(contract: Contract) -> tuple[tuple[str, FieldType], ...]:
    """What mode scd2 adds to every row: since when and until when it holds, whether it does now, and where it is wanted its
    number. The times are of the type of the column that they come from.
    """
    own = contract.publish.versions if contract.publish else None
    if own is None:
        return ((VALID_FROM, TIMESTAMP), (VALID_TO, TIMESTAMP), (CURRENT, BOOLEAN))
    since = contract.field(own.since) if own.since else None
    time = since.type if since is not None else TIMESTAMP
    numbered = ((own.number, INT),) if own.number else ()
    return ((own.valid_from, time), (own.valid_to, time), (own.current, BOOLEAN), *numbered)


def refuse_older_versions(rows: int) -> None:
    """Versions follow each other in time: a changed row from before its key's current version would end that one before it began.

    Raises:
        TargetRefused: there are such rows.
    """
    if rows:
        raise TargetRefused(
            f"{rows} changed {'row is' if rows == 1 else 'rows are'} older than the current version of the key",
            code="publish.out_of_order",
            hint="submit batches in the order of their time; an older version is mended in the table itself",
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetProblem:
    """Why a target cannot take the contract's rows."""

    sentence: str
    hint: str


def target_problems(contract: Contract, target: TargetState) -> tuple[TargetProblem, ...]:
    """Every reason, in the order of the contract's fields and then of the target's own columns."""
    if contract.publish is None:
        return ()
    whole = _problems_of_versions(contract, target) or _problems_of_the_whole(contract, target)
    if whole or not target.exists:
        return whole
    return (
        *(p for f in contract.fields if (p := _field_problem(contract, target, f)) is not None),
        *_problems_of_its_columns(contract, target),
        *_unasked(target, {f.name.lower() for f in contract.fields}),
        *_problems_of_its_partitions(contract, target),
    )


def _problems_of_versions(contract: Contract, target: TargetState) -> tuple[TargetProblem, ...]:
    """The columns that mode scd2 fills are its own, and a table that is there has them."""
    if contract.publish is None or contract.publish.mode != "scd2":
        return ()
    own, names = version_columns(contract), {f.name.lower() for f in contract.fields}
    clashes = [n for n, _ in own if n.lower() in names]
    if clashes:
        hint = "mode scd2 fills these columns itself; rename the contract's fields"
        return tuple(TargetProblem(sentence=f"field {n!r} has the name of a version's column", hint=hint) for n in clashes)
    if not target.exists or target.unwritable or target.is_append_only:
        return ()
    hint = "a table of versions has " + ", ".join(f"{n} ({t})" for n, t in own)
    lacks = [n for n, _ in own if target.column(n) is None]
    return tuple(TargetProblem(sentence=f"the target has no column {n!r}", hint=hint) for n in lacks)


def _problems_of_the_whole(contract: Contract, target: TargetState) -> tuple[TargetProblem, ...]:
    if target.exists and target.unwritable:
        return (_unwritable(target.unwritable),)
    mode = contract.publish.mode if contract.publish else "append"
    if target.exists and target.is_append_only and mode != "append":
        hint = "use mode append, or take delta.appendOnly from the table's properties"
        return (TargetProblem(sentence=f"the target is append-only, and mode {mode} changes rows", hint=hint),)
    return ()


def _problems_of_its_columns(contract: Contract, target: TargetState) -> Iterator[TargetProblem]:
    known = {f.name.lower() for f in contract.fields}
    for column in target.columns:
        if column.is_generated:
            yield _generated(column.name)
        elif column.name.lower() not in known and not column.nullable:
            yield TargetProblem(
                sentence=f"the target's column {column.name!r} is NOT NULL, and the contract has no such field",
                hint="declare the field, or let the column be null in the target",
            )


def _problems_of_its_partitions(contract: Contract, target: TargetState) -> Iterator[TargetProblem]:
    known = {f.name.lower() for f in contract.fields}
    for name in target.partition_by:
        if name.lower() not in known:
            sentence = f"the target is partitioned by {name!r}, and the contract has no such field"
            yield TargetProblem(sentence=sentence, hint="declare the field")
    declared = contract.publish.partition_columns if contract.publish else ()
    if declared and [n.lower() for n in declared] != [n.lower() for n in target.partition_by]:
        yield TargetProblem(
            sentence=f"the contract partitions by {_names(declared)}, the target by {_names(target.partition_by)}",
            hint="make publish.partition_by the target's partition columns, in their order",
        )


def new_columns(contract: Contract, target: TargetState) -> tuple[FieldSpec, ...]:
    """Fields that the target does not have yet; none for a table that does not exist."""
    return tuple(f for f in contract.fields if target.exists and target.column(f.name) is None)


def _field_problem(contract: Contract, target: TargetState, spec: FieldSpec) -> TargetProblem | None:
    assert contract.publish is not None  # asked by the caller
    column = target.column(spec.name)
    if column is None:
        if contract.publish.evolve == "add_columns" and not spec.required:
            return _unwidenable(spec.name, target.unwidenable) if target.unwidenable else None
        return TargetProblem(
            sentence=f"the target has no column {spec.name!r}",
            hint="publish.evolve: add_columns adds optional fields; a required one needs the table changed first",
        )
    if column.type != spec.type:
        return TargetProblem(
            sentence=f"the target's column {column.name!r} is {column.type}, the contract says {spec.type}",
            hint="make the contract's type the target's, or publish to another table",
        )
    return None


def _unasked(target: TargetState, known: set[str]) -> Iterator[TargetProblem]:
    """Constraints of the target over columns that the rows do not have."""
    for name, condition in target.constraints_over(known).items():
        with suppress(SqlglotError):  # what cannot be parsed is told where it is asked
            unknown = sorted(c for c in columns_read(parse_one(condition, read="spark")) if c.lower() not in known)
            if unknown:
                read = _names(tuple(unknown))
                yield TargetProblem(
                    sentence=f"the target's constraint {name!r} reads {read}, and the contract has no such field",
                    hint="declare the field, or take the constraint from the table",
                )


def _unwritable(features: tuple[str, ...]) -> TargetProblem:
    return TargetProblem(
        sentence=f"the target has {'a table feature' if len(features) == 1 else 'table features'} that this engine cannot "
        f"write: {_names(features)}",
        hint="the engine spark writes more features (docs/engines.md says which on which engine); "
        "or publish to a table without them",
    )


def _unwidenable(name: str, features: tuple[str, ...]) -> TargetProblem:
    return TargetProblem(
        sentence=f"this engine cannot add column {name!r} to a table with {_names(features)}",
        hint="publish once with the engine spark, which can, or add the column yourself",
    )


def _generated(name: str) -> TargetProblem:
    return TargetProblem(
        sentence=f"the target's column {name!r} is generated by the table, and the gate does not fill such columns",
        hint="publish to a table without generated or identity columns",
    )


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(repr, names)) or "nothing"
