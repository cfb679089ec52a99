"""Every problem of a contract, with its place, in one grammar, all at once."""


from __future__ import annotations

import pytest

from invaract_orchestration.contract.load import load_contract_text
from invaract_orchestration.errors import ContractError

MANY = """\
contract: orders
version: 1.10
status: activ
columns:
- {name: id, type: int, required: true, uniqe: true}
- {name: amount, type: decimal, min: 5, max: 1}
- {name: state, type: strng, allowed: [a, b]}
- {name: Day, type: date, format: dd/mm/yyyy}
- {name: day, type: date, required: yes}
- {type: int}
- {name: code, type: string, pattern: '(?=a)b', min_length: 5, max_length: 2}
keys: [[id, dayy]]
quality:
  on_row_failure: quarantin
  row_rules:
  - {name: positive, sql: amont > 0}
  - {name: Positive, sql: lenght(code) > 1}
  dataset_rules:
  - {name: volume, row_count: {}}
publish: {target: out/orders, mode: merge, partition_by: [id, nothing]}
freshness: {expected_by: "25:00", column: id, max_age: 1week}
timezone: Europe/Pariss
environments: {prod: {publish.mode: append}}
"""

GOLDEN = """\
c.yaml:2:10: version: expected a version MAJOR.MINOR.PATCH, found '1.10'
  Hint: YAML reads it as a number; write the three parts in quotes, such as "1.10.0"
c.yaml:3:9: status: expected one of 'active', 'deprecated', 'draft', 'retired', found 'activ'
  Hint: did you mean 'active'?
c.yaml:5:41: columns.id: unknown key 'uniqe'
  Hint: did you mean 'unique'?
c.yaml:6:38: columns.amount.min: min '5' is above max '1': no value is possible
c.yaml:7:23: columns.state.type: 'strng' is not a type
  Hint: did you mean 'string'?
c.yaml:8:35: columns.Day.format: format 'dd/mm/yyyy' has no month
  Hint: such as yyyy-MM-dd
c.yaml:9:10: columns.day.name: field 'day' differs from 'Day' only by letter case
  Hint: rename or remove one of them
c.yaml:9:37: columns.day.required: expected true or false, found 'yes'
  Hint: write true, without quotes and in small letters
c.yaml:10:3: columns[5].name: 'name' is missing
c.yaml:11:39: columns.code.pattern: a look-ahead is not in the RE2 subset at character 1
  Hint: a rule of `quality.row_rules` can say what a pattern cannot
c.yaml:11:61: columns.code.min_length: min_length 5 is above max_length 2: no text is possible
c.yaml:14:19: quality.on_row_failure: expected one of 'quarantine', 'reject', found 'quarantin'
  Hint: did you mean 'quarantine'?
c.yaml:17:12: quality.row_rules.Positive.name: rule 'Positive' is there twice, also as 'quality.row_rules.positive'
  Hint: give each rule a name of its own
c.yaml:17:27: quality.row_rules.Positive.sql: unknown function 'lenght'
  Hint: did you mean 'length'?
c.yaml:19:5: quality.dataset_rules.volume: no bound is given, so the rule could never be broken
c.yaml:20:37: publish.mode: mode merge needs 'keys', the columns by which rows are matched
  Hint: write publish.keys: [id, dayy]
c.yaml:21:26: freshness.expected_by: expected a time of day such as '01:30', found '25:00'
  Hint: hours from 00 to 23, in the contract's timezone
c.yaml:21:56: freshness.max_age: '1week' is not a duration: expected a whole number followed by s, m, h or d, such as 36h
c.yaml:22:11: timezone: expected a time zone of the IANA database, found 'Europe/Pariss'
  Hint: did you mean 'Europe/Paris'?
c.yaml:23:37: environments.prod.publish.mode: expected a name or a place, found 'publish.mode': an environment never changes a check
  Hint: did you mean 'publish.target'?"""

REFERENCES = """\
contract: orders
fields:
- {name: id, type: int, required: true}
- {name: amount, type: "decimal(10,2)"}
- {name: parts, type: array<int>}
keys: [[id, amont], [parts], [id, id]]
quality:
  row_rules:
  - {name: positive, sql: amont > 0}
  - {name: short, sql: "lenght(id) > 1 and rand() > 0.5"}
  - {name: total, sql: sum(amount) > 1}
  dataset_rules:
  - {name: filled, null_share: {column: amuont, max: 0.1}}
  - {name: known, references: {columns: [id], table: t, key: [a, b]}}
  - {name: number, sql: select sum(amunt) from candidate, must_be: {at_least: 5, at_most: 3}}
publish: {target: out/orders, partition_by: [idd], partition: {id: x}}
freshness: {column: id, max_age: 1d}
"""

