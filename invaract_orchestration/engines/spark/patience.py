"""How long a Connect server is waited for that cannot be reached. PySpark waits ten minutes at every call, and an attempt makes
many; a server that answers, if only that it is busy, is waited for as PySpark does.
"""

from __future__ import annotations

import time
from typing import Any

import grpc  # type: ignore[import-untyped]  # it has no types
from pyspark.sql.connect.client.retries import DefaultPolicy, extract_retry_info

SECONDS = 60.0
"""How long that is."""


def set_patience(session: Any) -> None:
    """Let a Connect session of the gate's own give up on a server that cannot be reached."""
    session.client.set_retry_policies([_Away(SECONDS), _Busy()])


class _Away(DefaultPolicy):
    """For a server that cannot be reached: the time is one for all calls, until it has answered for a while."""

    def __init__(self, seconds: float) -> None:
        super().__init__(max_retries=None, max_backoff=5000)
        self._seconds = seconds
        self._since = self._last = float("-inf")

    def can_retry(self, e: BaseException) -> bool:
        """Whether there is time left; the first failure in a while begins it anew."""
        if not is_away(e):
            return False
        now = time.monotonic()
        if now - self._last > 2 * self._seconds:
            self._since = now
        self._last = now
        return now - self._since < self._seconds


class _Busy(DefaultPolicy):
    """For whatever else PySpark tries again."""

    def can_retry(self, e: BaseException) -> bool:
        return not is_away(e) and super().can_retry(e)


def is_away(error: BaseException) -> bool:
    """Whether a call did not get to a server."""
    if not isinstance(error, grpc.RpcError) or error.code() != grpc.StatusCode.UNAVAILABLE:
        return False
    return extract_retry_info(error) is None
