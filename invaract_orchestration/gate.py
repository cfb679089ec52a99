"""The gate, top to bottom: contract, intake, candidate, checks, verdict, publish, audit.

Nothing reaches the target before a verdict has passed, and every step is recorded before the next begins. Bad data is a rejected
result; an exception inside means that the gate could not judge, and ends as `failed` with nothing published.
"""

from __future__ import annotations

import platform
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from invaract_orchestration.audit.log import AuditLog
from invaract_orchestration.audit.records import (
    Attempt,
    ContractVersion,
    Counts,
    InputFile,
    PublicationRecord,
    State,
    Submission,
)
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.audit.trail import Trail
from invaract_orchestration.candidate.candidate import Materialised
from invaract_orchestration.candidate.compiled import compile_plan, input_tags
from invaract_orchestration.candidate.engine import Engine
from invaract_orchestration.candidate.manifest import write_manifest
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.candidate.writer import CandidateRequest
from invaract_orchestration.checks import dataset_rules, keys
from invaract_orchestration.checks.arrival import judge_arrival
from invaract_orchestration.checks.emptiness import is_no_op, judge_emptiness
from invaract_orchestration.checks.placement import judge_constraints, judge_placement
from invaract_orchestration.checks.plan_rules import judge_plan_rules
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.rows import judge_quarantine, judge_rows
from invaract_orchestration.checks.schema_match import schema_digest
from invaract_orchestration.contract.digest import canonical_json, contract_digest
from invaract_orchestration.contract.model import Contract, Source
from invaract_orchestration.errors import (
    AuditError,
    CandidateChanged,
    EngineFailure,
    GateError,
    InvaractError,
    PublishConflict,
    TargetRefused,
    UsageError,
)  # fmt: skip
from invaract_orchestration.intake.aftercare import consume_files
from invaract_orchestration.intake.batch import Batch
from invaract_orchestration.intake.parameters import UnsafeName
from invaract_orchestration.intake.places import table_place
from invaract_orchestration.intake.receive import Received, Slice, receive, slice_of, unreadable_id
from invaract_orchestration.publish.intent import Published, intend
from invaract_orchestration.publish.preconditions import TARGET_SCHEMA, target_problems
from invaract_orchestration.publish.publisher import KeepRequest, Publisher
from invaract_orchestration.verdict.verdict import Bound, Verdict, decide

_TRIES = 5
"""How often a publication is judged and tried again after another writer won."""


def _silent(_: str) -> None:
    return None


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The publication gate with its engine, publisher and audit. `wiring.open_gate` builds one from the settings."""

    engine: Engine
    publisher: Publisher
    audit: AuditLog
    lake_root: Path
    clock: Callable[[], datetime] = _utc_now
    tell: Callable[[str], None] = _silent
    """Called with a line for people at each step; never with a value of the data."""

    def run(self, contract: Contract, **call: Any) -> GateResult:
        """Check a batch and publish it when every blocking check is kept.

        Args:
            contract: the agreement, from `load_contract`.
            call: `source` (place of the files, instead of the contract's), `frame` (rows handed in instead of files, with a
                `submission_id`), `parameters` (texts by name for the `{name}`s of the contract), `target` (instead of the
                contract's), `transform` (Spark SQL instead of the contract's source), `environment`, `submission_id`, `supersede`, `context` (by whom and where this runs).

        Returns:
            The result; bad data is a `rejected` result and not an exception, and neither is a gate that could not judge.

        Raises:
            UsageError: the call makes no sense as it is, such as a missing parameter.
        """
        return _Flow(gate=self, contract=contract, kind="run", call=Call(**call)).result()

    def check(self, contract: Contract, **call: Any) -> GateResult:
        """Every step but publishing; nothing is kept in the quarantine. Takes what `run` takes."""
        return _Flow(gate=self, contract=contract, kind="check", call=Call(**call)).result()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a caller says about one attempt; see `Gate.run`."""

    source: str | None = None
    frame: Any = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    target: str | None = None
    environment: str | None = None
    submission_id: str | None = None
    supersede: bool = False
    transform: str | None = None
    context: Mapping[str, str] = field(default_factory=dict)


