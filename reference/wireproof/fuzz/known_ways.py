"""The ways to fail that a baseline knows: a fuzzer meets them again, with other inputs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from attrs import frozen

from wireproof.cases.case import PROPERTY, Case
from wireproof.cases.fixtures import Suite
from wireproof.fuzz.property_run import known_signatures
from wireproof.judge.signature import Signature
from wireproof.run.baselines.known_failures import Baseline, KnownFailure, failure_of
from wireproof.run.engine import Engine
from wireproof.run.events import EventStream, Footer, manifest_fields, run_event
from wireproof.run.run import Selection, run


@frozen
class KnownWays:
    """Ways to fail that are known.

    Attributes:
        signatures: of the cases that fail as the baseline says.
        examples: its entries about generated examples, which have no case of their own.
    """

    signatures: frozenset[Signature] = frozenset()
    examples: tuple[KnownFailure, ...] = ()

    def has(self, sign: Signature) -> bool:
        """Return whether failures with this signature are known."""
        return sign in self.signatures or any(_is_example(entry, sign) for entry in self.examples)


NOTHING_KNOWN: Final = KnownWays()


def _is_example(entry: KnownFailure, sign: Signature) -> bool:
    alike = entry.failure == failure_of(sign.kind, sign.cls, exact=entry.exact)
    about = entry.is_about(f"{sign.format}/{PROPERTY}/{sign.op}~")
    return alike and about and entry.path in ("", sign.path)


def known_ways(adapter: str, baseline: Baseline, suite: Suite, formats: Sequence[str]) -> KnownWays:
    """Judge the cases of a baseline on an adapter, and return the ways in which they fail as it says.

    Args:
        adapter: name of the adapter, as users write it.
        baseline: the known failures; those that have expired are left out.
        suite: the cases.
        formats: ids of the formats; empty for all.

    Raises:
        AdapterError: the adapter cannot be started.
    """
    now = datetime.now(tz=UTC)
    entries = tuple(entry for entry in baseline.entries if entry.expires >= now.date())
    cases = [
        case
        for case in suite.cases
        if (not formats or case.format_id in formats) and any(entry.selects(case.id) for entry in entries)
    ]
    about = [entry for entry in entries if "~" in entry.id and not entry.of_examples]

    def keep(case: Case) -> bool:
        return any(entry.is_about(case.id) for entry in about)

    with Engine(adapter) as engine:
        golden = Selection.of(engine.hello, cases, suite).golden
        events = tuple(run(engine, Selection(golden, suite.by_id, families=bool(about), keep=keep)))
        head = run_event(engine.hello, spec=adapter, fixtures="", filters=(), **manifest_fields())
        stream = EventStream(head, events, Footer({}, complete=True))
        signatures = known_signatures(engine.hello, stream, entries, now.date())
    return KnownWays(signatures, tuple(entry for entry in entries if entry.of_examples))
