"""Changes of the table itself that a publication brings: its creation, its constraints, new optional columns.

They come after the verdict and before the rows, each a commit of its own; a table without rows, or a column of nulls, is what a
kill in between leaves, and the next attempt goes on from there.
"""

from __future__ import annotations

import re

from deltalake import CommitProperties, DeltaTable, Field
from deltalake.exceptions import CommitFailedError, DeltaError

from invaract_orchestration.contract.field_types import STRING, FieldType
from invaract_orchestration.contract.model import Contract, FieldSpec
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.delta.types import delta_schema, delta_type
from invaract_orchestration.errors import PublishConflict, TargetRefused
from invaract_orchestration.publish.intent import PublishIntent
from invaract_orchestration.publish.preconditions import new_columns, version_columns

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def prepare_table(intent: PublishIntent) -> tuple[DeltaTable, tuple[str, ...]]:
    """The table at the version to commit on, created or widened where the contract asks for it, and notes for the audit.

    Raises:
        PublishConflict: the target is not at the version that the intent names.
    """
    table = open_table(intent.target.location)
    if table is None:
        if intent.target.exists:
            raise PublishConflict("the target has vanished since the verdict was given")
        return _create(intent)
    if table.version() != intent.target.version:
        if not intent.target.exists and _is_ours_without_rows(table, intent):
            return table, ("the table was created by an earlier attempt",)
        raise PublishConflict(
            f"the target is at version {table.version()}, the verdict was given for {intent.target.version}",
            hint="submit again: the rules that read the target are judged anew",
        )
    added = new_columns(intent.contract, intent.target)
    if added:
        _alter(lambda: table.alter.add_columns([Field(f.name, delta_type(f.type)) for f in added]))
        return _reopened(intent), (f"added columns {', '.join(f.name for f in added)}",)
    return table, ()


def _is_ours_without_rows(table: DeltaTable, intent: PublishIntent) -> bool:
    return (table.metadata().description or "") == _description(intent.contract) and not table.file_uris()


def _create(intent: PublishIntent) -> tuple[DeltaTable, tuple[str, ...]]:
    contract, publish = intent.contract, intent.publish
    mirrors = publish.constraints == "mirror"
    not_null = frozenset(
        intent.candidate.spelled.get(f.name, f.name) for f in contract.fields if f.required and mirrors
    )
    columns = intent.candidate.columns
    if publish.mode == "scd2":
        columns = (*columns, *version_columns(contract))
    _alter(
        lambda: DeltaTable.create(
            intent.target.location, delta_schema(columns, not_null), mode="error",
            partition_by=list(publish.partition_columns) or None, description=_description(contract),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
    )  # fmt: skip
    notes: list[str] = ["created the table"]
    for name, condition in mirrored_constraints(contract).items() if mirrors else ():
        try:
            _reopened(intent).alter.add_constraint({name: condition})
        except DeltaError:
            notes.append(f"the table cannot hold the rule {name} as a constraint; the gate still judges it")
    return _reopened(intent), tuple(notes)


def _description(contract: Contract) -> str:
    return f"published by invaract under contract {contract.contract}"


def _alter(change: object) -> None:
    try:
        change()  # type: ignore[operator]
    except CommitFailedError:
        raise PublishConflict("another writer changed the target while it was being prepared") from None
    except DeltaError as error:
        if "already exists" in str(error).lower():
            raise PublishConflict("another writer created the target in the meantime") from None
        raise TargetRefused(
            f"the target cannot be created or changed ({type(error).__name__})", code="publish.target_schema"
        ) from None


def _reopened(intent: PublishIntent) -> DeltaTable:
    table = open_table(intent.target.location)
    if table is None:
        raise PublishConflict("the target has vanished while it was being prepared")
    return table


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
