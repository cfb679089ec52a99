"""Serves the pages alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn

from invaract_orchestration.audit.browse import AuditPages
from invaract_orchestration.ui.access import access_for, is_loopback
from invaract_orchestration.ui.app import create_app
from invaract_orchestration.ui.late_reader import LateReader
from invaract_orchestration.ui.security import OwnHost

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def build_server(
    open_reader: Callable[[], AuditPages], *, host: str, port: int, token: str | None = None,
    identity_header: str | None = None, proxies: tuple[str, ...] = ("127.0.0.1", "::1"), base_path: str = "",
) -> uvicorn.Server:  # fmt: skip
    """A server that is ready to run.

    Raises:
        UsageError: other machines reach the address and nothing guards it.
    """
    authorize = access_for(host, token=token, identity_header=identity_header, proxies=proxies)
    app: Any = create_app(LateReader(open_reader), authorize=authorize, base_path=base_path)
    if is_loopback(host) and identity_header is None:
        app = OwnHost(app, hosts={*_LOOPBACK_NAMES, host})
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, proxy_headers=False, server_header=False,
        timeout_graceful_shutdown=3,
    )  # fmt: skip
    return uvicorn.Server(config)
