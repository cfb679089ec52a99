"""The pages for people: the answers of the API, rendered on the server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from invaract_orchestration.audit.browse import RunFilter
from invaract_orchestration.errors import InvaractError
from invaract_orchestration.ui.contracts import contract_detail
from invaract_orchestration.ui.host import Host
from invaract_orchestration.ui.overview import overview, statuses
from invaract_orchestration.ui.quarantine import quarantine
from invaract_orchestration.ui.questions import CONTEXT_NAMES, DAYS, Question, ask
from invaract_orchestration.ui.run_detail import run_detail
from invaract_orchestration.ui.summaries import list_runs
from invaract_orchestration.ui.viewer import Viewer

_PAGE = 50
_RECENT = 10

Values = dict[str, Any]
Load = Callable[[], Values | None]


class Pages:
    """Renders pages, also when the audit cannot be read: then with a note in the place of what would have been shown."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def router(self) -> APIRouter:
        """The routes."""
        router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
        _add_overview(router, self._host, self)
        _add_runs(router, self._host, self)
        _add_contract(router, self._host, self)
        _add_quarantine(router, self._host, self)
        _add_status(router, self._host, self)
        return router

    def show(self, request: Request, template: str, viewer: Viewer, fixed: Values, load: Load) -> HTMLResponse:
        """A page with what `load` gives; null is not there."""
        try:
            loaded = load()
        except InvaractError as error:
            return self._render(request, "unreadable.html", viewer, {"error": error})
        if loaded is None:
            return self._render(request, "missing.html", viewer, {}, status=404)
        return self._render(request, template, viewer, fixed | loaded)

    def missing(self, request: Request) -> HTMLResponse:
        """The page for an address that is none."""
        return self._render(request, "missing.html", None, {}, status=404)

    def misunderstood(self, request: Request, problem: str) -> HTMLResponse:
        """The page for a query that makes no sense."""
        return self._render(request, "misunderstood.html", None, {"problem": problem}, status=422)

    def _render(
        self, request: Request, template: str, viewer: Viewer | None, values: Values, *, status: int = 200
    ) -> HTMLResponse:
        base = self._host.base_path or request.scope.get("root_path", "")
        shared = {
            "base": base.rstrip("/"), "viewer": viewer, "now": self._host.clock(), "section": template.removesuffix(".html"),
        }  # fmt: skip
        return HTMLResponse(self._host.templates.get_template(template).render(shared | values), status_code=status)


def _add_overview(router: APIRouter, host: Host, pages: Pages) -> None:
    allowed = Depends(host.authorize)

    @router.get("/")
    def overview_page(request: Request, days: str = "30", viewer: Viewer = allowed) -> HTMLResponse:
        chosen = _days(days)
        return pages.show(
            request, "overview.html", viewer, {"days": chosen, "day_choices": DAYS},
            lambda: {"overview": overview(host.reader, viewer.scope, host.clock(), days=chosen)},
        )  # fmt: skip


def _add_runs(router: APIRouter, host: Host, pages: Pages) -> None:
    allowed, asked = Depends(host.authorize), Depends(ask)

    @router.get("/runs")
    def runs_page(
        request: Request, question: Question = asked, before: str | None = None, after: str | None = None,
        viewer: Viewer = allowed,
    ) -> HTMLResponse:  # fmt: skip
        def load() -> Values:
            runs = list_runs(host.reader, viewer.scope, question.wanted, limit=_PAGE, before=before, after=after)
            return {"page": runs, "choices": host.reader.choices(viewer.scope)}

        fixed = {"given": question.given, "notes": question.notes, "context_names": CONTEXT_NAMES}
        return pages.show(request, "runs.html", viewer, fixed, load)

    @router.get("/runs/{attempt_id:path}")
    def run_page(request: Request, attempt_id: str, viewer: Viewer = allowed) -> HTMLResponse:
        def load() -> Values | None:
            run = run_detail(host.reader, viewer.scope, attempt_id)
            return None if run is None else {"run": run}

        return pages.show(request, "run.html", viewer, {}, load)


def _add_contract(router: APIRouter, host: Host, pages: Pages) -> None:
    allowed = Depends(host.authorize)

    @router.get("/contracts/{contract:path}")
    def contract_page(
        request: Request, contract: str, days: str = "30", viewer: Viewer = allowed
    ) -> HTMLResponse:
        chosen = _days(days)

        def load() -> Values | None:
            found = contract_detail(host.reader, viewer.scope, contract, host.clock(), days=chosen)
            if found is None:
                return None
            recent = list_runs(host.reader, viewer.scope, RunFilter(contract=contract), limit=_RECENT)
            return {"contract": found, "page": recent}

        return pages.show(request, "contract.html", viewer, {"days": chosen, "day_choices": DAYS}, load)


def _add_quarantine(router: APIRouter, host: Host, pages: Pages) -> None:
    allowed = Depends(host.authorize)

    @router.get("/quarantine")
    def quarantine_page(
        request: Request, contract: str = "", before: str | None = None, after: str | None = None,
        viewer: Viewer = allowed,
    ) -> HTMLResponse:  # fmt: skip
        def load() -> Values:
            found = quarantine(
                host.reader, viewer.scope, contract=contract or None, limit=_PAGE, before=before, after=after
            )
            return {"page": found, "choices": host.reader.choices(viewer.scope)}

        return pages.show(request, "quarantine.html", viewer, {"given": {"contract": contract}}, load)


def _add_status(router: APIRouter, host: Host, pages: Pages) -> None:
    allowed = Depends(host.authorize)

    @router.get("/status")
    def status_page(request: Request, viewer: Viewer = allowed) -> HTMLResponse:
        return pages.show(
            request, "status.html", viewer, {}, lambda: {"statuses": statuses(host.reader, viewer.scope, host.clock())}
        )


def _days(text: str) -> int:
    return int(text) if text in {str(each) for each in DAYS} else 30
