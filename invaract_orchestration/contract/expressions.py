"""Row rules and predicates: Spark SQL conditions, parsed once; what could not be evaluated alike everywhere is refused.

What an expression reads is decided on the parsed tree, never on its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sqlglot import Token, TokenType, exp, parse_one, tokenize
from sqlglot.errors import ParseError, SqlglotError

from invaract_orchestration.contract import field_types as ft
from invaract_orchestration.contract.patterns import PatternError, check_pattern
from invaract_orchestration.contract.report import nearest, shown, suggest
from invaract_orchestration.contract.sql_functions import AGGREGATES, ROW_FUNCTIONS, UNSTABLE, WINDOWS

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

_NEVER_A_CONDITION: tuple[type[exp.Expr], ...] = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe, exp.Neg, exp.Interval, exp.CurrentDate,
    exp.CurrentTimestamp, exp.Length, exp.Lower, exp.Upper, exp.Trim, exp.Abs, exp.Round, exp.Concat, exp.Substring,
    exp.Year, exp.Month, exp.Day, exp.TsOrDsToDate, exp.DateDiff, exp.ArraySize,
)  # fmt: skip


class ExpressionError(ValueError):
    """An expression that cannot be a rule; `offset` is the character of its text at which that shows."""

    def __init__(self, sentence: str, *, offset: int = 0, hint: str | None = None) -> None:
        self.offset = offset
        self.hint = hint
        super().__init__(sentence)


def parse_condition(sql: str) -> exp.Expr:
    """The tree of a condition over one row. `isnull`, `isnotnull` and `now` come out in their standard spelling.

    Raises:
        ExpressionError: it is no single condition, or it calls what not every engine evaluates alike.
    """
    tree = _parse(sql)
    for error in _refusals(sql, tree):
        raise error
    return standard_spelling(tree)


def columns_read(expression: exp.Expr, columns: Iterable[str] = ()) -> frozenset[str]:
    """The columns that an expression reads, in the spelling of `columns` where they are known; `a.b` reads `a`.

    Without `columns` the first part of each name is taken as written.
    """
    known = {name.lower(): name for name in columns}
    found = set()
    for node in expression.find_all(exp.Column):
        parts = [part.name for part in node.parts]
        found.add(_resolve(parts, known)[0] or parts[0])
    return frozenset(found)


def check_condition(sql: str, columns: Mapping[str, ft.FieldType | None]) -> list[ExpressionError]:
    """Everything that hinders a text from being a condition over these columns; a type that is not known is none."""
    try:
        tree = _parse(sql)
    except ExpressionError as error:
        return [error]
    errors = [*_refusals(sql, tree), *unknown_columns(tree, columns)]
    if not errors and not _may_be_condition(tree, columns):
        hint = "compare it with something, such as `amount > 0`"
        errors.append(ExpressionError("expected a condition that is true or false", hint=hint))
    return errors


def unknown_columns(tree: exp.Expr, columns: Mapping[str, ft.FieldType | None]) -> Iterator[ExpressionError]:
    """An error for each name in the tree that is neither one of the columns nor a field inside of one."""
    known = {name.lower(): name for name in columns}
    for node in tree.find_all(exp.Column):
        identifiers = node.parts
        parts = [part.name for part in identifiers]
        offset = first_offset(identifiers[0])
        name, rest = _resolve(parts, known)
        if name is None:
            hint = suggest(parts[0], columns, "columns")
            yield ExpressionError(f"unknown column {shown('.'.join(parts))}", offset=offset, hint=hint)
            continue
        yield from _unknown_fields(name, columns[name], rest, offset)


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


def _too_deep() -> ExpressionError:
    return ExpressionError("the expression is nested too deeply")


def _syntax_error(
    sql: str, error: ParseError, tokens: list[Token], into: type[exp.Expr] | None
) -> ExpressionError:  # fmt: skip
    what = "a condition" if into is exp.Condition else "a query"
    if any(t.token_type is TokenType.SEMICOLON for t in tokens):
        return ExpressionError(f"expected {what}, found a ';'", hint=f"write one rule for each {what[2:]}")
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
    if _height(tree) > MAX_NESTING:
        yield ExpressionError("the expression is nested too deeply", hint="a list of values is shorter with IN")
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


def _height(tree: exp.Expr) -> int:
    most, stack = 0, [(tree, 1)]
    while stack:
        node, height = stack.pop()
        most = max(most, height)
        stack.extend((child, height + 1) for child in node.iter_expressions())
    return most


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
    if isinstance(node, exp.RegexpLike):
        return _pattern_refusal(node)
    is_called = isinstance(node, exp.Func) and bool(_call(sql, node))
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
        name = str(node.key)
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


def _pattern_refusal(node: exp.RegexpLike) -> ExpressionError | None:
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return ExpressionError("the pattern of rlike has to be a text in quotes", offset=first_offset(pattern))
    try:
        check_pattern(pattern.name)
    except PatternError as error:
        return ExpressionError(f"pattern of rlike: {error}", offset=first_offset(pattern), hint=error.hint)
    return None


def first_offset(node: exp.Expr | None) -> int:
    """Where a node begins in the text, as far as the parser says."""
    if node is None:
        return 0
    starts = [n.meta["start"] for n in (node, *node.walk()) if "start" in n.meta]
    return min(starts, default=0)


def _resolve(parts: list[str], known: Mapping[str, str]) -> tuple[str | None, list[str]]:
    """The column that a dotted name begins with, and the names after it; a column with dots in its name comes first."""
    for taken in range(len(parts), 0, -1):
        name = known.get(".".join(parts[:taken]).lower())
        if name is not None:
            return name, parts[taken:]
    return None, parts


def _unknown_fields(
    name: str, type_: ft.FieldType | None, rest: list[str], offset: int
) -> Iterator[ExpressionError]:  # fmt: skip
    above = name
    for part in rest:
        if type_ is None:
            return
        if not isinstance(type_, ft.Struct):
            yield ExpressionError(f"'{above}' is of type {type_}, which has no field '{part}'", offset=offset)
            return
        found = next(((n, t) for n, t in type_.fields if n.lower() == part.lower()), None)
        if found is None:
            hint = suggest(part, [n for n, _ in type_.fields], "fields")
            yield ExpressionError(f"unknown field '{part}' in '{above}'", offset=offset, hint=hint)
            return
        above, type_ = f"{above}.{found[0]}", found[1]


def _may_be_condition(tree: exp.Expr, columns: Mapping[str, ft.FieldType | None]) -> bool:
    node = tree.unnest()
    if isinstance(node, (exp.Literal, exp.Null, *_NEVER_A_CONDITION)):
        return False
    if isinstance(node, exp.Cast | exp.TryCast):
        return bool(node.to.is_type("boolean"))
    if isinstance(node, exp.Column):
        name, rest = _resolve([p.name for p in node.parts], {n.lower(): n for n in columns})
        type_ = columns.get(name) if name is not None and not rest else None
        return type_ is None or type_ == ft.BOOLEAN
    return True


def standard_spelling(tree: exp.Expr) -> exp.Expr:
    """The tree with `isnull`, `isnotnull` and `now`, which not every engine has, in their standard form."""

    def spelled(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Anonymous):
            return node
        name, arguments = node.name.lower(), node.expressions
        if name in ("isnull", "isnotnull") and len(arguments) == 1:
            is_null = exp.Is(this=exp.paren(arguments[0], copy=False), expression=exp.Null())
            return exp.paren(is_null if name == "isnull" else exp.Not(this=is_null), copy=False)
        return exp.CurrentTimestamp() if name == "now" and not arguments else node

    return tree.transform(spelled)
