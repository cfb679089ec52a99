"""The statement that publishes, as SQL text, for the rules on row changes."""

from __future__ import annotations

from invaract_orchestration.contract.model import Contract


def publish_statement(contract: Contract) -> str:
    """What the publication does to the target, in Spark SQL; `target` and `candidate` stand for the two tables."""
    publish = contract.publish
    mode = publish.mode if publish else "append"
    if publish is None or mode == "append":
        return "INSERT INTO target SELECT * FROM candidate"
    if mode == "merge":
        same = " AND ".join(f"t.{_name(k)} = c.{_name(k)}" for k in publish.keys)
        return (
            f"MERGE INTO target t USING candidate c ON {same} "
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
    if mode == "replace_where":
        return f"DELETE FROM target WHERE {publish.where}"
    if mode == "replace_partitions":
        columns = publish.partition_by or tuple(publish.partition)
        same = " AND ".join(f"target.{_name(c)} = c.{_name(c)}" for c in columns)
        return f"DELETE FROM target WHERE EXISTS (SELECT 1 FROM candidate c WHERE {same})"
    return "DELETE FROM target"


def _name(text: str) -> str:
    return "`" + text.replace("`", "``") + "`"
