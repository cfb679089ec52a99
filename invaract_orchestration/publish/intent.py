"""The intent to publish: built only from a passing verdict, for exactly the candidate that it was given for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from invaract_orchestration.candidate.candidate import Candidate
from invaract_orchestration.candidate.target import TargetState
from invaract_orchestration.contract.model import Contract, Publish
from invaract_orchestration.errors import CandidateChanged, GateError
from invaract_orchestration.verdict.verdict import Verdict

APP_ID = "invaract:"
METADATA_KEY = "invaract"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishIntent:
    """What is to become visible. `metadata` stands in the commit's userMetadata: ids, digests and counts, no value."""

    submission_id: str
    contract: Contract
    candidate: Candidate
    target: TargetState
    metadata: Mapping[str, str | int | None]

    @property
    def publish(self) -> Publish:
        """The contract's publish part, which an intent always has."""
        assert self.contract.publish is not None  # intend() has seen to it
        return self.contract.publish

    @property
    def transaction_id(self) -> str:
        """The Delta transaction's application id: one per submission, never one per target."""
        return APP_ID + self.submission_id

    @property
    def user_metadata(self) -> str:
        """The JSON text that the commit carries."""
        return json.dumps({METADATA_KEY: dict(self.metadata)}, sort_keys=True)


def intend(
    verdict: Verdict, contract: Contract, contract_digest: str, candidate: Candidate, target: TargetState,
    submission_id: str, metadata: Mapping[str, str | int | None],
) -> PublishIntent:  # fmt: skip
    """The intent for a candidate. Publishing starts here and nowhere else.

    Raises:
        GateError: the verdict did not pass, or was given for another contract or target version.
        CandidateChanged: the candidate is not the one the verdict was given for.
    """
    if not verdict.passed or verdict.bound is None:
        raise GateError("there is no passing verdict for this candidate", code="publish.no_passing_decision")
    if contract.publish is None:
        raise GateError("the contract names no target", code="contract.no_target", hint="add publish.target")
    if verdict.bound.contract_digest != contract_digest:
        raise GateError("the contract changed after the verdict", code="publish.contract_changed")
    if verdict.bound.candidate_digest != candidate.digest:
        raise CandidateChanged("the candidate is not the one the verdict was given for")
    if verdict.bound.target_version != target.version:
        raise GateError("the verdict was given for another version of the target", code="publish.target_changed")
    return PublishIntent(
        submission_id=submission_id, contract=contract, candidate=candidate, target=target, metadata=metadata
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A commit that carries a submission. `method` is `promoted` or `rewritten: <why>`; counts are null where not known."""

    version: int
    method: str
    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None
    committed_at: datetime | None = None
    notes: tuple[str, ...] = ()
    metadata: Mapping[str, str | int | None] | None = None
    """The commit's own metadata, when it was found rather than made."""
