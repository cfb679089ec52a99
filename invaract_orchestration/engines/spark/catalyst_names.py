"""The names under which columns are shown: Spark makes one of an expression's text, and with it of its literals."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal as Number

from invaract_orchestration.candidate.plan.expressions import (
    Attribute,
    Cast,
    ColumnReference,
    Expression,
    Literal,
)
from invaract_orchestration.candidate.plan.render import generated_name
from invaract_orchestration.candidate.plan.traverse import walk
from invaract_orchestration.contract.field_types import STRING, Primitive
from invaract_orchestration.engines.spark.catalyst_tree import CatalystNode, Json, children_first

_MADE: Json = {}  # the metadata of a name that the analyser made itself; one that was written has none


class ShownNames:
    """The names of one plan's columns, each without the literals of the code."""

    def __init__(self) -> None:
        self._shown: dict[int, str] = {}
        self._texts: dict[int, tuple[str, ...]] = {}  # by column: what a name made of that column's name may show

    def of(self, column: Attribute) -> str:
        """The name of a column that is read."""
        return self._shown.get(column.id, column.name)

    def under(self, column: Attribute, name: str) -> Attribute:
        """A column that stands for one with that name."""
        if column.name == name:
            return column
        self._shown[column.id] = name
        self._texts[column.id] = (column.name,)
        return Attribute(column.id, name, column.type)

    def same(self, column: int, below: Attribute) -> Attribute:
        """A column of which only the id is told, standing for one below."""
        if below.id in self._shown:
            self._shown[column], self._texts[column] = below.name, self._texts[below.id]
        return Attribute(column, below.name, below.type)

    def shown(self, alias: CatalystNode, column: Attribute, expression: Expression) -> Attribute:
        """The column of an alias, under another name where its own shows a literal."""
        is_window = alias.children[0].kind == "WindowExpression"
        texts = (*self._read_by(expression), *(self._of_window(alias.children[0]) if is_window else ()))
        if column.name.startswith("_"):  # the analyser's own for a part of an expression
            self._texts[column.id] = texts
        if not _shows(alias, column.name, expression, texts):
            return column
        return self.under(column, "window" if is_window else generated_name(expression))

    def _read_by(self, expression: Expression) -> Iterator[str]:
        for one in walk(expression):
            if isinstance(one, Literal) and one.value is not None and not isinstance(one.value, bool):
                yield _text(one)
            elif isinstance(one, ColumnReference):
                yield from self._texts.get(one.id, ())

    def _of_window(self, window: CatalystNode) -> Iterator[str]:
        """Of PARTITION BY, ORDER BY and the frame."""
        for one in children_first(window.children[1]):
            if one.kind == "Literal" and one.fields.get("value") is not None:
                yield str(one.fields["value"])
            elif one.kind == "AttributeReference":
                yield from self._texts.get(int(one.fields["exprId"]["id"]), ())


def _shows(alias: CatalystNode, name: str, expression: Expression, texts: tuple[str, ...]) -> bool:
    """Whether a name shows one of the texts. A name of one word was written, except that of a bare literal."""
    if not texts:
        return False
    if not name.replace("_", "").isalnum() or name.isdigit():
        return alias.fields.get("explicitMetadata") == _MADE or any(text in name for text in texts if text)
    while isinstance(expression, Cast):
        expression = expression.child
    return isinstance(expression, Literal | ColumnReference) and name in texts


def _text(literal: Literal) -> str:
    """What surely stands in such a name: the literal, or a part of the form in which Spark writes it there."""
    if isinstance(literal.value, Number) and isinstance(literal.type, Primitive):
        return f"{literal.value.normalize():E}".partition("E")[0]  # 15000000000 of a double is 1.5E10
    if isinstance(literal.value, int | float | Number) or literal.type == STRING:
        return str(literal.value)
    return "'"  # dates, intervals and bytes are quoted
