"""Fetch the JARs of the Spark engine, by starting a session once."""

from __future__ import annotations

from invaract_orchestration.engines.spark.session import user_session

if __name__ == "__main__":
    session = user_session(None, "local[1]", None)
    session.range(1).count()
    session.stop()
