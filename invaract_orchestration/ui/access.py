"""Who may look at pages that are served alone: anyone on this machine, a bearer of the token, or whom a proxy names."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable
from ipaddress import ip_address

from fastapi import HTTPException, Request

from invaract_orchestration.errors import UsageError
from invaract_orchestration.ui.viewer import Viewer, everyone

_SHORTEST_TOKEN = 16

Authorize = Callable[[Request], Viewer]


def access_for(
    host: str, *, token: str | None = None, identity_header: str | None = None, proxies: tuple[str, ...] = ("127.0.0.1", "::1")
) -> Callable[..., Viewer]:
    """The dependency that lets viewers in.

    Args:
        host: the address that is served. One that other machines reach needs a token or an identity header.
        token: what callers must know, as a bearer token or as the password of their browser's own log-in, with any user.
        identity_header: the header in which a proxy puts the user's name.
        proxies: the addresses that this header is believed from.

    Raises:
        UsageError: the address is reached by others and nothing guards it, or the token is too short.
    """
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise UsageError(
            f"the token is shorter than {_SHORTEST_TOKEN} characters", hint="make one with: openssl rand -hex 24"
        )
    if token is not None and identity_header is not None:
        raise UsageError("a token and an identity header exclude each other", hint="leave one of them out")
    if token is not None:
        return _by_token(token)
    if identity_header is not None:
        return _by_header(identity_header, frozenset(proxies))
    if not is_loopback(host):
        raise UsageError(
            f"{host} is reached by other machines, and nothing says who may look",
            hint="name --token-env or --identity-header, or leave --host out to serve this machine alone",
        )
    return everyone


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _by_token(token: str) -> Authorize:
    expected = token.encode()

    def by_token(request: Request) -> Viewer:
        """Lets in who knows the token."""
        given = _credentials(request.headers.get("authorization", ""))
        if given is None or not hmac.compare_digest(given, expected):
            raise HTTPException(401, "The token is missing or wrong", {"WWW-Authenticate": 'Basic realm="Invaract audit"'})
        return Viewer()

    return by_token


def _credentials(header: str) -> bytes | None:
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode()
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(value, validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return None


def _by_header(header: str, proxies: frozenset[str]) -> Authorize:
    def by_header(request: Request) -> Viewer:
        """Lets in whom a trusted proxy names."""
        peer = request.client.host if request.client else ""
        name = request.headers.get(header, "").strip()
        if peer not in proxies or not name:
            raise HTTPException(401, "The request does not come from the proxy that logs people in")
        return Viewer(name=name[:100])

    return by_header
