"""A case whose transformation is a job in Python: its tables made in a database of its own, its frame built in that session."""

from __future__ import annotations

import runpy
import uuid
from pathlib import Path
from typing import Any

from invaract_orchestration.engines.spark.types import column_types
from tests.cases.sketch import Case
from tests.spark import sessions

JOB = "transform.py"


def engines_of(case: Case) -> tuple[str, ...]:
    """Where a case can be played: a job in Python on Spark, one that says so on Connect alone."""
    job = case.file(JOB)
    if job is None:
        return ("duckdb", "spark")
    return ("spark-connect",) if "is a Connect session" in job.read_text(encoding="utf-8") else ("spark", "spark-connect")


def built_frame(case: Case, engine: str, root: Path) -> Any:
    """What the job builds; it is the caller's own code, so it may start jobs before the gate gets its frame.

    On Connect the session is the active one, in which PySpark keeps checkpoints; its current database is `default` again after
    the test.
    """
    job, setup = case.file(JOB), case.file("setup.sql")
    assert job is not None  # only such cases get here
    session = sessions.connected() if engine == "spark-connect" else sessions.classic().newSession()
    database = f"case_{uuid.uuid4().hex}"
    session.sql(f"CREATE DATABASE {database} LOCATION '{root / 'warehouse'}'")
    session.sql(f"USE {database}")
    text = setup.read_text(encoding="utf-8") if setup is not None else ""
    lines = [line for line in text.splitlines() if not line.startswith("--")]
    for statement in filter(str.strip, "\n".join(lines).split(";")):
        session.sql(statement)
    return runpy.run_path(str(job))["build"](session)


def columns_of(frame: Any) -> tuple[tuple[str, str], ...]:
    """Names and types of what a job builds."""
    return tuple((name, str(type_)) for name, type_, _ in column_types(frame))
