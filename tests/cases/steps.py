"""Steps in words become actions, by kind of step; what is not understood raises, so that the case waits."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from tests.cases.faults import Moment
from tests.cases.sketch import Case, NotUnderstood
from tests.cases.stage import TargetFacts

Happening = Literal["kill", "audit read-only", "other writer", "candidate changed", "input changed", "input added"]


@dataclass(frozen=True)
class Fault:
    happening: Happening
    moment: Moment


@dataclass(frozen=True)
class Run:
    """One run of the gate, or several of the same."""

    submission_id: str | None = None
    is_new_batch: bool = False
    batch: str | None = None
    fault: Fault | None = None
    times: int = 1
    is_fresh: bool = False
    """Each time into a lake of its own."""
    zones: tuple[str, ...] = ()


@dataclass(frozen=True)
class Together:
    """Runs at once that wait for each other after their checks."""

    batches: tuple[str, ...]


@dataclass(frozen=True)
class Seeded:
    facts: TargetFacts


@dataclass(frozen=True)
class Searched:
    word: str


@dataclass(frozen=True)
class Setting:
    """A setting of the user's Spark session, which means nothing to another engine."""

    name: str
    value: str


@dataclass(frozen=True)
class Does:
    what: Literal["frame", "audit writable", "load", "no marker", "fix input", "nothing", "page"]


Action = Run | Together | Seeded | Searched | Setting | Does

_ORCHESTRATED = (
    ("Airflow", r"\b(airflow|dags?|xcom|logical date|trigger_rule|worker|mapped|expand|rendered fields|plugin page|clear)\b"),
    ("Dagster", r"\b(dagster|assets?|materiali[sz]e|backfill|code location)\b"),
)
_AGAIN = r"(?:(?:again|once more|it|the gate|the batch|the same batch|the same file|the file|with \S+\.\w+)\s*)*"
_RUN = re.compile(
    rf"(?:run|rerun|retry|append|submit|publish|check|a retry|try again|let the retry run)\s*{_AGAIN}"
    r"|(?:the )?same batch(?:, (?:the )?same (?:identity|id|submission))?|first time", re.IGNORECASE,
)  # fmt: skip
_STOP = re.compile(r"(?:stop|kill|crash|sigkill|interrupt|end|abort|the process (?:dies|stops|is killed|crashes))\b.*", re.IGNORECASE)
_NOISE = re.compile(r"\b(the|target|table|has|have|with|column|is|and|without|default|a|an)\b|[\s,:;.]+", re.IGNORECASE)


def read_steps(case: Case) -> tuple[Action, ...]:
    """The actions of a case's steps, in their order.

    Raises:
        NotUnderstood: with the words that are not understood, or what they need.
    """
    actions: list[Action] = []
    for step in case.steps:
        for phrase in _phrases(step):
            _add(actions, phrase, case)
    return tuple(actions)


def _phrases(step: str) -> list[str]:
    text = re.sub(r"^attempt \d+(?::\s*|$)", lambda m: "run; " if m.end() < len(step) else "run", step.strip(), flags=re.IGNORECASE)
    parts = re.split(r";|,?\s+then\s+(?=(?:[^']*'[^']*')*[^']*$)", text)
    return [p.strip(" ,.") for p in parts if p.strip(" ,.")]


def _add(actions: list[Action], phrase: str, case: Case) -> None:
    stems = {p.name.partition(".")[0] for p in case.inputs}
    last = actions[-1] if actions else None
    fault = _fault(phrase)
    if fault is not None:
        run = last if isinstance(last, Run) else Run()
        actions[len(actions) - isinstance(last, Run) :] = [replace(run, fault=fault)]
    elif _RUN.fullmatch(phrase):
        is_named = isinstance(last, Run) and re.match(r"(the )?same|first", phrase, re.IGNORECASE)
        if not is_named:
            actions.append(Run())
    elif (found := _special_run(phrase, stems, actions)) is not None:
        actions.append(found)
    elif (other := _other(phrase)) is not None:
        actions.append(other)
    else:
        raise NotUnderstood(_why(phrase))


def _special_run(phrase: str, stems: set[str], actions: list[Action]) -> Action | None:
    if re.fullmatch(rf"(?:re)?(?:run|submit|publish)\s*{_AGAIN}as an?(?:other)? (?:new )?(?:batch|submission)", phrase, re.IGNORECASE):
        return Run(is_new_batch=True)
    if m := re.fullmatch(r"(?:run )?(?:with |as )?(?:(?:batch|submission|partition)(?: (?:id|key))? )?'([^']+)'", phrase, re.IGNORECASE):
        return Run(submission_id=m[1])
    if m := re.fullmatch(r"run (\d+) times(?: into \d+ fresh targets?)?", phrase, re.IGNORECASE):
        return Run(times=int(m[1]), is_fresh="fresh" in phrase)
    if m := re.fullmatch(r"run with (?:the )?session (?:time ?)?zone (\S+?)(?:,? and (?:with )?(\S+))?", phrase, re.IGNORECASE):
        return Run(zones=tuple(z for z in m.groups() if z))
    if m := re.fullmatch(r"start batch(?:es)? (\w+),? and (?:batch )?(\w+)(?: at the same time| together)?", phrase, re.IGNORECASE):
        return Together(tuple(m.groups())) if set(m.groups()) <= stems else None
    if any(isinstance(a, Together) for a in actions) and re.fullmatch(r"(hold|release) (both|them|all)( .*)?", phrase, re.IGNORECASE):
        if phrase.lower().startswith("hold") and not re.search(r"after (the|their)[\w\s]*(check|verdict)", phrase, re.IGNORECASE):
            return None
        return Does("nothing")
    m = re.fullmatch(r"(?:publish|run|submit|append) (?:batch |input/)?([\w-]+)(?:\.\w+)*(?: (?:\(?first time\)?|again))?", phrase, re.IGNORECASE)
    return Run(batch=m[1]) if m and m[1] in stems else None


