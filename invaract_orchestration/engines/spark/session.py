"""Spark sessions: where one comes from, the private one that an attempt works in, and the translation of Spark's errors.

Everything is said in SQL text and by public calls, so that a classic session and a remote one (Connect) are the same to the
gate. Spark's messages quote values, lines and paths of the data, so none is passed on: its class and a known part of its text
choose an error of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import clear_frames
from typing import Any

from invaract_orchestration.engines.parquet_tables import TOO_FINE, TOO_FINE_HINT, TOO_FINE_SENTENCE
from invaract_orchestration.engines.spark.jars import fetched_once, jar_options, require_java
from invaract_orchestration.engines.spark.left_behind import ignored, kept_active, let_go
from invaract_orchestration.engines.spark.unlogged import unlogged
from invaract_orchestration.engines.spark.valid_values import NO_TEXT, TOO_FAR
from invaract_orchestration.errors import EngineFailure, GateError, InputUnreadable, InvaractError, MissingExtra

STARTED = "spark.invaract.session"
"""The option that marks a session which the gate started itself."""
SESSION = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    STARTED: "by the gate",
}
"""Options of a session that the gate starts because there is none."""

_MEANING = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.files.maxRecordsPerFile": "0",
    "spark.sql.sources.partitionOverwriteMode": "STATIC",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
}
"""Settings of the private session whose meaning is ours. Every other setting of Spark's SQL has its built-in value there, so that
none of a user's own changes a verdict, but for `_KEPT`."""
_INFERENCE = "spark.sql.constraintPropagation.enabled"
_SQL = "spark.sql."
_KEPT = (
    "spark.sql.shuffle.partitions", "spark.sql.adaptive.", "spark.sql.autoBroadcastJoinThreshold", "spark.sql.broadcastTimeout",
    "spark.sql.catalog.", "spark.sql.hive.", "spark.sql.files.maxPartition", "spark.sql.files.minPartition",
    "spark.sql.files.openCost", "spark.sql.execution.", "spark.sql.codegen.", "spark.sql.optimizer.", "spark.sql.redaction.",
    "spark.sql.parquet.compression.codec", "spark.hadoop.", "fs.",
)  # fmt: skip
"""Settings of the user's session that say where things are and how the work is done, and not what it means."""

_LOST = ("Py4JNetworkError", "Py4JError", "RetriesExceeded", "ConnectionRefusedError")
_FORGOTTEN = ("invalid_handle.session", "incorrect server side session identifier")
"""What a Connect server says that was started anew, or that has closed the session."""
_NO_DELTA = ("failed to find the data source: delta", "delta_configure_spark_session")
_KNOWN = (
    (TOO_FINE, TOO_FINE_SENTENCE, TOO_FINE_HINT),
    (NO_TEXT, "a text is no UTF-8", "mend it where it comes from, or declare the column as binary there"),
    (TOO_FAR, "a date or time lies outside of the years 1 to 9999", "mend it where it comes from"),
    ("rows-are-still-to-come", "a function has fixed its plan before its rows were there", "leave checkpoints and RDDs out"),
    ("unexpected end of input stream", "a compressed file is cut off or damaged", "ask for the file again and submit it anew"),
    ("not in gzip format", "a compressed file is damaged", "ask for the file again and submit it anew"),
    ("incorrect header check", "a compressed file is damaged", "ask for the file again and submit it anew"),
    ("incorrect data check", "a compressed file is damaged", "ask for the file again and submit it anew"),
    ("is not a parquet file", "a file is not a Parquet file, or is cut off", "check source.format and the file's size"),
    ("malformed_character_coding", "a file is not text of the declared encoding", "check source.options.encoding"),
    ("path_not_found", "a file has vanished since it was listed", "submit the batch again"),
    ("file_not_exist", "a file has vanished since it was listed", "submit the batch again"),
    ("no space left", "the disk is full", "free some space, then submit the batch again; nothing was published"),
    ("outofmemoryerror", "the engine ran out of memory", "give Spark more memory, or more executors"),
    ("permission denied", "a place cannot be written or read", "check the permissions of source and candidate location"),
    ("arithmetic_overflow", "a calculation of the query overflows its type", "cast its operands to a wider type"),
    ("cast_invalid_input", "a text is used as a number or date and is none", "cast it in the query: CAST gives null there"),
    ("divide_by_zero", "the query divides by zero", "use nullif or try_divide"),
    ("column_already_exists", "the query gives two columns of one name", "give each column a name of its own with AS"),
    ("failed_read_file", "a file cannot be read", "check that it is whole and what source.format says"),
)


