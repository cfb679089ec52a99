"""Settings of a deployment, from the environment; a contract never holds them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from invaract_orchestration.errors import UsageError

_THREADS = re.compile("[1-9][0-9]{0,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where things are. `audit_url` may hold a password and is never printed. `memory_limit` is DuckDB's, a number with a unit
    such as `4GB`; none is four fifths of the machine's memory. `threads` are DuckDB's too; none is one for each core.
    """

    lake_root: Path
    audit_url: str
    memory_limit: str | None = None
    threads: int | None = None
    ui_url: str | None = None
    engine: str = "duckdb"
    spark_remote: str | None = None
    spark_master: str = "local[*]"
    spark_jars: str | None = None

    def __repr__(self) -> str:
        return f"Settings(lake_root={str(self.lake_root)!r}, engine={self.engine!r})"


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Settings from INVARACT_LAKE_ROOT (default ./lake), INVARACT_AUDIT_URL (default a SQLite file in the lake root),
    INVARACT_MEMORY_LIMIT, INVARACT_THREADS, INVARACT_UI_URL and INVARACT_ENGINE (duckdb).

    For the engine spark: INVARACT_SPARK_REMOTE (a Connect server, which may hold a token and is never printed),
    INVARACT_SPARK_MASTER (default local[*]) and INVARACT_SPARK_JARS (a folder of resolved JARs).

    Raises:
        UsageError: INVARACT_THREADS is no whole number from 1 to 999999.
    """
    given = os.environ if environment is None else environment
    root = Path(given.get("INVARACT_LAKE_ROOT") or "lake").absolute()
    threads = given.get("INVARACT_THREADS")
    if threads is not None and not _THREADS.fullmatch(threads):
        raise UsageError(f"INVARACT_THREADS: expected a whole number from 1 to 999999, found {threads!r}")
    return Settings(
        lake_root=root,
        audit_url=given.get("INVARACT_AUDIT_URL") or f"sqlite:///{root / '_invaract' / 'audit.db'}",
        memory_limit=given.get("INVARACT_MEMORY_LIMIT") or None,
        threads=int(threads) if threads else None,
        ui_url=given.get("INVARACT_UI_URL") or None,
        engine=given.get("INVARACT_ENGINE") or "duckdb",
        spark_remote=given.get("INVARACT_SPARK_REMOTE") or None,
        spark_master=given.get("INVARACT_SPARK_MASTER") or "local[*]",
        spark_jars=given.get("INVARACT_SPARK_JARS") or None,
    )
