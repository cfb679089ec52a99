"""Where implementations are chosen: settings in, a gate out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from invaract_orchestration.errors import UsageError
from invaract_orchestration.gate import Gate
from invaract_orchestration.intake.places import no_catalog
from invaract_orchestration.settings import Settings, read_settings


@contextmanager
def open_gate(
    settings: Settings | None = None, *, engine: str | None = None, tell: Callable[[str], None] = lambda _: None
) -> Iterator[Gate]:
    """A gate for these settings, or those of the environment; the audit store is closed when the block ends.

    Raises:
        AuditUnavailable: the audit store cannot be opened.
        UsageError: an engine of that name is not known.
    """
    chosen = settings or read_settings()
    with open_audit(chosen) as audit:
        works, publisher = choose_engine(chosen, engine=engine)
        yield Gate(engine=works, publisher=publisher, audit=audit, waivers=audit, lake_root=chosen.lake_root, tell=tell)


def choose_engine(settings: Settings | None = None, *, engine: str | None = None) -> tuple[Any, Any]:
    """The engine of that name, or else that of the settings, and what publishes for it.

    Raises:
        UsageError: an engine of that name is not known.
    """
    chosen = settings or read_settings()
    name = engine or chosen.engine
    works = _engine(name, chosen)
    return works, _publisher(name, works)


@contextmanager
def open_audit(settings: Settings | None = None, *, read_only: bool = False) -> Iterator[Any]:
    """The audit store of the settings, closed when the block ends; `read_only` never creates or changes one.

    Raises:
        AuditUnavailable: it cannot be opened, or (AuditMissing) is to be read and is not there yet.
    """
    from invaract_orchestration.stores.open import open_store

    chosen = settings or read_settings()
    with open_store(chosen.audit_url, read_only=read_only) as store:
        yield store


def _engine(name: str, settings: Settings) -> Any:
    if name == "duckdb":
        from invaract_orchestration.engines.duckdb.engine import DuckDBEngine

        return DuckDBEngine(memory_limit=settings.memory_limit, threads=settings.threads)
    if name == "spark":
        from invaract_orchestration.engines.spark.engine import SparkEngine

        return SparkEngine(remote=settings.spark_remote, master=settings.spark_master, jars=settings.spark_jars)
    raise UsageError(f"engine {name!r} is not known", hint="the engines are duckdb and spark")


def _publisher(name: str, engine: Any) -> Any:
    """Spark publishes what deltalake cannot; everything else is deltalake's on every engine."""
    if name == "spark":
        from invaract_orchestration.engines.spark.publisher import SparkPublisher

        return SparkPublisher(engine)
    from invaract_orchestration.engines.delta.publisher import DeltaPublisher

    return DeltaPublisher()


def table_locator(settings: Settings | None = None) -> Callable[[str], str | None]:
    """Where the catalog of the settings' engine has tables by name; it has none on the embedded engine, which is not loaded."""
    chosen = settings or read_settings()
    if chosen.engine == "duckdb":
        return no_catalog
    locate: Callable[[str], str | None] = _engine(chosen.engine, chosen).locate
    return locate


def spark_jars(settings: Settings | None = None) -> tuple[bool, str] | None:
    """Whether the JARs of the Spark engine are here, and a sentence about them; none where Spark is not installed."""
    from importlib.util import find_spec

    from invaract_orchestration.engines.spark.jars import jars_found

    return jars_found((settings or read_settings()).spark_jars) if find_spec("pyspark") else None


def java_version() -> str | None:
    """The first line of what Java says of itself, none where there is no Java."""
    from invaract_orchestration.engines.spark.jars import java_version as version

    return version()


def infer_columns(path: str | Path) -> Any:
    """What a file without a contract holds (FileDraft): names and types as the gate would ask for them.

    Raises:
        InputUnreadable: the file cannot be read, or has no usable header.
    """
    from invaract_orchestration.engines.duckdb.infer import infer_columns as infer

    return infer(path)


def count_rows(location: str) -> tuple[int, int] | None:
    """Version and number of rows of a Delta table now; none when there is no table.

    Raises:
        GateError: the table cannot be read.
    """
    from invaract_orchestration.engines.delta.read import count_rows as count

    return count(location)


def quarantined_rows(location: str, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """Rows of a quarantine; without `columns` the payload, the failing rows' own values, is among them.

    Raises:
        GateError: the quarantine cannot be read.
    """
    from invaract_orchestration.engines.delta.quarantine import quarantined_rows as rows

    found: list[dict[str, Any]] = rows(location, columns).to_pylist()
    return found


def remove_quarantined(location: str, attempt_ids: list[str]) -> int:
    """Delete the rows of these attempts from a quarantine; how many they were.

    Raises:
        GateError: the quarantine cannot be changed.
    """
    from invaract_orchestration.engines.delta.quarantine import remove_rows

    return remove_rows(location, attempt_ids)


def utc_now() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def newest_moment(location: str, column: str, zone: str) -> datetime | None:
    """When the newest row of a Delta table happened, by a date or timestamp column; none without a table or a value.

    Raises:
        GateError: the table cannot be read, or has no such column.
    """
    from invaract_orchestration.engines.delta.read import newest_moment as newest

    return newest(location, column, zone)
