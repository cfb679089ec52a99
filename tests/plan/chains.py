"""Random chains of steps over the tables of the cases, as frames and, where SQL can say them, as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ORDERS = (
    "order_id", "customer_id", "amount", "qty", "region", "status", "is_deleted", "ts", "address", "tags",
)  # fmt: skip


@dataclass(frozen=True)
class Chain:
    """What a chain has come to: the frame, the same as text (null: cannot be said), and its columns in order."""

    frame: Any
    sql: str | None
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Ground:
    """The tables as frames, with the module of column functions that fits them."""

    tables: dict[str, Any]
    functions: Any

    @property
    def start(self) -> Chain:
        return Chain(self.tables["orders"], "SELECT * FROM orders", ORDERS)


Step = Callable[[Chain, Ground], Chain]


def _said(chain: Chain, text: str) -> str | None:
    return None if chain.sql is None else text.format(f"({chain.sql}) t")


def filtered(chain: Chain, _: Ground) -> Chain:
    if "qty" not in chain.columns:
        return chain
    return Chain(chain.frame.where("qty > 1"), _said(chain, "SELECT * FROM {} WHERE qty > 1"), chain.columns)


def filtered_by_column(chain: Chain, ground: Ground) -> Chain:
    if "region" not in chain.columns:
        return chain
    made = chain.frame.where(~(ground.functions.col("region") != "EU"))
    return Chain(made, _said(chain, "SELECT * FROM {} WHERE NOT (region <> 'EU')"), chain.columns)


def filtered_by_nested(chain: Chain, ground: Ground) -> Chain:
    if "address" not in chain.columns:
        return chain
    made = chain.frame.where(ground.functions.col("address")["zip"] == "1")
    return Chain(made, _said(chain, "SELECT * FROM {} WHERE address.zip = '1'"), chain.columns)


def selected(chain: Chain, _: Ground) -> Chain:
    kept = tuple(c for c in chain.columns if c in ("customer_id", "region", "qty", "is_deleted", "n"))
    if not kept:
        return chain
    return Chain(chain.frame.select(*kept), _said(chain, f"SELECT {', '.join(kept)} FROM {{}}"), kept)


def renamed(chain: Chain, _: Ground) -> Chain:
    if "region" not in chain.columns or "area" in chain.columns:
        return chain
    names = [f"{c} AS area" if c == "region" else c for c in chain.columns]
    columns = tuple("area" if c == "region" else c for c in chain.columns)
    return Chain(chain.frame.withColumnRenamed("region", "area"), _said(chain, f"SELECT {', '.join(names)} FROM {{}}"), columns)


def computed(chain: Chain, ground: Ground) -> Chain:
    if "qty" not in chain.columns:
        return chain
    names = ["qty + 1 AS qty" if c == "qty" else c for c in chain.columns]
    made = chain.frame.withColumn("qty", ground.functions.col("qty") + 1)
    return Chain(made, _said(chain, f"SELECT {', '.join(names)} FROM {{}}"), chain.columns)


def widened(chain: Chain, ground: Ground) -> Chain:
    if "qty" not in chain.columns or "wide" in chain.columns:
        return chain
    made = chain.frame.withColumn("wide", ground.functions.col("qty").cast("bigint"))
    return Chain(made, _said(chain, "SELECT *, CAST(qty AS BIGINT) AS wide FROM {}"), (*chain.columns, "wide"))


def grouped(chain: Chain, ground: Ground) -> Chain:
    key = next((c for c in ("customer_id", "region", "area", "qty") if c in chain.columns), None)
    if key is None:
        return chain
    made = chain.frame.groupBy(key).agg(ground.functions.count("*").alias("n"))
    return Chain(made, _said(chain, f"SELECT {key}, COUNT(*) AS n FROM {{}} GROUP BY {key}"), (key, "n"))


def rolled_up(chain: Chain, ground: Ground) -> Chain:
    if not {"region", "status", "order_id"} <= set(chain.columns):
        return chain
    made = chain.frame.rollup("region", "status").agg(ground.functions.sum("order_id").alias("n"))
    text = "SELECT region, status, SUM(order_id) AS n FROM {} GROUP BY ROLLUP(region, status)"
    return Chain(made, _said(chain, text), ("region", "status", "n"))


def joined(chain: Chain, ground: Ground) -> Chain:
    if "customer_id" not in chain.columns or {"name", "email"} & set(chain.columns):
        return chain
    other = ground.tables["customers"].select("customer_id", "name")
    text = "SELECT * FROM {} JOIN (SELECT customer_id, name FROM customers) c USING (customer_id)"
    columns = ("customer_id", *(c for c in chain.columns if c != "customer_id"), "name")
    return Chain(chain.frame.join(other, "customer_id"), _said(chain, text), columns)


def joined_on(chain: Chain, ground: Ground) -> Chain:
    if "customer_id" not in chain.columns or "tier" in chain.columns:
        return chain
    other = ground.tables["accounts"].select("cust_id", "tier")
    made = chain.frame.join(other, chain.frame["customer_id"] == other["cust_id"], "left")
    text = "SELECT * FROM {} LEFT JOIN (SELECT cust_id, tier FROM accounts) a ON t.customer_id = a.cust_id"
    return Chain(made, _said(chain, text), (*chain.columns, "cust_id", "tier"))


def crossed(chain: Chain, ground: Ground) -> Chain:
    if "label" in chain.columns:
        return chain
    made = chain.frame.crossJoin(ground.tables["calendar"])
    return Chain(made, _said(chain, "SELECT * FROM {} CROSS JOIN calendar"), (*chain.columns, "day", "label"))


def listed_beside(chain: Chain, ground: Ground) -> Chain:
    if "sku" in chain.columns or "order_id" not in chain.columns:
        return chain
    other = ground.tables["items"].select(ground.functions.col("order_id").alias("item_of"), "sku")
    made = chain.frame.join(other).where(chain.frame["order_id"] == other["item_of"])
    text = "SELECT * FROM {}, (SELECT order_id AS item_of, sku FROM items) i WHERE t.order_id = i.item_of"
    return Chain(made, _said(chain, text), (*chain.columns, "item_of", "sku"))


def united(chain: Chain, _: Ground) -> Chain:
    if "qty" not in chain.columns:
        return chain
    made = chain.frame.union(chain.frame.where("qty > 5"))
    text = None if chain.sql is None else f"SELECT * FROM ({chain.sql}) t UNION ALL SELECT * FROM ({chain.sql}) u WHERE qty > 5"
    return Chain(made, text, chain.columns)


def distinct(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.distinct(), _said(chain, "SELECT DISTINCT * FROM {}"), chain.columns)


def limited(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.limit(3), _said(chain, "SELECT * FROM {} LIMIT 3"), chain.columns)


def exploded(chain: Chain, ground: Ground) -> Chain:
    if "tags" not in chain.columns or "tag" in chain.columns:
        return chain
    made = chain.frame.select("*", ground.functions.explode("tags").alias("tag"))
    return Chain(made, _said(chain, "SELECT *, explode(tags) AS tag FROM {}"), (*chain.columns, "tag"))


def repeated_in_pandas(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.mapInPandas(lambda frames: frames, chain.frame.schema), None, chain.columns)


def without_duplicates(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.dropDuplicates([chain.columns[0]]), None, chain.columns)


def sampled(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.sample(0.5).repartition(2).hint("broadcast"), None, chain.columns)


def pivoted(chain: Chain, ground: Ground) -> Chain:
    if not {"customer_id", "region", "qty"} <= set(chain.columns):
        return chain
    made = chain.frame.groupBy("customer_id").pivot("region", ["EU", "US"]).agg(ground.functions.sum("qty"))
    return Chain(made, None, ("customer_id", "EU", "US"))


def melted(chain: Chain, _: Ground) -> Chain:
    if not {"customer_id", "qty"} <= set(chain.columns) or "value" in chain.columns:
        return chain
    return Chain(chain.frame.melt(["customer_id"], ["qty"], "kind", "value"), None, ("customer_id", "kind", "value"))


def mended(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.na.drop(how="all").na.fill(0), None, chain.columns)


def united_by_name(chain: Chain, _: Ground) -> Chain:
    turned = chain.frame.select(*reversed(chain.columns))
    return Chain(chain.frame.unionByName(turned, allowMissingColumns=True), None, chain.columns)


def conformed(chain: Chain, _: Ground) -> Chain:
    if "qty" not in chain.columns:
        return chain
    declared = chain.frame.schema.jsonValue()
    declared["fields"] = [{**f, "type": "long"} if f["name"] == "qty" else f for f in reversed(declared["fields"])]
    schema = type(chain.frame.schema).fromJson(declared)
    return Chain(chain.frame.to(schema), None, tuple(reversed(chain.columns)))


def numbered(chain: Chain, ground: Ground) -> Chain:
    if "place" in chain.columns:
        return chain
    first = chain.columns[0]
    place = ground.functions.expr(f"row_number() OVER (PARTITION BY {first} ORDER BY {first})")
    return Chain(chain.frame.withColumn("place", place), None, (*chain.columns, "place"))


def cubed(chain: Chain, ground: Ground) -> Chain:
    if not {"region", "status", "qty"} <= set(chain.columns):
        return chain
    made = chain.frame.cube("region", "status").agg(ground.functions.max("qty").alias("qty"))
    return Chain(made, None, ("region", "status", "qty"))


def totalled(chain: Chain, ground: Ground) -> Chain:
    if "qty" not in chain.columns:
        return chain
    return Chain(chain.frame.agg(ground.functions.sum("qty").alias("qty")), None, ("qty",))


def intersected(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.intersect(chain.frame.limit(5)), None, chain.columns)


def subtracted(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.exceptAll(chain.frame.limit(1)), None, chain.columns)


def known_only(chain: Chain, ground: Ground) -> Chain:
    if "customer_id" not in chain.columns:
        return chain
    columns = ("customer_id", *(c for c in chain.columns if c != "customer_id"))
    return Chain(chain.frame.join(ground.tables["customers"], "customer_id", "left_semi"), None, columns)


def joined_outside(chain: Chain, ground: Ground) -> Chain:
    if "customer_id" not in chain.columns or {"name", "email"} & set(chain.columns):
        return chain
    other = ground.tables["customers"].select("customer_id", "email")
    columns = ("customer_id", *(c for c in chain.columns if c != "customer_id"), "email")
    return Chain(chain.frame.join(other, "customer_id", "full"), None, columns)


def dropped(chain: Chain, _: Ground) -> Chain:
    if not {"status", "qty"} & set(chain.columns) or len(chain.columns) < 3:
        return chain
    kept = tuple(c for c in chain.columns if c not in ("status", "qty"))
    return Chain(chain.frame.drop("status", "qty"), None, kept)


def replaced(chain: Chain, _: Ground) -> Chain:
    if "region" not in chain.columns:
        return chain
    return Chain(chain.frame.na.replace("EU", "XX", ["region"]), None, chain.columns)


def turned_over(chain: Chain, _: Ground) -> Chain:
    return Chain(chain.frame.orderBy(chain.columns[0]).offset(1), None, chain.columns)


def grouped_in_pandas(chain: Chain, _: Ground) -> Chain:
    first = chain.columns[0]
    made = chain.frame.groupBy(first).applyInPandas(lambda rows: rows, chain.frame.schema)
    return Chain(made, None, chain.columns)


STEPS: tuple[Step, ...] = (
    filtered, filtered_by_column, filtered_by_nested, selected, renamed, computed, widened, grouped, rolled_up, joined,
    joined_on, crossed, listed_beside, united, distinct, limited, exploded,
)  # fmt: skip
ODD_STEPS: tuple[Step, ...] = (
    repeated_in_pandas, without_duplicates, sampled, pivoted, melted, mended, united_by_name, conformed,
    numbered, cubed, totalled, intersected, subtracted, known_only, joined_outside, dropped, replaced,
    turned_over, grouped_in_pandas,
)  # fmt: skip
