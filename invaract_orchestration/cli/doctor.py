"""`invaract doctor`: what is installed, and where things are kept."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from invaract_orchestration.cli.console import print_table
from invaract_orchestration.errors import AuditMissing, InvaractError

_CORE = ("duckdb", "deltalake", "pyarrow", "sqlglot", "pydantic", "sqlalchemy")
_EXTRAS = {
    "dagster": ("dagster",), "airflow": ("apache-airflow",), "spark": ("pyspark", "delta-spark"),
    "pandera": ("pandera", "polars"), "postgres": ("psycopg",), "ui": ("fastapi", "uvicorn"),
}  # fmt: skip


def doctor() -> int:
    """What is installed, and where things are kept. Exit code 3 when the gate could not run here."""
    rows = list(_findings())
    print_table(("", "part", "what was found"), rows)
    return 3 if any(mark == "FAILED" for mark, _, _ in rows) else 0


def _findings() -> Iterator[tuple[str, str, str]]:
    yield "ok", "python", platform.python_version()
    for package in ("invaract-orchestration", *_CORE):
        found = _version(package)
        yield ("FAILED", package, "not installed") if found is None else ("ok", package, found)
    for extra, packages in _EXTRAS.items():
        found_all = [(p, _version(p)) for p in packages]
        if all(v for _, v in found_all):
            yield "ok", f"extra {extra}", ", ".join(f"{p} {v}" for p, v in found_all)
        else:
            yield "-", f"extra {extra}", f"not installed; pip install 'invaract-orchestration[{extra}]'"
    yield from _spark()
    yield from _places()


def _spark() -> Iterator[tuple[str, str, str]]:
    from invaract_orchestration.wiring import java_version, spark_jars

    java = java_version()
    yield "ok" if java else "-", "java", java or "not found; the Spark engine needs it"
    found = spark_jars()
    if found is not None:
        yield "ok" if found[0] else "-", "Spark's JARs", found[1]


def _places() -> Iterator[tuple[str, str, str]]:
    from invaract_orchestration.settings import read_settings
    from invaract_orchestration.wiring import open_audit

    settings = read_settings()
    existing = next(p for p in (settings.lake_root, *settings.lake_root.parents) if p.exists())
    free = shutil.disk_usage(existing).free / 2**30
    is_writable = os.access(existing, os.W_OK)
    said = f"{settings.lake_root} ({free:,.1f} GiB free{'' if settings.lake_root.exists() else ', not there yet'})"
    yield "ok" if is_writable else "FAILED", "lake root", said if is_writable else f"{said}: cannot be written"
    try:
        with open_audit(settings, read_only=True) as audit:
            head = audit.head()
            yield "ok", "audit store", f"{audit.place}, {head.position if head else 0:,} events"
    except AuditMissing:
        yield "-", "audit store", "not there yet; the first run creates it"
    except InvaractError as error:
        yield "FAILED", "audit store", error.sentence


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
