"""What a Connect client sends that makes its server work, told from what only defines names."""

from __future__ import annotations

import pytest
from pyspark.sql.connect.proto import base_pb2, relations_pb2

from invaract_orchestration.engines.spark.jobs import starts_job


def sql(text: str) -> base_pb2.Plan:
    plan = base_pb2.Plan()
    plan.command.sql_command.input.sql.query = text
    return plan


def command(name: str) -> base_pb2.Plan:
    plan = base_pb2.Plan()
    getattr(plan.command, name).SetInParent()
    return plan


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ("SELECT * FROM t", False), ("WITH a AS (SELECT 1) SELECT * FROM a", False), ("-- insert\nSELECT 1", False),
        ("CREATE OR REPLACE TEMP VIEW v AS SELECT 1", False), ("USE db", False), ("SHOW TABLES", False),
        ("INSERT INTO t SELECT 1", True), ("CREATE TABLE t AS SELECT 1", True), ("  merge into t using s on true", True),
        ("-- a note\nDELETE FROM t", True), ("CACHE TABLE t", True),
    ],
)  # fmt: skip
def test_sql_works_when_it_changes_something(text: str, works: bool) -> None:
    assert starts_job(sql(text)) is works


@pytest.mark.parametrize(
    ("name", "works"),
    [
        ("create_dataframe_view", False), ("register_function", False), ("write_operation", True), ("write_operation_v2", True),
        ("merge_into_table_command", True), ("checkpoint_command", False),
    ],
)  # fmt: skip
def test_command_works_unless_it_only_defines_a_name(name: str, works: bool) -> None:
    assert starts_job(command(name)) is works


def test_eager_checkpoint_works() -> None:
    plan = command("checkpoint_command")
    plan.command.checkpoint_command.eager = True
    assert starts_job(plan)


def test_query_works_and_a_look_at_the_catalog_does_not() -> None:
    query, catalog = base_pb2.Plan(), base_pb2.Plan()
    query.root.CopyFrom(relations_pb2.Relation(range=relations_pb2.Range(end=1, step=1)))
    catalog.root.catalog.current_database.SetInParent()
    assert starts_job(query)
    assert not starts_job(catalog)
