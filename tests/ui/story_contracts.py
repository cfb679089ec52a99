"""The four contracts of the story, one of them in two versions."""

from __future__ import annotations

ORDERS_1 = """
contract: orders
version: "1.0.0"
description: One row for each order of the web shop, as the shop closed its day.
owner: {team: Shop data, contact: shop-data@example.org}
consumers: [Finance report, Demand forecast]
source: {format: csv, location: "landing/orders/{day}.csv"}
fields:
  - {name: order_id, type: bigint, required: true, unique: true, description: Number that the shop gave}
  - {name: customer_id, type: bigint, required: true}
  - {name: placed_at, type: timestamp, required: true, description: When the customer paid}
  - {name: amount, type: "decimal(12,2)", required: true, min: "0"}
  - {name: country, type: string, allowed: [AT, CH, DE, FR]}
  - {name: email, type: string, not_blank: true, sensitivity_tags: [personal]}
quality:
  on_row_failure: quarantine
  max_quarantined: {percent: 1}
  row_rules:
    - {name: shipped_after_placed, sql: "amount = 0 OR customer_id > 0"}
publish: {target: lake/sales/orders, mode: append}
freshness: {every: 1d, expected_by: "06:00"}
"""
ORDERS_2 = (
    ORDERS_1.replace('"1.0.0"', '"1.1.0"')
    .replace("[AT, CH, DE, FR]", "[AT, BE, CH, DE, FR]")
    .replace(
        "  - {name: email,",
        '  - {name: currency, type: string, pattern: "[A-Z]{3}", may_be_absent: true}\n  - {name: email,',
    )
    .replace("percent: 1}", "percent: 0.5}")
)
CUSTOMERS = """
contract: customers
version: "2.3.0"
description: Every customer once, with the newest address.
source: {format: parquet, location: "landing/customers/{day}.parquet"}
fields:
  - {name: customer_id, type: bigint, required: true, unique: true}
  - {name: name, type: string, sensitivity_tags: [personal]}
  - {name: segment, type: string, allowed: [private, business]}
publish: {target: lake/sales/customers, mode: merge, keys: [customer_id]}
"""
REVENUE = """
contract: daily_revenue
version: "1.2.0"
description: Revenue by day and country, from orders and customers.
source:
  format: sql
  inputs: {orders: lake/sales/orders, customers: lake/sales/customers}
  sql: >
    SELECT o.placed_on AS day, o.country, c.segment, SUM(o.amount) AS revenue, COUNT(*) AS orders
    FROM orders o JOIN customers c ON o.customer_id = c.customer_id
    WHERE o.amount > 0 GROUP BY o.placed_on, o.country, c.segment
fields:
  - {name: day, type: date, required: true}
  - {name: country, type: string, required: true}
  - {name: segment, type: string}
  - {name: revenue, type: "decimal(38,2)", min: "0"}
  - {name: orders, type: bigint, min: "1"}
keys: [{columns: [day, country, segment], nulls: ignore}]
rules:
  - {type: required_group_by, columns: [day, country]}
  - {type: forbid_cross_join}
publish: {target: lake/marts/daily_revenue, mode: overwrite}
"""
PAYMENTS = """
contract: payments
version: "0.9.0"
description: Settlements as the payment provider reports them, twice a day.
source: {format: json, location: "landing/payments/{batch}/*.json"}
fields:
  - {name: payment_id, type: string, required: true, unique: true}
  - {name: order_id, type: bigint, required: true}
  - {name: settled, type: "decimal(12,2)", required: true}
publish: {target: lake/finance/payments, mode: append}
"""
