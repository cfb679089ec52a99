"""Audit stores: SQLAlchemy and Alembic on SQLite or PostgreSQL."""

from invaract_orchestration.stores.open import SqlAuditStore, open_store

__all__ = ["SqlAuditStore", "open_store"]
