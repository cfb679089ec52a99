"""The flow of an attempt, top to bottom: plan, candidate, checks, verdict, publication, audit.

Nothing reaches the target before a verdict has passed, and every step is recorded before the next begins. Bad data is a
rejected result; an exception inside means that the gate could not judge, and ends as `failed` with nothing published.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, cast

from invaract_orchestration.audit.course import step_detail
from invaract_orchestration.audit.notify import Occasion, message_of, notify
from invaract_orchestration.audit.records import State
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.audit.waiving import waive
from invaract_orchestration.candidate.candidate import Candidate, Materialised
from invaract_orchestration.candidate.compiled import compile_plan, input_tags
from invaract_orchestration.candidate.files import redigest
from invaract_orchestration.candidate.manifest import write_manifest
from invaract_orchestration.candidate.step_plan import StepPlan
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.candidate.writer import candidate_request
from invaract_orchestration.checks import dataset_rules, keys
from invaract_orchestration.checks.arrival import judge_arrival, judge_source
from invaract_orchestration.checks.emptiness import is_no_op, judge_emptiness
from invaract_orchestration.checks.placement import judge_constraints, judge_placement
from invaract_orchestration.checks.plan_rules import judge_plan_rules
from invaract_orchestration.checks.result import CheckResult
from invaract_orchestration.checks.rows import judge_quarantine, judge_rows
from invaract_orchestration.checks.schema_match import schema_digest
from invaract_orchestration.checks.stepped_arrival import judge_stepped_arrival
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import (
    AuditError,
    CandidateChanged,
    EngineFailure,
    GateError,
    PublishConflict,
    TargetRefused,
    UsageError,
    is_panic,
)  # fmt: skip
from invaract_orchestration.gate.opening import Opening
from invaract_orchestration.intake.aftercare import consume_files
from invaract_orchestration.intake.batch import Batch
from invaract_orchestration.intake.parameters import UnsafeName
from invaract_orchestration.intake.places import quarantine_place
from invaract_orchestration.intake.receive import Received, Slice
from invaract_orchestration.publish.intent import CommitRecord, intend, refuse_other_content
from invaract_orchestration.publish.preconditions import TARGET_SCHEMA, target_problems
from invaract_orchestration.verdict.verdict import Bound, Verdict, decide

_NAMED = 10
"""How many broken checks a message names."""
_TRIES = 5
"""How often a batch is judged and published again after another writer won."""


class Flow:
    """One attempt. Its methods stand in the order of the flow."""

    def __init__(self, opening: Opening) -> None:
        self.opening, self.gate, self.course = opening, opening.gate, opening.course

    @property
    def contract(self) -> Contract:
        """The contract, filled with the parameters once they are known."""
        return self.opening.contract

    def result(self) -> GateResult:
        """How it ended, with everybody told whom the contract names for it."""
        ended = self._ended()
        if self.opening.is_run and ended.state in ("rejected", "unknown"):
            for failure in notify(self.contract, cast("Occasion", ended.state), message_of(ended)):
                self.gate.tell(failure)
        return ended

    def _ended(self) -> GateResult:
        """The flow, and what becomes of an error in it."""
        course = self.course
        try:
            return self._flow()
        except UnsafeName as error:
            return course.result("rejected", error.sentence, code=error.code, hint=error.hint, is_recorded=False)
        except UsageError:
            raise
        except AuditError as error:
            return course.result("failed", error.sentence, code=error.code, hint=error.hint, is_recorded=False)
        except PublishConflict as error:
            return course.end("conflict", error.sentence, code=error.code, hint=error.hint)
        except GateError as error:
            state: State = "unknown" if error.code == "publish.unknown" else "failed"
            return course.end(state, error.sentence, code=error.code, hint=error.hint)
        except BaseException as error:  # a value must not leave through a message that nobody wrote
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            failure = EngineFailure(f"an unexpected {type(error).__name__} stopped the gate")
            return course.end("failed", failure.sentence, code=failure.code, hint=failure.hint)

    def _flow(self) -> GateResult:
        own = self.opening.promised()
        received = self.opening.received(own)
        published = self.opening.published_before(own, received)
        if published is not None:
            return self._consumed(published, received) if self.opening.is_this_content else published
        place = self.opening.candidate_place()
        with self.gate.engine.open(self.opening.scratch_place(), self.opening.table_place) as session:
            batch, arrived = judge_source(self.contract, received.batch, session, self.opening.now)
            self.course.checks += arrived
            if not self.course.is_blocked and not self.contract.transformations:
                self._judge_plan(session, batch)
            if self.course.is_blocked:
                return self._rejected(decide(tuple(self.course.checks), None))
            batch, plan = self._arrived(session, batch)
            if self.course.is_blocked:
                return self._rejected(decide(tuple(self.course.checks), None))
            target = self._target_now()
            if self.opening.is_taken(own, target):
                return self.opening.second()
            self.course.trail.step("received", "writing the candidate")
            materialised = session.materialise(
                candidate_request(self.contract, batch, target, location=str(place), now=self.opening.now, plan=plan)
            )
            received.verify()
            if materialised.is_stopped:
                return self._stopped(materialised)
            self._judge_rows(session, materialised)
            if is_no_op(self.contract, materialised):
                return self.course.end("no_op", "nothing arrived, and the contract says that this is fine")
            return self._decide_and_publish(session, own, received, materialised, target)

    # 3. what is about to be published: first what the code does, then the rows

    def _judge_plan(self, session: Any, batch: Batch, steps: StepPlan | None = None) -> None:
        """Plan rules are judged before any row is read; the plan is on record whether it keeps them or not."""
        compiled = compile_plan(self.contract, batch, session.table_schemas(batch), session.frame_plan(batch), steps=steps)
        own = batch.transform
        if batch.query is not None or own is not None or steps is not None:
            self.course.lineage = compiled.sources()
        if batch.query is not None or own is not None or steps is not None or self.contract.rules:
            told = compiled.describe(input_tags(self.contract)) | ({"function": own.name} if own is not None else {})
            self.course.trail.step("received", "judging the plan", told)
        self.course.checks += judge_plan_rules(self.contract, compiled)

    def _arrived(self, session: Any, batch: Batch) -> tuple[Batch, StepPlan | None]:
        """The columns that came, and the steps over them where the contract has some."""
        plan = None
        if self.contract.is_stepped:
            batch, arrived, plan = judge_stepped_arrival(self.contract, batch, session, self.opening.now)
            if plan is not None and self.contract.transformations:
                self._judge_plan(session, batch, plan)
        else:
            batch, arrived = judge_arrival(self.contract, batch, session, self.opening.now, self.course.lineage)
        self.course.checks += arrived
        return batch, plan

    def _target_now(self) -> TargetState:
        if self.contract.publish is None:
            return TargetState(location="", version=None)
        target = self.gate.publisher.inspect(self.course.target)
        problems = target_problems(self.contract, target)
        if problems:
            raise TargetRefused("; ".join(p.sentence for p in problems), hint=problems[0].hint, code=TARGET_SCHEMA)
        return target

    # 4. does it keep the promise

    def _judge_rows(self, session: Any, materialised: Materialised) -> None:
        candidate, course = materialised.candidate, self.course
        course.count(materialised)
        write_manifest(self.opening.candidate_place(), materialised)
        course.trail.step(
            "materialised", f"{_of(candidate.rows, 'row')} in {_of(len(candidate.files), 'file')}",
            {
                "read": materialised.read, "candidate": candidate.rows, "bytes": candidate.size, "digest": candidate.digest,
                **step_detail(materialised.stages),
            },
        )  # fmt: skip
        course.checks += judge_emptiness(self.contract, materialised)
        course.checks += judge_rows(self.contract, materialised)
        course.checks += judge_quarantine(self.contract, materialised)
        course.checks += judge_placement(self.contract, candidate, session, self.opening.now)

    def _stopped(self, materialised: Materialised) -> GateResult:
        """Rows of the source failed and the whole batch is rejected for it, before a function of the caller's got any of them."""
        course = self.course
        course.count(materialised)
        course.counts = replace(course.counts, candidate=None)
        course.trail.step(
            "materialised", "rows of the source failed; the transformation was not run", {"read": materialised.read}
        )  # fmt: skip
        course.checks += judge_rows(self.contract, materialised)
        return self._rejected(decide(tuple(course.checks), None), materialised)

    # 5. may it go out

    def _decide_and_publish(
        self, session: Any, own: Slice, received: Received, materialised: Materialised, target: TargetState
    ) -> GateResult:
        for left in reversed(range(_TRIES)):
            verdict = self._decide(session, materialised, target)
            if not verdict.passed:
                return self._rejected(verdict, materialised)
            if not self.opening.is_run:
                return self.course.end("judged", "every blocking check is kept; this was a check, nothing was published")
            try:
                return self._publish(session, own, received, materialised, target, verdict)
            except PublishConflict:
                if not left:
                    raise
                self.course.trail.step("judged", "another writer was first; judging again on the new version")
                target = self._target_now()
                if self.opening.is_taken(own, target):
                    return self.opening.second()
        raise AssertionError("the last try returns or raises")

    def _decide(self, session: Any, materialised: Materialised, target: TargetState) -> Verdict:
        """The checks that may read the target, and the verdict over all of them."""
        candidate = materialised.candidate
        judged = [
            *self.course.checks,
            *keys.judge_keys(self.contract, candidate, target, session),
            *dataset_rules.judge_dataset_rules(self.contract, candidate, target, session, self.opening.now),
        ]
        if materialised.set_aside and self.contract.quality.on_row_failure == "reject":
            judged = [_of_the_rest(c, materialised) for c in judged]
        results = self._waived(tuple(judged), materialised, session)
        if not any(c.is_blocking for c in results):
            results = (*results, *self._allowed_by_target(candidate, target, session))
        bound = Bound(
            contract_digest=self.course.digest, candidate_digest=candidate.digest,
            schema_digest=schema_digest(self.contract.fields), target_version=target.version,
            engine=self.gate.engine.identity,
        )  # fmt: skip
        verdict = decide(results, bound)
        self.course.judged(verdict)
        return verdict

    def _waived(self, judged: tuple[CheckResult, ...], materialised: Materialised, session: Any) -> tuple[CheckResult, ...]:
        slice_digest = self.course.submission.slice_digest if self.course.submission else ""
        return waive(judged, materialised, session, self.gate.waivers, self.course.trail, self.contract, slice_digest)

    def _allowed_by_target(self, candidate: Candidate, target: TargetState, session: Any) -> tuple[CheckResult, ...]:
        """The target's own constraints, which nobody can waive: a promoted file is not looked at by the table again."""
        asked = judge_constraints(candidate, target, session, self.opening.now)
        refused = [c for c in asked if c.is_blocking]
        if refused:
            raise TargetRefused(
                "the checks of the contract let the rows through, but the target's own constraints refuse them: "
                + "; ".join(f"{c.check}: {c.found}" for c in refused),
                hint=refused[0].hint,
            )
        return asked

    def _rejected(self, verdict: Verdict, materialised: Materialised | None = None) -> GateResult:
        self.course.judged(verdict)
        if materialised is not None:
            self._keep(materialised, "rejected")
        count = len(verdict.reasons)
        more = f", and {count - _NAMED} more" if count > _NAMED else ""
        message = f"{_of(count, 'blocking check')} not kept: {', '.join(verdict.reasons[:_NAMED])}{more}"
        return self.course.end("rejected", message, code=verdict.reasons[0])

    # 6. make it visible, once

    def _publish(
        self, session: Any, own: Slice, received: Received, materialised: Materialised, target: TargetState, verdict: Verdict
    ) -> GateResult:
        course, candidate = self.course, materialised.candidate
        mode = self.contract.publish.mode if self.contract.publish else ""
        if materialised.set_aside:
            self._keep(materialised, "quarantined")
        course.trail.step("publishing", "publishing", {"target_version": target.version})
        if redigest(candidate) != candidate.digest:
            raise CandidateChanged("the candidate's files changed after the verdict")
        received.verify()
        commit = CommitRecord(
            submission=received.submission_id, attempt=course.attempt_id, contract=self.contract.contract,
            contract_version=self.contract.version, contract_digest=course.digest, slice=own.digest,
            parameters=dict(own.parameters), intake_digest=received.intake_digest, candidate_digest=candidate.digest,
            engine=self.gate.engine.identity, environment=course.environment, mode=mode, read=materialised.read,
            rows=candidate.rows, quarantined=materialised.set_aside,
        )  # fmt: skip
        published = self.gate.publisher.publish(intend(verdict, self.contract, candidate, target, commit))
        if published.commit is None or published.commit.attempt != course.attempt_id:
            refuse_other_content(published, received.submission_id, own.digest, received.intake_digest)
            return self.opening.already_done(published)
        course.published(published)
        aside = f", {materialised.set_aside} set aside" if materialised.set_aside else ""
        notes = "".join(f"; {n}" for n in published.notes)
        message = f"version {published.version}, {_of(candidate.rows, 'row')}{aside}, {published.method}{notes}"
        return self._consumed(course.end("published", message), received)

    def _consumed(self, result: GateResult, received: Received) -> GateResult:
        """The files leave once their publication is on record, by a retry too: who published may not have come to it."""
        if result.state != "published" or not result.is_recorded:
            return result
        consumed = consume_files(received.batch.source, [f.file for f in received.batch.files], received.submission_id)
        return replace(result, message=result.message + consumed)

    def _keep(self, materialised: Materialised, kind: Literal["quarantined", "rejected"]) -> None:
        """Failing rows go to the quarantine, the same ones once per submission and contract; a check keeps nothing."""
        if materialised.failing is None or not self.opening.is_run:
            return
        locate = self.gate.engine.locate
        place = quarantine_place(self.contract, self.course.target, lake_root=self.gate.lake_root, locate=locate)
        self.gate.publisher.keep(self.course.keeping(materialised.failing, kind, place))


def _of(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _of_the_rest(result: CheckResult, materialised: Materialised) -> CheckResult:
    """A key or dataset check of a batch that is rejected for its rows says that it was judged on the others alone."""
    if result.stage not in ("keys", "dataset"):
        return result
    return replace(result, found=f"{result.found}; judged without the {materialised.set_aside} failing rows")