def _other(phrase: str) -> Action | None:
    if m := re.fullmatch(r"set ((?:spark|hive|parquet)\.\S+?) ?= ?(\S+) in the session", phrase, re.IGNORECASE):
        return Setting(m[1], m[2])
    if m := re.fullmatch(r"(?:search|grep|look)\b.* for ['\"]?([\w-]+)['\"]?", phrase, re.IGNORECASE):
        return Searched(m[1])
    if re.fullmatch(r"load the contract( again)?", phrase, re.IGNORECASE):
        return Does("load")
    if re.fullmatch(r"(?:check|see) that the (?:marker )?file does not exist", phrase, re.IGNORECASE):
        return Does("no marker")
    if re.fullmatch(r"make (it|the audit store) writable( again)?|the audit store (is|comes) back", phrase, re.IGNORECASE):
        return Does("audit writable")
    if re.fullmatch(r"fix the (file|input)", phrase, re.IGNORECASE):
        return Does("fix input")
    if re.fullmatch(r"candidate (?:frame|dataframe) has (?:the )?column order .+", phrase, re.IGNORECASE):
        return Does("frame")
    if re.fullmatch(r"(?:list|look at|compare|read back|show) .*\b(?:constraints|properties|schema|rows|target|table)\b.*", phrase, re.IGNORECASE):
        return Does("nothing")  # the target is compared in any case
    if re.fullmatch(r"open the (?:decision|audit|history|plugin)? ?page.*", phrase, re.IGNORECASE):
        return Does("page")
    facts = _facts(phrase)
    return Seeded(facts) if facts is not None else None


def _fault(phrase: str) -> Fault | None:
    said = phrase.lower()
    if _STOP.fullmatch(phrase) and (moment := _moment(said)) is not None:
        return Fault("kill", moment)
    if re.match(r"the audit (store|database) (becomes|is|goes|turns) (read-only|down|unavailable|locked)", said):
        moment = _moment(said)
        return Fault("audit read-only", moment) if moment is not None else None
    if re.match(r"(another|a second|an other) (writer|process|job) (appends|commits|writes|adds|changes)", said) or re.match(
        r"the target (changes|is changed|gets (a|another) commit)", said
    ):
        return Fault("other writer", _moment(said) or "verdict")
    if re.match(r"(the candidate|a file of the candidate|the candidate's files?) (changes|is (changed|edited|replaced)|are changed)", said):
        return Fault("candidate changed", "verdict")
    if re.match(r"(the|an) input( file)? (changes|is (changed|rewritten)|grows)", said):
        return Fault("input changed", "candidate")
    if re.match(r"(a|another) (new )?(input )?file (is added|appears|arrives)", said):
        return Fault("input added", "candidate")
    return None


def _moment(said: str) -> Moment | None:
    found: list[tuple[str, Moment]] = [
        (r"before [\w\s]*(commit|publish)", "before commit"), (r"after [\w\s]*commit|before [\w\s]*record", "commit"),
        (r"(after|between) [\w\s]*quarantine", "quarantine"), (r"(after|between) [\w\s]*(verdict|check|decision)", "verdict"),
        (r"(after|between) [\w\s]*candidate", "candidate"),
    ]  # fmt: skip
    return next((moment for pattern, moment in found if re.search(pattern, said)), None)


def _facts(phrase: str) -> TargetFacts | None:
    """What a phrase says about the target; none when it says anything else too."""
    if not re.match(r"(the )?target", phrase, re.IGNORECASE):
        return None
    rest = phrase

    def taken(pattern: str) -> list[str]:
        nonlocal rest
        found = re.findall(pattern, rest, re.IGNORECASE)
        rest = re.sub(pattern, " ", rest, flags=re.IGNORECASE)
        return found

    checks = taken(r"CHECK \(((?:[^()]|\([^()]*\))+)\)")
    not_null = taken(r"(?:column )?(\w+) (?:is )?NOT NULL")
    generated = taken(r"(?:column )?(\w+) is generated(?: always)?")
    properties = dict(p.split("=", 1) for p in taken(r"(?:table )?property ([\w.]+=[^\s,]+)"))
    partitions = [n for found in taken(r"partitioned by (\w+(?:, \w+)*)") for n in found.split(", ")]
    if _NOISE.sub("", rest):
        return None
    return TargetFacts(tuple(not_null), tuple(checks), properties, tuple(generated), tuple(partitions))


def _why(phrase: str) -> str:
    for need, words in _ORCHESTRATED:
        if re.search(words, phrase, re.IGNORECASE):
            return f"needs {need}: {phrase}"
    return f"step not understood: {phrase}"
