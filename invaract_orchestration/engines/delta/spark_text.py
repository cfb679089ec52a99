"""A Spark SQL predicate in the words that deltalake's query engine understands."""

from __future__ import annotations

import sqlglot
from sqlglot.errors import SqlglotError

from invaract_orchestration.errors import NotSupported


def delta_predicate(sql: str) -> str:
    """The predicate with double-quoted names and standard casts. Raises NotSupported for what does not parse."""
    try:
        return sqlglot.parse_one(sql, read="spark").sql(dialect="postgres", identify=True)
    except SqlglotError:
        raise NotSupported("publish.where is no predicate that can be replaced by", hint="write a plain condition") from None
