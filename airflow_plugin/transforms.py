"""The code that makes the rows, given with the task: a file of Spark SQL, or a function of a module."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from airflow.providers.common.compat.sdk import determine_kwargs

from airflow_plugin.exceptions import GateMisused


def is_query(transform: str) -> bool:
    """Whether a transform is a file of SQL rather than the dotted name of a function."""
    return transform.endswith(".sql")


def read_query(transform: str, contract: str) -> str:
    """The query of a file; a relative path starts at the contract's folder.

    Raises:
        GateMisused: the file cannot be read.
    """
    path = Path(contract).parent / transform
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GateMisused(f"transform {transform!r} cannot be read: {type(error).__name__}\nHint: looked at {path}") from None


def import_function(transform: str) -> Callable[..., Any]:
    """The function that `package.module.function` or `package.module:function` names.

    Raises:
        GateMisused: there is no such module or function. What the module itself raises is raised as it is.
    """
    from invaract_orchestration.intake.transform import is_missing  # not while a DAG is parsed

    module, _, name = transform.replace(":", ".").rpartition(".")
    hint = "write package.module.function, or the path of a file that ends in .sql"
    if not module:
        raise GateMisused(f"transform {transform!r} names no module\nHint: {hint}")
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        if not is_missing(module, error):
            raise
        raise GateMisused(f"transform {transform!r}: there is no module {module!r}\nHint: {hint}") from None
    if not callable(found):
        raise GateMisused(f"transform {transform!r}: module {module!r} has no function {name!r}\nHint: {hint}")
    function: Callable[..., Any] = found
    return function


def asks_for(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of that name."""
    return name in inspect.signature(function).parameters


def with_rows(function: Callable[..., Any], args: Sequence[Any], known: Mapping[str, Any]) -> Callable[[Any, Any], Any]:
    """The function as the gate calls it, with its session and the checked good rows beside what a task knows."""

    def transform(session: Any, rows: Any) -> Any:
        return function(*args, **determine_kwargs(function, args, {**known, "session": session, "rows": rows}))

    transform.__module__ = getattr(function, "__module__", None) or type(function).__module__
    transform.__qualname__ = getattr(function, "__qualname__", type(function).__name__)
    return transform
