"""The statement that publishes, as SQL text, for the rules on row changes."""

from __future__ import annotations

from invaract_orchestration.contract.model import Contract


def publish_statement(contract: Contract) -> str:
    """What the publication does to the target, in Spark SQL; `candidate` stands for the rows that come."""
    publish = contract.publish
    target = _name(publish.target) if publish else "target"
    mode = publish.mode if publish else "append"
    if publish is None or mode == "append":
        return f"INSERT INTO {target} SELECT * FROM candidate"
    if mode in ("merge", "scd2"):
        same = " AND ".join(f"t.{_name(k)} = c.{_name(k)}" for k in publish.keys)
        closed = "valid_to = now(), is_current = false"  # a new version closes the one before it, and is a row of its own
        changed = "*" if mode == "merge" else closed
        return (
            f"MERGE INTO {target} t USING candidate c ON {same} "
            f"WHEN MATCHED THEN UPDATE SET {changed} WHEN NOT MATCHED THEN INSERT *"
        )
    if mode == "replace_where":
        return f"DELETE FROM {target} WHERE {publish.where}"
    if mode == "replace_partitions":
        columns = publish.partition_by or tuple(publish.partition)
        same = " AND ".join(f"t.{_name(c)} = c.{_name(c)}" for c in columns)
        return f"DELETE FROM {target} t WHERE EXISTS (SELECT 1 FROM candidate c WHERE {same})"
    return f"DELETE FROM {target}"


def _name(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"
