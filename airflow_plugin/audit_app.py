"""The audit pages as an app of Airflow's API server. Airflow does not guard a plugin's app, so this one guards itself.

Every request needs a user of Airflow who may see plugins; what it shows is what that user's DAG permissions allow.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import AccessView
from airflow.api_fastapi.core_api.security import get_user
from fastapi.security.utils import get_authorization_scheme_param
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse

from airflow_plugin.viewer import VIEWER, Viewer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

RESOURCE = "Contract audits"
"""The name under which an auth manager grants the sight of attempts that no DAG of this Airflow made."""

_HEADERS = {"Content-Security-Policy": "frame-ancestors 'self'", "Cache-Control": "no-store"}


def build_app() -> ASGIApp:
    """The guarded pages; without the pages' own packages, a page that says what to install."""
    return Guarded(_pages())


class Guarded:
    """Lets a request through for a user who may see plugins: 401 for nobody, 403 for others, and GET alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            viewer = await _viewer(request)
        except HTTPException as refused:
            answer = JSONResponse({"detail": refused.detail}, status_code=refused.status_code, headers=_HEADERS)
            await answer(scope, receive, send)
            return
        token = VIEWER.set(viewer)
        try:
            await self._app(scope, receive, send)
        finally:
            VIEWER.reset(token)


async def _viewer(request: Request) -> Viewer:
    scheme, credentials = get_authorization_scheme_param(request.headers.get("Authorization"))
    user = await get_user(request, None, _Bearer(scheme, credentials) if credentials else None)  # type: ignore[arg-type]
    if request.method not in ("GET", "HEAD"):
        raise HTTPException(405, "The audit is read here, and never written")
    return await run_in_threadpool(_permissions, user)


class _Bearer:
    """What `get_user` looks at of a bearer's credentials."""

    def __init__(self, scheme: str, credentials: str) -> None:
        self.scheme, self.credentials = scheme, credentials


def _permissions(user: Any) -> Viewer:
    manager = get_auth_manager()
    if not manager.is_authorized_view(access_view=AccessView.PLUGINS, user=user):
        raise HTTPException(403, "Seeing plugins is not allowed to this user")
    return Viewer(
        dag_ids=frozenset(manager.get_authorized_dag_ids(user=user, method="GET")),
        sees_others=manager.is_authorized_custom_view(method="GET", resource_name=RESOURCE, user=user),
    )


def _pages() -> ASGIApp:
    try:
        from invaract_orchestration.ui.app import create_app  # type: ignore[import-untyped, unused-ignore]
    except ModuleNotFoundError:
        return _missing
    from airflow_plugin.viewer import PermittedReader

    pages: ASGIApp = create_app(PermittedReader(_store))
    return pages


async def _missing(scope: Scope, receive: Receive, send: Send) -> None:
    text = "The audit pages need packages that are not installed.\nHint: pip install 'invaract-orchestration[ui]'\n"
    await PlainTextResponse(text, status_code=503, headers=_HEADERS)(scope, receive, send)


@functools.cache
def _store() -> Any:
    """The audit store, opened when it is first asked for; a failure is not remembered, so that it may appear later."""
    from airflow_plugin.hooks import InvaractHook
    from invaract_orchestration.stores.open import open_store

    return open_store(InvaractHook().settings().audit_url, read_only=True)
