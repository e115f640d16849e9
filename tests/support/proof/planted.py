"""Faults that the proof has to show: each is planted into a copy of the checkout, one at a time.

`python -m tests.support.proof.planted [NAME…]` records the part that has to show a fault, of a few cases, in
a copy without it and in one with it, and prints what the comparison says. It ends with 1 if one is not seen.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

import click
from attrs import frozen

from tests.support.proof.checkouts import SCRIPTS, TOP, run, times
from tests.support.proof.compare import benchmark_lines, compare, slower

COPIED: Final = ("reference", "tests", "fixtures", "fuzz", "pyproject.toml", "README.md", ".github", ".ci")
BENCHMARK: Final = "test_decode.py::test_the_reference_beside_kafka_python[10x10]"
ROUNDS: Final = 2


class PlantError(Exception):
    """A fault cannot be planted: the code that it changes is not there any more, or not in one file."""


@frozen
class Fault:
    """A fault: where its text is, the text, the text in its place, and the part that has to show it.

    `only` is the pattern of what is recorded, `shows` a text that the lines of the comparison contain.
    """

    files: str
    old: str
    new: str
    part: str
    only: str
    shows: str


FAULTS: Final[dict[str, Fault]] = {
    "remark": Fault(
        "reference/wireproof/kafka/**/*.py",
        'remarked("max-timestamp", path',
        'remarked("negative-timestamp", path',
        "traces",
        "kafka.batch/v2/*max-timestamp*",
        "changed  kafka.batch/v2/",
    ),
    "error class": Fault(
        "reference/wireproof/kafka/**/*.py",
        'Fault("negative-length", f"{records_count}',
        'Fault("truncated", f"{records_count}',
        "traces",
        "kafka.batch/v2/counts/*minus-one*",
        "changed  kafka.batch/v2/",
    ),
    "trace": Fault(
        "reference/wireproof/kafka/**/*.py",
        'reader.cover("headerCount"',
        'reader.cover("headersCount"',
        "traces",
        "kafka.batch/v2/headers/*",
        "changed  kafka.batch/v2/headers/",
    ),
    "json name": Fault(
        "reference/wireproof/wire/*.py",
        "word.capitalize() for word in tail",
        "word.upper() for word in tail",
        "traces",
        "kafka.batch/v2/headers/*",
        "changed  kafka.batch/v2/headers/",
    ),
    "default": Fault(
        "reference/wireproof/cli/shrink.py",
        "default=60.0",
        "default=61.0",
        "helps",
        "shrink",
        "[default: 61.0;",
    ),
    "option's spelling": Fault(
        "reference/wireproof/cli/promote.py",
        '"--redact"',
        '"--redacted"',
        "helps",
        "promote",
        "gone     promote Options --redact",
    ),
    "exit code": Fault(
        "reference/wireproof/runner/exit_codes.py",
        "USAGE = 2",
        "USAGE = 6",
        "mistakes",
        "tests/unit/cli/test_retired.py",
        "    now    6 ",
    ),
    "mutant's killer": Fault(
        "tests/mutants/kafka/entries.py",
        '"""Correct the checksum of the entry."""\n        return with_checksum(entry)',
        '"""Correct the checksum of the entry."""\n'
        "        return with_checksum(entry) if entry[MAGIC] == V2 else entry",
        "kills",
        "crc-skip",
        "changed  crc-skip",
    ),
    "baseline's reason": Fault(
        "tests/peers/kafka/kafka-python/baseline.toml",
        'reason = "',
        'reason = "planted: ',
        "baselines",
        "",
        "    now    fail:wrong-accept | invalid-value | planted: ",
    ),
    "benchmark": Fault(
        "reference/wireproof/kafka/**/*.py",
        "reader.window(name, prefix.total)",
        "reader.window(name, prefix.total + 0 * sum(range(10_000)))",
        "benchmarks",
        BENCHMARK,
        "slower   test_the_reference_beside_kafka_python[10x10]",
    ),
}


def copy_checkout(folder: Path) -> Path:
    """Copy what a checkout needs to run; return the copy."""
    for name in COPIED:
        source = TOP / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, folder / name)
    return folder


def plant(fault: Fault, checkout: Path) -> dict[Path, str]:
    """Change the text of a fault wherever it is; return what the files were.

    Raises:
        PlantError: no file has it.
    """
    were = {}
    for path in checkout.glob(fault.files):
        text = path.read_text(encoding="utf-8")
        if fault.old in text:
            were[path] = text
            path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    if not were:
        raise PlantError(f"no file {fault.files} has {fault.old!r}: write the fault as the code is now")
    return were


def comparison(fault: Fault, checkout: Path, folder: Path) -> list[str]:
    """Record a part without a fault and with it; return the lines of the comparison."""
    environment = {"PYTHONPATH": str(checkout / "reference")}
    if fault.part == "benchmarks":
        return _benchmarks(fault, checkout, folder)
    _record(fault, checkout, folder / "before", environment)
    were = plant(fault, checkout)
    _record(fault, checkout, folder / "now", environment)
    _restore(were)
    (found,) = compare(folder / "before", folder / "now", [fault.part])
    return list(found.lines()) if found.is_fault else []


def _record(fault: Fault, checkout: Path, folder: Path, environment: dict[str, str]) -> None:
    words = ("--only", fault.only) if fault.only else ()
    run(sys.executable, SCRIPTS[0], checkout, folder, fault.part, *words, cwd=checkout, env=environment)


def _benchmarks(fault: Fault, checkout: Path, folder: Path) -> list[str]:
    """Measure a benchmark in turn without the fault and with it."""
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(ROUNDS):
        for number, least in enumerate(best):
            were = plant(fault, checkout) if number else {}
            found = times(Path(sys.executable), checkout, folder / "benchmarks.json", fault.only)
            least.update({name: min(seconds, least.get(name, seconds)) for name, seconds in found.items()})
            _restore(were)
    return list(benchmark_lines(*best)) if slower(*best) else []


def _restore(were: dict[Path, str]) -> None:
    for path, text in were.items():
        path.write_text(text, encoding="utf-8")


def is_shown(name: str) -> tuple[bool, list[str]]:
    """Plant a fault; return whether the proof shows it, and the lines that it prints."""
    fault = FAULTS[name]
    with tempfile.TemporaryDirectory() as room:
        checkout = copy_checkout(Path(room, "checkout"))
        lines = comparison(fault, checkout, Path(room))
    return any(fault.shows in line for line in lines), lines


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(FAULTS)))
def main(names: tuple[str, ...]) -> None:
    """Plant each fault, or those with these names, and print what the proof says."""
    unseen = 0
    for name in names or FAULTS:
        shown, lines = is_shown(name)
        unseen += not shown
        click.echo(f"{name}: {'seen' if shown else 'NOT SEEN'}")
        for line in lines:
            click.echo(f"  {line}")
    sys.exit(bool(unseen))


if __name__ == "__main__":
    main()
