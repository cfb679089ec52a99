"""Publishing through Spark, for tables that deltalake cannot write: one statement, one commit, read back from the log.

Spark's transactions start at whatever version is there, so the version of the verdict is looked up right before, and the commit
is tried once: whoever comes in between makes it fail. What slips through the moment between looking and starting is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from invaract_orchestration.engines.delta.inspect import find_publication
from invaract_orchestration.engines.delta.read import open_table
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.catalog import condition_of
from invaract_orchestration.engines.spark.files import candidate_frame
from invaract_orchestration.engines.spark.left_behind import ignored
from invaract_orchestration.engines.spark.scd2 import merge_versions_sql, older_rows_sql
from invaract_orchestration.engines.spark.session import PrivateSession
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.errors import (
    EngineFailure,
    GateError,
    InvaractError,
    NotSupported,
    OutcomeUnknown,
    PublishConflict,
    TargetRefused,
)  # fmt: skip
from invaract_orchestration.publish.intent import Published, PublishIntent
from invaract_orchestration.publish.preconditions import new_columns, refuse_older_versions

_SOURCE = "invaract_candidate"
_DELTA = "spark.databricks.delta."
_LOST = ("Py4JNetworkError", "Py4JError", "SparkConnectGrpcException", "RetriesExceeded", "ConnectionRefusedError")
"""Errors that say nothing about what the server did."""
Counts = dict[str, int | None]


def publish_through_spark(session: PrivateSession, intent: PublishIntent, reason: str) -> Published:
    """See `Publisher.publish`; `reason` says why it has to be Spark."""
    found = find_publication(intent.target.location, intent.submission_id)
    if found is not None:
        return found
    before = _version(intent)
    if before != intent.target.version:
        raise _conflict(intent.target.version)
    added = new_columns(intent.contract, intent.target)
    notes = (f"added columns {', '.join(f.name for f in added)}",) if added else ()
    method = f"rewritten: {reason}"
    with _settings(session, _ONCE):
        if added:
            before = _add_columns(session, intent, before)
        with _settings(session, _carried(intent, method)):
            return _committed(session, intent, before, method, notes)


_ONCE = {
    _DELTA + "maxCommitAttempts": "0",
    _DELTA + "schema.autoMerge.enabled": "false",
    _DELTA + "autoCompact.enabled": "false",
}
"""A commit is tried once, and no other one follows it by itself."""


def _carried(intent: PublishIntent, method: str) -> dict[str, str]:
    """What the one commit that publishes carries; a change of the table before it must not say that it did."""
    return {
        _DELTA + "write.txnAppId": intent.transaction_id,
        _DELTA + "write.txnVersion": "1",
        _DELTA + "commitInfo.userMetadata": replace(intent.commit, method=method).to_json(),
    }


@contextmanager
def _settings(session: PrivateSession, values: dict[str, str]) -> Iterator[None]:
    """Settings of the private session alone, as long as the block runs."""
    for name, value in values.items():
        session.spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in values:
            with ignored():  # a session that is lost has no settings, and the outcome is what counts
                session.spark.conf.unset(name)


def _committed(session: PrivateSession, intent: PublishIntent, before: int, method: str, notes: tuple[str, ...]) -> Published:
    """Run the statement and read back what the log says of it."""
    failure: Exception | None = None
    counts: Counts = {}
    try:
        frame = candidate_frame(session.spark, intent.candidate)
        counts = _WAYS[intent.publish.mode](session, intent, frame, before)
    except Exception as error:  # noqa: BLE001  # whatever it was, the log says whether it landed
        failure = error
    try:
        found = find_publication(intent.target.location, intent.submission_id)
        now = _version(intent)
    except Exception:  # noqa: BLE001  # whatever it was, the outcome is not known
        raise _unknown("the target cannot be read back") from None
    if found is None:
        if failure is None:
            raise OutcomeUnknown("the commit was reported as made, but the target's log does not show it")
        raise _refusal(failure, before, now) from None
    if found.commit is not None and found.commit.attempt != intent.commit.attempt:
        return found
    if found.version > before + 1:
        notes = (*notes, f"rules on the target were judged on version {before}, and another writer came in between")
    return replace(
        found, method=method, notes=notes, inserted=counts.get("inserted"), updated=counts.get("updated"),
        deleted=counts.get("deleted"),
    )  # fmt: skip


def _refusal(failure: Exception, before: int, now: int) -> GateError:
    """Our own words for a statement that did not land; Spark's can hold a row's values."""
    if isinstance(failure, GateError):
        return failure
    if type(failure).__name__ in _LOST or type(failure).__module__.startswith("grpc"):
        return _unknown("the connection to Spark was lost during the commit")
    if now != before:
        return _conflict(before)
    text = f"{condition_of(failure)} {failure}".lower()
    if any(word in text for word in ("constraint", "not_null", "not null", "exceed_limit_length", "append_only", "append-only")):
        return TargetRefused("the target's own constraint refuses the rows", hint="compare the contract with the table")
    condition = condition_of(failure) or type(failure).__name__
    return EngineFailure(
        f"Spark refused the commit ({condition}); nothing was published",
        hint="its own message may hold values and is withheld; docs/engines.md says which table features were tried",
    )


def _conflict(version: int | None) -> PublishConflict:
    return PublishConflict(
        f"another writer changed the target after version {version}, which the verdict was given for",
        hint="submit again: the rules that read the target are judged anew",
    )


def _unknown(why: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        f"{why}, so whether the commit landed is not known",
        hint="run `invaract reconcile` when the target can be read again; submitting again is safe",
    )


def _version(intent: PublishIntent) -> int:
    table = open_table(intent.target.location)
    if table is None:
        raise PublishConflict("the target has vanished since the verdict was given")
    return table.version()


def _add_columns(session: PrivateSession, intent: PublishIntent, before: int) -> int:
    """Add the new optional columns, in a commit of its own as on every engine; the version that it made."""
    columns = ", ".join(f"{q.name(f.name)} {spark_type(f.type)}" for f in new_columns(intent.contract, intent.target))
    try:
        session.spark.sql(f"ALTER TABLE {_target(intent)} ADD COLUMNS ({columns})")
    except Exception as error:
        if isinstance(error, InvaractError):
            raise
        raise TargetRefused(
            f"the target cannot be changed ({condition_of(error) or type(error).__name__})", code="publish.target_schema"
        ) from None
    now = _version(intent)
    if now != before + 1:
        raise _conflict(before)
    return now


# -- the statements, one for each mode


def _append(session: PrivateSession, intent: PublishIntent, frame: Any, before: int) -> Counts:
    frame.createOrReplaceTempView(_SOURCE)
    names = [q.name(n) for n, _ in intent.candidate.columns]
    chosen = ", ".join(names)
    session.spark.sql(f"INSERT INTO {_target(intent)} ({chosen}) SELECT {chosen} FROM {_SOURCE}")
    return {"inserted": intent.candidate.rows, "updated": 0, "deleted": 0}


def _overwrite(session: PrivateSession, intent: PublishIntent, frame: Any, before: int) -> Counts:
    return _write(intent, frame, {})


def _replace_where(session: PrivateSession, intent: PublishIntent, frame: Any, before: int) -> Counts:
    return _write(intent, frame, {"replaceWhere": intent.publish.where or ""})


def _replace_partitions(session: PrivateSession, intent: PublishIntent, frame: Any, before: int) -> Counts:
    if not intent.target.partition_by:
        raise NotSupported("the target has no partitions to replace", hint="use mode replace_where or overwrite")
    return _write(intent, frame, {"partitionOverwriteMode": "dynamic"})


def _write(intent: PublishIntent, frame: Any, options: dict[str, str]) -> Counts:
    writer = frame.write.format("delta").mode("overwrite")
    for name, value in options.items():
        writer = writer.option(name, value)
    writer.save(intent.target.location)
    return {"inserted": intent.candidate.rows, "updated": 0}


def _merge(session: PrivateSession, intent: PublishIntent, frame: Any, before: int) -> Counts:
    frame.createOrReplaceTempView(_SOURCE)
    keys = [q.name(intent.candidate.spelled.get(k, k)) for k in intent.publish.keys]
    names = [q.name(n) for n, _ in intent.candidate.columns]
    return _merged(
        session,
        f"MERGE INTO {_target(intent)} t USING {_SOURCE} s ON {' AND '.join(f't.{k} = s.{k}' for k in keys)} "
        f"WHEN MATCHED THEN UPDATE SET {', '.join(f't.{n} = s.{n}' for n in names)} "
        f"WHEN NOT MATCHED THEN INSERT ({', '.join(names)}) VALUES ({', '.join(f's.{n}' for n in names)})",
    )


def _merge_versions(session: PrivateSession, intent: PublishIntent, frame: Any, before: int) -> Counts:
    frame.createOrReplaceTempView(_SOURCE)
    older = older_rows_sql(intent, _target(intent), _SOURCE, before)
    if older is not None:
        refuse_older_versions(int(session.spark.sql(older).collect()[0]["n"]))
    return _merged(session, merge_versions_sql(intent, _target(intent), _SOURCE, before))


def _merged(session: PrivateSession, statement: str) -> Counts:
    (found,) = session.spark.sql(statement).collect()
    return {"inserted": int(found["num_inserted_rows"]), "updated": int(found["num_updated_rows"]), "deleted": 0}


def _target(intent: PublishIntent) -> str:
    return f"delta.{q.name(intent.target.location)}"


_WAYS: dict[str, Callable[[PrivateSession, PublishIntent, Any, int], Counts]] = {
    "append": _append, "overwrite": _overwrite, "replace_partitions": _replace_partitions, "replace_where": _replace_where,
    "merge": _merge, "scd2": _merge_versions,
}  # fmt: skip
