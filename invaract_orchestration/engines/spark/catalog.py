"""Tables by name: where the session's catalog has them, or would make them, and how readers come to see a new one by its name.

Only SQL text and public calls, so that a classic session and a remote one answer alike.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from traceback import clear_frames
from typing import Any
from urllib.parse import unquote, urlsplit

from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.session import STARTED, is_connect, no_delta, translated
from invaract_orchestration.errors import GateError, NotSupported, PublishConflict

_NO_DATABASE = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "REQUIRES_SINGLE_PART_NAMESPACE", "CATALOG_NOT_FOUND")


@dataclass(frozen=True, slots=True)
class CatalogTables:
    """Names that were looked up: the folder of each table to its name. It knows what to make known once a table is there."""

    names: dict[str, str] = field(default_factory=dict)

    def locate(self, session: Any, name: str, *, is_given: bool) -> str | None:
        """See `Engine.locate`. A session that the gate started itself has no catalog that outlives it: names are folders of the
        lake there, unless the process has made the database.
        """
        parts = name.split(".")
        if not is_given and _is_own(session) and not _has_own_database(session, parts):
            return None
        place = _existing(session, name, parts) or _future(session, name, parts)
        self.names[place] = name
        return place

    def announce(self, session: Any, place: str) -> None:
        """Let readers of the session's catalog see the Delta table at a place under the name that was looked up for it.

        Raises:
            GateError: the catalog does not take it.
            PublishConflict: another table has got the name in the meantime.
        """
        name = self.names.get(place)
        if name is None:
            return
        parts = name.split(".")
        if _existing(session, name, parts) is None:
            with translated(f"making the table {name!r} known to the catalog"):
                session.sql(f"CREATE TABLE IF NOT EXISTS {_quoted(parts)} USING delta LOCATION {_literal(place)}")
        found = _existing(session, name, parts)
        if found != place:
            raise PublishConflict(
                f"table {name!r}: expected it at {place!r}, found {'nothing' if found is None else repr(found)} in the catalog",
                hint="another process made a table of that name in the meantime; submit again",
            )


def _existing(session: Any, name: str, parts: list[str]) -> str | None:
    """The folder of a Delta table that the catalog has; none when the name is free."""
    with translated(f"looking up the table {name!r}"):
        try:
            (detail,) = session.sql(f"DESCRIBE DETAIL {_quoted(parts)}").select("format", "location").collect()
        except Exception as error:
            condition = condition_of(error)
            if condition.startswith("EXPECT_TABLE_NOT_VIEW"):
                raise _other(name, "a view", "publish to a table; a view is read with a source of format sql") from None
            if condition.startswith("DELTA_"):
                raise _other(name, "a table whose Delta log cannot be read", "check its folder, or drop it") from None
            if "view `detail` cannot" in str(error).lower() and name.lower() != "detail":  # taken for a table's name
                raise no_delta(f"looking up the table {name!r}") from None
            if condition.startswith(_NO_DATABASE):
                clear_frames(error.__traceback__)  # as in `ignored`
                return None
            raise
    if str(detail[0]).lower() != "delta":
        raise _other(name, f"a table of format {detail[0]}", "convert it to Delta, or choose another name")
    return folder_of(name, str(detail[1]), is_encoded=False)


def _future(session: Any, name: str, parts: list[str]) -> str:
    """The folder that a table of that name will have: below its database's."""
    with translated(f"looking up the database of table {name!r}"):
        database = parts[:-1] or [session.catalog.currentCatalog(), session.catalog.currentDatabase()]
        try:
            rows = session.sql(f"DESCRIBE NAMESPACE EXTENDED {_quoted(database)}").collect()
        except Exception as error:
            if condition_of(error).startswith(_NO_DATABASE) or "namespace" in condition_of(error).lower():
                raise _no_database(name, database) from None
            if "_LEGACY_ERROR_TEMP_1126" in condition_of(error):  # a name of three parts without such a catalog
                raise _no_database(name, database) from None
            raise
        is_exact = str(session.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
    location = next((str(row[1]) for row in rows if row[0] == "Location"), None)
    if not location:
        raise NotSupported(
            f"table {name!r}: its catalog does not say where a new table goes",
            hint="create the table first; the gate publishes to it from then on",
        )
    table = parts[-1] if is_exact else parts[-1].lower()
    if os.sep in table or table in (".", ".."):
        raise _other(name, "a name that is no folder's", "use letters, digits and underscores")
    return os.path.join(folder_of(name, location, is_encoded=True), table)  # noqa: PTH118  # a text that is an identity


def folder_of(name: str, location: str, *, is_encoded: bool) -> str:
    """The path of a location. A table's stands there as it is, a database's as a URI.

    Raises:
        NotSupported: a location that is no file system's.
    """
    scheme = urlsplit(location).scheme if "://" in location or location.startswith("file:") else ""
    if scheme not in ("", "file"):
        raise NotSupported(
            f"table {name!r} stands on {scheme}://, which the gate does not publish to",
            hint="use a database whose location is on a file system that driver and executors share",
        )
    path = location.removeprefix("file:")
    path = "/" + path.lstrip("/") if path.startswith("/") else path
    return os.path.normpath(unquote(path) if is_encoded else path)


def _is_own(session: Any) -> bool:
    """Whether the gate started the session, and nothing keeps its catalog: tables are forgotten when the process ends."""
    if is_connect(session):
        return False
    options = session.sparkContext.getConf()
    is_kept = options.get("spark.sql.catalogImplementation", "in-memory") != "in-memory"
    return options.get(STARTED) is not None and not is_kept


def _has_own_database(session: Any, parts: list[str]) -> bool:
    if len(parts) < 2 or parts[-2].lower() == "default":
        return False
    with translated("looking up a database"):
        return bool(session.catalog.databaseExists(_quoted(parts[:-1])))


def condition_of(error: Exception) -> str:
    """The class of an error of Spark's, which holds no value; empty for others."""
    ask = getattr(error, "getCondition", None)
    return str(ask() or "") if ask is not None else ""


def _quoted(parts: list[str]) -> str:
    return ".".join(q.name(p) for p in parts)


def _literal(place: str) -> str:
    """A text as the grammar of LOCATION takes it: a literal and no expression."""
    return "'" + place.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _no_database(name: str, database: list[str]) -> GateError:
    return GateError(
        f"table {name!r}: expected the database {'.'.join(database)!r} in the session's catalog, found none of that name",
        hint="create it (CREATE DATABASE), or correct the name; a path has a slash in it",
        code="table.no_database",
    )


def _other(name: str, found: str, hint: str) -> GateError:
    return GateError(f"table {name!r}: expected a Delta table or a free name, found {found}", hint=hint, code="table.no_delta")
