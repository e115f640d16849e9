"""Record what a checkout does: `PYTHON record.py CHECKOUT FOLDER PART…`, with the Python of its environment.

This file is run by itself, so that it also records commits that do not have it: it imports nothing of the
project but its public API, and reads what commands print. Each part is a file of lines `key TAB value` in
the folder; a part that is there already is not recorded again, so an interrupted record goes on.
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
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

Rows = Iterator[tuple[str, str]]

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

TAKEN: Final = 8
"""How many cuts, and how many flipped bits, the part `traces` takes of each input."""

UNDER_TEST: Final = ("tests/unit/cli", "tests/unit/runner", "tests/unit/report", "tests/unit/adapters")
"""The tests whose commands, most of them mistakes, the part `mistakes` records."""


class RecordError(Exception):
    """A part could not be recorded; the message names the command and its last lines."""


def command(*words: str, codes: tuple[int, ...] = (0,), cwd: Path | None = None, **more: str) -> str:
    """Run a module of the recorded environment, and return what it prints.

    Raises:
        RecordError: it ends with another exit code.
    """
    done = subprocess.run(
        [sys.executable, "-m", *words],
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
    """Return a short digest of a value in JSON form."""
    text = json.dumps(value, sort_keys=True, default=repr)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def cases(_: Path) -> Rows:
    """Yield the bytes of each golden case, and what is expected."""
    with tempfile.TemporaryDirectory() as room:
        command("wireproof", "export", "--out", f"{room}/cases")
        with Path(room, "cases/cases.ndjson").open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                given = {name: row.get(name) for name in ("sha256", "value", "chunks", "generate", "steps")}
                yield f"{row['id']} input", digest(given)
                yield f"{row['id']} expect", digest([row.get("expect"), row.get("options")])
                yield f"{row['id']} level", row["level"]


def verdicts(_: Path) -> Rows:
    """Yield the verdict, class, path and signature of every golden and derived case for each codec."""
    for spec in CODECS:
        name = spec if not spec.startswith("exec:") else "stdio"
        with tempfile.TemporaryDirectory() as room:
            run = Path(room) / "run.jsonl"
            command("wireproof", "check", spec, "--property", "0", "--out", str(run), codes=(0, 1, 3))
            yield from _case_rows(name, run)


def _case_rows(name: str, run: Path) -> Rows:
    with run.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["event"] == "case":
                parts = (
                    row.get(part, "") for part in ("verdict", "kind", "class", "path", "at", "behaviour")
                )
                shown = digest([row.get("want"), row.get("got"), row.get("text"), row.get("remarks")])
                yield f"{name} {row['id']}", " ".join([*map(str, parts), shown])


def traces(_: Path) -> Rows:
    """Yield the trace and the answer of the reference to each golden input, cut and with a flipped bit."""
    from attrs import evolve  # noqa: PLC0415 - of the recorded environment

    from wireproof.cases.case import Data, Value  # noqa: PLC0415
    from wireproof.cases.fixtures import load  # noqa: PLC0415
    from wireproof.cases.reference_answers import reference_answer  # noqa: PLC0415
    from wireproof.formats import decode_with_trace, get  # noqa: PLC0415

    for case in load().cases:
        match case.input:
            case Value():
                yield case.id, digest(_fields(reference_answer(case)))
            case Data(data):
                fmt = get(case.format, case.revision)
                for name, changed in _inputs(data):
                    traced = decode_with_trace(fmt, changed, case.effective_options)
                    answer = reference_answer(evolve(case, input=Data(changed)))
                    spans = [_fields(span) for span in traced.spans]
                    refusal = traced.rejected and _fields(traced.rejected)
                    yield f"{case.id}{name}", digest([spans, refusal, _fields(answer)])
            case _:
                continue


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


def kills(checkout: Path) -> Rows:
    """Yield the golden cases that kill each mutant."""
    with tempfile.TemporaryDirectory() as room:
        words = ("--table", "golden", "--in-process", "--workers", str(os.cpu_count()), "--out", room)
        command("tests.mutants", *words, codes=(0, 1), cwd=checkout)
        table = json.loads((Path(room) / "kill.json").read_text(encoding="utf-8"))
    for name, row in table["rows"].items():
        cell = row["cells"]["golden"]
        yield name, " ".join(sorted(cell.get("ids", ()))) or cell.get("by", "") or cell.get("error", "")


def baselines(checkout: Path) -> Rows:
    """Yield the known failures of the peers: each case with its verdict, its class and its reason."""
    for path in sorted(checkout.glob("tests/peers/*/*/baseline.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("known-failure", ()):
            ids = row["id"] if isinstance(row["id"], list) else [row["id"]]
            value = " | ".join(str(row.get(part, "")) for part in ("kind", "class", "reason"))
            yield from ((f"{path.parent.name} {one}", value) for one in ids)


def helps(_: Path) -> Rows:
    """Yield the help of the program and of each command, each option with its text alone."""
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        words = waiting.pop(0)
        text = command("wireproof", *words, "--help")
        name = " ".join(words) or "wireproof"
        sections = re.split(r"^(\w+):\n", text, flags=re.MULTILINE)
        yield f"{name} usage", " ".join(sections[0].split())
        for title, body in zip(sections[1::2], sections[2::2], strict=True):
            for row in re.split(r"\n(?=  \S)", body.rstrip()):
                first, _, rest = row.strip().partition("  ")
                yield f"{name} {title} {first}", " ".join(rest.split())
                if title in ("Verbs", "Commands"):
                    waiting.append((*words, first.split()[0]))


def mistakes(checkout: Path) -> Rows:
    """Yield the exit code and the first line on stderr of each command that the tests and documents run."""
    with tempfile.TemporaryDirectory() as room:
        plugin = Path(__file__).with_name("commands_of_tests.py")
        written = Path(room) / "commands.tsv"
        for words in (UNDER_TEST, ("-m", "documents", "tests")):
            command(
                "pytest", "-q", "-p", "no:cacheprovider", "-p", plugin.stem, *words,
                codes=(0, 1), cwd=checkout, PYTHONPATH=str(plugin.parent), WIREPROOF_COMMANDS=str(written),
            )  # fmt: skip
        found: dict[str, Counter[str]] = {}
        for line in written.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition("\t")
            found.setdefault(key, Counter())[value] += 1
    for key, values in sorted(found.items()):
        yield key, " / ".join(sorted(values))


def figures(checkout: Path) -> Rows:
    """Yield the figures of the size of the project."""
    package = list((checkout / "reference").rglob("*.py"))
    yield "lines of the package", str(_lines(package))
    yield "modules of the package", str(len(package))
    yield "lines of tests/**/*.py", str(_lines(list((checkout / "tests").rglob("*.py"))))
    yield "lines of baseline.toml", str(_lines(list((checkout / "tests").glob("peers/*/*/baseline.toml"))))
    rows = list(helps(checkout))
    commands = {key.rpartition(" ")[0] for key, _ in rows if key.endswith(" usage")} - {"wireproof"}
    yield "verbs", str(len({name.split()[0] for name in commands}))
    yield "options", str(sum(" Options -" in key and not key.endswith("--help") for key, _ in rows))
    with tempfile.TemporaryDirectory() as room:
        printed = command(
            "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-n", "0", cwd=checkout, HOME=room
        )
    collected = re.findall(r"(\d+)(?:/\d+)? tests? collected", printed)
    if not collected:
        raise RecordError("the tests: pytest does not say how many it collected")
    yield "items of the test command", collected[-1]
    yield "modules that a golden case enters", str(_modules_entered())
    yield "processor seconds of load()", f"{_load_seconds():.2f}"


def _lines(paths: list[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


ENTERED: Final = """
import sys
entered = set()
def importing(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and "/wireproof/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
def profile(frame, event, _):
    name = frame.f_code.co_filename
    if event == "call" and "/wireproof/" in name and name not in entered and not importing(frame):
        entered.add(name)
from wireproof.cli import main
sys.argv = ["wireproof", "check", "kafka-python", "--run", "kafka.batch/v2/crc/zero",
            "--no-families", "--in-process", "--jobs", "1"]
sys.setprofile(profile)
try:
    main()
except SystemExit:
    sys.setprofile(None)
print("entered", len(entered))
"""


def _modules_entered() -> int:
    """Return how many modules one golden case enters, from the command line to its verdict."""
    done = subprocess.run([sys.executable, "-c", ENTERED], capture_output=True, text=True, check=False)
    found = re.findall(r"^entered (\d+)$", done.stdout, flags=re.MULTILINE)
    if not found:
        raise RecordError(f"one golden case of kafka-python was not judged: {done.stderr[-300:]}")
    return int(found[-1])


def _load_seconds() -> float:
    """Return the least processor time of three times loading all fixtures, each in a process of its own."""
    code = (
        "import time; from wireproof.cases.fixtures import load; "
        "t = time.process_time(); load(); print(time.process_time() - t)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    return min(float(done.stdout) for done in runs)


def servers(checkout: Path) -> Rows:
    """Yield the outcome of each test of a faulty server or client, which names the cases that notice it."""
    yield from _outcomes(checkout, "live")


def peers(checkout: Path) -> Rows:
    """Yield the outcome of each test of a peer beside its baseline."""
    yield from _outcomes(checkout, "peers or builds")


def _outcomes(checkout: Path, marker: str) -> Rows:
    printed = command(
        "pytest", "-q", "-rA", "-n", str(os.cpu_count()), "-p", "no:cacheprovider", "-m", marker, "tests",
        codes=(0, 1), cwd=checkout,
    )  # fmt: skip
    for outcome, name in re.findall(r"^(PASSED|FAILED|ERROR|SKIPPED) (\S+)", printed, flags=re.MULTILINE):
        yield name, outcome


QUICK: Final[dict[str, Callable[[Path], Rows]]] = {
    "figures": figures,
    "helps": helps,
    "cases": cases,
    "baselines": baselines,
    "traces": traces,
    "kills": kills,
    "mistakes": mistakes,
    "verdicts": verdicts,
}
WHOLE: Final = {**QUICK, "servers": servers, "peers": peers}


def main(checkout: Path, folder: Path, parts: list[str]) -> int:
    """Record the parts that are not there; return 1 if one could not be recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for part in parts:
        path = folder / f"{part}.tsv.gz"
        if path.exists():
            continue
        start = time.monotonic()
        try:
            rows = sorted(WHOLE[part](checkout))
        except RecordError as error:
            sys.stdout.write(f"{part}: {error}\n")
            failed = 1
            continue
        text = "".join(f"{key}\t{value}\n" for key, value in rows)
        path.write_bytes(gzip.compress(text.encode("utf-8", "surrogateescape"), mtime=0))
        sys.stdout.write(f"{part}: {len(rows):,} rows in {time.monotonic() - start:.0f} s\n")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]))
