"""Cuts a connection whose server has stopped answering: the server's own timeouts do not help when the server hangs."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection


class Watchdog:
    """Ends the waiting on one connection after `seconds` (null: never). SQLite, without a server, needs none."""

    def __init__(self, seconds: float | None) -> None:
        self.has_cut = False
        self._seconds = seconds

    @contextmanager
    def over(self, connection: Connection) -> Iterator[None]:
        """Watch what is done with the connection inside the block."""
        if self._seconds is None or connection.dialect.name != "postgresql":
            yield
            return
        descriptor = connection.connection.driver_connection.fileno()  # type: ignore[union-attr]
        timer = threading.Timer(self._seconds, self._cut, (descriptor,))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # the descriptor may belong to another connection as soon as this one is given back

    def _cut(self, descriptor: int) -> None:
        self.has_cut = True
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            connection.shutdown(socket.SHUT_RDWR)
