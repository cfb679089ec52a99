"""The audit pages as an app: read-only, rendered here, with the JSON API beside them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from invaract_orchestration.audit.browse import AuditPages
from invaract_orchestration.errors import InvaractError
from invaract_orchestration.ui.api import build_api
from invaract_orchestration.ui.host import Host
from invaract_orchestration.ui.pages import Pages
from invaract_orchestration.ui.rendering import STATIC, build_environment
from invaract_orchestration.ui.security import SecurityHeaders
from invaract_orchestration.ui.viewer import everyone


def _utc_now() -> datetime:
    return datetime.now(UTC)


def create_app(
    reader: AuditPages,
    *,
    authorize: Callable[..., Any] = everyone,
    base_path: str = "",
    frame_ancestors: str = "'none'",
    clock: Callable[[], datetime] = _utc_now,
) -> FastAPI:
    """The pages over an audit.

    Args:
        reader: what is shown. `LateReader` opens a store when somebody looks, so that the pages start without one.
        authorize: a dependency of FastAPI that gives the `Viewer` of a request, with the scope of what they may see, or raises
            HTTPException 401 or 403. By default anyone sees everything: for pages that nobody else can reach.
        base_path: the path under which people reach the app, such as `/airflow/invaract`; by default where it is mounted.
        frame_ancestors: who may show the pages in a frame, as Content-Security-Policy says it.
        clock: what time it is.
    """
    host = Host(
        reader=reader, authorize=authorize, clock=clock, templates=build_environment(), base_path=base_path.rstrip("/")
    )
    app = FastAPI(
        title="Invaract audit", description="Read-only: what the publication gate decided, and why.", version="1",
        docs_url=None, redoc_url=None, openapi_url=None,
    )  # fmt: skip
    pages = Pages(host)
    app.include_router(build_api(host))
    app.include_router(pages.router())
    app.add_api_route("/healthz", _healthy, include_in_schema=False)
    app.mount("/static", _Static(directory=STATIC), name="static")
    app.add_middleware(SecurityHeaders, frame_ancestors=frame_ancestors)
    _answer_errors(app, pages)
    return app


def _healthy() -> dict[str, str]:
    """That the server answers; says nothing of the store."""
    return {"status": "ok"}


class _Static(StaticFiles):
    """Files that are named with a word that changes with them, so that browsers may keep them."""

    def file_response(self, *given: Any, **more: Any) -> Response:
        """The file."""
        response = super().file_response(*given, **more)
        response.headers["cache-control"] = "public, max-age=604800"
        return response


def _answer_errors(app: FastAPI, pages: Pages) -> None:
    def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # registered for it
        if _is_page(request) and error.status_code == 404:
            return pages.missing(request)
        return JSONResponse({"detail": error.detail}, error.status_code, headers=error.headers)

    def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # registered for it
        places = [f"{'.'.join(str(part) for part in each['loc'][1:])}: {each['msg']}" for each in error.errors()]
        if _is_page(request):
            return pages.misunderstood(request, "; ".join(places))
        return JSONResponse({"detail": "; ".join(places)}, 422)

    def unreadable(_: Request, error: Exception) -> Response:
        assert isinstance(error, InvaractError)  # registered for it
        return JSONResponse({"detail": error.sentence, "hint": error.hint}, 503)

    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(InvaractError, unreadable)


def _is_page(request: Request) -> bool:
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    return not path.startswith(("/api", "/static", "/healthz"))
