"""The verbs of the command line, in the order in which somebody meets them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """A command: its words, the function that does it, what it does, and examples of calls without `invaract`."""

    name: str
    function: str
    summary: str
    examples: tuple[str, ...]
    details: str = ""

    @property
    def epilogue(self) -> str:
        """What stands below the options in the help."""
        examples = "\n".join(f"  invaract {example}" for example in self.examples)
        return f"Examples:\n{examples}" + (f"\n\n{self.details}" if self.details else "")


_EXIT_CODES = (
    "Exit codes: 0 published, or nothing to do; 1 rejected; 2 published with rows quarantined; "
    "3 could not judge or publish; 4 published, not recorded yet; 64 the call makes no sense."
)

VERBS: tuple[Verb, ...] = (
    Verb(
        "demo", "demo:demo", "Publish a year of real flights under two contracts, good months and bad ones.",
        ("demo", "demo --folder /tmp/flights"),
    ),
    Verb(
        "init", "init:init", "Draft a commented contract from a file of data.",
        ("init orders.csv", "init orders.csv --write contracts/orders.yaml --target lake/orders/"),
    ),
    Verb("lint", "lint:lint", "Say what is wrong with a contract, without any data.",
        ("lint contracts/orders.yaml", "lint contracts/*.yaml --output json"),
        "Exit codes: 0 nothing wrong, or warnings only; 1 an error was found; 3 a contract cannot be loaded.",
    ),
    Verb(
        "check", "run:check", "Judge a batch without publishing it.",
        ("check contracts/orders.yaml", "check contracts/orders.yaml --source new/orders.csv"),
        "Exit codes: 0 a run would publish, or has nothing to do; 1 rejected; 2 rows would be set aside; "
        "3 could not judge; 64 the call makes no sense.",
    ),
    Verb(
        "explain", "explain:explain", "What a run will do: its plan, lineage, rules, evidence and reads; no row is read.",
        ("explain contracts/totals.yaml", "explain contracts/totals.yaml --sql totals.sql --dialect snowflake"),
        "Exit codes: 0 no plan rule blocks; 1 one does.",
    ),
    Verb(
        "run", "run:run", "Judge a batch, and publish it when every check is kept.",
        (
            "run contracts/orders.yaml",
            "run contracts/daily.yaml --param day=2026-11-30",
            "run contracts/orders.yaml --env prod --output junit > report.xml",
        ),
        _EXIT_CODES,
    ),
    Verb(
        "adopt", "adopt:adopt", "Take in an existing table as the baseline of its contract.",
        ("adopt contracts/orders.yaml", "adopt contracts/orders.yaml --env prod"),
        "Exit codes: 0 taken in; 1 the table does not fit the contract; 3 there is no table, or it cannot be read.",
    ),
    Verb("status", "status:status", "Where every contract stands: last data, last attempt, and why it is blocked.",
        ("status", "status --output json")),
    Verb(
        "history", "history:history", "Attempts, newest first.",
        ("history", "history --contract orders --state rejected --limit 10"),
    ),
    Verb("show", "show:show", "Everything recorded of one attempt.", ("show a-3f9c", "show s-82b1 --output json")),
    Verb(
        "quarantine list", "quarantine:list_", "What is in a contract's quarantine, without its rows.",
        ("quarantine list contracts/orders.yaml",),
    ),
    Verb(
        "quarantine show", "quarantine:show", "Failing rows with their original values, printed to this terminal alone.",
        ("quarantine show contracts/orders.yaml", "quarantine show contracts/orders.yaml --submission s-82b1 --limit 5"),
    ),
    Verb(
        "quarantine export", "release:export", "Write quarantined rows as a file of the contract's format.",
        ("quarantine export contracts/orders.yaml --submission s-82b1 --write fixed.csv",),
    ),
    Verb(
        "quarantine release", "release:release", "Submit quarantined rows again, under the contract as it is now.",
        ("quarantine release contracts/orders.yaml --submission s-82b1",), _EXIT_CODES,
    ),
    Verb(
        "waive", "waive:waive", "Let one check of one rejected batch through, with approver, reason and expiry.",
        ("waive a-3f9c --check 'id|unique' --approver ann --reason 'known twins, ticket 12' --expires 2d",),
    ),
    Verb(
        "reconcile", "reconcile:reconcile", "Settle open attempts and write lost records again, from the target's log.",
        ("reconcile contracts/orders.yaml",), "Exit codes: 0 all commits are the gate's; 1 commits by-passed the gate.",
    ),
    Verb(
        "freshness", "freshness:freshness", "Is the data on time, and if not: nothing delivered, or rejected?",
        ("freshness contracts/orders.yaml", "freshness contracts/orders.yaml --notify"), "Exit codes: 0 on time; 1 late.",
    ),
    Verb(
        "clean", "clean:clean", "Remove candidates and quarantined rows whose time is over.",
        ("clean contracts/orders.yaml --dry-run",),
    ),
    Verb("audit verify", "audit:verify", "Whether the record is whole: no row edited, removed, reordered or added.",
        ("audit verify", "audit verify --expected-head 120:9f86d081884c..."),
        "Exit codes: 0 whole; 1 something does not fit; 3 the audit store cannot be read."),
    Verb(
        "diff", "diff:diff", "What changed between two versions of a contract, and whether the new version says so.",
        ("diff old/orders.yaml contracts/orders.yaml", "diff old/orders.yaml contracts/orders.yaml --output json"),
        "Exit codes: 0 the new version fits; 1 it is too low for what changed; 3 a contract cannot be loaded; "
        "64 they are not of one contract.",
    ),
    Verb(
        "export", "export:export", "Write a contract as an Open Data Contract (ODCS 3), and say what that cannot hold.",
        ("export contracts/orders.yaml", "export contracts/orders.yaml > orders.odcs.yaml"),
    ),
    Verb("schema", "schema:schema", "The JSON Schema of a contract's file, for editors.",
        ("schema", "schema > contract.schema.json")),
    Verb("ui", "ui:ui", "Serve the audit pages, read-only; to this machine alone unless you say who may look.",
        ("ui", "ui --port 9000", "ui --host 0.0.0.0 --token-env AUDIT_TOKEN")),
    Verb("doctor", "doctor:doctor", "What is installed, and where things are kept.", ("doctor",)),
)  # fmt: skip