REFERENCES_GOLDEN = """\
c.yaml:6:13: keys[0].columns[1]: unknown column 'amont'
  Hint: did you mean 'amount'?
c.yaml:6:22: keys[1].columns[0]: column 'parts' is of type array<int>, which cannot be a key
c.yaml:6:35: keys[2].columns[1]: column 'id' is there twice
c.yaml:9:27: quality.row_rules.positive.sql: unknown column 'amont'
  Hint: did you mean 'amount'?
c.yaml:10:24: quality.row_rules.short.sql: unknown function 'lenght'
  Hint: did you mean 'length'?
c.yaml:10:44: quality.row_rules.short.sql: rand() gives another value each time, so no retry would agree
c.yaml:11:24: quality.row_rules.total.sql: sum() needs more than one row
  Hint: an aggregate belongs to `quality.dataset_rules`
c.yaml:13:41: quality.dataset_rules.filled.null_share.column: unknown column 'amuont'
  Hint: did you mean 'amount'?
c.yaml:14:62: quality.dataset_rules.known.references.key: expected as many columns in 'key' as in 'columns', found 2 and 1
c.yaml:15:36: quality.dataset_rules.number.sql: unknown column 'amunt'
  Hint: did you mean 'amount'?
c.yaml:15:79: quality.dataset_rules.number.must_be.at_least: 'at_least' '5' and 'at_most' '3' leave no number
c.yaml:16:46: publish.partition_by[0]: unknown column 'idd'
  Hint: did you mean 'id'?
c.yaml:16:68: publish.partition.id: expected a whole number such as 10 (int), found 'x'
  Hint: a value, or a submission parameter such as {day}
c.yaml:17:21: freshness.column: column 'id' is of type int, which says no time
  Hint: a date or timestamp column says how fresh the rows are"""


def refused(text: str) -> ContractError:
    with pytest.raises(ContractError) as caught:
        load_contract_text(text, file="c.yaml")
    return caught.value


@pytest.mark.parametrize(("text", "golden"), [(MANY, GOLDEN), (REFERENCES, REFERENCES_GOLDEN)], ids=["many", "names"])
def test_all_problems_are_told_together_in_the_order_of_the_file(text: str, golden: str) -> None:
    assert str(refused(text)).split("\n") == golden.split("\n")


def test_misspelt_rule_is_refused_by_its_code() -> None:
    error = refused("name: demo\ncolumns:\n- {name: id, type: int, required: true, uniqe: true}\n")
    assert error.code == "contract.unknown_key"
    (problem,) = error.problems
    assert (problem.line, problem.column, problem.path) == (3, 41, "columns.id")
    assert problem.hint == "did you mean 'unique'?"


