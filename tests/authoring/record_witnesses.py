"""Record which independent implementations were run on the golden cases and agree.

Run: `python -m tests.authoring.record_witnesses --all`, or name peers: `… kafka-clients protobuf-upb frames`. `--all`
takes every peer that is ready on this machine, `frames`, the libraries of compression, and `headers`, protobuf on the
headers of Heka's frames. `--run PATTERN`, which may be repeated, takes some cases only; `--missing` only those of level
`must` that have neither witness nor reason; `--dry-run` prints and writes nothing. `--answers` takes the cases that rest on
code and writes what each library answers into `answers.toml`, and no witness.

A case gets a witness only by a verdict that says the implementation did what the case expects; one that departs
from it, or that does not do such a thing at all, is none. Each peer runs in a process of its own: one that fails is
a line, and what it witnessed before stays as it is. The files are written after each peer, so that a run can be
stopped at any time, and continued with `--missing`.
"""

import json
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.authoring.shared_code import without_shared_code
from tests.authoring.witness_run import LIBRARIES, Agreement, options_parser, refusal, selected, unexplained
from tests.fixture_tables.witness_reasons import count_line
from wireproof.adapters.registry import peers
from wireproof.adapters.registry.readiness import ready
from wireproof.cases.case import Case
from wireproof.cases.fixture_writer import sorted_page_text
from wireproof.cases.fixtures import Suite, fixtures_folder, load
from wireproof.files import replace_text
from wireproof.lint.sources import (
    ANSWERS_FILE,
    AnswersFile,
    LibraryAnswers,
    cases_on_code,
    read_answers,
)

SECONDS = 1800
"""The maximum time of one peer."""

ANSWERS_HEAD = """\
# What each library answers on the cases that rest on code, which decides their level: writing-a-case.md#levels.
# `python -m tests.authoring.record_witnesses --answers --all` writes it. Libraries that share code are one."""


def ready_peers() -> Iterator[str]:
    """Yield the libraries and every peer that can be started here; print a line for each other one."""
    yield from LIBRARIES
    yield from _ready(peers.files())


def ready_codecs() -> Iterator[str]:
    """Yield every peer that can be started here and is no client: a client runs the codec of another peer."""
    yield from _ready(name for name, path in peers.files().items() if not peers.read(path).client)


def _ready(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        state = ready(peers.read(peers.files()[name]))
        if state.state == "ready":
            yield name
        else:
            print(f"{name}: {state.state}: {state.fix}", flush=True)


def gathered(specs: Sequence[str], options: Sequence[str]) -> Iterator[Agreement]:
    """Run each peer in its own process; yield what it agrees with, or print why it has no answer."""
    for spec in specs:
        start = time.monotonic()
        try:
            found = _from_process(spec, options)
        except (subprocess.SubprocessError, ValueError) as error:
            print(f"{spec}: failed after {time.monotonic() - start:.1f} s: {_last_line(error)}", flush=True)
            continue
        counts = ", ".join(f"{one.name} {one.version} agrees with {len(one.ids)} cases" for one in found)
        print(f"{spec}: {counts or 'no answer'}, {time.monotonic() - start:.1f} s", flush=True)
        yield from found


def _from_process(spec: str, options: Sequence[str]) -> list[Agreement]:
    command = [sys.executable, "-m", "tests.authoring.witness_run", spec, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    return [Agreement(**row) for row in json.loads(done.stdout)]


def _last_line(error: Exception) -> str:
    lines = str(getattr(error, "stderr", None) or error).strip().splitlines()
    return lines[-1] if lines else type(error).__name__


def record_each(paths: Iterable[Path], asked: Collection[str], found: Iterable[Agreement]) -> list[Agreement]:
    """Write the witnesses of the cases that were asked into their files after each peer; return all that was found.

    Each time everything found so far is written: of a group that shares code, an earlier peer takes the place of a
    later one that does not agree any more.
    """
    files, so_far = sorted(set(paths)), []
    for one in found:
        so_far.append(one)
        for path in files:
            record(path, asked, so_far)
    return so_far


def record(path: Path, asked: Collection[str], found: Sequence[Agreement]) -> None:
    """Write the witnesses of the cases that were asked into one file, if they change it."""
    text = path.read_text(encoding="utf-8")
    page = json.loads(text)
    for case in page["cases"]:
        if case["id"] in asked:
            add(case, found)
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
    agree = [
        *(name for name in old.agree if name not in ran),
        *(one.name for one in found if case.id in one.ids),
    ]
    otherwise = [name for name in old.otherwise if name not in ran]
    otherwise += [one.name for one in found if case.id in one.otherwise]
    kept = without_shared_code([{"name": name} for name in (*agree, *otherwise)], case.revision)
    names = sorted(row["name"] for row in kept)
    return LibraryAnswers(
        tuple(name for name in names if name in agree), tuple(name for name in names if name in otherwise)
    )


def _answers_text(versions: Mapping[str, str], rows: Mapping[str, LibraryAnswers]) -> str:
    """Return the file: a table for each topic, a line for each case."""
    named = {name for row in rows.values() for name in (*row.agree, *row.otherwise)}
    lines = [ANSWERS_HEAD, "", "[versions]", *(f'"{name}" = "{versions[name]}"' for name in sorted(named))]
    for topic, cases in groupby(sorted(rows), key=lambda name: name.rpartition("/")[0]):
        lines += ["", f'["{topic}"]', *(_answer_line(name, rows[name]) for name in cases)]
    return "\n".join(lines) + "\n"


def _answer_line(name: str, row: LibraryAnswers) -> str:
    lists = (("agree", row.agree), ("otherwise", row.otherwise))
    parts = ", ".join(f"{key} = {json.dumps(names)}" for key, names in lists if names)
    return f'"{name.rpartition("/")[2]}" = {{ {parts} }}' if parts else f'"{name.rpartition("/")[2]}" = {{}}'


def main() -> None:
    """Run the peers, write what they witness, and print the figures."""
    parser = ArgumentParser(parents=[options_parser()], description="record the witnesses of golden cases")
    parser.add_argument("specs", nargs="*", metavar="PEER")
    parser.add_argument("--all", action="store_true", help="every peer that is ready, and the libraries")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    given = parser.parse_args()
    everyone = ready_codecs if given.answers else ready_peers
    specs = list(dict.fromkeys([*given.specs, *(everyone() if given.all else ())]))
    refusals = [reason for spec in specs if (reason := refusal(spec))]
    if refusals or not specs:
        parser.error("\n".join(refusals) or "name peers, or give --all")
    suite = load()
    asked = {case.id for case in selected(suite, given)}
    found = gathered(specs if asked else (), case_options(asked))
    if given.dry_run:
        _print_rest(suite, list(found))
        return
    if given.answers:
        record_answers(fixtures_folder() / ANSWERS_FILE, cases_on_code(suite), asked, found)
        return
    record_each(suite.files.values(), asked, found)
    print(count_line(load()))


def case_options(ids: Iterable[str]) -> list[str]:
    """Return the options for these cases: each peer gets the same, however many an earlier one witnessed."""
    return [word for name in sorted(ids) for word in ("--run", name)]


def _print_rest(suite: Suite, found: Sequence[Agreement]) -> None:
    agreed = {name for one in found for name in one.ids}
    rest = [case.id for case in unexplained(suite) if case.id not in agreed]
    print(*rest, f"{len(rest)} must cases have neither witness nor reason", sep="\n")


if __name__ == "__main__":
    main()