class _Flow:
    """One attempt. Its methods stand in the order of the flow."""

    def __init__(self, *, gate: Gate, contract: Contract, kind: Literal["run", "check"], call: Call) -> None:
        self.gate, self.kind, self.call = gate, kind, call
        contract = contract.with_target(call.target) if call.target else contract
        self.contract = contract.with_query(call.transform) if call.transform else contract
        self.digest = contract_digest(contract)
        self.attempt_id = f"a-{uuid.uuid4().hex}"
        self.started = gate.clock()
        self.now = self.started.astimezone(ZoneInfo(contract.timezone))
        self.target = ""
        self.checks: list[CheckResult] = []
        self.verdict: Verdict | None = None
        self.counts = Counts()
        self.received: Received | None = None
        self.submission_id: str | None = None
        self.quarantine: str | None = None
        self.publication: PublicationRecord | None = None
        self.trail: Trail | None = None

    def result(self) -> GateResult:
        """The flow, and what becomes of an error in it."""
        try:
            return self._flow()
        except UnsafeName as error:
            return self._ended("rejected", error.sentence, code=error.code, hint=error.hint, is_recorded=False)
        except UsageError:
            raise
        except AuditError as error:
            return self._ended("failed", error.sentence, code=error.code, hint=error.hint, is_recorded=False)
        except PublishConflict as error:
            return self._end("conflict", error.sentence, code=error.code, hint=error.hint)
        except GateError as error:
            state: State = "unknown" if error.code == "publish.unknown" else "failed"
            return self._end(state, error.sentence, code=error.code, hint=error.hint)
        except Exception as error:  # noqa: BLE001  # a value must not leave through a message that nobody wrote
            failure = EngineFailure(f"an unexpected {type(error).__name__} stopped the gate")
            return self._end("failed", failure.sentence, code=failure.code, hint=failure.hint)

    def _flow(self) -> GateResult:
        own = self._promised()
        received = self._receive(own)
        published = self._published_before(received)
        if published is not None:
            return published
        scratch = self._candidate_place() / "scratch"
        with self.gate.engine.open(scratch, self._table_place) as session:
            self._judge_plan(session, received.batch)
            if any(c.is_blocking for c in self.checks):
                return self._rejected(decide(tuple(self.checks), None))
            batch, arrived = judge_arrival(self.contract, received.batch, session, self.now)
            self.checks += arrived
            if any(c.is_blocking for c in self.checks):
                return self._rejected(decide(tuple(self.checks), None))
            target = self._target_now()
            self._trail().step("received", "writing the candidate")
            materialised = session.materialise(self._candidate_request(batch, target))
            received.verify()
            return self._judge_and_publish(session, materialised, target)

    # 1. what was promised

    def _promised(self) -> Slice:
        contract, publish = self.contract, self.contract.publish
        if self.kind == "run" and publish is None:
            raise UsageError(
                f"contract {contract.contract}: no target is named", hint="add publish.target, or name it with --target"
            )
        own = slice_of(contract, publish.target if publish else "", self.call.parameters, self._location())
        self.target = self._table_place(own.target, contract.base) if publish else ""
        if contract.status == "retired" or (contract.status == "draft" and self.kind == "run"):
            raise GateError(
                f"contract {contract.contract} is {contract.status}", code=f"contract.{contract.status}",
                hint="a draft can be checked, a retired contract is not used any more",
            )  # fmt: skip
        return own

    def _location(self) -> str | None:
        return self.call.source or (self.contract.source.location if self.contract.source else None)

    def _table_place(self, name: str, base: Path | None) -> str:
        return table_place(name, base=base, lake_root=self.gate.lake_root)

    # 2. what arrived

    def _receive(self, own: Slice) -> Received:
        try:
            received = receive(
                self.contract, own, location=self.call.source, frame=self.call.frame, given_id=self.call.submission_id,
                table_version=self.gate.publisher.version, table_place=lambda n: self._table_place(n, self.contract.base),
            )  # fmt: skip
        except GateError:
            self._open_trail(own, unreadable_id(own), "unreadable", ())
            raise
        files = tuple(
            InputFile(name=f.name, size=f.size, modified=f.modified, digest=f.digest) for f in received.files
        )
        self.received = received
        self._open_trail(own, received.submission_id, received.intake_digest, files)
        return received

    def _open_trail(self, own: Slice, submission_id: str, intake: str, files: tuple[InputFile, ...]) -> None:
        self.submission_id, self.slice = submission_id, own
        attempt = Attempt(
            attempt_id=self.attempt_id, submission_id=submission_id, kind=self.kind,
            contract_version=ContractVersion(
                contract=self.contract.contract, version=self.contract.version, digest=self.digest,
                document=canonical_json(self.contract),
            ),
            environment=self.call.environment, engine=self.gate.engine.identity, host=platform.node(),
            started_at=self.started, context=self.call.context,
        )  # fmt: skip
        trail = Trail(log=self.gate.audit, attempt=attempt, clock=self.gate.clock, tell=self.gate.tell)
        trail.open(
            Submission(
                submission_id=submission_id, contract=self.contract.contract, target=self.target,
                parameters=own.parameters, slice_digest=own.digest, intake_digest=intake, files=files,
            )
        )  # fmt: skip
        self.trail = trail

    def _trail(self) -> Trail:
        assert self.trail is not None  # opened with the batch
        return self.trail

    def _published_before(self, received: Received) -> GateResult | None:
        """A retry of what is published already is a success that does nothing; a correction of it has to be asked for."""
        if self.kind == "check" or self.contract.publish is None:
            return None
        found = self.gate.publisher.find(self.target, received.submission_id)
        if found is not None:
            known = (found.metadata or {}).get("intake_digest")
            if known is not None and known != received.intake_digest:
                raise GateError(
                    f"submission {received.submission_id} was published with another content",
                    code="submission.other_content", hint="give the new content a submission id of its own",
                )  # fmt: skip
            self.publication = self._record_of(found)
            return self._end("published", f"already published as version {found.version}", code="publish.already_done")
        if self.contract.publish.mode != "append" or self.call.supersede or self.call.submission_id is not None:
            return None
        before = self.gate.audit.publications(self.contract.contract, self.target, self.slice.digest)
        if not before:
            return None
        return self._end(
            "rejected", "this slice was published before with another content", code="slice.already_published",
            hint="mode append would add a correction's rows to the first ones: publish it with a mode that replaces, or say "
            "--supersede; files of another day need a {parameter} in source.location",
        )  # fmt: skip

    # 3. what is about to be published: first what the code does, then the rows

    def _judge_plan(self, session: Any, batch: Batch) -> None:
        """Plan rules are judged before any row is read; the plan is on record whether it keeps them or not."""
        compiled = compile_plan(self.contract, batch, session.table_schemas(batch))
        if batch.query is not None or self.contract.rules:
            self._trail().step("received", "judging the plan", compiled.describe(input_tags(self.contract)))
        self.checks += judge_plan_rules(self.contract, compiled)

    def _target_now(self) -> TargetState:
        if self.contract.publish is None:
            return TargetState(location="", version=None)
        target = self.gate.publisher.inspect(self.target)
        problems = target_problems(self.contract, target)
        if problems:
            raise TargetRefused("; ".join(p.sentence for p in problems), hint=problems[0].hint, code=TARGET_SCHEMA)
        return target

    def _candidate_place(self) -> Path:
        publish = self.contract.publish
        place = publish.candidate.location if publish else None
        base = self.contract.base or Path.cwd()
        root = self._table_place(place, base) if place else f"{self.target or base / 'checked'}__candidates"
        return Path(root) / self.contract.contract / (self.submission_id or "") / self.attempt_id

    def _candidate_request(self, batch: Batch, target: TargetState) -> CandidateRequest:
        publish = self.contract.publish
        spelled = {f.name: c.name for f in self.contract.fields if (c := target.column(f.name)) is not None}
        partitions = target.partition_by if target.exists else (publish.partition_by if publish else ())
        names = {spelled.get(f.name, f.name).lower(): f.name for f in self.contract.fields}
        return CandidateRequest(
            contract=self.contract, batch=batch, location=str(self._candidate_place()), spelled=spelled, now=self.now,
            partition_by=tuple(names.get(p.lower(), p) for p in partitions),
        )  # fmt: skip

    # 4. does it keep the promise, and 5. may it go out

    def _judge_and_publish(self, session: Any, materialised: Materialised, target: TargetState) -> GateResult:
        self._count(materialised)
        write_manifest(self._candidate_place(), materialised)
        candidate = materialised.candidate
        self._trail().step(
            "materialised", f"{candidate.rows} rows in {len(candidate.files)} files",
            {"read": materialised.read, "candidate": candidate.rows, "digest": candidate.digest, "bytes": candidate.size},
        )  # fmt: skip
        if is_no_op(self.contract, materialised):
            return self._end("no_op", "nothing arrived, and the contract says that this is fine")
        self.checks += judge_emptiness(self.contract, materialised)
        self.checks += judge_rows(self.contract, materialised)
        self.checks += judge_quarantine(self.contract, materialised)
        self.checks += judge_placement(self.contract, candidate, self.call.parameters, session, self.now)
        for left in reversed(range(_TRIES)):
            verdict = self._decide(session, materialised, target)
            if not verdict.passed or self.kind == "check":
                return self._rejected(verdict, materialised) if not verdict.passed else self._passed_check()
            try:
                return self._publish(session, materialised, target, verdict)
            except PublishConflict:
                if not left:
                    raise
                self._trail().step("judged", "another writer was first; judging again on the new version")
                target = self._target_now()
        raise AssertionError("the last try returns or raises")

    def _decide(self, session: Any, materialised: Materialised, target: TargetState) -> Verdict:
        """The checks that may read the target, and the verdict over all of them."""
        candidate = materialised.candidate
        judged = [
            *self.checks,
            *keys.judge_keys(self.contract, candidate, target, session),
            *dataset_rules.judge_dataset_rules(self.contract, candidate, target, session, self.now),
        ]
        if not any(c.is_blocking for c in judged):
            judged += self._judge_constraints(session, materialised, target)
        bound = Bound(
            contract_digest=self.digest, candidate_digest=candidate.digest,
            schema_digest=schema_digest(self.contract.fields), target_version=target.version,
            engine=self.gate.engine.identity,
        )  # fmt: skip
        self.verdict = decide(tuple(judged), bound)
        self._trail().verdict(self.verdict, self.counts)
        return self.verdict

    def _judge_constraints(self, session: Any, materialised: Materialised, target: TargetState) -> tuple[CheckResult, ...]:
        """The target's own constraints: rows that keep the contract but not the table are the table's refusal, no data failure."""
        results = judge_constraints(materialised.candidate, target, session, self.now)
        broken = [r for r in results if r.is_blocking]
        if broken:
            self.verdict = None
            raise TargetRefused(
                "the checks of the contract passed, but the target's own constraints refuse the rows: "
                + "; ".join(f"{r.check}: {r.found}" for r in broken),
                hint=broken[0].hint,
            )
        return results

    # 6. make it visible, once

    def _publish(self, session: Any, materialised: Materialised, target: TargetState, verdict: Verdict) -> GateResult:
        assert self.received is not None and self.submission_id is not None  # received before anything was judged
        if materialised.set_aside:
            self._keep(materialised, "quarantined")
        self._trail().step("publishing", "publishing", {"target_version": target.version})
        candidate = materialised.candidate
        if session.redigest(candidate) != candidate.digest:
            raise CandidateChanged("the candidate's files changed after the verdict")
        self.received.verify()
        intent = intend(
            verdict, self.contract, contract_digest(self.contract), candidate, target, self.submission_id,
            self._commit_metadata(materialised),
        )  # fmt: skip
        published = self.gate.publisher.publish(intent)
        self.publication = self._record_of(published)
        self.counts = replace(
            self.counts, inserted=published.inserted, updated=published.updated, deleted=published.deleted
        )
        rows = f"{candidate.rows} rows" + (f", {materialised.set_aside} set aside" if materialised.set_aside else "")
        notes = "; ".join(("", *published.notes))
        return self._end("published", f"version {published.version}, {rows}, {published.method}{notes}")

    def _commit_metadata(self, materialised: Materialised) -> dict[str, str | int | None]:
        assert self.received is not None  # see _publish
        return {
            "submission": self.submission_id, "attempt": self.attempt_id, "contract": self.contract.contract,
            "contract_version": self.contract.version, "contract_digest": self.digest,
            "candidate_digest": materialised.candidate.digest, "intake_digest": self.received.intake_digest,
            "slice": self.slice.digest, "verdict": "passed", "rows": materialised.candidate.rows,
            "read": materialised.read, "quarantined": materialised.set_aside,
        }  # fmt: skip

    def _record_of(self, published: Published) -> PublicationRecord:
        assert self.submission_id is not None and self.contract.publish is not None  # there is something published
        attempt = (published.metadata or {}).get("attempt") or self.attempt_id
        return PublicationRecord(
            submission_id=self.submission_id, attempt_id=str(attempt), target=self.target,
            table_version=published.version, mode=self.contract.publish.mode, method=published.method,
            committed_at=published.committed_at or self.gate.clock(),
        )  # fmt: skip

    # 7. leave a trail

    def _count(self, materialised: Materialised) -> None:
        good = materialised.candidate.rows
        failing = materialised.failing.rows if materialised.failing else 0
        aside = self.contract.quality.on_row_failure == "quarantine"
        if good + materialised.set_aside != materialised.read:
            raise GateError("rows read are not rows written and set aside", code="audit.rows_unaccounted")
        self.counts = Counts(
            read=materialised.read, good=materialised.read - failing, candidate=good, failing=failing,
            quarantined=materialised.set_aside if aside else 0,
        )  # fmt: skip

    def _keep(self, materialised: Materialised, kind: str) -> None:
        """Failing rows go to the quarantine, once per submission and contract."""
        if materialised.failing is None or self.kind == "check" or self.contract.publish is None:
            return
        place = self.contract.quarantine.location
        self.quarantine = self._table_place(place, self.contract.base) if place else f"{self.target}__quarantine"
        self.gate.publisher.keep(
            KeepRequest(
                location=self.quarantine, rows=materialised.failing, submission_id=self.submission_id or "",
                once=f"invaract-quarantine:{self.submission_id}:{kind}:{self.digest[-16:]}", attempt_id=self.attempt_id,
                contract=self.contract.contract, version=self.contract.version, phase="pre", kind=kind,
            )
        )  # fmt: skip

    def _rejected(self, verdict: Verdict, materialised: Materialised | None = None) -> GateResult:
        if self.verdict is not verdict:
            self.verdict = verdict
            self._trail().verdict(verdict, self.counts)
        if materialised is not None:
            self._keep(materialised, "rejected")
        count = len(verdict.reasons)
        message = f"{count} blocking check{'' if count == 1 else 's'} not kept: {', '.join(verdict.reasons[:10])}"
        return self._end("rejected", message, code=verdict.reasons[0])

    def _passed_check(self) -> GateResult:
        return self._end("judged", "every blocking check is kept; nothing was published, as this was a check")

    def _end(self, state: State, message: str, *, code: str | None = None, hint: str | None = None) -> GateResult:
        """Record how it ended; when that cannot be written after a publication, the result says so and the next run repairs it."""
        if self.trail is None:
            return self._ended(state, message, code=code, hint=hint, is_recorded=False)
        try:
            self.trail.outcome(state, message, code=code, counts=self.counts, publication=self.publication)
        except AuditError as error:
            if state != "published":
                return self._ended("failed", error.sentence, code=error.code, hint=error.hint, is_recorded=False)
            return self._ended(
                state, f"{message}; published, but the audit record is missing", code="audit.pending", is_recorded=False,
                hint="submit again when the audit store is back: nothing is published twice, and the record is written",
            )  # fmt: skip
        self.gate.tell(f"{state}: {message}")
        if state == "published" and self.received is not None:
            message = self._consume(message)
        return self._ended(state, message, code=code, hint=hint)

    def _consume(self, message: str) -> str:
        assert self.received is not None and self.submission_id is not None  # published what was received
        source = self.contract.source or Source()
        with suppress(InvaractError):
            done = consume_files(source, [f.file for f in self.received.batch.files], self.submission_id)
            return message if done is None else f"{message}; {done}"
        return f"{message}; the consumed files could not be {source.after}d, the publication stands"

    def _ended(
        self, state: State, message: str, *, code: str | None = None, hint: str | None = None, is_recorded: bool = True
    ) -> GateResult:
        return GateResult(
            state=state, contract=self.contract.contract, version=self.contract.version, target=self.target,
            submission_id=self.submission_id, attempt_id=self.attempt_id, is_check=self.kind == "check",
            environment=self.call.environment, parameters=self.call.parameters,
            checks=self.verdict.results if self.verdict else tuple(self.checks), verdict=self.verdict,
            publication=self.publication, counts=self.counts, code=code, message=message, hint=hint,
            quarantine=self.quarantine, is_recorded=is_recorded, started_at=self.started,
            finished_at=self.gate.clock(),
            files=tuple(
                InputFile(name=f.name, size=f.size, modified=f.modified, digest=f.digest)
                for f in (self.received.files if self.received else ())
            ),
        )  # fmt: skip