@dataclass(frozen=True, slots=True)
class PrivateSession:
    """A session of the gate's own: `spark` runs everything, `is_remote` says that it is a Connect session."""

    spark: Any
    is_remote: bool

    def observe(self, frame: Any, metrics: dict[str, str]) -> tuple[Any, Any]:
        """The frame with counters that are taken while it is written, and where they will be (see `observed`)."""
        observation = _observation(frame)
        return frame.observe(observation, *expressions(frame, metrics)), observation

    @contextmanager
    def own_plans(self) -> Iterator[None]:
        """Spark infers nothing from the filters of what is run in the block, where no query of a user's may be run.

        A filter that reads n columns which are named anew, or stand in it as they are computed, gives it 2 to the n of them.
        """
        before = self.spark.conf.get(_INFERENCE)
        self.spark.conf.set(_INFERENCE, "false")
        try:
            yield
        finally:
            self.spark.conf.set(_INFERENCE, before)


def _observation(frame: Any) -> Any:
    if is_connect(frame):
        from pyspark.sql.connect import observation

        return observation.Observation()
    from pyspark.sql import Observation

    return Observation()


def expressions(frame: Any, named: dict[str, str]) -> list[Any]:
    """SQL texts as named columns of the kind that a frame takes."""
    if is_connect(frame):
        from pyspark.sql.connect import functions as connect

        return [connect.expr(sql).alias(name) for name, sql in named.items()]
    from pyspark.sql import functions as classic

    return [classic.expr(sql).alias(name) for name, sql in named.items()]


def observed(observation: Any, names: tuple[str, ...]) -> dict[str, int] | None:
    """The counters, or none: what was not observed is not known, and never zero."""
    try:
        found = observation.get
    except Exception:  # noqa: BLE001  # whatever it was, there is no count
        return None
    if not all(isinstance(found.get(n), int) for n in names):
        return None
    return {n: found[n] for n in names}


def is_connect(session: Any) -> bool:
    """Whether a session (or a frame) is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def user_session(remote: str | None, master: str, jars: str | None) -> Any:
    """The session to work beside: the active one of this process, one of the remote server, or a new one with Delta.

    Raises:
        GateError: there is no Java, the JARs cannot be resolved, or the server cannot be reached.
    """
    try:
        from pyspark.sql import SparkSession  # heavy, and only this engine needs it
    except ImportError:
        raise MissingExtra("the Spark engine", "spark") from None
    if remote is not None:
        return _connected(remote)
    with ignored():  # there is none; asking for one by `builder` would set its settings
        active = SparkSession.active()  # also in a thread that has not used it yet
        if not _is_stopped(active):
            return active
    require_java()
    if master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else Python functions run on whatever python3 is
    builder = SparkSession.builder.appName("invaract").master(master)
    for name, value in (SESSION | jar_options(jars)).items():
        builder = builder.config(name, value)
    try:
        with fetched_once(jars), _stdout_kept():
            return builder.getOrCreate()
    except Exception as error:  # noqa: BLE001  # its text is long and says less than this
        raise GateError(
            f"Spark cannot be started ({type(error).__name__})", code="engine.not_started",
            hint="the Delta JARs are fetched once from the Maven repository: check the network, or name a folder that holds "
            "them with INVARACT_SPARK_JARS; `invaract doctor` looks at Java and the JARs",
        ) from None  # fmt: skip


@contextmanager
def _stdout_kept() -> Iterator[None]:
    """The JVM inherits stdout, where a report for programs may have to stand: what Ivy and Spark say goes to stderr."""
    try:
        kept = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # there is no stdout
        yield
        return
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _connected(remote: str) -> Any:
    try:
        from pyspark.sql.connect.session import SparkSession
    except ImportError:
        raise MissingExtra("Spark Connect", "spark") from None
    try:
        with unlogged():
            session = SparkSession.builder.remote(remote).create()
            _set_patience(session)
            session.version  # noqa: B018  # the first answer of the server
    except Exception as error:  # noqa: BLE001  # its text may hold a token
        raise GateError(
            f"the Spark Connect server cannot be reached ({type(error).__name__})", code="engine.not_reached",
            hint="check INVARACT_SPARK_REMOTE, such as sc://host:15002, and that the server runs",
        ) from None  # fmt: skip
    return session


def _set_patience(session: Any) -> None:
    from invaract_orchestration.engines.spark.patience import set_patience  # needs the client's parts of Spark Connect

    set_patience(session)


@contextmanager
def private_session(base: Any) -> Iterator[PrivateSession]:
    """A session beside a user's own: it shares its tables and its resources, and none of its settings is changed."""
    remote = is_connect(base)
    with unlogged():
        with translated("opening a session"):
            spark = base.cloneSession() if remote else _beside(base)
        try:
            with translated("opening a session"):
                if remote:
                    _set_patience(spark)
                _set_meaning(spark)
            yield PrivateSession(spark, remote)
        finally:
            let_go(spark, is_remote=remote)


