"""SQL text to sqlglot's tree, as the dialect's engine reads it.

sqlglot makes a comma join of Spark a CROSS JOIN and gives a JOIN without ON the condition true: both would hide what
the author wrote, so the parser is told to keep them apart. Its parser is recursive; a text nested too deep for
Python's own stack is parsed and translated on a thread with a large one.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parser import Parser

from invaract_orchestration.candidate.plan.diagnostics import SqlSyntaxError

T = TypeVar("T")
COMMA = "comma"
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")  # a message may repeat a part of the text, and that can be a value
_DEEP_STACK = 1 << 30
_DEEP_CALLS = 1_000_000
_deep = threading.Lock()


def parse_statements(sql: str, *, dialect: str, own_functions: Iterable[str] = ()) -> list[exp.Expr]:
    """The statements of a text.

    Raises:
        SqlSyntaxError: the dialect is not known, or the text is none of it; with the place where that showed.
    """
    try:
        reader = Dialect.get_or_raise(dialect)
    except ValueError as unknown:
        raise SqlSyntaxError(dialect=dialect, reason="no such dialect is known") from unknown
    parser = _parser_of(type(reader), frozenset(name.upper() for name in own_functions))
    try:
        parsed = parser(dialect=reader).parse(_with_window_calls(reader.tokenize(sql)), sql)
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        said = str(first.get("description") or "it cannot be parsed").partition("<")[0].strip()
        reason = _QUOTED.sub("…", said.removesuffix("but got").strip())
        raise SqlSyntaxError(dialect=dialect, reason=reason, line=first.get("line"), column=first.get("col")) from None
    except SqlglotError:
        raise SqlSyntaxError(dialect=dialect, reason="it cannot be cut into words") from None
    statements = [statement for statement in parsed if statement is not None]
    if not statements:
        raise SqlSyntaxError(dialect=dialect, reason="it holds no statement", line=1, column=1)
    return statements


def _with_window_calls(tokens: list[Token]) -> list[Token]:
    """The words of a text, where `window(` calls a function also after GROUP BY: sqlglot would begin the clause WINDOW there."""
    for one, following in pairwise(tokens):
        if one.token_type is TokenType.WINDOW and following.token_type is TokenType.L_PAREN:
            one.token_type = TokenType.VAR
    return tokens


def on_deep_stack(work: Callable[[], T]) -> T:
    """What `work` gives; when it nests too deep for the stack, once more on a thread that has a larger one."""
    try:
        return work()
    except RecursionError:
        return _on_thread(work)


def _on_thread(work: Callable[[], T]) -> T:
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failure.append(error)

    with _deep:
        calls, stack = sys.getrecursionlimit(), threading.stack_size(_DEEP_STACK)
        sys.setrecursionlimit(_DEEP_CALLS)
        try:
            thread = threading.Thread(target=run, name="deep-plan")
            thread.start()
            thread.join()
        finally:
            threading.stack_size(stack)
            sys.setrecursionlimit(calls)
    if failure:
        raise failure[0]
    return outcome[0]


def is_comma(join: exp.Join) -> bool:
    """Whether a join was written as a comma."""
    return bool(join._meta and join.meta.get(COMMA))


def is_bare_join(join: exp.Join) -> bool:
    """Whether no condition and no kind of its own was written with a join."""
    return not any(join.args.get(part) for part in ("kind", "side", "method", "on", "using", "match_condition"))


@cache
def _parser_of(dialect: type[Dialect], own_functions: frozenset[str]) -> type[Parser]:
    base: Any = dialect.parser_class

    class _AsWritten(base):  # type: ignore[misc]
        ADD_JOIN_ON_TRUE = False
        FUNCTIONS = {name: make for name, make in base.FUNCTIONS.items() if name not in own_functions}  # noqa: RUF012

        def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
            is_comma = self._curr is not None and self._curr.text == ","
            join: exp.Join | None = super()._parse_join(*args, **kwargs)
            if join is not None and is_comma:
                join.set("kind", None)
                join.meta[COMMA] = True
            return join

        def _warn_unsupported(self) -> None:
            """Silent: the warning would log a part of the text, which can hold a value."""

    return _AsWritten
