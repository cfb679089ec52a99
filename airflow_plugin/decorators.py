"""`@task.contract_gate`: the function makes the rows, the gate judges and publishes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from airflow.providers.common.compat.sdk import DecoratedOperator, task_decorator_factory

from airflow_plugin.operators import ContractGateOperator

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context, TaskDecorator


class _ContractGateDecoratedOperator(DecoratedOperator, ContractGateOperator):
    """A gate whose rows are what a function returns: an Arrow table, a pandas or a polars frame."""

    template_fields: Sequence[str] = (*DecoratedOperator.template_fields, *ContractGateOperator.template_fields)
    template_fields_renderers: ClassVar[dict[str, str]] = {
        **DecoratedOperator.template_fields_renderers, **ContractGateOperator.template_fields_renderers,
    }  # fmt: skip
    custom_operator_name: str = "@task.contract_gate"

    def __init__(
        self,
        *,
        python_callable: Callable[..., Any],
        op_args: Collection[Any] | None = None,
        op_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(python_callable=python_callable, op_args=op_args, op_kwargs=op_kwargs, **kwargs)

    def execute(self, context: Context) -> dict[str, Any]:
        """Run the function and submit what it returns."""
        return ContractGateOperator.execute(self, context)

    @property
    def is_frame(self) -> bool:
        """Always: the function's frame."""
        return True

    def _rows(self, context: Context) -> dict[str, Any]:
        return self._frame(context, self.python_callable, list(self.op_args), self.op_kwargs)


def contract_gate_task(python_callable: Callable[..., Any] | None = None, **kwargs: Any) -> TaskDecorator:
    """Make a function the source of a gate; takes what `ContractGateOperator` takes, `source` and `transform` aside."""
    return task_decorator_factory(
        python_callable=python_callable, decorated_operator_class=_ContractGateDecoratedOperator, **kwargs
    )
