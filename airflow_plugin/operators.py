"""The task that submits a batch to the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from airflow.providers.common.compat.sdk import AirflowSkipException, Asset, BaseOperator

from airflow_plugin.exceptions import ContractBlocked, GateMisused, GateUnavailable
from airflow_plugin.origin import origin_of
from airflow_plugin.reports import XCOM_KEY, asset_extra, sentence_of, summarize

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context

    from invaract_orchestration.audit.result import GateResult


class ContractGateOperator(BaseOperator):
    """Checks a batch against its contract and publishes it when every blocking check is kept.

    A rejected batch fails the task at once, with `ContractBlocked`, or skips it with `on_fail="skip"`; a gate that could not
    judge fails it with `GateUnavailable`, and the task's retries apply. The asset event of the outlets is emitted only when
    the batch is published.

    Args:
        contract: path of the contract's file.
        source: place of the batch, instead of the contract's.
        parameters: texts for the `{name}`s of the contract.
        target: the table, instead of the contract's.
        environment: which environment of the contract applies.
        submission_id: name of the batch, instead of the one that its content gives.
        supersede: publish a correction of a slice that a contract of mode `append` has published before.
        on_fail: whether a rejected batch fails the task or skips it.
        outlets: assets to announce a publication with; by default one, named after the contract's file.
    """

    template_fields: Sequence[str] = ("contract", "source", "parameters", "target", "environment", "submission_id")
    ui_color = "#d7e8e0"

    def __init__(
        self,
        *,
        contract: str,
        source: str | None = None,
        parameters: Mapping[str, str] | None = None,
        target: str | None = None,
        environment: str | None = None,
        submission_id: str | None = None,
        supersede: bool = False,
        on_fail: Literal["fail", "skip"] = "fail",
        outlets: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(outlets=default_outlets(contract) if outlets is None else outlets, **kwargs)
        self.contract = contract
        self.source = source
        self.parameters = parameters
        self.target = target
        self.environment = environment
        self.submission_id = submission_id
        self.supersede = supersede
        self.on_fail = on_fail

    def execute(self, context: Context) -> dict[str, Any]:
        """Submit the batch; the report is the task's XCom, also under `contract_gate` when the task fails."""
        result = self._submit(context)
        context["ti"].xcom_push(key=XCOM_KEY, value=summarize(result))
        self._fail_unless_done(result)
        if result.publication is None:
            self.outlets = []  # success without an event: there is nothing new for a consumer
        for outlet in self.outlets:
            context["outlet_events"][outlet].extra = asset_extra(result)
        return summarize(result)

    def _submit(self, context: Context) -> GateResult:
        from invaract_orchestration.contract.load import load_contract
        from invaract_orchestration.errors import ContractError, InvaractError, MissingExtra, UsageError
        from invaract_orchestration.wiring import open_gate

        try:
            with open_gate(tell=self.log.info) as gate:
                return gate.run(
                    load_contract(self.contract, env=self.environment), source=self.source, target=self.target,
                    parameters=dict(self.parameters or {}), environment=self.environment,
                    submission_id=self.submission_id, supersede=self.supersede, context=origin_of(context),
                )  # fmt: skip
        except (ContractError, UsageError, MissingExtra) as error:
            raise GateMisused(str(error)) from None
        except InvaractError as error:
            raise GateUnavailable(str(error)) from None

    def _fail_unless_done(self, result: GateResult) -> None:
        if result.state == "rejected" and self.on_fail == "skip":
            raise AirflowSkipException(sentence_of(result))
        if result.state == "rejected":
            raise ContractBlocked(sentence_of(result), result)
        if result.state not in ("published", "no_op") or not result.is_recorded:
            raise GateUnavailable(sentence_of(result), result)


def default_outlets(contract: str) -> list[Asset]:
    """One asset named after the contract's file; none when the file is only known at run time."""
    name = contract.rsplit("/", 1)[-1].removesuffix(".yaml").removesuffix(".yml")
    return [] if not name or "{" in contract else [Asset(name=name)]
