"""A login in which a viewer may read one DAG alone, as Airflow's larger auth managers grant it."""

from __future__ import annotations

from typing import Any

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager

SEEN = "flights_monthly"


class LimitedAuthManager(SimpleAuthManager):
    """Everything is as with the simple one, but for the DAGs of viewers, and for what no DAG made."""

    def is_authorized_dag(self, *, method: Any, user: Any, access_entity: Any = None, details: Any = None) -> bool:
        allowed = super().is_authorized_dag(method=method, user=user, access_entity=access_entity, details=details)
        return allowed and (user.role != "viewer" or details is None or details.id in (None, SEEN))

    def is_authorized_custom_view(self, *, method: Any, resource_name: str, user: Any) -> bool:
        return user.role != "viewer"
