"""Row rules and predicates: Spark SQL conditions, parsed once; what could not be evaluated alike everywhere is refused.

What an expression reads is decided on the parsed tree, never on its text.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import Token, TokenType, exp, parse_one, tokenize
from sqlglot.errors import ParseError, SqlglotError

from invaract_orchestration.contract.date_parts import FIELDS, is_date_part, named_field
from invaract_orchestration.contract.expression_names import (
    Columns,
    ExpressionError,
    ambiguous_types,
    columns_read,
    first_offset,
    may_be_condition,
    unknown_columns,
)
from invaract_orchestration.contract.expression_types import mixed_kinds
from invaract_orchestration.contract.patterns import PatternError, check_pattern
from invaract_orchestration.contract.report import nearest, shown
from invaract_orchestration.contract.sql_functions import AGGREGATES, ROW_FUNCTIONS, SPELLINGS, UNSTABLE, WINDOWS
from invaract_orchestration.contract.standard_sql import standard_spelling

__all__ = ["ExpressionError", "check_condition", "columns_read", "parse_condition", "parse_sql"]

MAX_CHARACTERS = 20_000
MAX_NESTING = 200
_MAX_BRACKETS = 30
_STATEMENTS = (TokenType.SELECT, TokenType.WITH, TokenType.INSERT, TokenType.UPDATE, TokenType.DELETE)

_NODES: tuple[type[exp.Expr], ...] = (
    exp.Column, exp.Identifier, exp.Dot, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Not, exp.Neg,
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is, exp.In, exp.Between,
    exp.Like, exp.ILike, exp.Escape, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe,
    exp.DataType, exp.DataTypeParam, exp.Interval, exp.Var, exp.Bracket,
)  # fmt: skip
_UNCALLED_FUNCTIONS: tuple[type[exp.Expr], ...] = (
    exp.And, exp.Or, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.RegexpLike, exp.CurrentDate, exp.CurrentTimestamp,
    exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.Extract, exp.Trim,
)  # fmt: skip
"""Functions that have a spelling without `name(...)`, or that the parser puts around an argument."""


def parse_condition(sql: str) -> exp.Expr:
    """The tree of a condition over one row, in the spelling that means the same on every engine.

    Raises:
        ExpressionError: it is no single condition, or it calls what not every engine evaluates alike.
    """
    tree = _parse(sql)
    for error in _refusals(sql, tree):
        raise error
    return standard_spelling(tree)


def check_condition(sql: str, columns: Columns | None) -> list[ExpressionError]:
    """Everything that hinders a text from being a condition over these columns; a type that is not known is none.

    Without columns, what depends on them is not looked at.
    """
    try:
        tree = _parse(sql)
    except ExpressionError as error:
        return [error]
    errors = list(_refusals(sql, tree))
    if columns is None:
        return errors
    errors += unknown_columns(tree, columns)
    if not errors:
        errors = [*ambiguous_types(tree, columns), *mixed_kinds(tree, columns)]
    if not errors and not may_be_condition(tree, columns):
        hint = "compare it with something, such as `amount > 0`"
        errors.append(ExpressionError("expected a condition that is true or false", hint=hint))
    return errors


def _parse(sql: str) -> exp.Expr:
    tree = parse_sql(sql, into=exp.Condition)
    if tree is None:
        raise ExpressionError("expected a condition in Spark SQL, found nothing")
    return tree


def parse_sql(sql: str, into: type[exp.Expr] | None) -> exp.Expr | None:
    """The tree of one Spark SQL text, or none of a blank one.

    Raises:
        ExpressionError: the text is no such SQL, too long or nested too deeply.
    """
    if len(sql) > MAX_CHARACTERS:
        raise ExpressionError(f"the expression is longer than {MAX_CHARACTERS:,} characters")
    tokens: list[Token] = []
    try:
        tokens = tokenize(sql, read="spark")
        tree = None
        if tokens and not _is_nested_too_deeply(tokens):
            tree = parse_one(sql, into=into, read="spark")
    except RecursionError:
        raise _too_deep() from None
    except ParseError as error:
        raise _syntax_error(sql, error, tokens, into) from None
    except (SqlglotError, ValueError, IndexError, AttributeError, TypeError, KeyError) as error:
        # The tokenizer and some function parsers of sqlglot let these through for malformed text.
        raise ExpressionError(f"expected Spark SQL, found {shown(sql)}") from error
    if _is_nested_too_deeply(tokens):
        raise _too_deep()
    return tree if isinstance(tree, exp.Expr) else None


def _too_deep(hint: str | None = None) -> ExpressionError:
    return ExpressionError("the expression is nested too deeply", hint=hint)


def _syntax_error(
    sql: str, error: ParseError, tokens: list[Token], into: type[exp.Expr] | None
) -> ExpressionError:  # fmt: skip
    what = "a condition" if into is exp.Condition else "a query"
    if any(t.token_type is TokenType.SEMICOLON for t in tokens):
        return ExpressionError(f"expected one {what[2:]}, found a ';'", hint=f"write one rule for each {what[2:]}")
    if into is exp.Condition and tokens and tokens[0].token_type in _STATEMENTS:
        hint = "a query belongs to `quality.dataset_rules`"
        return ExpressionError("expected a condition over one row, found a statement", hint=hint)
    details = error.errors[0] if error.errors else {}
    word = str(details.get("highlight") or "").strip()
    offset = _character(sql, details.get("line"), details.get("col")) - len(word)
    found = shown(word) if word else "its end"
    return ExpressionError(f"expected {what} in Spark SQL, found {found} out of place", offset=max(offset, 0))


def _character(sql: str, line: object, column: object) -> int:
    if not isinstance(line, int) or not isinstance(column, int):
        return 0
    lines = sql.split("\n")
    return sum(len(text) + 1 for text in lines[: line - 1]) + column


def _is_nested_too_deeply(tokens: list[Token]) -> bool:
    depth = deepest = prefixes = most_prefixes = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE, TokenType.L_BRACE):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END, TokenType.R_BRACE):
            depth -= 1
        is_prefix = token.token_type in (TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE)
        prefixes = prefixes + 1 if is_prefix else 0
        deepest, most_prefixes = max(deepest, depth), max(most_prefixes, prefixes)
    return deepest > _MAX_BRACKETS or most_prefixes > _MAX_BRACKETS


def _refusals(sql: str, tree: exp.Expr) -> Iterator[ExpressionError]:
    if is_too_high(tree):
        yield _too_deep("a list of values is shorter with IN")
        return
    refused: set[int] = set()
    for node in tree.walk():
        if node.parent is not None and id(node.parent) in refused:
            refused.add(id(node))  # what stands inside of something refused is not told again
            continue
        error = _refusal(sql, node)
        if error is not None:
            refused.add(id(node))
            yield error


def is_too_high(tree: exp.Expr) -> bool:
    """Whether a tree has more levels than what walks it by recursion can take."""
    most, stack = 0, [(tree, 1)]
    while stack:
        node, height = stack.pop()
        most = max(most, height)
        stack.extend((child, height + 1) for child in node.iter_expressions())
    return most > MAX_NESTING


def _refusal(sql: str, node: exp.Expr) -> ExpressionError | None:
    if isinstance(node, exp.Query | exp.Subquery | exp.Exists) or (isinstance(node, exp.In) and node.args.get("query")):
        hint = "a query over many rows belongs to `quality.dataset_rules`"
        message = "a subquery is not possible in a condition over one row"
        return ExpressionError(message, offset=first_offset(node), hint=hint)
    if isinstance(node, exp.Window):
        return ExpressionError("a window is not possible in a condition over one row", offset=first_offset(node.this))
    refusal = called_function_refusal(sql, node, ROW_FUNCTIONS)
    if refusal is not None:
        return refusal
    refusal = argument_refusal(node)
    if refusal is not None:
        return refusal
    is_called = isinstance(node, exp.Func) and (_call(sql, node) or SPELLINGS.get(node.key, node.key)) in ROW_FUNCTIONS
    if is_called or isinstance(node, (*_NODES, *_UNCALLED_FUNCTIONS)):
        return None
    is_parameter = isinstance(node, exp.Placeholder | exp.Parameter)
    what, advice = ("a parameter", "write the value itself") if is_parameter else (f"'{node.key}'", None)
    return ExpressionError(f"{what} is not possible in a condition", offset=first_offset(node), hint=advice)


def called_function_refusal(sql: str, node: exp.Expr, known: frozenset[str]) -> ExpressionError | None:
    """Why a node's call is refused, or none: it is no call, or one of a known function."""
    if not isinstance(node, exp.Func):
        return None
    name: str = _call(sql, node) or (node.name.lower() if isinstance(node, exp.Anonymous) else "")
    if not name:
        if isinstance(node, (*_UNCALLED_FUNCTIONS, exp.Like, exp.ILike, exp.Bracket)) or not _is_value_function(node):
            return None
        name = SPELLINGS.get(node.key, str(node.key))
    if name in known:
        return None
    offset = first_offset(node)
    if name in UNSTABLE:
        return ExpressionError(f"{name}() gives another value each time, so no retry would agree", offset=offset)
    if name in AGGREGATES or name in WINDOWS:
        hint = "an aggregate belongs to `quality.dataset_rules`" if name in AGGREGATES else None
        return ExpressionError(f"{name}() needs more than one row", offset=offset, hint=hint)
    like = nearest(name, known)
    hint = f"did you mean '{like}'?" if like else "docs/rules.md lists the functions that every engine evaluates alike"
    return ExpressionError(f"unknown function {shown(name)}", offset=offset, hint=hint)


