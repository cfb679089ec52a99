"""The audit pages inside Airflow: in its navigation, on a DAG, on a DAG run and on a task instance."""

from __future__ import annotations

from typing import Any

from airflow.providers.common.compat.sdk import AirflowPlugin

from airflow_plugin.links import PREFIX, base_path


def _view(destination: str, route: str, path: str, **more: str) -> dict[str, str]:
    return {
        "name": "Contract audits", "href": f"{base_path()}{PREFIX}/{path}", "destination": destination, "url_route": route,
        **more,
    }  # fmt: skip


class InvaractPlugin(AirflowPlugin):
    """Mounts the pages, behind Airflow's own login and permissions."""

    name = "invaract"
    external_views = [  # noqa: RUF012  # Airflow's base class declares it for instances
        _view("nav", "invaract", "", category="browse"),
        _view("dag", "invaract-dag", "runs?dag_id={DAG_ID}"),
        _view("dag_run", "invaract-run", "runs?dag_id={DAG_ID}&run_id={RUN_ID}"),
        _view("task_instance", "invaract-task", "runs?dag_id={DAG_ID}&run_id={RUN_ID}&task_id={TASK_ID}&map_index={MAP_INDEX}"),
    ]

    @property
    def fastapi_apps(self) -> list[dict[str, Any]]:  # type: ignore[override]  # looked up late: workers never load the pages
        """The pages, for the API server alone."""
        from airflow_plugin.audit_app import build_app

        return [{"name": "invaract", "app": build_app(), "url_prefix": PREFIX}]