@pytest.mark.parametrize(
    ("text", "place", "key"),
    [
        ("contract: a\nsorce: {}\n", (2, 1), "'sorce'"),
        ("contract: a\nsource: {options: {delimeter: ;}}\n", (2, 20), "'delimeter'"),
        ("contract: a\nkeys: [{colums: [x], columns: [x]}]\n", (2, 9), "'colums'"),
        ("contract: a\nquality: {dataset_rules: [{name: x, row_count: {mn: 1, max: 2}}]}\n", (2, 49), "'mn'"),
        ("contract: a\npublish: {target: x, candidate: {keep: {pased: 7d}}}\n", (2, 41), "'pased'"),
        ("contract: a\nowner: {team: x, mail: y}\n", (2, 18), "'mail'"),
        ("contract: a\nmodel: {feilds: []}\n", (2, 9), "'feilds'"),
        ("contract: a\nnotifications: [{on: [late], to: 'webhook:env:X', cc: y}]\n", (2, 51), "'cc'"),
        (
            "contract: a\nfields: [{name: s, type: 'struct<x:int>', fields: [{name: x, type: int, mni: 1}]}]\n",
            (2, 73), "'mni'",
        ),
    ],
)  # fmt: skip
def test_unknown_key_at_any_depth_is_refused_with_its_place(text: str, place: tuple[int, int], key: str) -> None:
    problems = refused(text).problems
    assert [(p.line, p.column) for p in problems if p.code == "contract.unknown_key"] == [place]
    assert any(f"unknown key {key}" in p.message for p in problems)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contract: a\nfields:\n", "c.yaml:2:8: fields: expected a list, found nothing"),
        ("contract:\nfields: [{name: x, type: int}]\n", "c.yaml:1:10: contract: expected a text, found nothing"),
        (
            "contract: a\nfields: [{name: x, type: int, min: }]\n",
            "c.yaml:2:35: fields.x.min: expected a text, found nothing",
        ),
        ("contract: a\npublish: ~\n", "c.yaml:2:10: publish: expected a mapping of keys to values, found '~'"),
        (
            "contract: a\nfields: [{name: x, type: int, description: null}]\n",
            "c.yaml:2:44: fields.x.description: expected a text, found 'null', which is null",
        ),
        ("contract: a\nfields: {name: x, type: int}\n", "c.yaml:2:9: fields: expected a list, found a mapping"),
        ("contract: a\nfields: [x]\n", "c.yaml:2:10: fields[0]: expected a mapping of keys to values, found 'x'"),
        (
            "contract: a\npublish: {target: {day}}\n",
            "c.yaml:2:19: publish.target: expected a text, found a mapping\n  Hint: quote a text that begins with '{'",
        ),
        (
            "contract: a\nfields: [{name: x, type: string, min_length: '3'}]\n",
            "c.yaml:2:46: fields.x.min_length: expected a whole number, found the quoted text '3'",
        ),
        (
            "contract: a\nfields: [{name: x, type: string, max_length: 1_000}]\n",
            "c.yaml:2:46: fields.x.max_length: expected a whole number, found '1_000'",
        ),
        (
            "contract: a\nfields: [{name: x, type: string, required: 'true'}]\n",
            "c.yaml:2:44: fields.x.required: expected true or false, found the quoted text 'true'",
        ),
        (
            "contract: a\nfields: [{name: x, type: string, required: True}]\n",
            "c.yaml:2:44: fields.x.required: expected true or false, found 'True'",
        ),
        ("- a\n", "c.yaml:1:1: expected a mapping such as `contract: orders`, found a list"),
        ("just text\n", "c.yaml:1:1: expected a mapping such as `contract: orders`, found 'just text'"),
        ("fields: [{name: x, type: int}]\n", "c.yaml:1:1: contract: 'contract' is missing"),
        ("contract: 1a\n", "c.yaml:1:11: contract: '1a' is not a name here: expected a letter"),
        (
            "contract: a\nquality: {max_quarantined: {percent: 101}}\n",
            "c.yaml:2:38: quality.max_quarantined.percent: expected 100 or less, found 101",
        ),
        (
            "contract: a\nsource: {options: {delimiter: '||'}}\n",
            "c.yaml:2:31: source.options.delimiter: expected at most 1 character, found 2",
        ),
        (
            "contract: a\nkeys: [id]\n",
            "c.yaml:2:8: keys[0].columns: expected a list, found 'id'\n  Hint: write a list: [a, b]",
        ),
        (
            "contract: a\nquality: {row_rules: [{name: r, sql: rand() > 0}]}\n",
            "c.yaml:2:38: quality.row_rules.r.sql: rand() gives another value each time",
        ),
        ("contract: a\nkeys: [[]]\n", "c.yaml:2:8: keys[0].columns: expected at least 1 entry, found none"),
        (
            "contract: a\nfields: [{name: x, type: varchar}]\n",
            "c.yaml:2:26: fields.x.type: 'varchar' is not a type: write string, with max_length for the length",
        ),
        (
            "contract: a\npublish: {target: t, mode: replace_where}\n",
            "c.yaml:2:10: publish: mode replace_where needs `where`, the predicate of the rows to replace",
        ),
        (
            "contract: a\nsource: {format: sql}\n",
            "c.yaml:2:9: source: a source of format sql needs `sql`, the query that gives the rows",
        ),
        (
            "contract: a\nnotifications: [{on: [late], to: 'https://hooks.example/secret'}]\n",
            "c.yaml:2:34: notifications[0].to: expected webhook:env:NAME, command:env:NAME or log, found 'https' in another form",
        ),
        (
            "contract: a\nsource: {location: 's3://key:secret@bucket/x'}\n",
            "c.yaml:2:20: source.location: a place never holds a password",
        ),
        (
            "contract: a\nsource: {location: 'in/{day/*.csv'}\n",
            "c.yaml:2:20: source.location: expected a place, found braces that hold no parameter in 'in/{day/*.csv'",
        ),
        (
            "contract: a\nsource: {options: {delimiter: ';', quote: ';'}}\n",
            "c.yaml:2:31: source.options.delimiter: the delimiter is the quote, the escape or a line end too",
        ),
        (
            "contract: a\nsource: {options: {null_values: ['', 'n,a']}}\n",
            "source.options.null_values[1]: 'n,a' holds the delimiter, the quote or a line end, and so is no unquoted value",
        ),
    ],
)  # fmt: skip
def test_wrong_value_says_what_was_expected_and_found(text: str, message: str) -> None:
    assert message in str(refused(text))


