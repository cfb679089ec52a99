"""Row-level statements with the outcome of a rule on them."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.contract.field_types import Struct, parse_type

SCHEMAS = {
    "gold.orders": Struct((("order_id", parse_type("bigint")), ("amount", parse_type("int")), ("day", parse_type("date")))),
    "batch": Struct((("order_id", parse_type("bigint")), ("amount", parse_type("int")), ("email", parse_type("string")))),
}
MATCH = {"type": "merge_condition", "columns": ["order_id"]}
NO_BARE_DELETE = {"type": "forbid_unconditional_delete"}
ONLY_AMOUNT = {"type": "allowed_update_columns", "columns": ["amount"]}
MERGE = "MERGE INTO gold.orders t USING batch s ON "

ROW_LEVEL: list[tuple[dict[str, Any], str, str]] = [
    (MATCH, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN DELETE", "kept"),
    (MATCH, MERGE + "t.order_id = s.order_id AND t.day = current_date() WHEN MATCHED THEN DELETE", "kept"),
    (MATCH, MERGE + "t.order_id = s.order_id OR t.amount = s.amount WHEN MATCHED THEN DELETE", "broken"),
    (MATCH, MERGE + "t.amount = s.amount WHEN MATCHED THEN DELETE", "broken"),
    (MATCH, MERGE + "t.order_id = 7 AND s.order_id = 7 WHEN MATCHED THEN DELETE", "broken"),
    (MATCH, "INSERT INTO gold.orders SELECT order_id, amount, current_date() FROM batch", "broken"),
    (MATCH, "CALL system.publish()", "unverifiable"),
    (NO_BARE_DELETE, "DELETE FROM gold.orders", "broken"),
    (NO_BARE_DELETE, "TRUNCATE TABLE gold.orders", "broken"),
    (NO_BARE_DELETE, "DELETE FROM gold.orders WHERE 1 = 1", "broken"),
    (NO_BARE_DELETE, "DELETE FROM gold.orders WHERE order_id = order_id", "broken"),
    (NO_BARE_DELETE, "DELETE FROM gold.orders WHERE amount < 0", "kept"),
    (NO_BARE_DELETE, MERGE + "t.order_id = s.order_id WHEN NOT MATCHED BY SOURCE THEN DELETE", "broken"),
    (
        NO_BARE_DELETE,
        MERGE + "t.order_id = s.order_id WHEN NOT MATCHED BY SOURCE AND t.amount < 0 THEN DELETE",
        "kept",
    ),
    (NO_BARE_DELETE, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN DELETE", "kept"),
    (NO_BARE_DELETE, "SELECT order_id FROM batch", "kept"),
    (ONLY_AMOUNT, "UPDATE gold.orders SET amount = 0 WHERE amount < 0", "kept"),
    (ONLY_AMOUNT, "UPDATE gold.orders SET amount = 0, day = current_date()", "broken"),
    (ONLY_AMOUNT, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET t.AMOUNT = s.amount", "kept"),
    (ONLY_AMOUNT, MERGE + "t.order_id = s.order_id WHEN MATCHED THEN UPDATE SET *", "broken"),
    (ONLY_AMOUNT, "MERGE INTO away USING batch s ON true WHEN MATCHED THEN UPDATE SET *", "unverifiable"),
    (ONLY_AMOUNT, MERGE + "t.order_id = s.order_id WHEN NOT MATCHED THEN INSERT *", "kept"),
]
