"""Frames of the cases on a real session: typed folders without files under the tables' names, and the user's functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.plan.cases import Case, CaseFile


class SparkFrames:
    """One session with the tables of a case file; `functions` is the session's module of column functions."""

    def __init__(self, session: Any, functions: Any, cases: CaseFile, folder: Path, *, registers: bool = True) -> None:
        self.session = session
        self._functions = functions
        self.tables: dict[str, Any] = {}
        for name, columns in cases.columns.items():
            ddl = ", ".join(f"`{column}` {text}" for column, text in columns.items())
            place = folder / name
            place.mkdir(exist_ok=True)
            self.tables[name] = session.read.schema(ddl).parquet(str(place))
            self.tables[name].createOrReplaceTempView(name)
        for name, declared in (cases.functions if registers else {}).items():
            session.udf.register(name, lambda *values: values[0], declared["returns"])

    def frame(self, case: Case) -> Any:
        if case.sql is not None:
            return self.session.sql(case.sql)
        names = {**self.tables, "F": self._functions}
        exec(case.dataframe or "", names)
        return names["df"]


@contextmanager
def classic_frames(cases: CaseFile, folder: Path) -> Iterator[SparkFrames]:
    """The frames in a session of their own beside the one of the whole test run, with a checkpoint directory."""
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

    from tests.spark.sessions import classic

    shared = classic()
    session = shared.newSession()
    session.sparkContext.setCheckpointDir(str(folder / "checkpoints"))
    try:
        yield SparkFrames(session, F, cases, folder)
    finally:
        SparkSession._instantiatedSession = shared
        shared._jvm.SparkSession.setActiveSession(shared._jsparkSession)
