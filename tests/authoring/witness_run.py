"""Run one peer, or a library on its part of golden cases; print the ids that each agrees with, as JSON.

Run: `python -m tests.authoring.witness_run PEER [--run PATTERN]… [--missing]`; `frames` stands for the libraries of
compression, `headers` for protobuf on the headers of Heka's frames.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import asdict, frozen

from tests.authoring.frames import witnesses
from tests.authoring.heka import header_witnesses
from tests.fixture_tables.witness_reasons import unexplained
from wireproof.adapters.registry import peers
from wireproof.adapters.registry.live_servers import ServerAddress
from wireproof.cases.case import Accept, Case, Either
from wireproof.cases.fixtures import Suite, load
from wireproof.cases.id_patterns import select
from wireproof.lint.sources import cases_on_code
from wireproof.live.iggy_server.server import read_properties as iggy_properties
from wireproof.live.kafka_broker.client_properties import read_properties as kafka_properties
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent
from wireproof.run.run import Selection, run

LIBRARIES: Final[Mapping[str, Callable[[Sequence[Case]], Mapping[tuple[str, str], Sequence[str]]]]] = {
    "frames": witnesses.agreeing,
    "headers": header_witnesses.agreeing,
}
"""Names that stand for libraries, which are run on a part of an input; each with what they agree with."""

SERVERS: Final = {
    "kafka-broker": frozenset({"apache-kafka"}),
    "iggy-server": frozenset({"apache-iggy-server"}),
}
"""Names of brokers and servers that share no code with this package, by their kind."""

NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "kafka-broker": lambda path: kafka_properties(path).name,
    "iggy-server": lambda path: iggy_properties(path).name,
}
"""The function that reads the name in a properties file."""

AGREES = ("pass", "pass-unclassified")

NO_ANSWER = ("unsupported", "blocked", "adapter-error", "suite-bug", "not-run")
"""Verdicts that do not say how an implementation answers a case."""


@frozen
class Agreement:
    """An implementation, its version, and the ids of the cases that it agrees with, and that it answers otherwise."""

    name: str
    version: str
    ids: tuple[str, ...]
    otherwise: tuple[str, ...] = ()


def options_parser() -> ArgumentParser:
    """Return the options that select cases."""
    parser = ArgumentParser(add_help=False)
    parser.add_argument("--run", action="append", dest="patterns", metavar="PATTERN")
    parser.add_argument("--missing", action="store_true", help="must cases without witness and reason")
    parser.add_argument(
        "--answers", action="store_true", help="cases that rest on code; writes answers.toml alone"
    )
    return parser


def selected(suite: Suite, given: Namespace) -> list[Case]:
    """Return the cases that the options ask for."""
    cases = unexplained(suite) if given.missing else cases_on_code(suite) if given.answers else suite.cases
    wanted = {case.id for case in cases}
    return [case for case in select(suite, given.patterns or ("**",)) if case.id in wanted]


def refusal(spec: str) -> str:
    """Return why an adapter is no independent implementation, or nothing.

    Only peers of this repository are known to run another library: `reference`, `columnar` and an object or
    command of somebody's own may be the codec of this package, which agrees with itself. So may a server, unless
    its properties file says that it is one of `SERVERS`.
    """
    if spec in LIBRARIES or spec in peers.files() or _name_of_server(spec):
        return ""
    return f"{spec}: is no witness: only the peers of tests/peers are known to run the code of others"


def _name_of_server(spec: str) -> str:
    """Return the name of a live server by its properties file; empty for every other adapter and name."""
    kind = spec.partition(":")[0]
    if kind not in SERVERS:
        return ""
    name = NAMES[kind](ServerAddress.of(spec, ("http",)).properties)
    return name if name in SERVERS[kind] else ""


def agreements(spec: str, suite: Suite, cases: Sequence[Case]) -> Iterator[Agreement]:
    """Yield who agrees with which cases."""
    if spec in LIBRARIES:
        for (name, version), ids in LIBRARIES[spec](cases).items():
            yield Agreement(name, version, tuple(ids))
        return
    with Engine(spec) as engine:
        plan = Selection.of(engine.hello, cases, suite, families=False)
        events = list(run(engine, plan))
        agreed = tuple(event.id for event in events if agrees(event, suite.by_id[event.id]))
        otherwise = tuple(event.id for event in events if departs(event, suite.by_id[event.id]))
        yield Agreement(_name_of_server(spec) or spec, engine.hello.version, agreed, otherwise)


def agrees(event: CaseEvent, case: Case) -> bool:
    """Return whether a verdict says that the implementation did what the case expects.

    Of a reading, `info` says that it did something else that the format allows too; where the case has several
    answers, that it gave one of them. Of a writing it says that the bytes hold the value, in a form that the format
    leaves open. Of a sequence it says that every step has its answer, and open steps one of theirs.
    """
    is_open = event.op in ("encode", "sequence") or isinstance(case.expect, Either)
    return event.verdict in AGREES or (is_open and event.verdict == "info")


def departs(event: CaseEvent, case: Case) -> bool:
    """Return whether an implementation does something else than the case expects, be it allowed by a remark.

    A refusal that is expected is one, whatever its error; so is each of several answers that the format leaves open.
    """
    if agrees(event, case) or event.verdict in NO_ANSWER:
        return False
    return isinstance(case.expect, Accept) or event.verdict not in ("info", "undocumented")


def main() -> None:
    """Print what one implementation agrees with."""
    parser = ArgumentParser(parents=[options_parser()])
    parser.add_argument("spec")
    given = parser.parse_args()
    if reason := refusal(given.spec):
        sys.exit(reason)
    suite = load()
    found = agreements(given.spec, suite, selected(suite, given))
    json.dump([asdict(one) for one in found], sys.stdout)


if __name__ == "__main__":
    main()
