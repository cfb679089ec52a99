"""One meaning on every engine: the same batches, modes and faults on the embedded engine, on Spark and on Spark Connect.

The tests are those of the embedded engine, with their literal expectations; what an engine does otherwise is named in
`tests.spark.gaps`, with its reason, and fails when it no longer does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engines.test_batches import *  # noqa: F403
from tests.engines.test_modes import *  # noqa: F403
from tests.engines.test_parquet_tables import *  # noqa: F403
from tests.spark.conftest import QUIET
from tests.spark.gaps import GAPS
from tests.spark.lakes import ENGINES, EngineLake

pytestmark = [pytest.mark.filterwarnings(quiet) for quiet in QUIET]


@pytest.fixture(params=[pytest.param(e, marks=[] if e == "duckdb" else [pytest.mark.spark]) for e in ENGINES])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> EngineLake:
    engine: str = request.param
    asked = request.node.name.replace(engine, "*", 1)
    reason: Any = GAPS.get((engine, asked)) or GAPS.get((engine, asked.partition("[")[0]))
    if reason is not None:
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    return EngineLake(root=tmp_path, engine=engine)