def _is_value_function(node: exp.Expr) -> bool:
    return not isinstance(node, exp.Connector | exp.Predicate | exp.Binary)


def _call(sql: str, node: exp.Expr) -> str:
    """The name under which a function is called in the text, or nothing when it is written without a call."""
    start, end = node.meta.get("start"), node.meta.get("end")
    if start is None or end is None:
        return ""
    return sql[start : end + 1].strip("`").lower()


def argument_refusal(node: exp.Expr) -> ExpressionError | None:
    """Why a pattern or a part of a date, which have to be constants that every engine knows, is refused; none otherwise."""
    if isinstance(node, exp.RegexpLike):
        return _pattern_refusal(node)
    return _field_refusal(node) if is_date_part(node) and named_field(node) is None else None


def _field_refusal(node: exp.Expr) -> ExpressionError:
    name = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    known = ", ".join(sorted(set(FIELDS.values())))
    message = f"expected a part of a date, found {shown(name.name)}"
    return ExpressionError(message, offset=first_offset(node), hint=f"one of {known}")


def _pattern_refusal(node: exp.RegexpLike) -> ExpressionError | None:
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return ExpressionError("the pattern of rlike has to be a text in quotes", offset=first_offset(pattern))
    try:
        check_pattern(pattern.name)
    except PatternError as error:
        return ExpressionError(f"pattern of rlike: {error}", offset=first_offset(pattern), hint=error.hint)
    return None