def running(session: Any) -> Any:
    """The session, if it is not stopped. Raises GateError."""
    if _is_stopped(session):
        hint = "give the gate a session that runs, or none: then it starts one"
        raise GateError("the Spark session was stopped", code="engine.stopped", hint=hint)
    return session


def _is_stopped(session: Any) -> bool:
    return bool(session.is_stopped) if is_connect(session) else session.sparkContext._jsc is None


def _set_meaning(spark: Any) -> None:
    others = [n for n in spark.conf.getAll if n.startswith(_SQL) and not n.startswith(_KEPT) and n not in _MEANING]
    for name in others:
        with ignored():  # a static setting, which is one for all sessions
            spark.conf.unset(name)
    for name, value in _MEANING.items():
        with ignored():  # Connect warns of some; what counts is what is set then
            spark.conf.set(name, value)
    found = spark.conf.getAll
    refused = [name for name, value in _MEANING.items() if found.get(name) != value]
    if refused:
        raise EngineFailure(
            f"opening a session: it does not take the setting {refused[0]}, and rules would mean something else in it",
            hint="let the session change its SQL settings, or let the gate start one",
        )


def _beside(base: Any) -> Any:
    with kept_active(base):
        spark = base.newSession()
    for name, value in base.conf.getAll.items():
        if name.startswith(_KEPT):
            with ignored():  # a static setting, which both sessions share
                spark.conf.set(name, value)
    catalog, database = base.catalog.currentCatalog(), base.catalog.currentDatabase()
    with ignored():  # a catalog that this session cannot open is no reason to stop
        spark.catalog.setCurrentCatalog(catalog)
        spark.catalog.setCurrentDatabase(database)
    return spark


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn whatever Spark raises into an error of ours, without its text and without its chain."""
    try:
        with unlogged():
            yield
    except InvaractError:
        raise
    except Exception as error:  # noqa: BLE001  # Spark raises classes of py4j, grpc and its own
        clear_frames(error.__traceback__)
        raise _translate(doing, error) from None


def no_delta(doing: str) -> GateError:
    """The session cannot do it, as it was started without Delta Lake."""
    return GateError(
        f"{doing}: the Spark session was started without Delta Lake", code="engine.no_delta",
        hint="start it with the JARs of delta-spark, spark.sql.extensions and spark.sql.catalog.spark_catalog, or let the gate "
        "start one",
    )  # fmt: skip


def _translate(doing: str, error: Exception) -> GateError:
    message = str(error).lower()
    if any(part in message for part in _NO_DELTA):
        return no_delta(doing)
    if type(error).__name__ in _LOST or _is_unreachable(error) or any(part in message for part in _FORGOTTEN):
        hint = "look whether the driver or the Connect server runs, then submit the batch again; it is published once"
        return EngineFailure(f"{doing}: the connection to Spark was lost", hint=hint)
    for part, sentence, hint in _KNOWN:
        if part in message:
            return InputUnreadable(f"{doing}: {sentence}", hint=hint)
    return EngineFailure(
        f"{doing}: the engine failed with {type(error).__name__}",
        hint="its own message may hold values and is withheld; run `invaract lint` on the contract and check the files",
    )


def _is_unreachable(error: Exception) -> bool:
    """Whether it is the gRPC status of a server that cannot be reached."""
    status = getattr(error, "getGrpcStatusCode", None) or getattr(error, "code", None)
    return callable(status) and getattr(status(), "name", "") == "UNAVAILABLE"
