"""Record which independent implementations were run on the golden cases and agree.

Run: `python -m tests.authoring.record_witnesses --all`, or name peers: `… kafka-clients protobuf-upb`. `--all` takes every
peer that is ready on this machine. `--run PATTERN`, which may be repeated, takes some cases only; `--missing` only those of
level `must` that have neither witness nor reason; `--dry-run` prints and writes nothing. `--answers` takes the cases that
rest on code and writes what each library answers into `answers.toml`, and no witness.

A case gets a witness only by a verdict that says the implementation did what the case expects; one that departs from it,
or that does not do such a thing at all, is none. A peer that fails is a line, and what it witnessed before stays as it is.
The files are written after each peer, so that a run can be stopped at any time, and continued with `--missing`.
"""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from tests.authoring.shared_code import without_shared_code
from tests.fixture_tables.witness_reasons import count_line, unexplained
from wireproof.adapters.errors import AdapterError
from wireproof.adapters.registry import peers
from wireproof.adapters.registry.live_servers import ServerAddress
from wireproof.adapters.registry.readiness import ready
from wireproof.cases.case import Accept, Case, Either
from wireproof.cases.fixture_writer import sorted_page_text
from wireproof.cases.fixtures import Suite, fixtures_folder, load
from wireproof.cases.id_patterns import select
from wireproof.files import replace_text
from wireproof.lint.sources import (
    ANSWERS_FILE,
    AnswersFile,
    LibraryAnswers,
    cases_on_code,
    read_answers,
)
from wireproof.live.iggy_server.server import read_properties as iggy_properties
from wireproof.live.kafka_broker.client_properties import read_properties as kafka_properties
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent
from wireproof.run.run import Selection, run

SERVERS: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "kafka-broker": ("apache-kafka", lambda path: kafka_properties(path).name),
    "iggy-server": ("apache-iggy-server", lambda path: iggy_properties(path).name),
}
"""By kind, the broker or server that shares no code with this package, and what reads the name in a properties file."""

AGREES = ("pass", "pass-unclassified")

NO_ANSWER = ("unsupported", "blocked", "adapter-error", "suite-bug", "not-run")
"""Verdicts that do not say how an implementation answers a case."""

ANSWERS_HEAD = """\
# What each library answers on the cases that rest on code, which decides their level: writing-a-case.md#levels.
# `python -m tests.authoring.record_witnesses --answers --all` writes it. Libraries that share code are one."""


@frozen
class Agreement:
    """An implementation, its version, and the ids of the cases that it agrees with, and that it answers otherwise."""

    name: str
    version: str
    ids: tuple[str, ...]
    otherwise: tuple[str, ...] = ()


# --- who is asked, and what ---


def ready_peers(*, clients: bool) -> Iterator[str]:
    """Yield every peer that can be started here; print a line for each other one.

    A client runs the codec of another peer.
    """
    for name, path in peers.files().items():
        peer = peers.read(path)
        state = ready(peer) if clients or not peer.client else None
        if state and state.state == "ready":
            yield name
        elif state:
            print(f"{name}: {state.state}: {state.fix}", flush=True)


def selected(suite: Suite, given: Namespace) -> list[Case]:
    cases = unexplained(suite) if given.missing else cases_on_code(suite) if given.answers else suite.cases
    wanted = {case.id for case in cases}
    return [case for case in select(suite, given.patterns or ("**",)) if case.id in wanted]


def refusal(spec: str) -> str:
    """Return why an adapter is no independent implementation, or nothing.

    Only peers of this repository are known to run another library: `reference`, `columnar` and an object or command of
    somebody's own may be the codec of this package, which agrees with itself. So may a server, unless its properties file
    says that it is one of `SERVERS`.
    """
    if spec in peers.files() or _name_of_server(spec):
        return ""
    return f"{spec}: is no witness: only the peers of tests/peers are known to run the code of others"


def _name_of_server(spec: str) -> str:
    """Return the name of a live server by its properties file; empty for every other adapter and name."""
    wanted, name_in = SERVERS.get(spec.partition(":")[0], ("", None))
    name = name_in(ServerAddress.of(spec, ("http",)).properties) if name_in else ""
    return name if name == wanted else ""


def gathered(specs: Sequence[str], suite: Suite, cases: Sequence[Case]) -> Iterator[Agreement]:
    """Run each peer; yield what it agrees with, or print why it has no answer."""
    for spec in specs:
        try:
            with Engine(spec) as engine:
                events = list(run(engine, Selection.of(engine.hello, cases, suite, families=False)))
                version = engine.hello.version
        except AdapterError as error:
            print(f"{spec}: failed: {error}", flush=True)
            continue
        agreed = tuple(event.id for event in events if agrees(event, suite.by_id[event.id]))
        otherwise = tuple(event.id for event in events if departs(event, suite.by_id[event.id]))
        print(f"{spec} {version} agrees with {len(agreed)} cases", flush=True)
        yield Agreement(_name_of_server(spec) or spec, version, agreed, otherwise)


