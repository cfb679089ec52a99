"""PySpark writes down the errors that it raises, with the values that they name, to stderr and so to a scheduler's log."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_OF_ERRORS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_OF_THE_CLIENT = "pyspark.sql.connect.logging"
"""It is disabled by default, and enabled by whoever sets up the logging of the process anew, as Airflow does."""


@contextmanager
def unlogged() -> Iterator[None]:
    """Nothing that PySpark logs of errors gets out during the block, whichever thread they come from."""

    def drop(_: logging.LogRecord) -> bool:
        return False

    names = (*_OF_ERRORS, *((_OF_THE_CLIENT,) if _OF_THE_CLIENT in sys.modules else ()))
    loggers = [_logger(name) for name in names]
    for logger in loggers:
        logger.addFilter(drop)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(drop)


@cache
def _logger(name: str) -> logging.Logger:
    """A logger of the kind that PySpark makes; making one switches the kind for the whole process, so it is asked for once."""
    from pyspark.logger import PySparkLogger

    return PySparkLogger.getLogger(name)
