"""Changes of the table itself that a publication brings: its creation, its constraints, new optional columns.

They come after the verdict and before the rows, each a commit of its own; a table without rows, or a column of nulls, is what a
kill in between leaves, and the next attempt goes on from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from deltalake import CommitProperties, DeltaTable, Field
from deltalake.exceptions import CommitFailedError, DeltaError

from invaract_orchestration.contract.field_types import STRING, FieldType
from invaract_orchestration.contract.model import Contract, FieldSpec
from invaract_orchestration.engines.delta.paths import has_paths_of_another_spelling
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import delta_schema, delta_type
from invaract_orchestration.errors import PublishConflict, TargetRefused
from invaract_orchestration.publish.intent import PublishIntent
from invaract_orchestration.publish.preconditions import new_columns, version_columns

_Changed = TypeVar("_Changed")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def prepare_table(intent: PublishIntent) -> tuple[DeltaTable, tuple[str, ...]]:
    """The table at the version to commit on, created or widened where the contract asks for it, and notes for the audit.

    Every change is made on the handle that is given back, without retries: a writer that comes in between makes the next
    commit on it a conflict, so nothing is published on a version that the verdict does not know.

    Raises:
        PublishConflict: the target is not at the version that the intent names.
    """
    table = open_table(intent.target.location)
    if table is None:
        if intent.target.exists:
            raise PublishConflict("the target has vanished since the verdict was given")
        table = _create(intent)
        return table, ("created the table", *_mirror(intent, table))
    if table.version() != intent.target.version:
        raise PublishConflict(
            f"the target is at version {table.version()}, the verdict was given for {intent.target.version}",
            hint="submit again: the rules that read the target are judged anew",
        )
    _refuse_what_stays(table, intent)
    notes: tuple[str, ...] = ()
    added = new_columns(intent.contract, intent.target)
    if added:
        fields = [Field(f.name, delta_type(f.type)) for f in added]
        _alter(lambda: table.alter.add_columns(fields, commit_properties=_once()))
        notes = (f"added columns {', '.join(f.name for f in added)}",)
    return table, (*notes, *_mirror(intent, table))


def _refuse_what_stays(table: DeltaTable, intent: PublishIntent) -> None:
    """A mode that takes files out needs all of them to go."""
    if intent.publish.mode != "append" and has_paths_of_another_spelling(table):
        raise TargetRefused(
            "the target's log spells the path of a file in a way in which deltalake would leave the file in the table: mode "
            f"{intent.publish.mode} would keep its old rows beside the new ones",
            hint="publish with the engine spark, or write the table anew once; mode append takes no file out",
        )


def _is_ours_without_rows(table: DeltaTable, intent: PublishIntent) -> bool:
    return (table.metadata().description or "") == _description(intent.contract) and not table.file_uris()


def _create(intent: PublishIntent) -> DeltaTable:
    contract, publish = intent.contract, intent.publish
    not_null = frozenset(
        intent.candidate.spelled.get(f.name, f.name)
        for f in contract.fields
        if f.required and publish.constraints == "mirror"
    )
    columns = intent.candidate.columns
    if publish.mode == "scd2":
        columns = (*columns, *version_columns(contract))
    return _alter(
        lambda: DeltaTable.create(
            intent.target.location, delta_schema(columns, not_null), mode="error",
            partition_by=list(publish.partition_columns) or None, description=_description(contract), commit_properties=_once(),
        )
    )  # fmt: skip


def _mirror(intent: PublishIntent, table: DeltaTable) -> list[str]:
    """Give a table of the contract's own that has no rows yet the constraints that it lacks: a kill may have kept them out."""
    if intent.publish.constraints != "mirror":
        return []
    there = table.metadata().configuration
    missing = {n: c for n, c in mirrored_constraints(intent.contract).items() if f"delta.constraints.{n}" not in there}
    if not missing or not _is_ours_without_rows(table, intent):
        return []
    notes: list[str] = []
    for name, condition in missing.items():
        try:
            table.alter.add_constraint({name: condition}, commit_properties=_once())
        except CommitFailedError:
            raise PublishConflict("another writer changed the target while it was being prepared") from None
        except DeltaError:
            notes.append(f"the table cannot hold the rule {name} as a constraint; the gate still judges it")
    return notes


def _description(contract: Contract) -> str:
    return f"published by invaract under contract {contract.contract}"


def _once() -> CommitProperties:
    return CommitProperties(max_commit_retries=0)


def _alter(change: Callable[[], _Changed]) -> _Changed:
    try:
        return change()
    except CommitFailedError:
        raise PublishConflict("another writer changed the target while it was being prepared") from None
    except DeltaError as error:
        if "already exists" in str(error).lower():
            raise PublishConflict("another writer created the target in the meantime") from None
        raise TargetRefused(
            f"the target cannot be created or changed ({type(error).__name__})", code="publish.target_schema"
        ) from None


def mirrored_constraints(contract: Contract) -> dict[str, str]:
    """CHECK constraints for the rules of plainly named columns, and the row rules. A null passes where the field may be null."""
    found: dict[str, str] = {}
    for spec in contract.fields:
        if not _PLAIN_NAME.match(spec.name) or spec.severity != "error":
            continue
        for kind, condition in _conditions(spec):
            found[f"{spec.name}_{kind}".lower()] = (
                condition if spec.required else f"{spec.name} IS NULL OR {condition}"
            )
    for rule in contract.quality.row_rules:
        is_of_the_result = not contract.transformations or rule.phase == "post"
        if rule.severity == "error" and rule.null_is == "fail" and "current_" not in rule.sql.lower() and is_of_the_result:
            found[re.sub(r"\W", "_", rule.name).lower()] = rule.sql
    return found


def _conditions(spec: FieldSpec) -> list[tuple[str, str]]:
    found = []
    if spec.min is not None:
        found.append(("min", f"{spec.name} >= {_literal(spec.min, spec.type)}"))
    if spec.max is not None:
        found.append(("max", f"{spec.name} <= {_literal(spec.max, spec.type)}"))
    if spec.allowed:
        found.append(("allowed", f"{spec.name} IN ({', '.join(_literal(v, spec.type) for v in spec.allowed)})"))
    return found


def _literal(written: str, type_: FieldType) -> str:
    if type_ == STRING:
        return "'" + written.replace("'", "''") + "'"
    return written if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", written) else f"CAST('{written}' AS {type_})"
