"""Who is looking at the audit inside Airflow, and what of it they may see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from invaract_orchestration.audit.log import AttemptView, AuditReader, ContractStatus, DayCount, RuleCount
    from invaract_orchestration.audit.records import ContractVersion

_MOST_PAGES = 50
_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """`dag_ids`: the DAGs that the user may read; `sees_others`: whether also what came from elsewhere."""

    dag_ids: frozenset[str]
    sees_others: bool

    def may_see(self, view: AttemptView) -> bool:
        """Whether the attempt is one of the user's DAGs, or of no DAG and the user may see those."""
        dag = view.attempt.context.get("dag_id")
        return dag in self.dag_ids if dag is not None else self.sees_others


VIEWER: ContextVar[Viewer] = ContextVar("invaract_viewer")
"""The user of the request that is being answered."""


class PermittedReader:
    """The audit as the request's user may see it. A contract is visible with one of its attempts."""

    def __init__(self, store: Callable[[], AuditReader]) -> None:
        self._store = store

    def attempts(
        self, *, limit: int = 50, before: str | None = None, context: Mapping[str, str] | None = None, **query: Any
    ) -> Sequence[AttemptView]:
        """Attempts newest first; looks further back for as many as are asked for."""
        may_see, found = VIEWER.get().may_see, list[Any]()
        for _ in range(_MOST_PAGES):
            page = self._store().attempts(limit=_PAGE, before=before, context=context, **query)
            found += [view for view in page if may_see(view)]
            if len(found) >= limit or len(page) < _PAGE:
                break
            before = page[-1].attempt.attempt_id
        return found[:limit]

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt; null also when the user may not see it, so that nothing says it is there."""
        view = self._store().attempt(attempt_id)
        return view if view is not None and VIEWER.get().may_see(view) else None

    def statuses(self) -> Sequence[ContractStatus]:
        """Contracts that the user may see."""
        return [status for status in self._store().statuses() if self._is_visible(status)]

    def contract_versions(self, contract: str) -> Sequence[ContractVersion]:
        """Versions of a contract that the user may see."""
        return self._store().contract_versions(contract) if contract in self._contracts() else ()

    def counts_by_day(
        self, *, contract: str | None = None, since: datetime | None = None, until: datetime | None = None
    ) -> Sequence[DayCount]:
        """Counts over the contracts that the user may see, the latest day first."""
        from invaract_orchestration.audit.log import DayCount

        total: Counter[tuple[Any, str]] = Counter()
        for name in self._asked(contract):
            for one in self._store().counts_by_day(contract=name, since=since, until=until):
                total[one.day, one.state] += one.attempts
        days = sorted(total.items(), key=lambda item: (-item[0][0].toordinal(), item[0][1]))
        return [DayCount(day=day, state=state, attempts=attempts) for (day, state), attempts in days]

    def rejections_by_rule(
        self, *, contract: str | None = None, since: datetime | None = None, until: datetime | None = None
    ) -> Sequence[RuleCount]:
        """Rules of the contracts that the user may see, the most frequent first."""
        names = self._asked(contract)
        found = [r for n in names for r in self._store().rejections_by_rule(contract=n, since=since, until=until)]
        return sorted(found, key=lambda rule: (-rule.attempts, rule.contract, rule.check))

    def _asked(self, contract: str | None) -> list[str]:
        visible = self._contracts()
        return [name for name in visible if contract in (None, name)]

    def _contracts(self) -> list[str]:
        return list(dict.fromkeys(status.contract for status in self.statuses()))

    def _is_visible(self, status: ContractStatus) -> bool:
        viewer, last = VIEWER.get(), status.last_attempt
        return viewer.may_see(last) if last is not None else viewer.sees_others
