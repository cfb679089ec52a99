"""The task that submits a batch to the gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from airflow.providers.common.compat.sdk import AirflowSkipException, Asset, BaseOperator, determine_kwargs

from airflow_plugin.announcements import is_announced, is_left_to
from airflow_plugin.exceptions import ContractBlocked, GateMisused, GateUnavailable
from airflow_plugin.hooks import InvaractHook
from airflow_plugin.links import ContractAuditLink
from airflow_plugin.origin import frame_id, origin_of
from airflow_plugin.reports import XCOM_KEY, asset_extra, sentence_of, summarize
from airflow_plugin.transforms import asks_for, import_function, is_query, read_query, with_rows

if TYPE_CHECKING:
    from airflow.providers.common.compat.sdk import Context

    from invaract_orchestration.audit.log import AttemptView
    from invaract_orchestration.audit.records import Counts
    from invaract_orchestration.audit.result import GateResult


class ContractGateOperator(BaseOperator):
    """Checks a batch against its contract and publishes it when every blocking check is kept.

    A rejected batch fails the task at once, with `ContractBlocked`, or skips it with `on_fail="skip"`; a gate that could not
    judge fails it with `GateUnavailable`, and the task's retries apply. The asset event of the outlets is emitted once per
    published submission, and never for a batch that was not published.

    Args:
        contract: path of the contract's file.
        source: place of the batch, instead of the contract's.
        parameters: texts for the `{name}`s of the contract.
        transform: the code that makes the rows: a file of Spark SQL (`.sql`, relative to the contract's folder), or the dotted
            name of a function, which gets what it asks for of the task's context and `parameters`, and returns a frame. One
            that asks for `rows` (and `session`) gets the checked good rows of the contract's source.
        target: the table, instead of the contract's.
        environment: which environment of the contract applies.
        engine: which engine runs the gate, instead of the configured one.
        submission_id: name of the batch, instead of the one that its content gives; a frame without one is named after DAG,
            task, partition or logical date, and map index.
        supersede: publish a correction of a slice that a contract of mode `append` has published before.
        on_fail: whether a rejected batch fails the task or skips it.
        invaract_conn_id: connection of the audit store; without one, Airflow's configuration and the environment say.
        storage_conn_id: connection of the lake's storage.
        outlets: assets to announce a publication with; by default one, named after the contract's file, and for a mapped task
            none, as Airflow has to know them before it is mapped.
    """

    template_fields: Sequence[str] = (
        "contract", "source", "parameters", "transform", "target", "environment", "engine", "submission_id",
    )  # fmt: skip
    template_fields_renderers: ClassVar[dict[str, str]] = {"parameters": "json"}
    operator_extra_links = (ContractAuditLink(),)
    ui_color = "#d7e8e0"

    def __init__(
        self,
        *,
        contract: str | PathLike[str],
        source: str | None = None,
        parameters: Mapping[str, str] | None = None,
        transform: str | None = None,
        target: str | None = None,
        environment: str | None = None,
        engine: str | None = None,
        submission_id: str | None = None,
        supersede: bool = False,
        on_fail: Literal["fail", "skip"] = "fail",
        invaract_conn_id: str | None = None,
        storage_conn_id: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs if "outlets" in kwargs else {"outlets": default_outlets(contract), **kwargs})
        if on_fail not in ("fail", "skip"):
            raise ValueError(f"on_fail: expected 'fail' or 'skip', found {on_fail!r}")
        self.contract = str(contract) if isinstance(contract, PathLike) else contract
        self.source = source
        self.parameters = parameters
        self.transform = transform
        self.target = target
        self.environment = environment
        self.engine = engine
        self.submission_id = submission_id
        self.supersede = supersede
        self.on_fail = on_fail
        self.invaract_conn_id = invaract_conn_id
        self.storage_conn_id = storage_conn_id
        self._result: GateResult | None = None

    def execute(self, context: Context) -> dict[str, Any]:
        """Submit the batch; the report is the task's XCom, also under `contract_gate` when the task fails."""
        result = self._result = self._submit(context)
        context["ti"].xcom_push(key=XCOM_KEY, value=summarize(result))
        self._fail_unless_done(result)
        self._announce(context, result)
        return summarize(result)

    def get_openlineage_facets_on_complete(self, task_instance: Any) -> Any:
        """The checks as assertions on the input; the target and its column lineage only when it was published to."""
        from airflow_plugin.lineage import operator_lineage

        return operator_lineage(self, self._result)

    def get_openlineage_facets_on_failure(self, task_instance: Any) -> Any:
        """As for a task that completes: a blocked batch has assertions and no output."""
        return self.get_openlineage_facets_on_complete(task_instance)

    def hook(self) -> InvaractHook:
        """The hook of the task's connections."""
        return InvaractHook(self.invaract_conn_id, self.storage_conn_id)

    @property
    def is_frame(self) -> bool:
        """Whether the rows come from a function rather than from files or tables."""
        return self.transform is not None and not is_query(self.transform)

    def _submit(self, context: Context) -> GateResult:
        from invaract_orchestration.contract.load import load_contract

        self._check_rendered()
        with self.hook().gate(engine=self.engine, tell=self.log.info) as gate:
            contract = load_contract(self.contract, env=self.environment)
            return gate.run(
                contract, source=self.source, target=self.target, parameters=dict(self.parameters or {}),
                environment=self.environment, supersede=self.supersede, context=origin_of(context), **self._rows(context),
            )  # fmt: skip

    def _check_rendered(self) -> None:
        """What the templates gave: another task's output, or a native one, may be of any type."""
        if self.parameters is not None and not isinstance(self.parameters, Mapping):
            raise GateMisused("parameters: expected texts by name\nHint: give a dict whose values are texts or templates")
        texts = {name: getattr(self, name) for name in ContractGateOperator.template_fields if name != "parameters"}
        for name, value in texts.items():
            if not isinstance(value, str | PathLike) and (value is not None or name == "contract"):
                raise GateMisused(f"{name}: expected a text, found {type(value).__name__}\nHint: look at the rendered templates")

    def _rows(self, context: Context) -> dict[str, Any]:
        """Where the rows come from when it is not the contract's source, and the submission's id."""
        transform, given = self.transform, self.submission_id
        if transform is None:
            return {"submission_id": given}
        if is_query(transform):
            return {"submission_id": given, "transform": read_query(transform, self.contract)}
        return self._frame(context, import_function(transform), [], {})

    def _frame(self, context: Context, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        known = {**context, "parameters": dict(self.parameters or {}), **kwargs}
        if asks_for(function, "rows"):
            return {"submission_id": self.submission_id, "transform": with_rows(function, args, known)}
        frame = function(*args, **determine_kwargs(function, args, known))
        return {"submission_id": self.submission_id or frame_id(context), "frame": frame}

    def _fail_unless_done(self, result: GateResult) -> None:
        if result.state == "rejected" and self.on_fail == "skip":
            raise AirflowSkipException(sentence_of(result))
        if result.state == "rejected":
            raise ContractBlocked(sentence_of(result), result)
        if result.state not in ("published", "no_op") or not result.is_recorded:
            raise GateUnavailable(sentence_of(result), result)

    def _announce(self, context: Context, result: GateResult) -> None:
        """Say what was published with each outlet that does not know of it; Airflow emits an event for each that is left."""
        first = self._first(result)
        if result.publication is None or (first is not None and is_left_to(first.attempt, origin_of(context))):
            self.outlets = []
            return
        self.outlets = [o for o in self.outlets if not is_announced(o, result.publication)]
        extra = asset_extra(result, _counts(result, first)) if self.outlets else {}
        for outlet in self.outlets:
            context["outlet_events"][outlet].extra = extra

    def _first(self, result: GateResult) -> AttemptView | None:
        """The attempt that published, when it is another one than this."""
        if result.publication is None or result.publication.attempt_id == result.attempt_id:
            return None
        with self.hook().audit() as store:
            return store.attempt(result.publication.attempt_id)


def _counts(result: GateResult, first: AttemptView | None) -> Counts:
    found = first and (first.outcome or first.verdict)
    return found.counts if found else result.counts


def default_outlets(contract: object) -> list[Asset]:
    """One asset named after the contract's file; none when the file is only known at run time."""
    path = str(contract) if isinstance(contract, str | PathLike) else ""
    name = path.rsplit("/", 1)[-1].removesuffix(".yaml").removesuffix(".yml")
    return [] if not name or "{" in path else [Asset(name=name)]
