"""Telling people: a webhook, a command or the log, with names and counts and no payload. It never changes a verdict."""

from __future__ import annotations

import json
import logging
import os
import shlex
import subprocess
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Literal

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.contract.model import Contract, Notification

Occasion = Literal["rejected", "late", "unknown"]
_SECONDS = 10
_LOGGER = logging.getLogger("invaract")


def notify(contract: Contract, occasion: Occasion, message: Mapping[str, Any]) -> tuple[str, ...]:
    """Tell everybody whom the contract names for the occasion; a line for each that could not be told, without its address."""
    return tuple(
        failure
        for entry in contract.notifications
        if occasion in entry.on and (failure := _told(entry, {"occasion": occasion, **message})) is not None
    )


def message_of(result: GateResult) -> dict[str, Any]:
    """What a notification says of a result: ids, state, reasons and counts."""
    return {
        "contract": result.contract, "version": result.version, "target": result.target, "state": result.state,
        "submission": result.submission_id, "attempt": result.attempt_id, "code": result.code,
        "parameters": dict(result.parameters), "reasons": [c.check for c in result.blocking],
        "rows_read": result.counts.read, "rows_failing": result.counts.failing,
    }  # fmt: skip


def _told(entry: Notification, message: Mapping[str, Any]) -> str | None:
    kind, _, where = entry.to.partition(":")
    senders: dict[str, Callable[[str, bytes], None]] = {"webhook": _post, "command": _call, "log": _log}
    try:
        senders[kind](_address(where), json.dumps(message, sort_keys=True).encode())
    except KeyError:
        return f"notification to {kind!r} could not be sent: its environment variable is not set, or the kind is not known"
    except Exception as error:  # noqa: BLE001  # the verdict is recorded: no notifier may make an exception of it
        return f"notification to {kind!r} could not be sent ({type(error).__name__})"
    return None


def _address(where: str) -> str:
    """The place itself: it stands in an environment variable, as it may hold a secret."""
    return os.environ[where.removeprefix("env:")] if where.startswith("env:") else where


def _post(url: str, body: bytes) -> None:
    if not url.startswith(("http://", "https://")):
        raise ValueError("a webhook is an http or https address")
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})  # checked above
    with urllib.request.urlopen(request, timeout=_SECONDS):
        pass


def _call(command: str, body: bytes) -> None:
    subprocess.run(shlex.split(command), input=body, timeout=_SECONDS, check=True, capture_output=True)


def _log(_: str, body: bytes) -> None:
    _LOGGER.warning("%s", body.decode())
