"""`invaract ui`: the audit pages on this machine, read-only."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from typing import Annotated

from cyclopts import Parameter

from invaract_orchestration.errors import GateError, MissingExtra, UsageError

_DEFAULT_HOST = "127.0.0.1"


def ui(
    *,
    host: Annotated[str, Parameter(help="the address to serve; other than this machine's own needs one of the two below")] = (
        _DEFAULT_HOST
    ),
    port: Annotated[int, Parameter(help="the port to serve")] = 8399,
    token_env: Annotated[
        str | None, Parameter(help="the environment variable that holds the token which callers must know")
    ] = None,
    identity_header: Annotated[
        str | None, Parameter(help="the header in which your reverse proxy names the user, such as X-Forwarded-User")
    ] = None,
    trusted_proxy: Annotated[
        tuple[str, ...], Parameter(negative="", help="an address that this header is believed from; may be repeated")
    ] = ("127.0.0.1", "::1"),
    base_path: Annotated[str, Parameter(help="the path under which your reverse proxy serves the pages")] = "",
) -> int:
    """Serve the audit pages until it is stopped."""
    if not 0 <= port <= 65_535:
        raise UsageError(f"--port: expected 0 to 65535, found {port}")
    try:
        from invaract_orchestration.ui.serve import build_server
    except ModuleNotFoundError as error:
        raise MissingExtra("the audit pages", "ui") from error
    from invaract_orchestration.cli.console import progress
    from invaract_orchestration.wiring import open_audit

    with ExitStack() as opened:
        server = build_server(
            lambda: opened.enter_context(open_audit(read_only=True)), host=host, port=port, token=_token(token_env),
            identity_header=identity_header, proxies=trusted_proxy, base_path=base_path,
        )  # fmt: skip
        shown = f"[{host}]" if ":" in host else host
        progress(f"audit pages at http://{shown}:{port}{base_path}/ (Ctrl-C stops them)")
        try:
            with suppress(KeyboardInterrupt):  # how people stop it
                server.run()
        except SystemExit:  # uvicorn has said why and would leave with 1, which means something else here
            raise GateError(
                f"the audit pages cannot be served at {shown}:{port}", code="ui.not_served",
                hint="another program may have the port: choose one with --port",
            ) from None  # fmt: skip
    return 0


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    token = os.environ.get(variable)
    if not token:
        raise UsageError(f"--token-env: the environment variable {variable!r} is not set", hint=f"export {variable}=...")
    return token
