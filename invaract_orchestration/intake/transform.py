"""A transformation given as a function: what it is called with, how messages name it, and how a dotted name becomes one."""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from invaract_orchestration.errors import GateError, UsageError

_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*[:.][A-Za-z_]\w*")
_CONDITION = re.compile(r"[A-Z][A-Z0-9_.]*")
_HOW = "write it as f(session, rows), which gets the checked good rows, or as f(session), which finds its rows itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """A function that builds a lazy frame, and does nothing else. `name` is its module and name.

    With `takes_rows` it is called with the user's session and the checked good rows of the contract's source, else with the
    session alone: then its frame is the batch.
    """

    function: Callable[..., Any]
    name: str
    takes_rows: bool
    takes_links: bool = False
    """Whether it takes the contract's links too, as frames by their names, under the name `links`."""


def transform_of(function: Callable[..., Any]) -> Transform:
    """The transformation that a callable is.

    Raises:
        UsageError: it cannot be called with a session, or with a session and rows.
    """
    plain = function
    while isinstance(plain, functools.partial):
        plain = plain.func
    name = f"{getattr(plain, '__module__', '?')}:{getattr(plain, '__qualname__', type(plain).__name__)}"
    takes_rows = _takes_rows(function)
    if takes_rows is not None:
        return Transform(function=function, name=name, takes_rows=takes_rows, takes_links=_takes_links(function))
    raise UsageError(f"the transformation {name} cannot be called with a session and rows", hint=_HOW)


def raised(transform: Transform, error: BaseException) -> GateError:
    """What is told of an error in the function: its class and where it came from, and Spark's own name for it, never its text."""
    is_sparks = type(error).__module__.startswith("pyspark.errors")
    condition = error.getCondition() if is_sparks else None  # type: ignore[attr-defined]  # Spark's own errors have one
    known = f", {condition}" if isinstance(condition, str) and _CONDITION.fullmatch(condition) else ""
    line = _line(transform, error)
    where = f" at line {line} of its file" if line is not None else ""
    return GateError(
        f"the transformation {transform.name} raised {type(error).__name__}{known}{where}", code="transform.raised",
        hint="its own message may hold values and is withheld; call the function on a small frame to see it",
    )  # fmt: skip


def _line(transform: Transform, error: BaseException) -> int | None:
    """The last line of the function's own file on the way to an error."""
    try:
        file = inspect.getsourcefile(inspect.unwrap(transform.function))
    except TypeError:
        return None
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return lines[-1] if lines else None


def rows_and_transform(frame: Any, transform: Any) -> tuple[Any, Transform | None]:
    """The rows that a caller hands in, and the function over them: a `transform` that is neither a text nor a function is rows.

    Raises:
        UsageError: there are two sets of rows, or the function cannot be called as one.
    """
    if transform is None or isinstance(transform, str):
        return frame, None
    if not callable(transform):
        if frame is not None:
            raise UsageError("rows are handed in twice, as `frame` and as `transform`", hint="leave one of them out")
        return transform, None
    own = transform_of(transform)
    if own.takes_rows:
        return frame, own
    if frame is not None:
        raise UsageError(f"rows are handed in, and the transformation {own.name} takes none", hint=_HOW)
    return own, own


def _takes_rows(function: Callable[..., Any]) -> bool | None:
    """Whether a function takes rows after the session; none when it takes anything else. What has a default is not given."""
    try:
        own = [p for p in inspect.signature(function).parameters.values() if p.name != "links"]
    except ValueError:  # a callable of C that does not tell
        return True
    places = [p for p in own if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    if len(needed) > 2 or any(p.kind == p.KEYWORD_ONLY and p.default is p.empty for p in own):
        return None
    if len(needed) == 2 or any(p.kind == p.VAR_POSITIONAL for p in own) or [p.name for p in places[1:2]] == ["rows"]:
        return True
    return False if places else None


def _takes_links(function: Callable[..., Any]) -> bool:
    try:
        return "links" in inspect.signature(function).parameters
    except ValueError:
        return False


def is_function_name(text: str) -> bool:
    """Whether a text names a function, as `package.module:function` or `package.module.function`, rather than a file."""
    return _DOTTED.fullmatch(text) is not None and not text.endswith(".sql") and not os.path.exists(text)  # noqa: PTH110


def import_function(name: str) -> Callable[..., Any]:
    """The function of that dotted name; modules of the working directory are found too.

    Raises:
        UsageError: there is no such module or function, or the module cannot be imported.
    """
    module, _, function = name.replace(":", ".").rpartition(".")
    if os.getcwd() not in sys.path:  # noqa: PTH109  # a console script does not have it there
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        found = getattr(import_module(module), function, None)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever the module does when it is loaded
        raise _not_imported(name, module, error) from None
    if not callable(found):
        raise UsageError(f"transform {name!r}: module {module!r} has no function {function!r}", hint=_HOW)
    made: Callable[..., Any] = found
    return made


def is_missing(module: str, error: BaseException) -> bool:
    """Whether an import failed as there is no such module; else it is there, and what it does or imports failed."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return missing is not None and f"{module}.".startswith(f"{missing}.")


def _not_imported(name: str, module: str, error: BaseException) -> UsageError:
    if is_missing(module, error):
        return UsageError(f"transform {name!r}: there is no module {module!r}", hint="write package.module:function")
    return UsageError(
        f"transform {name!r}: {type(error).__name__} while importing {module!r}",
        hint="its own message may hold values and is withheld; import the module in Python to see it",
    )
