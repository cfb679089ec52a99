"""Taking in a table that was there before its contract: from now on the gate alone writes to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from invaract_orchestration.audit.course import Course
from invaract_orchestration.audit.log import AuditLog, AuditReader
from invaract_orchestration.audit.records import Submission
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import GateError, UsageError
from invaract_orchestration.intake.identity import submission_id
from invaract_orchestration.intake.places import Locate, no_catalog, place_identity, table_place
from invaract_orchestration.intake.receive import slice_of
from invaract_orchestration.publish.preconditions import TARGET_SCHEMA, target_problems
from invaract_orchestration.publish.publisher import Publisher

ADOPTED = "adopted"
"""The code of a result that took a table in; its events name the version."""
VERSION = "table_version"
"""Key of the event that names the version."""


def adopt_table(
    contract: Contract, *, publisher: Publisher, audit: AuditLog, lake_root: Path, clock: Callable[[], datetime],
    parameters: Mapping[str, str], tell: Callable[[str], None], locate: Locate = no_catalog,
) -> GateResult:  # fmt: skip
    """Record the table of a contract, at its version now, as the baseline; nothing is written to the table.

    The result is `rejected` when the table's columns are not what the contract promises.

    Raises:
        GateError: there is no such table, or it cannot be read.
        UsageError: the contract names no target.
    """
    if contract.publish is None:
        raise UsageError(f"contract {contract.contract}: no target is named", hint="add publish.target")
    location = contract.source.location if contract.source else None
    own = slice_of(contract, contract.publish.target, parameters, location)
    place = table_place(own.target, base=contract.base, lake_root=lake_root, locate=locate)
    own = replace(own, target=place_identity(place, base=contract.base, lake_root=lake_root))
    target = publisher.inspect(place)
    if target.version is None:
        raise GateError(
            f"there is no Delta table at {place!r}", code="table.missing",
            hint="nothing needs to be taken in: the first run creates the table",
        )  # fmt: skip
    course = Course(
        contract=contract, kind="adopt", environment=contract.environment, parameters=parameters, clock=clock
    )
    course.target = place
    intake = f"adopted:{target.version}"
    course.open(
        Submission(
            submission_id=submission_id(own.digest, intake), contract=contract.contract, target=place,
            parameters=own.parameters, slice_digest=own.digest, intake_digest=intake, files=(),
        ),
        log=audit, engine="none", context={}, tell=tell,
    )  # fmt: skip
    columns = len(target.columns)
    course.trail.step("received", "comparing the table with the contract", {VERSION: target.version, "columns": columns})
    problems = target_problems(contract, target)
    if problems:
        message = "; ".join(p.sentence for p in problems)
        return course.end("rejected", message, code=TARGET_SCHEMA, hint=problems[0].hint)
    return course.end("no_op", f"took in version {target.version} with {columns} columns as the baseline", code=ADOPTED)


def adopted_version(audit: AuditReader, contract: str, target: str) -> int | None:
    """The version at which a contract's table was taken in last; null when it never was."""
    last = audit.attempts(contract=contract, target=target, kind="adopt", states=("no_op",), limit=1)
    versions = (event.detail.get(VERSION) for view in last for event in view.events)
    return next((version for version in versions if isinstance(version, int)), None)
