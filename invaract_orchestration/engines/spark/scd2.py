"""Mode scd2 as one MERGE of Spark's, which means what the one of `engines.delta.scd2` does."""

from __future__ import annotations

from datetime import UTC, datetime

from invaract_orchestration.contract.field_types import STRING, TIMESTAMP, Array, FieldType, Map, Struct
from invaract_orchestration.contract.model import Versions
from invaract_orchestration.engines.spark import sql_text as q
from invaract_orchestration.engines.spark.types import spark_type
from invaract_orchestration.errors import NotSupported
from invaract_orchestration.publish.intent import PublishIntent

_KEY, _FROM, _NUMBER = "invaract_key_", "invaract_from", "invaract_number"


def merge_versions_sql(intent: PublishIntent, target: str, source: str, before: int) -> str:
    """The statement that closes changed rows of a table and opens their new versions; `source` is the candidate's view, and
    `before` the version whose current rows are compared.

    Raises:
        NotSupported: a column of a nested type, which cannot be compared with the current row's.
    """
    columns, spelled = intent.candidate.columns, intent.candidate.spelled
    nested = [n for n, t in columns if isinstance(t, Array | Map | Struct)]
    if nested:
        raise NotSupported(f"mode scd2 cannot compare column {nested[0]!r}, which is nested", hint="use mode merge")
    own = intent.publish.versions or Versions()
    keys = [spelled.get(k, k) for k in intent.publish.keys]
    differs = _differs(intent, own, keys)
    since, first, still_open = _times(intent, own)
    opened = {own.valid_from: f"s.{_FROM}", own.valid_to: still_open, own.current: "true"}
    opened |= {own.number: f"s.{_NUMBER}"} if own.number else {}
    names = [*(q.name(n) for n, _ in columns), *map(q.name, opened)]
    values = [*(f"s.{q.name(n)}" for n, _ in columns), *opened.values()]
    same = " AND ".join(f"t.{q.name(k)} = s.{q.name(_KEY + k)}" for k in keys)
    return (
        f"MERGE INTO {target} t USING ({_rows(intent, target, source, before, (since, first), differs)}) s "
        f"ON {same} AND t.{q.name(own.current)} "
        f"WHEN MATCHED AND ({differs}) THEN UPDATE SET t.{q.name(own.valid_to)} = {since}, t.{q.name(own.current)} = false "
        f"WHEN NOT MATCHED THEN INSERT ({', '.join(names)}) VALUES ({', '.join(values)})"
    )


def older_rows_sql(intent: PublishIntent, target: str, source: str, before: int) -> str | None:
    """A count of changed rows from before the current version of their key; null where the time of the publication counts."""
    own, spelled = intent.publish.versions or Versions(), intent.candidate.spelled
    if own.since is None:
        return None
    keys = [spelled.get(k, k) for k in intent.publish.keys]
    same = " AND ".join(f"t.{q.name(k)} = s.{q.name(k)}" for k in keys)
    since, _, _ = _times(intent, own)
    return (
        f"SELECT count(*) AS n FROM {source} s JOIN {target} VERSION AS OF {before} AS t ON {same} "
        f"WHERE t.{q.name(own.current)} AND ({_differs(intent, own, keys)}) "
        f"AND {since} < t.{q.name(own.valid_from)}"
    )


def _differs(intent: PublishIntent, own: Versions, keys: list[str]) -> str:
    spelled = intent.candidate.spelled
    tracked = [spelled.get(n, n) for n in own.track] or [n for n, _ in intent.candidate.columns if n not in keys]
    return " OR ".join(f"NOT (t.{q.name(n)} <=> s.{q.name(n)})" for n in tracked) or "false"


def _rows(intent: PublishIntent, target: str, source: str, before: int, times: tuple[str, str], differs: str) -> str:
    """Every row of the candidate with its key, and once more without one where it opens another version."""
    own = intent.publish.versions or Versions()
    types = dict(intent.candidate.columns)
    keys = [intent.candidate.spelled.get(k, k) for k in intent.publish.keys]
    since, first = times
    every = ", ".join(f"s.{q.name(n)}" for n in types)
    with_key = ", ".join(f"s.{q.name(k)} AS {q.name(_KEY + k)}" for k in keys)
    without = ", ".join(f"CAST(NULL AS {spark_type(types[k])}) AS {q.name(_KEY + k)}" for k in keys)
    number = f"CAST(t.{q.name(own.number)} + 1 AS INT)" if own.number else "1"
    same = " AND ".join(f"t.{q.name(k)} = s.{q.name(k)}" for k in keys)
    return (
        f"SELECT {every}, {with_key}, {first} AS {_FROM}, 1 AS {_NUMBER} FROM {source} s "
        f"UNION ALL SELECT {every}, {without}, {since} AS {_FROM}, {number} AS {_NUMBER} FROM {source} s "
        f"JOIN {target} VERSION AS OF {before} AS t ON {same} WHERE t.{q.name(own.current)} AND ({differs})"
    )


def _times(intent: PublishIntent, own: Versions) -> tuple[str, str, str]:
    """Since when a row and the first version of a key hold, and what open versions say of their end."""
    spec = intent.contract.field(own.since) if own.since else None
    type_ = spec.type if spec is not None else TIMESTAMP
    since = f"CAST('{datetime.now(UTC).isoformat()}' AS TIMESTAMP)"
    if spec is not None:
        since = f"s.{q.name(intent.candidate.spelled.get(spec.name, spec.name))}"
    first = since if own.first is None else _value(own.first, type_)
    return since, first, "NULL" if own.open is None else _value(own.open, type_)


def _value(written: str, type_: FieldType) -> str:
    return q.text(written) if type_ == STRING else f"CAST({q.text(written)} AS {spark_type(type_)})"
