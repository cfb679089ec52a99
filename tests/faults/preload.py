"""What every process of a race needs, loaded once before they are forked."""

from __future__ import annotations

import invaract_orchestration.engines.delta.publisher
import invaract_orchestration.engines.duckdb.engine
import invaract_orchestration.stores.open
import invaract_orchestration.wiring  # noqa: F401
