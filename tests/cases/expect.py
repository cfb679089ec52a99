"""What a case expects, compared with what came of it: verdict, rules, target, counts, notes and what must never be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa

from invaract_orchestration.audit.result import GateResult
from invaract_orchestration.errors import ContractError
from tests.cases.labels import message_of, missing_rules
from tests.cases.oracle import Wrong, arrived_rows, comparable
from tests.cases.play import Played, verdict_of
from tests.cases.sketch import Case, NotUnderstood
from tests.cases.stage import Outcome, Snapshot, Stage
from tests.cases.steps import Run, read_steps

_WORDS = "PASS|FAIL|QUARANTINE|ERROR|CONFLICT|NOOP"


def problems_of(case: Case, played: Played, number: int, choice: str | None) -> Iterator[str]:
    """Everything that is not as the case says; `number` says which of its contracts was played."""
    verdict, rule = _expected(case, number)
    outcome = played.decisive
    found = verdict_of(outcome)
    if choice is not None:
        verdict, rule = choice, (rule if choice == verdict else "-")
    is_allowed = found == verdict or ((found, "") in _alternatives(case) and bool(played.together))
    if not is_allowed:
        yield f"verdict {found}, expected {verdict}: {message_of(outcome)}"
    elif found == verdict or played.together:
        yield from _rule_problems(case, played, rule)
    yield from _other_outcomes(played, found)
    if not is_allowed or (choice is not None and choice != case.expected["verdict"] and not number):
        return  # the rest of the case describes the other choice
    yield from _target_problems(case, played, _part(str(case.expected.get("target", "unchanged")), number), found)
    yield from _count_problems(case, played, outcome)
    yield from _note_problems(case, played, outcome)
    yield from _never_problems(case, played)


def _expected(case: Case, number: int) -> tuple[str, str]:
    """The verdict and the rule; a note says those of a second contract: `contract_x.yaml (...): FAIL, ...`."""
    note = str(case.expected.get("note", ""))
    if number:
        name = case.contracts[number].name
        m = re.search(rf"{re.escape(name)}[^:]*: ({_WORDS})", note)
        if m is None:
            raise NotUnderstood(f"the verdict of {name} is not told")
        return m[1], "-"
    return str(case.expected["verdict"]), str(case.expected.get("rule", "-"))


def _alternatives(case: Case) -> set[tuple[str, str]]:
    note = str(case.expected.get("note", ""))
    return {(word, "") for m in re.finditer(rf"ends as ({_WORDS}) or ({_WORDS})", note) for word in m.groups()}


def _rule_problems(case: Case, played: Played, rule: str) -> Iterator[str]:
    outcome = played.decisive
    if played.together and verdict_of(outcome) != case.expected["verdict"]:
        m = re.search(rf"or {verdict_of(outcome)} ([\w.]+)", str(case.expected.get("note", "")))
        rule = m[1].rstrip(".") if m else "-"
    missing = missing_rules(rule, outcome)
    if missing:
        yield f"rule {', '.join(missing)} is not named: {message_of(outcome)}"


def _other_outcomes(played: Played, decisive: str) -> Iterator[str]:
    """Runs beside the decisive one: equal ones agree, and those around a fault succeed."""
    words = [verdict_of(o) for o in played.outcomes]
    if played.together:
        if sorted(words) != sorted(["PASS", decisive]):
            yield f"runs together ended as {words}"
    elif played.faulted:
        own = played.outcomes.index(played.faulted[0])
        wrong = [w for i, w in enumerate(words) if i != own and w not in ("PASS", "NOOP", "QUARANTINE")]
        if wrong:
            yield f"runs around the fault ended as {words}"
    elif not played.kills and len(set(words)) > 1:
        yield f"runs of the same kind ended as {words}"


def _part(target: str, number: int) -> str:
    parts = target.split(" / ")
    return parts[min(number, len(parts) - 1)].strip()


def _target_problems(case: Case, played: Played, said: str, verdict: str) -> Iterator[str]:
    for stage, before, after in _tables(played):
        yield from _table_problems(case, stage, before, after, said, verdict, played)


def _tables(played: Played) -> Iterator[tuple[Stage, Snapshot, Snapshot]]:
    yield played.stage, played.before, played.after
    for stage in played.fresh:
        yield stage, played.before if played.before.version is not None else Snapshot(), stage.snapshot()


def _table_problems(
    case: Case, stage: Stage, before: Snapshot, after: Snapshot, said: str, verdict: str, played: Played
) -> Iterator[str]:
    old, new = Counter(map(comparable, before.rows)), Counter(map(comparable, after.rows))
    if said == "as built":
        if not after.rows:
            yield "nothing was published"
        return
    if said == "unchanged":
        if after != before and not _is_other_writer(played):
            yield f"the target changed from version {before.version} to {after.version}"
        return
    if before.version is not None and (after.schema, after.configuration) != (before.schema, before.configuration):
        yield "the target's schema, constraints or properties changed"
    if m := re.match(r"(\d+) rows? added", said):
        if len(after.rows) - len(before.rows) != int(m[1]) or old - new:
            yield f"{len(after.rows) - len(before.rows)} rows added, expected {m[1]}"
    elif m := re.match(r"replaced by (\d+) rows?", said):
        if len(after.rows) != int(m[1]):
            yield f"the target has {len(after.rows)} rows, expected {m[1]}"
        old = Counter()
    elif m := re.match(r"partition (\S+) replaced", said):
        kept = Counter(comparable(r) for r in before.rows if m[1] not in map(str, r.values()))
        if kept - new or not any(m[1] in map(str, r.values()) for r in after.rows):
            yield "other partitions changed, or the replaced one is gone"
        old = kept
    elif m := re.match(r"only rows with (.+)", said):
        table = pa.Table.from_pylist(list(after.rows))
        with duckdb.connect() as connection:
            connection.register("t", table)
            wrong = connection.execute(f"SELECT count(*) FROM t WHERE NOT coalesce({m[1]}, false)").fetchone()
        if not after.rows or wrong != (0,):
            yield f"{wrong} rows of the target are not {said}"
    else:
        raise NotUnderstood(f"target state {said!r} is not understood")
    others = Counter(map(comparable, before.rows)) if _is_other_writer_step(case) else Counter()
    yield from _content_problems(case, stage, new - old - others, verdict)


def _is_other_writer_step(case: Case) -> bool:
    """Whether a step lets another writer append a row that is there already."""
    return any(isinstance(a, Run) and a.fault is not None and a.fault.happening == "other writer" for a in read_steps(case))


def _is_other_writer(played: Played) -> bool:
    return bool(played.faulted) and len(played.after.rows) == len(played.before.rows) + 1


def _content_problems(case: Case, stage: Stage, added: Counter[str], verdict: str) -> Iterator[str]:
    """What is new in the target is what arrived, value by value."""
    try:
        contract = stage.contract()
    except ContractError:
        return
    arrived = arrived_rows(case, contract)
    if arrived is None:
        return
    spelled = {f.name.lower() for f in contract.fields}
    known = Counter(comparable(row) for row in arrived if Wrong not in row.values())
    found = Counter({_only(text, spelled): count for text, count in added.items()})
    if found - known:
        yield f"{sum((found - known).values())} rows of the target are not as they arrived"
    if verdict == "PASS" and not stage.named_batches and known - found and _appends(case):
        yield f"{sum((known - found).values())} rows that arrived are not in the target"


def _only(text: str, names: set[str]) -> str:
    return repr([pair for pair in eval(text) if pair[0] in names])  # our own repr of names and texts


def _appends(case: Case) -> bool:
    return not re.match(r"unchanged|only", str(case.expected.get("target", "")))


def _count_problems(case: Case, played: Played, outcome: Outcome) -> Iterator[str]:
    rows = case.expected.get("rows") or {}
    if isinstance(outcome, GateResult) and outcome.counts.read is not None:
        counts = outcome.counts
        if counts.read != (counts.good or 0) + (counts.failing or 0):
            yield f"counts do not add up: {counts}"
        for check in outcome.checks:
            if check.rows is not None and check.passed is not None and check.passed < 0:
                yield f"{check.check}: passed, failed and undecided do not add up"
    kept = played.stage.quarantined()
    for name, expected in rows.items():
        found: int | None = None
        if name == "published":
            found = len(played.after.rows) - len(played.before.rows)
        elif name == "quarantined":
            found = sum(row["kind"] == "quarantined" for row in kept)
        elif m := re.fullmatch(r"reasons_on_row_(\d+)", name):
            found = sum(len(row["rule_ids"]) for row in kept if row["record_number"] == int(m[1]))
        else:
            raise NotUnderstood(f"count {name!r} is not understood")
        if found != expected:
            yield f"{name} {found}, expected {expected}"


def _note_problems(case: Case, played: Played, outcome: Outcome) -> Iterator[str]:
    """The facts of a note that are told in a general way."""
    note = str(case.expected.get("note", ""))
    told = message_of(outcome)
    if case.kind in ("header", "schema", "publish") and verdict_of(outcome) in ("FAIL", "ERROR"):
        wanted = [m[0] for m in re.finditer(r"U\+[0-9A-F]{4}|position \d+|\d+ files? on disk, \d+ readable", note)]
        wanted += re.findall(r"name the offending file \((\S+)\)", note, re.IGNORECASE)
        wanted += re.findall(r"say that (?:the )?([\w ]+)\.", note) + re.findall(r"; name (\w+)\.", note)
        wanted += re.findall(r"say '([^']+)'", note) + re.findall(r"say ([\w-]+) BOM", note)
        wanted += re.findall(r"(?:Report|nearest key) '([^']+)'", note)
        for words in wanted:
            if words.lower() not in told.lower():
                yield f"the message does not say {words!r}: {told}"
    yield from _row_notes(note, played, outcome)
    if m := re.search(r"published \+ quarantined = (\d+)", note):
        for stage in (played.stage, *played.fresh):
            total = len(stage.snapshot().rows) + len(stage.quarantined())
            if total != int(m[1]):
                yield f"published + quarantined = {total}, expected {m[1]}"
    if re.search(r"quarantined row after both attempts", note):
        m = re.search(r"(\d+) quarantined row", note)
        if m and len(played.stage.quarantined()) != int(m[1]):
            yield f"{len(played.stage.quarantined())} quarantined rows, expected {m[1]}"
    if "one publish record" in note:
        yield from _publish_record_problems(played)


def _row_notes(note: str, played: Played, outcome: Outcome) -> Iterator[str]:
    if not isinstance(outcome, GateResult):
        return
    numbers = {int(n) for m in re.finditer(r"\b[Rr]ows? ([\d, and]+)", note) for n in re.findall(r"\d+", m[1])}
    kept = {row["record_number"] for row in played.stage.quarantined()}
    if numbers and kept and "row" in _stages(outcome) and not kept <= numbers:
        yield f"records {sorted(kept)} were kept aside, the note speaks of {sorted(numbers)}"
    if (m := re.fullmatch(r"(\d+) rows?\.", note)) and verdict_of(outcome) == "FAIL":
        failed = [c.failed for c in outcome.checks if c.is_blocking]
        if int(m[1]) not in failed:
            yield f"{failed} rows failed, expected {m[1]}"
    m = re.search(r"say (\d+) values were checked", note)
    if m and not any(f"{m[1]} checked" in c.found for c in outcome.checks):
        yield f"no result says that {m[1]} values were checked"


def _stages(outcome: GateResult) -> set[str]:
    return {"row" for c in outcome.checks if c.stage == "rows" and c.outcome == "broken"}


def _publish_record_problems(played: Played) -> Iterator[str]:
    with played.stage.gate() as gate:
        records = gate.audit.publications(played.stage.contract().contract, played.stage.target)
    if len(records) != 1:
        yield f"{len(records)} publish records, expected one"


def _never_problems(case: Case, played: Played) -> Iterator[str]:
    never = str(case.expected.get("never", ""))
    words = [*played.searched, *re.findall(r"the text (\S+)", never)]
    for word in words:
        yield from _found_places(case, played, word)
    m = re.search(r"(\S+) published$", never)
    if m and any(m[1].lower() in (str(v).lower() for v in row.values()) for row in played.after.rows):
        yield f"{m[1]} was published"
    outside = [p for p in played.stage.root.parent.iterdir() if p.name != "own" and not p.name.startswith("fresh-")]
    if outside:
        yield f"files outside of the lake: {[p.name for p in outside]}"
    for step in case.steps:
        for path in re.findall(r"'(/[^']+)'", step):
            if Path(path).exists():
                yield f"{path} is there"


def _found_places(case: Case, played: Played, word: str) -> Iterator[str]:
    for outcome in played.outcomes:
        if word in repr(outcome):
            yield f"{word} is in the result"
    if any(word in line for line in played.stage.said):
        yield f"{word} was told"
    root = played.stage.root
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        is_free = parts[0] != "input" and not any(p.endswith("__quarantine") for p in parts)
        if is_free and path.is_file() and word.encode() in _content(path):
            yield f"{word} is in {path.relative_to(root)}"


def _content(path: Path) -> bytes:
    if path.suffix != ".parquet":
        return path.read_bytes()
    import pyarrow.parquet as pq

    return repr(pq.read_table(path, partitioning=None).to_pylist()).encode()


