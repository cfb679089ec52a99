"""The port of the audit pages: pages of attempts and figures over many of them, for what one viewer may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Protocol

from invaract_orchestration.audit.log import AttemptView, ContractStatus, RuleCount
from invaract_orchestration.audit.records import ContractVersion

DAG = "dag_id"
"""Key of an attempt's context that names the DAG which made it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The attempts that a viewer may see, by the DAG that made them.

    `dags` are those that may be seen, null means all. `includes_others` says whether attempts that no DAG made, such as those
    of the command line, may be seen as well.
    """

    dags: frozenset[str] | None = None
    includes_others: bool = True

    def allows(self, context: Mapping[str, str]) -> bool:
        """Whether an attempt of this context may be seen."""
        if DAG not in context:
            return self.includes_others
        return self.dags is None or context[DAG] in self.dags


EVERYTHING = Scope()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """What attempts must be like; what is null or empty does not restrict. `until` itself is outside.

    `search` is the start of a contract's name, a target, a submission's or an attempt's id. `context` is what the attempt's
    own context must hold. `has_failing_rows` leaves those that set rows aside or were rejected for some.
    """

    contract: str | None = None
    target: str | None = None
    submission_id: str | None = None
    states: tuple[str, ...] = ()
    kind: str | None = None
    environment: str | None = None
    search: str | None = None
    context: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    has_failing_rows: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPage:
    """Attempts newest first. `unreadable` are ids on this page whose rows are no records any more.

    `newer` and `older` are ids to page on from, null where there is nothing more. `total` counts at most `TOTAL_LIMIT`.
    """

    runs: tuple[AttemptView, ...]
    unreadable: tuple[str, ...]
    newer: str | None
    older: str | None
    total: int


TOTAL_LIMIT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where contracts stand, by name and target. `unreadable` are ids of attempts that could not be read for it."""

    contracts: tuple[ContractStatus, ...]
    unreadable: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractDay:
    """How many attempts of `run` of a contract started on one day (in UTC) and stand at one state."""

    contract: str
    target: str
    day: date
    state: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """The median time from the first receipt of a submission to its publication, over the last `publications`."""

    contract: str
    target: str
    median: timedelta
    publications: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Names to choose from in a filter."""

    contracts: tuple[str, ...]
    environments: tuple[str, ...]


class AuditBrowser(Protocol):
    """What the audit pages read. Nothing outside the scope shows, neither as a row nor in a figure."""

    def runs(
        self, wanted: RunFilter, scope: Scope, *, limit: int = 50, before: str | None = None, after: str | None = None,
        with_results: bool = False,
    ) -> RunPage:
        """A page of attempts, the last recorded first: those older than `before`, or newer than `after`."""

    def standing(self, scope: Scope) -> Standing:
        """Where every contract stands."""

    def activity(self, scope: Scope, *, since: datetime, contract: str | None = None) -> Sequence[ContractDay]:
        """Attempts of `run` by contract, day and state, in no order."""

    def rejections(self, scope: Scope, *, since: datetime, contract: str | None = None) -> Sequence[RuleCount]:
        """Checks that had attempts of `run` rejected, the most frequent first."""

    def delays(self, scope: Scope, *, since: datetime) -> Sequence[Delay]:
        """How long submissions took, by contract and target."""

    def choices(self, scope: Scope) -> Choices:
        """The contracts and environments that the viewer may see an attempt of."""


class AuditPages(AuditBrowser, Protocol):
    """A browser that opens single attempts and contracts too; see `AuditReader`."""

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt whole."""

    def contract_versions(self, contract: str) -> Sequence[ContractVersion]:
        """Versions of a contract, newest first."""
