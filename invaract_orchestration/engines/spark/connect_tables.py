"""What a Spark Connect server tells of the tables that a client's plan names: their columns, and whether a view has a body."""

from __future__ import annotations

import re
from typing import Any

from invaract_orchestration.candidate.plan.expressions import Attribute
from invaract_orchestration.candidate.plan.nodes import Plan, Read, UnknownPlan
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.contract.field_types import FieldType
from invaract_orchestration.engines.spark.catalyst_tree import catalyst_type

_PLAIN = frozenset({"SubqueryAlias", "View", "Relation", "RelationV2", "DataSourceV2Relation", "HiveTableRelation"})
_STEP = re.compile(r"^[\s:+\-]*([A-Za-z][A-Za-z0-9]*)")
_SECTION = "== Analyzed Logical Plan =="


class ConnectTables:
    """Asks the server once for each table."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._known: dict[str, tuple[list[tuple[str, FieldType | None]], bool]] = {}

    def source(self, session: Session, parts: tuple[str, ...]) -> Plan | None:
        """The table of that name; an opaque leaf for a view whose body only the server knows, and for a name that it does not
        tell; null for the path of files."""
        name = ".".join(parts)
        if name not in self._known:
            try:
                frame = self._spark.table(_quoted(parts))
                self._known[name] = (columns_of(frame.schema), _has_body(frame))
            except Exception as error:  # noqa: BLE001 - whatever it was, a view may stand behind the name, and no table
                session.lose("plan.unknown_table", f"the server does not tell {name!r}: {type(error).__name__}")
                return None if "/" in name else UnknownPlan(description=f"the table or view {name}", source_type="spark")
        columns, hides = self._known[name]
        attributes = tuple(session.attribute(column, type_) for column, type_ in columns)
        if hides:
            return UnknownPlan(description=f"the view {name}", source_type="spark", columns=attributes)
        return Read(dataset=name, columns=attributes)


def columns_of(schema: Any) -> list[tuple[str, FieldType | None]]:
    """Names and types of a PySpark schema."""
    return [(str(one["name"]), catalyst_type(one["type"])) for one in schema.jsonValue()["fields"]]


def attributes_of(schema: Any, session: Session) -> tuple[Attribute, ...]:
    """New columns for a PySpark schema."""
    return tuple(session.attribute(name, type_) for name, type_ in columns_of(schema))


def _quoted(parts: tuple[str, ...]) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def _has_body(frame: Any) -> bool:
    """Whether more than a relation stands behind a name, as the server's own explanation of it shows."""
    text = str(frame._explain_string(extended="extended"))
    lines = text.partition(_SECTION)[2].partition("\n== ")[0].strip().splitlines()[1:]
    steps = [match.group(1) for line in lines if (match := _STEP.match(line)) is not None]
    return not steps or not set(steps) <= _PLAIN
