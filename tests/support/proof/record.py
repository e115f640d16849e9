"""Record what a checkout does: `PYTHON record.py CHECKOUT FOLDER PART…`.

The Python is that of an environment with the packages of the tests. This file is run by itself, so that it
also records commits that do not have it: it imports nothing of the project but its public API, and reads
what commands print. Each part is a file of lines `key TAB value` in the folder. A part that is there already
is not recorded again.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

Rows = Iterator[tuple[str, str]]

NOT_DONE: Final = "not done: "
"""How the value of a row begins that was not measured: two of them are not the same."""


class Scope(NamedTuple):
    """What is recorded: a checkout, and an empty folder for what a part writes meanwhile."""

    checkout: Path
    room: Path


CODECS: Final = (
    "reference",
    "columnar",
    "kafka-python",
    "aiokafka",
    "kio",
    "protobuf-python",
    "iggy-py",
    f"exec:{sys.executable} -m wireproof serve kafka-python",
)
"""The adapters of the part `verdicts`: the last is spoken to over its pipes."""

CHUNKS: Final = 64
"""The pieces of work of the part `traces`, which the processes share."""

TAKEN: Final = 8
"""How many cuts, and how many flipped bits, the part `traces` takes of each input."""

SAMPLED: Final = 48
"""The part `verdicts` takes the derived cases of each golden case whose digest this divides."""

RUNS_COMMANDS: Final = re.compile(r"\bwireproof: Command\b|\bwireproof\(")
"""What a test has in it that runs a command: the part `mistakes` runs these."""


class RecordError(Exception):
    """A part could not be recorded; the message names the command and its last lines."""


def command(*words: str, codes: tuple[int, ...] = (0,), cwd: Path | None = None, **more: str) -> str:
    """Run a module of the recorded environment, or a text after `-c`, and return what it prints.

    Raises:
        RecordError: it ends with another exit code.
    """
    done = subprocess.run(
        [sys.executable, *(() if words[0] == "-c" else ("-m",)), *words],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", **more},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in codes:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise RecordError(f"{' '.join(words)}: exit code {done.returncode}\n{last}")
    return done.stdout


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=repr)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def cases(scope: Scope) -> Rows:
    """Yield the bytes of each golden case, and what is expected."""
    command("wireproof", "export", "--out", f"{scope.room}/cases")
    with (scope.room / "cases/cases.ndjson").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            given = {name: row.get(name) for name in ("sha256", "value", "chunks", "generate", "steps")}
            yield f"{row['id']} input", digest(given)
            yield f"{row['id']} expect", digest([row.get("expect"), row.get("options")])
            yield f"{row['id']} level", row["level"]


def verdicts(scope: Scope) -> Rows:
    """Yield the verdict, class, path and signature of every golden case, and of a sample of derived ones.

    Which cases have theirs taken depends on their ids alone.
    """
    names = [
        row["id"] for row in json.loads(command("wireproof", "cases", "--format", "json", cwd=scope.checkout))
    ]
    sample = scope.room / "sample.txt"
    taken = (name for name in names if int(digest(name), 16) % SAMPLED == 0)
    sample.write_text("".join(f"{name}\n" for name in taken), encoding="utf-8")
    yield from _verdicts(scope, "golden", "--no-families")
    yield from _verdicts(scope, "sample", "--run", f"@{sample}")


def derived(scope: Scope) -> Rows:
    """Yield the same of all derived cases."""
    yield from _verdicts(scope, "all")


def _verdicts(scope: Scope, what: str, *words: str) -> Rows:
    """Yield the rows of a run of each codec."""
    large = ("--large",) if "--large" in command("wireproof", "check", "--help", cwd=scope.checkout) else ()
    for spec in CODECS:
        name = spec if not spec.startswith("exec:") else "stdio"
        out = scope.room / f"{what}-{name}.jsonl"
        printed = command(
            "wireproof", "check", spec, "--property", "0", "--min-cases", "0", "--out", str(out),
            *words, *large, codes=(0, 1, 2, 3), cwd=scope.checkout,
        )  # fmt: skip
        if not out.exists() or '"event":"footer"' not in out.read_text(encoding="utf-8"):  # 2: no case
            raise RecordError(f"{spec}: the run has no end: {printed[-300:]}")
        yield from _case_rows(name, out)


def _case_rows(name: str, run: Path) -> Rows:
    with run.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["event"] == "case":
                parts = (
                    row.get(part, "") for part in ("verdict", "kind", "class", "path", "at", "behaviour")
                )
                shown = digest([row.get("want"), row.get("got"), row.get("text"), row.get("remarks")])
                yield f"{name} {row['id']}", " ".join([*map(str, parts), shown])


def traces(_: Scope) -> Rows:
    """Yield the trace and the answer of the reference to each golden input, cut and with a flipped bit."""
    names = list(_golden())
    with ProcessPoolExecutor() as pool:
        for rows in pool.map(_traced, (names[first::CHUNKS] for first in range(CHUNKS))):
            yield from rows


@cache
def _golden() -> dict[str, Any]:
    """Return the golden cases by their ids; a process that is forked has them."""
    from wireproof.cases.fixtures import load  # noqa: PLC0415 - of the recorded environment

    return {case.id: case for case in load().cases}


def _traced(names: list[str]) -> list[tuple[str, str]]:
    from attrs import evolve  # noqa: PLC0415 - of the recorded environment

    from wireproof.cases.case import Data, Value  # noqa: PLC0415
    from wireproof.cases.reference_answers import reference_answer  # noqa: PLC0415
    from wireproof.formats import decode_with_trace, get  # noqa: PLC0415

    rows = []
    for case in map(_golden().__getitem__, names):
        match case.input:
            case Value():
                rows.append((case.id, digest(_fields(reference_answer(case)))))
            case Data(data):
                fmt = get(case.format, case.revision)
                for name, changed in _inputs(data):
                    traced = decode_with_trace(fmt, changed, case.effective_options)
                    answer = reference_answer(evolve(case, input=Data(changed)))
                    spans = [_fields(span) for span in traced.spans]
                    refusal = traced.rejected and _fields(traced.rejected)
                    rows.append((f"{case.id}{name}", digest([spans, refusal, _fields(answer)])))
            case _:
                continue
    return rows


def _inputs(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield an input as it is, cut at some places, and with a bit flipped at some."""
    yield "", data
    places = sorted({len(data) * part // TAKEN for part in range(TAKEN)})
    for at in places if data else ():
        yield f" cut {at}", data[:at]
        yield f" flip {at}", bytes([*data[:at], data[at] ^ (1 << at % 8), *data[at + 1 :]])


def _fields(value: Any) -> Any:
    """Return a value of the API as its public parts, in whatever class they stand."""
    match value:
        case bytes():
            return value.hex()
        case str() | int() | float() | None:
            return value
        case tuple() | list():
            return [_fields(part) for part in value]
        case dict():
            return {str(key): _fields(part) for key, part in value.items()}
        case _:
            names = getattr(value, "__attrs_attrs__", None)
            parts = [part.name for part in names] if names else [n for n in vars(value) if n[0] != "_"]
            return {name: _fields(getattr(value, name)) for name in parts}


def kills(scope: Scope) -> Rows:
    """Yield the golden cases that kill each mutant."""
    words = ("--table", "golden", "--workers", str(os.cpu_count()), "--out", str(scope.room), "--in-process")
    command("tests.mutants", *words, codes=(0, 1, 4), cwd=scope.checkout)
    table = json.loads((scope.room / "kill.json").read_text(encoding="utf-8"))
    if isinstance(table, dict):  # of a commit before 2026-11-29
        table = [
            {"name": name, "killed": cell, "error": cell.get("error", "")}
            for name, row in table["rows"].items()
            for cell in row["cells"].values()
        ]
    for cell in table:
        killed = cell["killed"]
        fault = NOT_DONE + cell["error"] if cell["error"] else ""
        yield cell["name"], fault or " ".join(sorted(killed["ids"])) or killed["by"] or "none"


def baselines(scope: Scope) -> Rows:
    """Yield the known failures of the peers: each case with its verdict, its class and its reason."""
    for path in sorted(scope.checkout.glob("tests/peers/*/*/baseline.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("known-failure", ()):
            ids = row["id"] if isinstance(row["id"], list) else [row["id"]]
            value = " | ".join(str(row.get(part, "")) for part in ("kind", "class", "reason"))
            yield from ((f"{path.parent.name} {one}", value) for one in ids)


def helps(scope: Scope) -> Rows:
    """Yield the help of the program and of each command, each option with its text alone."""
    yield from _help_rows(scope.checkout)


@cache
def _help_rows(checkout: Path) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        words = waiting.pop(0)
        text = command("wireproof", *words, "--help", cwd=checkout)
        name = " ".join(words) or "wireproof"
        sections = re.split(r"^(\w+):\n", text, flags=re.MULTILINE)
        rows.append((f"{name} usage", " ".join(sections[0].split())))
        for title, body in zip(sections[1::2], sections[2::2], strict=True):
            for row in re.split(r"\n(?=  \S)", body.rstrip()):
                first, _, rest = row.strip().partition("  ")
                rows.append((f"{name} {title} {first.strip()}", " ".join(rest.split())))
                if title in ("Verbs", "Commands"):
                    waiting.append((*words, first.split()[0]))
    return rows


def mistakes(scope: Scope) -> Rows:
    """Yield the exit code and the first line on stderr of each command that unit tests run."""
    yield from _commands(scope, [])


def documents(scope: Scope) -> Rows:
    """Yield the same of the commands of the documents, which need the tools of other languages."""
    yield from _commands(scope, ["-m", "documents"])


def _commands(scope: Scope, words: list[str]) -> Rows:
    plugin = Path(__file__).with_name("commands_of_tests.py")
    written = scope.room / "commands.tsv"
    paths = [str(path.relative_to(scope.checkout)) for path in _tests_of_commands(scope, any(words))]
    command(
        "pytest", "-q", "-n", str(os.cpu_count()), "-p", "no:cacheprovider", "-p", plugin.stem,
        *words, *paths,
        codes=(0, 1), cwd=scope.checkout, WIREPROOF_COMMANDS=str(written),
        PYTHONPATH=os.pathsep.join((str(plugin.parent), os.environ.get("PYTHONPATH", ""))),
    )  # fmt: skip
    for line in written.read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("\t")
        yield key, value


def _tests_of_commands(scope: Scope, documents: bool) -> Iterator[Path]:
    for path in sorted((scope.checkout / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        wanted = "mark.documents" in text if documents else RUNS_COMMANDS.search(text)
        if wanted:
            yield path


def figures(scope: Scope) -> Rows:
    """Yield the figures of the size of the project."""
    checkout = scope.checkout
    package = list((checkout / "reference").rglob("*.py"))
    yield "lines of the package", str(_lines(package))
    yield "modules of the package", str(len(package))
    yield "lines of written stubs", str(_lines(list((checkout / "reference").rglob("*.pyi"))))
    yield "lines of tests/**/*.py", str(_lines(list((checkout / "tests").rglob("*.py"))))
    yield "lines of baseline.toml", str(_lines(list((checkout / "tests").glob("peers/*/*/baseline.toml"))))
    rows = _help_rows(checkout)
    commands = {key.rpartition(" ")[0] for key, _ in rows if key.endswith(" usage")} - {"wireproof"}
    yield "verbs", str(len({name.split()[0] for name in commands}))
    yield "options", str(sum(" Options -" in key and not key.endswith("--help") for key, _ in rows))
    words = ("--collect-only", "-q", "-p", "no:cacheprovider", "-n", "0")
    printed = command("pytest", *words, cwd=checkout, HOME=str(scope.room))
    collected = re.findall(r"(\d+)(?:/\d+)? tests? collected", printed)
    if not collected:
        raise RecordError("the tests: pytest does not say how many it collected")
    yield "items of the test command", collected[-1]
    entered = re.findall(r"^entered (\d+)$", command("-c", ENTERED, codes=(0, 1)), flags=re.MULTILINE)
    if not entered:
        raise RecordError("one golden case of kafka-python was not judged")
    yield "modules that a golden case enters", entered[-1]
    yield "processor seconds of all cases", f"{_seconds_of('list(load().cases)'):.2f}"
    yield "processor seconds of all expectations", f"{_seconds_of('[c.expect for c in load().cases]'):.2f}"


def _lines(paths: list[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


ENTERED: Final = """
import sys
entered = set()
def importing(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and "/reference/wireproof/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
def profile(frame, event, _):
    name = frame.f_code.co_filename
    if event == "call" and "/reference/wireproof/" in name and name not in entered and not importing(frame):
        entered.add(name)
from wireproof.cli import (main)
sys.argv = ["wireproof", "check", "kafka-python", "--run", "kafka.batch/v2/crc/zero",
            "--no-families", "--in-process", "--jobs", "1"]
sys.setprofile(profile)
try:
    main()
except SystemExit:
    sys.setprofile(None)
print("entered", len(entered))
"""


def _seconds_of(words: str) -> float:
    """Return the least processor time of three times reading fixtures, each in a process of its own."""
    code = (
        "import time; from wireproof.cases.fixtures import load; from wireproof.formats import FAMILIES; "
        f"list(FAMILIES.values()); t = time.process_time(); {words}; print(time.process_time() - t)"
    )
    return min(float(command("-c", code)) for _ in range(3))


def servers(scope: Scope) -> Rows:
    """Yield the case that notices each faulty server and client, and the outcome of each test of them."""
    apart = (
        "import importlib; from attrs import asdict, has; "
        "tables = {name: vars(importlib.import_module(f'tests.live.{name}')) for name in "
        "('kill_table', 'iggy_kill_table', 'client_kill_table')}; "
        "rows = {f'{name} {table} {fault}': asdict(case) if has(type(case)) else case"
        " for name, parts in tables.items() for table in sorted(parts) if table.endswith('KILLED_BY')"
        " for fault, case in parts[table].items()}"
    )
    with_faults = (
        "from tests.live.clients.faulty import CONSUMERS, PRODUCERS; "
        "from tests.live.mock_broker.faults import KILLED_BY; "
        "from tests.live.mock_iggy.faults import FAULTS; "
        "tables = {'kill_table KILLED_BY': KILLED_BY,"
        " 'iggy_kill_table KILLED_BY':"
        " {name: {'case': one[0], 'verdict': one[1]} for name, one in FAULTS.items()},"
        " 'client_kill_table KILLED_BY': {name: one[0] for name, one in CONSUMERS.items()},"
        " 'client_kill_table PRODUCERS_KILLED_BY': {name: one[0] for name, one in PRODUCERS.items()}}; "
        "rows = {f'{table} {fault}': case for table, rows in tables.items() for fault, case in rows.items()}"
    )
    older = (scope.checkout / "tests" / "live" / "kill_table.py").exists()
    code = f"import json; {apart if older else with_faults}; print(json.dumps(rows))"
    for key, value in json.loads(command("-c", code, cwd=scope.checkout)).items():
        yield key, json.dumps(value)
    yield from _outcomes(scope, "live")


def peers(scope: Scope) -> Rows:
    """Yield the outcome of each test of a peer beside its baseline."""
    yield from _outcomes(scope, "peers or builds")


def _outcomes(scope: Scope, marker: str) -> Rows:
    """Yield the outcome of each test with a marker."""
    words = ("-q", "-p", "no:cacheprovider", "-m", marker, "-rA", "-n", str(os.cpu_count()), "tests")
    outcomes = command("pytest", *words, codes=(0, 1), cwd=scope.checkout)
    for outcome, name in re.findall(
        r"^(PASSED|FAILED|ERROR) (\S+::.+?)(?: - |$)", outcomes, flags=re.MULTILINE
    ):
        yield name, outcome if outcome == "PASSED" else NOT_DONE + outcome
    for count, place in re.findall(r"^SKIPPED \[(\d+)\] (.+)$", outcomes, flags=re.MULTILINE):
        yield place.partition(": ")[2], f"skipped {count}"


QUICK: Final[dict[str, Callable[[Scope], Rows]]] = {
    "figures": figures,
    "helps": helps,
    "cases": cases,
    "baselines": baselines,
    "traces": traces,
    "kills": kills,
    "mistakes": mistakes,
    "verdicts": verdicts,
}
WHOLE: Final = {**QUICK, "documents": documents, "derived": derived, "servers": servers, "peers": peers}


def main(checkout: Path, folder: Path, parts: Iterable[str]) -> int:
    """Record the parts that are not there; return 1 if one could not be recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each command would compile all that it imports
    failed = 0
    for part in parts:
        path = folder / f"{part}.tsv.gz"
        if path.exists():
            continue
        start = time.monotonic()
        try:
            with tempfile.TemporaryDirectory() as room:
                rows = _measured(part, Scope(checkout, Path(room)))
        except Exception as error:  # noqa: BLE001 - whatever stops a part, the others are recorded
            sys.stdout.write(f"{part}: not recorded: {type(error).__name__}: {error}\n")
            failed = 1
            continue
        new = path.with_suffix(".new")
        lines = [f"{key}\t{value}\n" for key, value in rows]
        new.write_bytes(gzip.compress("".join(lines).encode("utf-8", "surrogateescape"), mtime=0))
        new.rename(path)
        sys.stdout.write(f"{part}: {len(rows):,} rows in {time.monotonic() - start:.0f} s\n")
        sys.stdout.flush()
    return failed


def _measured(part: str, scope: Scope) -> list[tuple[str, str]]:
    """Return the rows of a part in order, one for each key: with all its values if there are several.

    Raises:
        RecordError: there are none, which would be the same as any other record without rows.
    """
    found: dict[str, set[str]] = {}
    for key, value in WHOLE[part](scope):
        found.setdefault(" ".join(key.split()), set()).add(" ".join(value.split()))
    if not found:
        raise RecordError("nothing was measured")
    return [(key, " / ".join(sorted(values))) for key, values in sorted(found.items())]


if __name__ == "__main__":
    top, room, *wanted = sys.argv[1:]
    package = find_spec("wireproof")
    if package is None or not str(package.origin).startswith(f"{top}{os.sep}"):
        sys.exit(f"{sys.executable} has the wireproof of {package and package.origin}, not of {top}")
    sys.exit(main(Path(top), Path(room), wanted))
