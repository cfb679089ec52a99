"""The opening of an attempt: what was promised, what arrived, and whether it was published before."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from invaract_orchestration.audit.course import Course
from invaract_orchestration.audit.reconcile import PROCESS, publication_on_record, settle, this_process
from invaract_orchestration.audit.records import InputFile, PublicationRecord, Submission
from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.contract.consistency import find_problems
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import AuditError, ContractError, GateError, UsageError
from invaract_orchestration.intake.parameters import check_partition, fill
from invaract_orchestration.intake.places import candidates_place, find_named_places, place_identity, table_place
from invaract_orchestration.intake.receive import Received, Slice, receive, slice_of, transformed, unreadable_id
from invaract_orchestration.intake.transform import rows_and_transform
from invaract_orchestration.publish.intent import UNKNOWN_VERSION, Published, refuse_other_content, refuse_undone

if TYPE_CHECKING:
    from invaract_orchestration.gate.gate import Call, Gate


class Opening:
    """One attempt before its rows are looked at.

    Raises:
        ContractError: the contract was made in Python, and what it says does not fit together; the loader has seen to a file's.
        UsageError: there are two sets of rows, or a function cannot be called as a transformation.
    """

    def __init__(self, *, gate: Gate, contract: Contract, kind: Literal["run", "check"], call: Call) -> None:
        if contract.file is None and (problems := find_problems(contract)):
            raise ContractError(problems)
        contract = contract.with_target(str(call.target)) if call.target else contract
        contract = contract.with_query(call.transform) if isinstance(call.transform, str) and call.transform else contract
        self.frame, self.transform = rows_and_transform(call.frame, call.transform)
        self.gate, self.call, self.contract = gate, call, contract
        self.source = None if call.source is None else fspath(call.source)
        self.course = Course(
            contract=contract, kind=kind, environment=call.environment or contract.environment,
            parameters=call.parameters, clock=gate.clock,
        )  # fmt: skip
        self.now = self.course.started.astimezone(ZoneInfo(contract.timezone))
        self.is_run = kind == "run"
        self.found: Published | None = None
        self.looked_at: int | None = None

    # 1. what was promised

    def promised(self) -> Slice:
        """Which slice of which target the call is about; the contract is filled with its parameters.

        Raises:
            UsageError: the call makes no sense as it is.
            GateError: the contract's status forbids it.
        """
        contract, publish = self.contract, self.contract.publish
        if not isinstance(self.call.supersede, bool):  # the text 'false' would be true
            raise UsageError(
                f"supersede is of type {type(self.call.supersede).__name__}, and a correction is asked for by True alone",
                hint="give True or False",
            )
        if self.is_run and publish is None:
            raise UsageError(
                f"contract {contract.contract}: no target is named", hint="add publish.target, or name it with --target"
            )
        if contract.function is not None and self.transform is None:
            raise UsageError(
                f"contract {contract.contract}: its rows are made by the function {contract.function!r}, and none is given",
                hint="give the function as `transform`; a contract runs no code by itself",
            )
        location = self.source or (contract.source.location if contract.source else None)
        own = slice_of(contract, publish.target if publish else "", self.call.parameters, location)
        if publish:
            self.course.target = self.table_place(own.target, contract.base)
            own = replace(own, target=place_identity(self.course.target, base=contract.base, lake_root=self.gate.lake_root))
        find_named_places(contract, lambda n: self.table_place(n, contract.base))
        self.contract = contract.filled(lambda text: fill(text, own.parameters), self.now)
        check_partition(self.contract)
        if contract.status == "retired" or (contract.status == "draft" and self.is_run):
            raise GateError(
                f"contract {contract.contract} is {contract.status}", code=f"contract.{contract.status}",
                hint="a draft can be checked, a retired contract is not used any more",
            )  # fmt: skip
        return own

    def table_place(self, name: str, base: Path | None) -> str:
        """The path of a table's name."""
        return table_place(name, base=base, lake_root=self.gate.lake_root, locate=self.gate.engine.locate)

    # 2. what arrived

    def received(self, own: Slice) -> Received:
        """The batch, its files listed and digested; from here on the attempt is on record."""
        try:
            received = receive(
                self.contract, own, location=self.source, frame=self.frame, given_id=self.call.submission_id,
                table_version=self.gate.publisher.version, table_place=lambda n: self.table_place(n, self.contract.base),
            )  # fmt: skip
            received = transformed(received, self.transform)
        except GateError:
            self._open(own, unreadable_id(own), "unreadable", ())
            raise
        files = tuple(InputFile(name=f.name, size=f.size, modified=f.modified, digest=f.digest) for f in received.files)
        if self.is_run:
            try:
                self.found = self.gate.publisher.find(self.course.target, received.submission_id)
            except GateError:
                self._open(own, received.submission_id, received.intake_digest, files)
                raise
            refuse_other_content(self.found, received.submission_id, own.digest, received.intake_digest)
        self._open(own, received.submission_id, received.intake_digest, files)
        return received

    def _open(self, own: Slice, submission_id: str, intake: str, files: tuple[InputFile, ...]) -> None:
        if self.is_run:
            with suppress(GateError):  # a target that cannot be read settles nothing, and the attempt is on record all the same
                settle(self.gate.audit, self.gate.publisher, self.contract.contract, self.course.target, self.gate.clock)
        submission = Submission(
            submission_id=submission_id, contract=self.contract.contract, target=self.course.target,
            parameters=own.parameters, slice_digest=own.digest, intake_digest=intake, files=files,
        )  # fmt: skip
        self.course.open(
            submission, log=self.gate.audit, engine=self.gate.engine.identity,
            context={**self.call.context, PROCESS: this_process()},
            tell=self.gate.tell,
        )  # fmt: skip

    def published_before(self, own: Slice, received: Received) -> GateResult | None:
        """A retry of what is published already is a success that does nothing; a correction of it has to be asked for.

        Raises:
            GateError: the submission was published, and is not in the target any more.
        """
        if not self.is_run or self.contract.publish is None:
            return None
        if self.found is None:
            recorded = self.gate.audit.publications(self.contract.contract, self.course.target, own.digest)
            self.found = self.gate.publisher.find(self.course.target, received.submission_id)  # it may just have been published
            for view in recorded:
                if view.publication.submission_id == received.submission_id:
                    refuse_undone(received.submission_id, view.publication.table_version, self.found)
            if self.found is None:
                return self.second() if self._is_second(own, is_recorded=bool(recorded)) else None
        return self.already_done(self.found)

    def _is_second(self, own: Slice, *, is_recorded: bool, but: str | None = None) -> bool:
        """Whether the slice was published with another content, and the mode would add a correction's rows to the first ones."""
        publish = self.contract.publish
        if publish is None or publish.mode != "append" or self.call.submission_id is not None:
            return False
        is_second = is_recorded or self._is_in_log(own, but=but)
        if is_second and self.call.supersede:
            self.course.trail.step("received", "the slice was published before; its correction is added, as asked for")
            return False
        return is_second

    def is_taken(self, own: Slice, target: TargetState) -> bool:
        """Whether the slice was published with another content since it was looked for, up to this version of the target."""
        is_looked_at = target.version == self.looked_at or self.call.supersede
        return self.is_run and not is_looked_at and self._is_second(own, is_recorded=False, but=self.course.submission_id)

    def second(self) -> GateResult:
        """The end of an attempt at a correction that nobody asked for."""
        return self.course.end(
            "rejected", "this slice was published before with another content", code="slice.already_published",
            hint="mode append would add a correction's rows to the first ones: publish it with a mode that replaces, or "
            "say --supersede; files of another day need a {parameter} in source.location",
        )  # fmt: skip

    @property
    def is_this_content(self) -> bool:
        """Whether what was published before is known to be what arrived now: an id that was given names it only in the commit."""
        return self.found is not None and (self.found.commit is not None or self.call.submission_id is None)

    def already_done(self, found: Published) -> GateResult:
        """The end of an attempt whose submission another attempt has published."""
        refuse_undone(self.course.submission_id or "", found.version, found)
        on_record = self._on_record()
        self.course.published(found, on_record)
        version = on_record.table_version if on_record else found.version if found.commit else None
        said = f" as version {version}" if version is not None else f"; {UNKNOWN_VERSION}"
        return self.course.end("published", f"already published{said}", code="publish.already_done")

    def _on_record(self) -> PublicationRecord | None:
        if self.course.submission is None:
            return None
        try:
            return publication_on_record(self.gate.audit, self.course.submission)
        except AuditError:
            return None  # the end of the attempt will say that the store cannot be reached

    def _is_in_log(self, own: Slice, *, but: str | None) -> bool:
        """Whether a commit of the target carries the slice, but for one submission: the audit may have been lost, the table's own
        log has not."""
        history = self.gate.publisher.history(self.course.target)
        self.looked_at = history[0].version if history else None
        commits = (c.commit for c in history if c.commit is not None)
        return any(c.contract == self.contract.contract and c.slice == own.digest and c.submission != but for c in commits)

    def candidate_place(self) -> Path:
        """The folder of this attempt's candidate."""
        course = self.course
        locate = self.gate.engine.locate
        root = candidates_place(self.contract, course.target, lake_root=self.gate.lake_root, locate=locate)
        return Path(root) / self.contract.contract / (course.submission_id or "") / course.attempt_id

    def scratch_place(self) -> Path:
        """A folder in it for what is temporary, made now.

        Raises:
            GateError: nothing can be written there.
        """
        scratch = self.candidate_place() / "scratch"
        try:
            scratch.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise GateError(
                f"the candidate cannot be written below {scratch.parents[3]}: {error.strerror}", code="candidate.unwritable",
                hint="give the gate's user the right to write there, or name another place as publish.candidate.location",
            ) from None
        return scratch
