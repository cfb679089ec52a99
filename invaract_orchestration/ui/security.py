"""What every answer carries, and what every request must be: read-only, and asked of the host that this is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Application = Callable[[Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]], Awaitable[None]]



class SecurityHeaders:
    """Adds the headers that keep a page from running, loading or sending anything that is not its own."""

    def __init__(self, app: Application, *, frame_ancestors: str) -> None:
        self._app = app
        framing = "SAMEORIGIN" if frame_ancestors == "'self'" else "DENY" if frame_ancestors == "'none'" else None
        self._headers = [
            (b"content-security-policy", _policy(frame_ancestors).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
        ] + ([(b"x-frame-options", framing.encode())] if framing else [])

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Answer one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in self._headers}
                kept = [(name, value) for name, value in message.get("headers", ()) if name.lower() not in own]
                names = {name.lower() for name, _ in kept}
                unstored = [] if b"cache-control" in names else [(b"cache-control", b"no-store")]
                message["headers"] = [*kept, *self._headers, *unstored]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class OwnHost:
    """Answers only requests for these host names: a page elsewhere cannot reach a loopback server under a name of its own."""

    def __init__(self, app: Application, *, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(
        self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Answer one request."""
        if scope["type"] == "http" and _host(scope) not in self._hosts:
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "http.response.start", "status": 421, "headers": headers})
            await send({"type": "http.response.body", "body": b"This server does not answer for that host.\n"})
            return
        await self._app(scope, receive, send)


def _host(scope: Message) -> str:
    value = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1").lower()
    if value.startswith("["):
        return value[1:].partition("]")[0]
    return value.rpartition(":")[0] if value.rpartition(":")[2].isdigit() and ":" in value else value


def _policy(frame_ancestors: str) -> str:
    return (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
        f"frame-ancestors {frame_ancestors}"
    )
