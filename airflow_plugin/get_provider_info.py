"""What Airflow shows of this package, and how its configuration section is documented."""

from __future__ import annotations

from typing import Any

_NAME = "Invaract contract gate"


def get_provider_info() -> dict[str, Any]:
    """The provider's description, in the form of Airflow's `provider_info.schema.json`."""
    return {
        "package-name": "invaract-orchestration",
        "name": _NAME,
        "description": "Publishes a batch to a lakehouse table only when it keeps its contract, and leaves an audit.",
        "integrations": [{"integration-name": _NAME, "external-doc-url": "", "tags": ["software"]}],
        "operators": [{"integration-name": _NAME, "python-modules": ["airflow_plugin.operators"]}],
    }
