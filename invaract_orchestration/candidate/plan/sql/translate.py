"""The entry: SQL text and the schemas of its inputs to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from invaract_orchestration.candidate.plan.diagnostics import Translation
from invaract_orchestration.candidate.plan.nodes import Plan, UnknownPlan
from invaract_orchestration.candidate.plan.sql.parse import on_deep_stack, parse_statements
from invaract_orchestration.candidate.plan.sql.queries import Queries
from invaract_orchestration.candidate.plan.sql.scope import Session
from invaract_orchestration.candidate.plan.sql.statements import Statements
from invaract_orchestration.contract.field_types import FieldType, Struct

_MOST_PASSES = 6


def translate_sql(
    sql: str,
    schemas: Mapping[str, Struct],
    *,
    dialect: str = "spark",
    functions: Mapping[str, FieldType] | Iterable[str] = frozenset(),
    first_id: int = 0,
    source: Callable[[Session, tuple[str, ...]], Plan | None] | None = None,
) -> Translation:
    """The plan of a SQL text. Of several statements the last one is the plan; views before it can be read.

    `schemas` are the inputs by name (full, or its last parts); a table that is not among them is read with the columns
    that the text names, or knows by `source`. `functions` are the user's own, whatever built-in has their name. The ids of
    columns begin after `first_id`. What is not understood becomes an unknown node or expression, with a diagnostic.

    Raises:
        SqlSyntaxError: the text is not SQL of that dialect.
    """
    own = frozenset(name.lower() for name in functions)
    tables = {name: tuple(schema.fields) for name, schema in schemas.items()}

    def work() -> Translation:
        statements = parse_statements(sql, dialect=dialect, own_functions=own)
        assumed: dict[str, tuple[str, ...]] = {}
        for _ in range(_MOST_PASSES):
            session = Session(dialect, tables, own, assumed, source, _last_id=first_id)
            plan = _plan_of(statements, session)
            wanted = {
                name: (*assumed.get(name, ()), *(c for c in columns if c not in assumed.get(name, ())))
                for name, columns in session.wanted.items()
            }
            if wanted == assumed:
                break
            assumed = wanted
        return Translation(plan=plan, diagnostics=tuple(dict.fromkeys(session.diagnostics)))

    return on_deep_stack(work)


def _plan_of(statements: list[exp.Expr], session: Session) -> Plan:
    """The plan of the statements. A text that the translator stumbles over hides all its logic."""
    try:
        return Statements(Queries(session)).translate(statements)
    except (RecursionError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - a gate must end in a verdict, here "unverifiable"
        session.lose("plan.translator_failed", f"the translator failed with {type(error).__name__}", statements[-1])
        return UnknownPlan(description="a text that the translator failed on", source_type="sql")
