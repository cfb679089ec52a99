"""What Airflow shows of this package, and how its configuration section is documented."""

from __future__ import annotations

from typing import Any

from airflow_plugin import __version__

_NAME = "Invaract contract gate"


def get_provider_info() -> dict[str, Any]:
    """The provider's description, in the form of Airflow's `provider_info.schema.json`."""
    return {
        "package-name": "invaract-orchestration",
        "name": _NAME,
        "description": "Publishes a batch to a lakehouse table only when it keeps its contract, and leaves an audit.",
        "versions": [__version__],
        "integrations": [{"integration-name": _NAME, "external-doc-url": "", "tags": ["software"]}],
        "operators": [_modules("operators")],
        "sensors": [_modules("sensors")],
        "hooks": [_modules("hooks")],
        "triggers": [_modules("triggers")],
        "connection-types": [
            {
                "connection-type": "invaract",
                "hook-class-name": "airflow_plugin.hooks.InvaractHook",
                "hook-name": "Invaract audit store",
            }
        ],
        "extra-links": ["airflow_plugin.links.ContractAuditLink"],
        "task-decorators": [{"name": "contract_gate", "class-name": "airflow_plugin.decorators.contract_gate_task"}],
        "plugins": [{"name": "invaract", "plugin-class": "airflow_plugin.plugin.InvaractPlugin"}],
        "config": {
            "invaract": {"description": "Where the gate's audit store and lake are.", "options": _options()},
        },
    }


def _modules(name: str) -> dict[str, Any]:
    return {"integration-name": _NAME, "python-modules": [f"airflow_plugin.{name}"]}


def _options() -> dict[str, Any]:
    return {
        "audit_url": _option("Address of the audit store: sqlite:///path or postgresql://host/database.", sensitive=True),
        "lake_root": _option("The folder below which tables named catalog.schema.table are."),
        "engine": _option("The engine that runs the gate when a task names none.", example="duckdb"),
        "memory_limit": _option("How much memory the engine may use.", example="4GB"),
        "threads": _option("How many threads the engine may use.", kind="integer", example="2"),
        "ui_url": _option("Address of the audit pages when they are served alone.", example="http://127.0.0.1:8400"),
    }


def _option(description: str, *, kind: str = "string", example: str | None = None, sensitive: bool = False) -> dict[str, Any]:
    return {
        "description": description, "version_added": __version__, "type": kind, "example": example, "default": None,
        **({"sensitive": True} if sensitive else {}),
    }  # fmt: skip
