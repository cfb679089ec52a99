"""The rows that were kept aside, as an asset: how many, and which rules they broke. Never a row."""

from collections import Counter
from pathlib import Path
from typing import Any

import dagster as dg

from dagster_defs.blocked import gate_blocked_condition
from dagster_defs.resource import ContractGateResource
from dagster_defs.slices import Parameters, parameters_of, partition_of
from dagster_defs.translator import ContractTranslator
from invaract_orchestration.contract.load import load_contract
from invaract_orchestration.contract.model import Contract
from invaract_orchestration.errors import UsageError
from invaract_orchestration.intake.parameters import fill, placeholders
from invaract_orchestration.intake.places import quarantine_place, table_place

_COLUMNS = ["submission_id", "kind", "rule_ids"]
_MOST = 60


def quarantine_asset(
    contract: Contract | str | Path, *, candidate: Any = None, key: Any = None, group_name: str | None = None,
    partitions_def: dg.PartitionsDefinition[str] | None = None, parameters: Parameters | None = None,
    automation_condition: dg.AutomationCondition[Any] | None = None, resource_key: str = "contract_gate",
) -> dg.AssetsDefinition:  # fmt: skip
    """An asset downstream of a candidate that counts its quarantine by rule and by submission.

    It runs by itself when a check of the candidate has failed; another `automation_condition` says otherwise.

    Raises:
        ContractError: the contract's file cannot be used.
    """
    agreed = contract if isinstance(contract, Contract) else load_contract(contract)
    spec = ContractTranslator().get_candidate_spec(agreed)
    above = dg.AssetKey.from_coercible(candidate) if candidate is not None else spec.key
    base = above.path[-1].removesuffix("_candidate")
    own = dg.AssetKey.from_coercible(key) if key is not None else dg.AssetKey([*above.path[:-1], f"{base}_quarantine"])

    @dg.asset(
        key=own, deps=[above], group_name=group_name, kinds={"delta"}, partitions_def=partitions_def,
        automation_condition=automation_condition or gate_blocked_condition(), required_resource_keys={resource_key},
        description=f"Rows of {agreed.contract} that were kept aside, counted by rule.",
    )  # fmt: skip
    def counts(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
        resource: ContractGateResource = getattr(context.resources, resource_key)
        return dg.MaterializeResult(metadata=_counts(resource, agreed, partition_of(context, partitions_def), parameters))

    return counts


def _counts(
    resource: ContractGateResource, contract: Contract, partition: str | None, given: Parameters | None
) -> dict[str, Any]:
    from invaract_orchestration.wiring import quarantined_rows, table_locator  # nothing heavy is loaded with the definitions

    placed, settings = resource.placed(contract), resource.settings()
    root, locate = settings.lake_root, table_locator(settings)
    if placed.publish is None:
        raise UsageError(f"contract {contract.contract}: no target is named", hint="add publish.target")
    wanted = placeholders(placed.publish.target)
    values = parameters_of(placed, partition, given) if wanted else {}
    target = table_place(fill(placed.publish.target, values), base=placed.base, lake_root=root, locate=locate)
    place = quarantine_place(placed, target, lake_root=root, locate=locate)
    rows = quarantined_rows(place, _COLUMNS)
    rules = Counter(rule for row in rows for rule in row["rule_ids"])
    submissions = Counter((str(row["submission_id"]), str(row["kind"])) for row in rows)
    return {
        "dagster/row_count": len(rows),
        "dagster/uri": place,
        **{f"invaract/rows/{rule}": count for rule, count in rules.most_common(_MOST)},
        "invaract/by_submission": dg.MetadataValue.table(
            [
                dg.TableRecord({"submission": submission, "kind": kind, "rows": count})
                for (submission, kind), count in submissions.most_common(_MOST)
            ],
            schema=dg.TableSchema(columns=[dg.TableColumn("submission"), dg.TableColumn("kind"), dg.TableColumn("rows", "int")]),
        ),
    }
