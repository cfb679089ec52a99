"""Gates written as YAML: one entry for each contract, checked by `dg check defs`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import dagster as dg
from dagster.components.resolved.core_models import (
    DailyPartitionsDefinitionModel,
    HourlyPartitionsDefinitionModel,
    StaticPartitionsDefinitionModel,
    TimeWindowPartitionsDefinitionModel,
    WeeklyPartitionsDefinitionModel,
    resolve_partitions_def,
)
from dagster.components.utils.translation import TranslationFn, TranslationFnResolver

from dagster_defs.asset import contract_asset
from dagster_defs.names import check_name
from dagster_defs.quarantine import quarantine_asset
from dagster_defs.resource import ContractGateResource
from dagster_defs.translator import ContractTranslator
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract

Partitions = Annotated[
    dg.PartitionsDefinition[Any] | None,
    dg.Resolver(
        resolve_partitions_def,
        description="The partitions; their keys fill the contract's {name}s.",
        model_field_type=HourlyPartitionsDefinitionModel
        | DailyPartitionsDefinitionModel
        | WeeklyPartitionsDefinitionModel
        | TimeWindowPartitionsDefinitionModel
        | StaticPartitionsDefinitionModel,
    ),
]
Translation = Annotated[
    TranslationFn[Contract],
    TranslationFnResolver[Contract](lambda contract: {"contract": contract}),
]


@dataclass
class Gate(dg.Resolvable):
    """One gated table. `contract` and `source` start at the folder of the YAML file; `producer` is `module:function`."""

    contract: str
    producer: str | None = None
    source: str | None = None
    key: str | None = None
    group_name: str | None = None
    partitions: Partitions = None
    parameters: dict[str, str] | None = None
    deps: Sequence[str] = field(default_factory=list)
    max_retries: int = 0
    pool: str | None = None
    quarantine: bool = False


class Settings(dg.Resolvable, dg.Model):
    """Where the gate is; what is left out comes from the INVARACT_* environment variables."""

    lake_root: str | None = None
    audit_url: str | None = None
    ui_url: str | None = None
    environment: str | None = None


class ContractGateScaffolder(dg.Scaffolder[Any]):
    """Writes `defs.yaml`, a commented contract and a folder for its input."""

    def scaffold(self, request: dg.ScaffoldRequest[Any]) -> None:
        """Write the files."""
        from invaract_orchestration.contract.template import FileDraft, draft_contract

        name = request.target_path.name
        text = draft_contract(name, FileDraft(format="csv", columns=()), "in/*.csv", target=f"reporting.{name}")
        contract = request.target_path / "contract.yaml"
        if not contract.exists():
            contract.write_text(text.replace("  []\n", "  - {name: id, type: bigint, required: true}\n"), encoding="utf-8")
        dg.scaffold_component(request, yaml_attributes={"gates": [{"contract": contract.name}], "settings": {}})


@dg.scaffold_with(ContractGateScaffolder)
@dataclass
class ContractGateComponent(dg.Component, dg.Resolvable):
    """Tables that are published only when their contract is kept.

    With `settings`, also empty ones, the component brings a resource of its own that opens the gate; without, the project's
    definitions have one under `resource_key`. `translation` changes the published assets.
    """

    gates: Sequence[Gate]
    settings: Settings | None = None
    resource_key: str = "contract_gate"
    translation: Translation | None = None

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Assets and checks of every gate."""
        key = self.resource_key
        resources = {}
        if self.settings is not None:
            # two components may have other settings, and Dagster knows one resource for each key
            key = f"{key}__{check_name(context.path.relative_to(context.project_root).as_posix())}"
            resources[key] = ContractGateResource(**self.settings.model_dump())
        assets = [asset for gate in self.gates for asset in self._assets(gate, context.path, key)]
        return dg.Definitions(assets=assets, resources=resources)

    def _assets(self, gate: Gate, folder: Path, resource_key: str) -> list[dg.AssetsDefinition]:
        contract = load_contract(folder / gate.contract)
        build = contract_asset(
            contract, source=gate.source, key=_key(gate.key), name=gate.key or contract.contract,
            group_name=gate.group_name, partitions_def=gate.partitions, parameters=gate.parameters,
            deps=[dg.AssetKey.from_user_string(d) for d in gate.deps] or None, pool=gate.pool,
            retry_policy=dg.RetryPolicy(max_retries=gate.max_retries) if gate.max_retries else None,
            translator=_Translated(self.translation), resource_key=resource_key,
        )  # fmt: skip
        published = build(_producer(gate, contract))
        if not gate.quarantine:
            return [published]
        candidate = next(iter(published.check_keys)).asset_key
        aside = quarantine_asset(
            contract, candidate=candidate, group_name=gate.group_name, partitions_def=gate.partitions,
            parameters=gate.parameters, resource_key=resource_key,
        )  # fmt: skip
        return [published, aside]


class _Translated(ContractTranslator):
    """The usual specs with the changes that the YAML asks for."""

    def __init__(self, change: Any) -> None:
        self._change = change

    def get_asset_spec(self, contract: Contract) -> dg.AssetSpec:
        spec = super().get_asset_spec(contract)
        changed: dg.AssetSpec = spec if self._change is None else self._change(spec, contract)
        return changed


def _key(text: str | None) -> dg.AssetKey | None:
    return None if text is None else dg.AssetKey.from_user_string(text)


def _producer(gate: Gate, contract: Contract) -> Any:
    if gate.producer is None:

        def from_source() -> None:
            """The contract's own source says where the rows are."""

        return from_source
    module, _, name = gate.producer.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise dg.DagsterInvalidDefinitionError(
            f"contract {contract.contract}: there is no producer {gate.producer!r}. Hint: write module:function"
        ) from error