@pytest.mark.parametrize("version", ["1.10", "1", "1.0", "2026", "1_0", "1.2.3.4", "v1.2.3", "01.2.3", "latest"])
def test_version_that_is_not_in_three_parts_is_refused(version: str) -> None:
    error = refused(f"contract: a\nversion: {version}\n")
    assert "version" in error.problems[0].path
    assert len(error.problems) == 1


@pytest.mark.parametrize("version", ["1.2.0", '"1.10.0"', "'0.0.1'"])
def test_version_in_three_parts_loads(version: str) -> None:
    contract = load_contract_text(f"contract: a\nversion: {version}\n")
    assert contract.version == version.strip("'\"")


@pytest.mark.parametrize(
    ("step", "place", "message", "hint"),
    [
        ("{trimm: {fields: [a]}}", "3:4: transformations[0]", "unknown key 'trimm'", "did you mean 'trim'?"),
        ("{trim: {fields: [a], sied: left}}", "3:24: transformations[0].trim", "unknown key 'sied'", "did you mean 'side'?"),
        ("{trim: {fields: [a]}, lower: {fields: [a]}}", "3:3: transformations[0]",
         "expected exactly one kind of step, found trim, lower", None),
        ("{phase: pre}", "3:3: transformations[0]", "expected exactly one kind of step, found none", None),
        ("{deduplicate: {on: [a]}}", "3:17: transformations[0].deduplicate.sort_by", "'sort_by' is missing", None),
        ("{derive: {field: b, sql: 'rand() + 1'}}", "3:28: transformations[0].derive.sql",
         "rand() gives another value each time, so no retry would agree", None),
        ("{filter: {sql: 'a >'}}", "3:21: transformations[0].filter.sql", "expected a condition in Spark SQL", None),
        ("{json_extract: {field: b, source: a, path: a.b}}", "3:46: transformations[0].json_extract.path",
         "expected a path that begins with '$', such as '$.a.b'", None),
        ("{regex_extract: {field: b, source: a, pattern: '(a)(b)'}}", "3:50: transformations[0].regex_extract.pattern",
         "the pattern has several groups", "keep one, and write the others as (?:...)"),
        ("{lookup: {field: b, reference: places, on: a, key: k, value: v}}", "3:34: transformations[0].lookup.reference",
         "unknown link 'places'", "name it, with its place, under `links`"),
        ("{sql: select 1 from nowhere}", "3:9: transformations[0].sql", "unknown link 'nowhere'",
         "name it, with its place, under `links`"),
        ("{bucket: {field: b, source: a, bins: [{label: x}]}}", "3:41: transformations[0].bucket.bins[0]",
         "a bin needs a bound; what is in no bin gets `default`", None),
    ],
)  # fmt: skip
def test_step_is_refused_with_its_place(step: str, place: str, message: str, hint: str | None) -> None:
    error = refused(f"contract: a\ntransformations:\n- {step}\n")
    assert str(error).startswith(f"c.yaml:{place}: {message}")
    assert error.problems[0].hint == hint


def test_step_that_reads_a_column_that_is_gone_is_refused() -> None:
    error = refused("contract: a\ntransformations:\n- select: {columns: [region, amount]}\n- trim: {fields: [regoin]}\n")
    assert str(error) == (
        "c.yaml:4:9: transformations[1].trim: unknown column 'regoin'\n  Hint: did you mean 'region'?"
    )


def test_no_transformations_are_no_problem() -> None:
    assert load_contract_text("contract: a\ntransformations: []\n").contract == "a"


def test_message_shows_a_long_text_cut() -> None:
    assert len(str(refused(f"contract: a\nstatus: {'x' * 5000}\n"))) < 400


def test_place_of_an_expression_is_that_of_the_word_in_it() -> None:
    text = (
        "contract: a\nfields: [{name: amount, type: int}]\nquality:\n  row_rules:\n"
        "  - {name: one, sql: 'amount > 0 and amuont < 5'}\n  - name: two\n    sql: |\n      amuont > 1\n"
    )
    assert [(p.line, p.column) for p in refused(text).problems] == [(5, 38), (7, 10)]
