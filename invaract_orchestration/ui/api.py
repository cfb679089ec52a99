"""The JSON API: the same answers as the pages, described by OpenAPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Path, Request

from invaract_orchestration.ui.answers import (
    ContractAnswer,
    ContractDocument,
    Overview,
    Problem,
    Quarantine,
    Run,
    Runs,
    Statuses,
)
from invaract_orchestration.ui.contracts import contract_detail, contract_document
from invaract_orchestration.ui.host import Host
from invaract_orchestration.ui.overview import overview, statuses
from invaract_orchestration.ui.quarantine import quarantine
from invaract_orchestration.ui.questions import After, Before, Days, Limit, Question, Text, ask
from invaract_orchestration.ui.run_detail import run_detail
from invaract_orchestration.ui.summaries import list_runs
from invaract_orchestration.ui.viewer import Viewer

T = TypeVar("T")

_REFUSED: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Nobody is logged in."},
    422: {"model": Problem, "description": "The query makes no sense."},
    503: {"model": Problem, "description": "The audit cannot be read."},
}
_MISSING: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "There is none, for this viewer."}}

Name = Annotated[str, Path(max_length=500)]


def build_api(host: Host) -> APIRouter:
    """The routes below `/api`."""
    router = APIRouter(prefix="/api", tags=["audit"], responses=_REFUSED)
    _add_figures(router, host)
    _add_runs(router, host)
    _add_contracts(router, host)

    @router.get("/openapi.json", include_in_schema=False, dependencies=[Depends(host.authorize)])
    def get_openapi(request: Request) -> dict[str, Any]:
        """This description."""
        make: Callable[[], dict[str, Any]] = request.app.openapi
        return make()

    return router


def _add_figures(router: APIRouter, host: Host) -> None:
    allowed = Depends(host.authorize)

    @router.get("/overview", operation_id="overview")
    def get_overview(days: Days = 30, *, viewer: Viewer = allowed) -> Overview:
        """Where every contract stands, and how it did."""
        return overview(host.reader, viewer.scope, host.clock(), days=days)

    @router.get("/status", operation_id="status")
    def get_status(*, viewer: Viewer = allowed) -> Statuses:
        """What readers of the tables need to know."""
        return statuses(host.reader, viewer.scope, host.clock())


def _add_runs(router: APIRouter, host: Host) -> None:
    allowed, asked = Depends(host.authorize), Depends(ask)

    @router.get("/runs", operation_id="runs")
    def get_runs(
        question: Question = asked, before: Before = None, after: After = None, limit: Limit = 50, *,
        viewer: Viewer = allowed,
    ) -> Runs:  # fmt: skip
        """Attempts, the last recorded first."""
        if question.notes:
            raise HTTPException(422, "; ".join(question.notes))
        return list_runs(host.reader, viewer.scope, question.wanted, limit=limit, before=before, after=after)

    @router.get("/runs/{attempt_id}", operation_id="run", responses=_MISSING)
    def get_run(attempt_id: Name, *, viewer: Viewer = allowed) -> Run:
        """One attempt whole."""
        return _found(run_detail(host.reader, viewer.scope, attempt_id))

    @router.get("/quarantine", operation_id="quarantine")
    def get_quarantine(
        contract: Text = None, before: Before = None, after: After = None, limit: Limit = 50, *, viewer: Viewer = allowed,
    ) -> Quarantine:  # fmt: skip
        """Failing rows by attempt: how many and why, never what stood in them."""
        return quarantine(host.reader, viewer.scope, contract=contract, limit=limit, before=before, after=after)


def _add_contracts(router: APIRouter, host: Host) -> None:
    allowed = Depends(host.authorize)

    @router.get("/contracts/{contract}", operation_id="contract", responses=_MISSING)
    def get_contract(contract: Name, days: Days = 30, *, viewer: Viewer = allowed) -> ContractAnswer:
        """A contract: fields, rules, versions with their differences, and where it stands."""
        return _found(contract_detail(host.reader, viewer.scope, contract, host.clock(), days=days))

    @router.get("/contracts/{contract}/versions/{version}", operation_id="contract_version", responses=_MISSING)
    def get_version(contract: Name, version: Name, *, viewer: Viewer = allowed) -> ContractDocument:
        """One version of a contract in its canonical form."""
        return _found(contract_document(host.reader, viewer.scope, contract, version))


def _found(answer: T | None) -> T:
    if answer is None:
        raise HTTPException(404, "There is none of that name, or it is not yours to see")
    return answer