def agrees(event: CaseEvent, case: Case) -> bool:
    """Return whether a verdict says that the implementation did what the case expects.

    Of a reading, `info` says that it did something else that the format allows too; where the case has several answers,
    that it gave one of them. Of a writing it says that the bytes hold the value, in a form that the format leaves open. Of
    a sequence it says that every step has its answer, and open steps one of theirs.
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


# --- witnesses ---


def record_each(paths: Iterable[Path], asked: Collection[str], found: Iterable[Agreement]) -> None:
    """Write the witnesses of the cases that were asked into their files after each peer.

    Each time everything found so far is written: of a group that shares code, an earlier peer takes the place of a later
    one that does not agree any more.
    """
    files, so_far = sorted(set(paths)), list[Agreement]()
    for one in found:
        so_far.append(one)
        for path in files:
            text = path.read_text(encoding="utf-8")
            page = json.loads(text)
            for case in page["cases"]:
                if case["id"] in asked:
                    add(case, so_far)
            if (wanted := sorted_page_text(json.dumps(page))) != text:
                replace_text(path, wanted, durable=False)


def add(case: dict[str, Any], found: Sequence[Agreement]) -> None:
    """Give a case those who agree; what was recorded of implementations that were not run stays."""
    ran = {one.name for one in found}
    others = [one for one in case["source"].pop("witnesses", []) if one["name"] not in ran]
    agreeing = [{"name": one.name, "version": one.version} for one in found if case["id"] in one.ids]
    witnesses = without_shared_code([*others, *agreeing], case["id"].split("/")[1])
    if witnesses:
        case["source"]["witnesses"] = sorted(witnesses, key=lambda one: one["name"])


# --- answers of libraries ---


def record_answers(
    path: Path, wanted: Sequence[Case], asked: Collection[str], found: Iterable[Agreement]
) -> None:
    """Write what each library answers on the cases that were asked, after each one; other cases are left out.

    What was recorded of libraries that were not run stays.
    """
    recorded = read_answers(path) or AnswersFile({}, {})
    versions, so_far = dict(recorded.versions), []
    for one in found:
        so_far.append(one)
        versions[one.name] = one.version
        rows = {
            case.id: _answers(
                case, recorded.by_id.get(case.id, LibraryAnswers()), so_far if case.id in asked else ()
            )
            for case in wanted
        }
        replace_text(path, _answers_text(versions, rows), durable=False)


def _answers(case: Case, old: LibraryAnswers, found: Sequence[Agreement]) -> LibraryAnswers:
    """Return the answers to a case with those of a run; of libraries that share code, those of one."""
    ran = {one.name for one in found}
    agree = {name for name in old.agree if name not in ran} | {
        one.name for one in found if case.id in one.ids
    }
    otherwise = [name for name in old.otherwise if name not in ran]
    otherwise += [one.name for one in found if case.id in one.otherwise]
    kept = without_shared_code([{"name": name} for name in (*sorted(agree), *otherwise)], case.revision)
    names = sorted(row["name"] for row in kept)
    return LibraryAnswers(
        tuple(name for name in names if name in agree), tuple(name for name in names if name in otherwise)
    )


def _answers_text(versions: Mapping[str, str], rows: Mapping[str, LibraryAnswers]) -> str:
    """Return the file: a table for each topic, a line for each case."""
    named = {name for row in rows.values() for name in (*row.agree, *row.otherwise)}
    lines = [ANSWERS_HEAD, "", "[versions]", *(f'"{name}" = "{versions[name]}"' for name in sorted(named))]
    for topic, cases in groupby(sorted(rows), key=lambda name: name.rpartition("/")[0]):
        lines += ["", f'["{topic}"]']
        for name in cases:
            lists = (("agree", rows[name].agree), ("otherwise", rows[name].otherwise))
            parts = ", ".join(f"{key} = {json.dumps(names)}" for key, names in lists if names)
            lines.append(f'"{name.rpartition("/")[2]}" = {f"{{ {parts} }}" if parts else "{}"}')
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the peers, write what they witness, and print the figures."""
    parser = ArgumentParser(description="record the witnesses of golden cases")
    parser.add_argument("specs", nargs="*", metavar="PEER")
    parser.add_argument("--all", action="store_true", help="every peer that is ready")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    parser.add_argument("--run", action="append", dest="patterns", metavar="PATTERN")
    parser.add_argument("--missing", action="store_true", help="must cases without witness and reason")
    parser.add_argument(
        "--answers", action="store_true", help="cases that rest on code; writes answers.toml alone"
    )
    given = parser.parse_args()
    everyone = ready_peers(clients=not given.answers) if given.all else ()
    specs = list(dict.fromkeys([*given.specs, *everyone]))
    refusals = [reason for spec in specs if (reason := refusal(spec))]
    if refusals or not specs:
        parser.error("\n".join(refusals) or "name peers, or give --all")
    suite = load()
    cases = selected(suite, given)
    asked = {case.id for case in cases}
    found = gathered(specs if asked else (), suite, cases)
    if given.dry_run:
        agreed = {name for one in found for name in one.ids}
        rest = [case.id for case in unexplained(suite) if case.id not in agreed]
        print(*rest, f"{len(rest)} must cases have neither witness nor reason", sep="\n")
    elif given.answers:
        record_answers(fixtures_folder() / ANSWERS_FILE, cases_on_code(suite), asked, found)
    else:
        record_each(suite.files.values(), asked, found)
        print(count_line(load()))


if __name__ == "__main__":
    main()
