"""How a batch is read, by its format."""

from __future__ import annotations

from typing import Any

from invaract_orchestration.contract.model import Contract
from invaract_orchestration.engines.spark.csv_rows import csv_rows
from invaract_orchestration.engines.spark.json_rows import json_rows
from invaract_orchestration.engines.spark.rows import Rows
from invaract_orchestration.engines.spark.session import PrivateSession
from invaract_orchestration.engines.spark.typed_rows import typed_rows
from invaract_orchestration.intake.batch import Batch


def rows_of(session: PrivateSession, contract: Contract, batch: Batch, frame: Any) -> Rows:
    """The readings of a batch; `frame` is the table's, query's or handed-in frame. Raises NotSupported for what a format cannot
    hold.
    """
    match batch.source.format:
        case "csv":
            return csv_rows(session, contract, batch)
        case "json":
            return json_rows(session, contract, batch)
    return typed_rows(session, contract, batch, frame)
