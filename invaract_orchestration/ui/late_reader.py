"""The audit store, opened when somebody looks: the pages start before it is there, and find it once it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from invaract_orchestration.audit.browse import (
    AuditPages,
    Choices,
    ContractDay,
    Delay,
    RunFilter,
    RunPage,
    Scope,
    Standing,
)
from invaract_orchestration.audit.log import AttemptView, RuleCount
from invaract_orchestration.audit.records import ContractVersion


class LateReader:
    """`AuditPages` over a store that `open_reader` opens; one that cannot be opened is tried again with the next question.

    Every method raises what `open_reader` does, `AuditUnavailable` as a rule.
    """

    def __init__(self, open_reader: Callable[[], AuditPages]) -> None:
        self._open = open_reader
        self._opened: AuditPages | None = None
        self._lock = threading.Lock()

    def runs(self, wanted: RunFilter, scope: Scope, **page: Any) -> RunPage:
        """A page of attempts, the last recorded first."""
        return self._reader().runs(wanted, scope, **page)

    def standing(self, scope: Scope) -> Standing:
        """Where every contract stands."""
        return self._reader().standing(scope)

    def activity(self, scope: Scope, **period: Any) -> Sequence[ContractDay]:
        """Attempts of `run` by contract, day and state."""
        return self._reader().activity(scope, **period)

    def rejections(self, scope: Scope, **period: Any) -> Sequence[RuleCount]:
        """Checks that had attempts of `run` rejected."""
        return self._reader().rejections(scope, **period)

    def delays(self, scope: Scope, **period: Any) -> Sequence[Delay]:
        """How long submissions took."""
        return self._reader().delays(scope, **period)

    def choices(self, scope: Scope) -> Choices:
        """Names to choose from in a filter."""
        return self._reader().choices(scope)

    def attempt(self, attempt_id: str) -> AttemptView | None:
        """One attempt whole."""
        return self._reader().attempt(attempt_id)

    def contract_versions(self, contract: str) -> Sequence[ContractVersion]:
        """Versions of a contract, newest first."""
        return self._reader().contract_versions(contract)

    def _reader(self) -> AuditPages:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened
