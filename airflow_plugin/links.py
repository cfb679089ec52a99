"""The way from a task instance to the audit of its attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from airflow.providers.common.compat.sdk import BaseOperatorLink, conf

from airflow_plugin.reports import XCOM_KEY

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import BaseOperator

PREFIX = "/invaract"
"""Where Airflow's API server serves the audit pages."""
ROUTE = "/plugin/invaract/invaract"
"""Airflow's own address of the audit pages, inside its navigation."""


def base_path() -> str:
    """The path below which Airflow is served, without a slash at the end; empty when it is the root."""
    return urlsplit(conf.get("api", "base_url", fallback="") or "").path.rstrip("/")


class ContractAuditLink(BaseOperatorLink):
    """A link to the audit of the attempt, also on a failed task; empty when the task did not get as far as an attempt."""

    name = "Contract audit"

    def get_link(self, operator: BaseOperator, *, ti_key: Any) -> str:
        """The address of the attempt's page."""
        report = ti_key.xcom_pull(key=XCOM_KEY, task_ids=ti_key.task_id, map_indexes=ti_key.map_index)
        attempt = report.get("attempt_id") if isinstance(report, dict) else None
        return f"{base_path()}{ROUTE}/runs/{quote(attempt, safe='')}" if attempt else ""
