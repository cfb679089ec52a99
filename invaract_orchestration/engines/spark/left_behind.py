"""What PySpark would leave behind of a session that has ended, and what it changes for the sessions beside it."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import clear_frames
from typing import Any

_ACTIVE = threading.Lock()
"""What is active is one for all threads of the process."""


@contextmanager
def kept_active(spark: Any) -> Iterator[None]:
    """The session that is active in the process is that again after the block: PySpark makes the newest one active, and the one
    that turns an RDD into a frame.
    """
    if not hasattr(spark, "_jsparkSession"):  # a Connect session
        yield
        return
    from pyspark import RDD

    with _ACTIVE:
        kind = type(spark)
        active, frame_of, of_thread = kind._activeSession, RDD.toDF, kind._get_j_spark_session_class(spark._jvm)
        before = of_thread.getActiveSession()
        try:
            yield
        finally:
            kind._activeSession = active
            RDD.toDF = frame_of  # type: ignore[method-assign]  # PySpark does the same
            of_thread.setActiveSession(before.get()) if before.isDefined() else of_thread.clearActiveSession()


@contextmanager
def ignored() -> Iterator[None]:
    """Whatever is raised in the block is forgotten, and what it holds is let go: an error of PySpark's stands in a frame that it
    holds, so a session that it has passed by would stay until the collector of cycles comes, which knows nothing of the JVM.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001  # Spark raises classes of py4j, grpc and its own
        clear_frames(error.__traceback__)


def let_go(spark: Any, *, is_remote: bool) -> None:
    """Nothing of an ended session is left in this process, nor on the server."""
    if not is_remote:
        vars(spark).pop("catalog", None)  # it points back, and the collector of cycles knows nothing of the JVM's memory
        return
    client = spark.client
    with ignored():  # the server forgets it in time
        client.set_retry_policies([])  # one that does not answer has been waited for by now
        client.release_session()
    with ignored():
        client.close()
    atexit.unregister(client._on_exit)
