"""A text in double quotes that is the name of a column."""

from __future__ import annotations

import pytest

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import ContractError

HEAD = 'contract: c\nversion: "1.0.0"\nfields: [{name: n, type: int}, {name: State, type: string}]\n'


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("quality: {row_rules: [{name: r, sql: '\"n\" IS NOT NULL'}]}\n", "4:38: quality.row_rules.r.sql: \"n\""),
        ("quality: {row_rules: [{name: r, sql: 'State = \"state\"'}]}\n", "4:47: quality.row_rules.r.sql: \"state\""),
        (
            "quality: {dataset_rules: [{name: r, sql: 'select count(\"n\") from candidate', must_be: {at_least: 1}}]}\n",
            "4:56: quality.dataset_rules.r.sql: \"n\"",
        ),
        ("transformations: [{filter: {sql: '\"n\" <> 1'}}]\n", "4:34: transformations[0].filter.sql: \"n\""),
        ("transformations: [{sql: 'select \"x\", n, State from source where x > 1'}]\n", "4:33: transformations[0].sql: \"x\""),
        ("publish: {mode: replace_where, target: t, where: '\"n\" IS NULL'}\n", "4:50: publish.where: \"n\""),
    ],
)  # fmt: skip
def test_text_in_double_quotes_that_is_a_column_is_refused(body: str, place: str) -> None:
    with pytest.raises(ContractError) as caught:
        load_contract_text(HEAD + body, file="c.yaml")
    assert f"c.yaml:{place} is a text in Spark SQL, and there is a column of that name" in str(caught.value)


@pytest.mark.parametrize("text", ['State = "final"', "State = 'n'", '`n` > 1 and State <> "open"'])
def test_other_text_in_double_quotes_is_a_text(text: str) -> None:
    contract = load_contract_text(HEAD + f"quality:\n  row_rules:\n  - name: r\n    sql: |-\n      {text}\n")
    assert contract.quality.row_rules[0].sql == text
