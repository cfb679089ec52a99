"""The audit pages as an app of Airflow's API server. Airflow does not guard a plugin's app, so this one asks by itself.

Every page needs a user of Airflow who may see plugins, and shows what that user's DAG permissions allow.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import AccessView
from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import HTTPException
from starlette.responses import PlainTextResponse

from airflow_plugin.links import PREFIX, base_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as RequestScope

    from invaract_orchestration.ui.viewer import Viewer

RESOURCE = "Contract audits"
"""The name under which an auth manager grants the sight of attempts that no DAG made, such as those of the command line."""

_OPENED = ExitStack()
"""The store stays open as long as the API server runs."""


def build_app() -> ASGIApp:
    """The pages; without the packages that they need, an app that says what to install."""
    try:
        from invaract_orchestration.ui.app import create_app
    except ModuleNotFoundError:
        return _missing
    from invaract_orchestration.ui.late_reader import LateReader

    return create_app(
        LateReader(_open_store), authorize=authorize, base_path=f"{base_path()}{PREFIX}", frame_ancestors="'self'"
    )


def authorize(user: GetUserDep) -> Viewer:
    """Who is asking; nobody is refused with 401 by Airflow's own dependency, a user without the permission with 403."""
    from invaract_orchestration.audit.browse import Scope
    from invaract_orchestration.ui.viewer import Viewer

    manager = get_auth_manager()
    if not manager.is_authorized_view(access_view=AccessView.PLUGINS, user=user):
        raise HTTPException(403, "Seeing plugins is not allowed to this user")
    return Viewer(
        name=user.get_name(),
        scope=Scope(
            dags=frozenset(manager.get_authorized_dag_ids(user=user, method="GET")),
            includes_others=manager.is_authorized_custom_view(method="GET", resource_name=RESOURCE, user=user),
        ),
    )


def _open_store() -> Any:
    from airflow_plugin.hooks import InvaractHook
    from invaract_orchestration.wiring import open_audit

    return _OPENED.enter_context(open_audit(InvaractHook().settings(), read_only=True))


async def _missing(scope: RequestScope, receive: Receive, send: Send) -> None:
    text = "The audit pages need packages that are not installed.\nHint: pip install 'invaract-orchestration[ui]'\n"
    await PlainTextResponse(text, status_code=503)(scope, receive, send)
