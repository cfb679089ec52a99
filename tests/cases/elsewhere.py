"""Cases about what stands around the gate, and the tests that play them: an orchestrator's task, or a page in a browser."""

_IN_AIRFLOW = "tests/airflow/test_cases.py::test_case_has_its_verdict_in_airflow"
_IN_DAGSTER = "tests/dagster/test_cases.py::test_case_through_dagster_fails_once_or_is_published_once"
_INSIDE_AIRFLOW = "tests/airflow/test_browser.py"
_OPERATOR = "tests/airflow/test_gate_operator.py"
_SCHEDULER = "tests/airflow/test_scheduler.py::test_one_publication_per_submission_whatever_dies_is_cleared_or_waits"

PLAYED_ELSEWHERE: dict[str, tuple[str, ...]] = {
    "O01": (f"{_IN_DAGSTER}[O01]", "tests/dagster/test_contract_asset.py::test_contract_asset_downstream_of_a_blocked_one_does_not_start"),
    "O02": (
        f"{_IN_DAGSTER}[O02]",
        "tests/dagster/test_served.py::test_backfill_publishes_the_good_days_and_each_result_names_its_own",
    ),
    "O04": (
        f"{_IN_DAGSTER}[O04]", f"{_IN_AIRFLOW}[O04]",
        "tests/dagster/test_reactions.py::test_retry_policy_store_that_comes_back_is_published_once",
        f"{_OPERATOR}::test_store_that_is_away_at_first_is_tried_again_and_published_once",
    ),
    "O05": (f"{_IN_AIRFLOW}[O05]", f"{_SCHEDULER}[sqlite]", f"{_SCHEDULER}[postgresql]"),
    "O07": (f"{_IN_AIRFLOW}[O07]", f"{_IN_DAGSTER}[O07]", f"{_SCHEDULER}[sqlite]"),
    "O08": (f"{_IN_AIRFLOW}[O08]", f"{_OPERATOR}::test_run_again_for_the_same_and_another_date_publishes_and_announces_once"),
    "O09": (f"{_IN_AIRFLOW}[O09]", f"{_IN_DAGSTER}[O09]", f"{_SCHEDULER}[sqlite]"),
    "O11": (f"{_IN_AIRFLOW}[O11]",),
    "O12": (
        f"{_OPERATOR}::test_many_failing_rows_leave_a_small_report_without_a_value",
        "tests/dagster/test_contract_asset.py::test_contract_asset_metadata_holds_no_cell_value_and_stays_small",
    ),
    "O14": (
        f"{_INSIDE_AIRFLOW}::test_plugins_of_others_and_an_odd_record_leave_the_pages_as_they_are",
        "tests/airflow/test_audit_app.py::test_pages_without_a_store_answer_with_a_note[/invaract/]",
        "tests/airflow/test_audit_app.py::test_pages_over_an_empty_store_say_so",
    ),
    "O16": (f"{_IN_DAGSTER}[O16]", f"{_OPERATOR}::test_run_whose_later_task_crashed_is_run_whole_again_and_publishes_nothing_more"),
    "X02": (
        f"{_INSIDE_AIRFLOW}::test_password_of_a_connection_is_shown_nowhere",
        "tests/airflow/test_connections.py::test_password_of_a_store_that_is_away_is_shown_nowhere",
    ),
    "X07": (
        "tests/ui/test_browser.py::test_case_that_opens_the_page_of_its_decision_finds_names_as_text[X07]",
        f"{_INSIDE_AIRFLOW}::test_hostile_names_show_as_text",
    ),
}  # fmt: skip
