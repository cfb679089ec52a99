"""Rows that a task's own code makes, and tasks that wait for a publication."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

DAY = datetime(2026, 9, 3, tzinfo=UTC)


def double(parameters: Any) -> Any:
    import pyarrow

    return pyarrow.table({"id": [f"{parameters['part']}1"], "v": pyarrow.array([2], pyarrow.int32())})


@pytest.fixture
def orders(setup: Any) -> Any:
    """A Delta table of orders, and a contract over a query on it."""
    import deltalake
    import pyarrow

    deltalake.write_deltalake(setup.lake.root / "raw" / "orders", pyarrow.table({"id": ["A", "A", "B"], "n": [1, 2, 4]}))
    text = setup.contract.read_text().replace(
        'source: {format: csv, location: "landing/{part}.csv"}',
        "source: {format: sql, sql: 'select id, cast(n as int) as v from orders', inputs: {orders: raw.orders}}",
    )
    setup.contract.write_text(text.replace("target: reporting.batch", "target: 'reporting.{part}'"))
    return setup


def test_sql_file_makes_the_rows_and_a_retry_of_it_publishes_nothing_more(orders: Any, run_dag: Any, attempts: Any) -> None:
    orders.contract.with_name("sums.sql").write_text("select id, cast(sum(n) as int) as v from orders group by id")
    conf = orders.conf("sums", transform="sums.sql")

    first, again = run_dag("gate_transforms", conf=conf), run_dag("gate_transforms", conf=conf)

    assert [first.tasks["gate"], again.tasks["gate"]] == ["success", "success"]
    assert orders.lake.rows("reporting/sums") == [{"id": "A", "v": 3}, {"id": "B", "v": 4}]
    assert [a.outcome.code for a in attempts()] == ["publish.already_done", None]


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ("missing.sql", "transform 'missing.sql' cannot be read: FileNotFoundError"),
        ("json.no_such_function", "module 'json' has no function 'no_such_function'"),
        ("no_such_module.f", "there is no module 'no_such_module'"),
        ("alone", "transform 'alone' names no module"),
    ],
)
def test_transform_that_is_not_there_fails_at_once(
    transform: str, message: str, setup: Any, run_dag: Any, capfd: Any
) -> None:
    ran = run_dag("gate_transforms", conf=setup.conf("p", transform=transform))

    assert (ran.tasks["gate"], ran.tries["gate"]) == ("failed", 1)
    assert message in "".join(capfd.readouterr())


def test_module_that_imports_what_is_missing_is_not_said_to_be_missing(tmp_path: Any, monkeypatch: Any, airflow_home: Any) -> None:
    from airflow_plugin.transforms import import_function

    (tmp_path / "invaract_test_inner.py").write_text("import invaract_test_gone\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'invaract_test_gone'"):
        import_function("invaract_test_inner:f")


def test_function_makes_the_rows_under_the_name_of_its_date(
    setup: Any, run_dag: Any, attempts: Any, monkeypatch: Any
) -> None:
    import sys
    from types import ModuleType

    module = ModuleType("invaract_test_rows")
    module.double = double
    monkeypatch.setitem(sys.modules, module.__name__, module)
    conf = setup.conf("d", transform="invaract_test_rows:double")

    run_dag("gate_transforms", conf=conf, logical_date=DAY)
    run_dag("gate_transforms", conf=conf, logical_date=DAY)

    assert setup.lake.rows("reporting/batch") == [{"id": "d1", "v": 2}]
    assert [(a.submission.submission_id, a.state) for a in attempts()] == [
        ("gate_transforms.gate.2026-09-03T00:00:00+00:00", "published"),
        ("gate_transforms.gate.2026-09-03T00:00:00+00:00", "published"),
    ]


def test_decorated_function_is_gated_and_a_bad_frame_is_rejected(setup: Any, run_dag: Any, attempts: Any) -> None:
    ran = run_dag("gate_decorated", conf=setup.conf("d"), logical_date=DAY)

    assert (ran.tasks, attempts()[0].outcome.code) == ({"rows": "failed"}, "schema|type")
    assert setup.lake.version("reporting/batch") is None


def test_decorated_function_is_published(setup: Any, run_dag: Any) -> None:
    setup.contract.write_text(setup.contract.read_text().replace("name: v, type: int", "name: v, type: bigint"))

    assert run_dag("gate_decorated", conf=setup.conf("d"), logical_date=DAY).tasks == {"rows": "success"}
    assert setup.lake.rows("reporting/batch") == [{"id": "d1", "v": 1}, {"id": "d2", "v": 2}]


@pytest.mark.parametrize("dag_id", ["wait", "wait_deferred"])
def test_sensor_ends_when_its_slice_is_published(dag_id: str, setup: Any, run_dag: Any, xcoms: Any) -> None:
    setup.lake.land("p.csv", "id,v", "A1,1")
    run_dag("gate", conf=setup.conf("p"))

    ran = run_dag(dag_id, conf=setup.conf("p"))

    assert ran.tasks == {"wait": "success"}
    found = xcoms(ran, "wait")["return_value"]
    assert (found["contract"], found["table_version"]) == ("batch", setup.lake.version("reporting/batch"))


def test_publication_before_the_time_that_is_asked_for_does_not_count(setup: Any, run_dag: Any, airflow_home: Any) -> None:
    from airflow_plugin.exceptions import GateMisused
    from airflow_plugin.hooks import InvaractHook
    from airflow_plugin.publications import last_publication, slice_in_audit

    setup.lake.land("p.csv", "id,v", "A1,1")
    run_dag("gate", conf=setup.conf("p"))
    hook = InvaractHook()
    wanted = slice_in_audit(hook, str(setup.contract), environment=None, parameters={"part": "p"}, target=None)

    assert last_publication(hook, wanted, "2026-01-01")["table_version"] == setup.lake.version("reporting/batch")
    assert last_publication(hook, wanted, "2999-01-01T00:00:00+00:00") is None
    with pytest.raises(GateMisused, match="expected an ISO time"):
        last_publication(hook, wanted, "yesterday")


def test_sensor_that_misses_a_parameter_of_its_slice_is_told_at_once(setup: Any, airflow_home: Any) -> None:
    from airflow_plugin.exceptions import GateMisused
    from airflow_plugin.hooks import InvaractHook
    from airflow_plugin.publications import slice_in_audit

    text = setup.contract.read_text().replace("mode: append", "mode: replace_where, where: \"id like '{part}%'\"")
    setup.contract.write_text(text)
    with pytest.raises(GateMisused, match="parameter 'part' is needed and not given"):
        slice_in_audit(InvaractHook(), str(setup.contract), environment=None, parameters={"prat": "p"}, target=None)


def test_sensor_waits_on_while_only_another_slice_is_published(setup: Any, run_dag: Any) -> None:
    setup.lake.land("p.csv", "id,v", "A1,1")
    run_dag("gate", conf=setup.conf("p"))

    assert run_dag("wait", conf=setup.conf("q")).tasks == {"wait": "failed"}


def good_rows(rows: Any, parameters: Any) -> Any:
    return rows.filter(f"id LIKE '{parameters['part']}%'").project("id, v * 10 AS v")


def test_function_that_asks_for_rows_gets_those_of_the_source_that_passed(
    setup: Any, run_dag: Any, attempts: Any, monkeypatch: Any
) -> None:
    import sys
    from types import ModuleType

    module = ModuleType("invaract_test_good_rows")
    module.good_rows = good_rows
    monkeypatch.setitem(sys.modules, module.__name__, module)
    setup.contract.write_text(setup.contract.read_text() + "\nquality: {on_row_failure: quarantine}\n")
    landing = setup.contract.parent / "landing"
    landing.mkdir()
    (landing / "p.csv").write_text("id,v\np1,1\np2,x\nq1,3\n")

    ran = run_dag("gate_transforms", conf=setup.conf("p", transform="invaract_test_good_rows:good_rows"))

    assert ran.tasks["gate"] == "success", attempts()[0].outcome.message
    assert setup.lake.rows("reporting/batch") == [{"id": "p1", "v": 10}]
    assert attempts()[0].submission.submission_id.startswith("s-")
