"""The intent to publish: built only from a passing verdict, for exactly the candidate that it was given for."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.contract.model import Contract, Publish
from invaract_orchestration.errors import CandidateChanged, GateError
from invaract_orchestration.verdict.verdict import Verdict

APP_ID = "invaract:"
METADATA_KEY = "invaract"
UNKNOWN_VERSION = "the log no longer says which version it was"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRecord:
    """What a commit of the gate says of itself in its userMetadata: ids, digests and counts, no value.

    Enough to write the audit's rows again when the store has lost them. `method` is filled in by the publisher.
    """

    submission: str
    attempt: str
    contract: str
    contract_version: str
    contract_digest: str
    slice: str
    parameters: Mapping[str, str]
    intake_digest: str
    candidate_digest: str
    engine: str
    environment: str | None
    mode: str
    read: int
    rows: int
    quarantined: int
    method: str = ""

    def to_json(self) -> str:
        """The JSON text that the commit carries."""
        return json.dumps({METADATA_KEY: dataclasses.asdict(self)}, sort_keys=True)

    @classmethod
    def from_json(cls, text: Any) -> CommitRecord | None:
        """What the gate wrote into a commit; none when the gate did not make it, or a later gate says more than is known here."""
        try:
            own = json.loads(text)[METADATA_KEY]
            return cls(**{f.name: own[f.name] for f in dataclasses.fields(cls)})
        except (KeyError, TypeError, ValueError):
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishIntent:
    """What is to become visible, and what the commit says of it."""

    contract: Contract
    candidate: Candidate
    target: TargetState
    commit: CommitRecord

    @property
    def publish(self) -> Publish:
        """The contract's publish part, which an intent always has."""
        assert self.contract.publish is not None  # intend() has seen to it
        return self.contract.publish

    @property
    def submission_id(self) -> str:
        """The submission that this publishes."""
        return self.commit.submission

    @property
    def transaction_id(self) -> str:
        """The Delta transaction's application id: one per submission, never one per target."""
        return APP_ID + self.commit.submission


def intend(
    verdict: Verdict, contract: Contract, candidate: Candidate, target: TargetState, commit: CommitRecord
) -> PublishIntent:
    """The intent for a candidate. Publishing starts here and nowhere else.

    Raises:
        GateError: the verdict did not pass, or was given for another contract, engine or version of the target.
        CandidateChanged: the candidate is not the one that the verdict was given for.
    """
    bound = verdict.bound
    if not verdict.passed or bound is None:
        raise GateError("there is no passing verdict for this candidate", code="publish.no_passing_decision")
    if contract.publish is None:
        raise GateError("the contract names no target", code="contract.no_target", hint="add publish.target")
    if bound.contract_digest != commit.contract_digest or bound.engine != commit.engine:
        raise GateError("the contract or the engine is not the one of the verdict", code="publish.contract_changed")
    if not bound.candidate_digest == candidate.digest == commit.candidate_digest:
        raise CandidateChanged("the candidate is not the one that the verdict was given for")
    if bound.target_version != target.version:
        raise GateError("the verdict was given for another version of the target", code="publish.target_changed")
    return PublishIntent(contract=contract, candidate=candidate, target=target, commit=commit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A commit that carries a submission. `method` is `promoted` or `rewritten: <why>`; counts are null where not known.

    `commit` is what it says of itself, null when the log has been cleaned up that far. `restored_to` is the version that the
    table was set back to since, when that is one before this commit: its rows are not there any more; -1 where it is not known.
    """

    version: int
    method: str
    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None
    committed_at: datetime | None = None
    notes: tuple[str, ...] = ()
    commit: CommitRecord | None = None
    restored_to: int | None = None


def refuse_other_content(found: Published | None, submission_id: str, slice_digest: str, intake_digest: str) -> None:
    """An id names one content of one slice: the same id with another one is an error, never a silent no-op.

    Raises:
        GateError: the submission was published with another content, or for another contract, target or parameters.
    """
    if found is None or found.commit is None:
        return
    if (found.commit.slice, found.commit.intake_digest) != (slice_digest, intake_digest):
        raise GateError(
            f"submission {submission_id} was published with another content", code="submission.other_content",
            hint="give the new content a submission id of its own, also one for another contract, target or parameter",
        )  # fmt: skip


def refuse_undone(submission_id: str, version: int, found: Published | None) -> None:
    """What was published and is not in the table any more is neither published nor a thing to publish again unasked.

    Args:
        submission_id: a submission that is known as published.
        version: as which version of the target.
        found: what the target's log says of it now.

    Raises:
        GateError: the target was restored to a version before it, or does not know of it.
    """
    if found is not None and found.restored_to is None:
        return
    since = "the target does not know of it: it was made anew, or its transaction ids have expired"
    if found is not None:
        at = f"version {found.restored_to}" if (found.restored_to or 0) >= 0 else "a version before it, or one that is not known"
        since = f"the target was restored to {at} since"
    raise GateError(
        f"submission {submission_id} was published as version {version}, and {since}", code="submission.undone",
        hint="to publish these rows again, give them a submission id of their own",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetCommit:
    """One commit of the target's history; `commit` is null when the gate did not make it."""

    version: int
    operation: str
    committed_at: datetime
    commit: CommitRecord | None
