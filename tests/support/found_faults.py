"""The faults of found.md: their data, the tables made of it, and a replay of each row.

    python -m tests.support.found_faults [--brokers] [ADAPTER…]   # prints the rows that no longer hold
    python -m tests.support.found_faults --tables                 # writes the tables of found.md

An adapter that is not ready here is left out, with the command that brings it in.
"""

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import click
from attrs import frozen

from wireproof.adapters.registry.readiness import ready
from wireproof.adapters.registry.registry import entries, resolve
from wireproof.run.events import CaseEvent, read_events

TOP: Final = Path(__file__).parents[2]
DATA: Final = TOP / "tests" / "peers" / "found.toml"
PAGE: Final = TOP / "reference" / "docs" / "found.md"

CLASSES: Final = {
    "mended upstream": "mended: {}",
    "known upstream": "known: {}",
    "not reported": "not reported",
    "policy": "",
}
"""The class of a fault, and the words before its threads."""

FAULTS: Final = frozenset({"fail", "lenient", "crash", "timeout", "resource", "stalled"})
"""The verdicts by which a row holds; an adapter that breaks is none."""

HEAD: Final = ("library", "replay", "what happens", "code", "upstream", "replayed")


@frozen
class Found:
    """A row, as the comments of the file describe it."""

    adapter: str
    library: str
    case: str
    what: str
    cls: str
    code: str
    threads: tuple[str, ...] = ()
    replayed: date | None = None

    @property
    def name(self) -> str:
        return self.adapter.partition(":")[0]

    @property
    def heading(self) -> str:
        """Return the heading of found.md below which the row stands."""
        if self.cls == "policy":
            return "Choices and limits"
        if not self.case.startswith("kafka"):
            return self.case.partition(".")[0].capitalize()
        if self.name.endswith("-client"):
            return "Clients"
        return "Kafka" if self.name in entries() else "Brokers"

    @property
    def line(self) -> str:
        file = self.code.rpartition("/")[2]
        links = ", ".join(f"[{short_link(link)}]({link})" for link in self.threads)
        known = CLASSES[self.cls]
        upstream = known.format(links) if "{}" in known else ", ".join(filter(None, (known, links)))
        day = self.replayed.isoformat() if self.replayed else ""
        code = f"[{file.replace('#L', ':').replace('-L', '-')}]({self.code})"
        cells = (self.library, f"`{self.case} {self.adapter}`", self.what, code, upstream, day)
        return f"| {' | '.join(cells)} |"


def _row(row: dict[str, Any]) -> Found:
    return Found(cls=row.pop("class"), threads=tuple(row.pop("threads", ())), **row)


FOUND: Final = tuple(map(_row, tomllib.loads(DATA.read_text("utf-8"))["found"]))


def short_link(link: str) -> str:
    """Return the text of a link: `owner/name#7`, `owner/name@commit`, or the last part of the address."""
    match link.removeprefix("https://").split("/"):
        case ["github.com", owner, name, "issues" | "pull", number]:
            return f"{owner}/{name}#{number}"
        case ["github.com", owner, name, "commit", commit]:
            return f"{owner}/{name}@{commit}"
        case parts:
            return parts[-1]


def with_tables(text: str) -> str:
    """Return the page with the first table below each heading made of the data."""
    for heading in dict.fromkeys(row.heading for row in FOUND):
        lines = [f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
        lines += [row.line for row in FOUND if row.heading == heading]
        begin = text.index("\n|", text.index(f"\n## {heading}\n")) + 1
        text = text[:begin] + "\n".join(lines) + text[text.index("\n\n", begin) :]
    return text


# --- replay ---


@contextmanager
def spec_of(adapter: str, *, brokers: bool) -> Iterator[str]:
    """Provide the spec of an adapter, or nothing where it is left out, which is printed."""
    name = adapter.partition(":")[0]
    if name not in entries():
        from tests.live.brokers.table import BROKERS  # noqa: PLC0415 - needs what its brokers need

        if not brokers:
            click.echo(f"left out: {name}, a broker: start it with --brokers")
            yield ""
            return
        with tempfile.TemporaryDirectory() as folder, BROKERS[name].running(Path(folder), 0) as address:
            yield f"kafka-broker:{address}"
        return
    stands = ready(resolve(adapter))
    if stands.state != "ready":
        click.echo(f"left out: {name}, {stands.state}: {stands.fix}")
    yield adapter if stands.state == "ready" else ""


def verdicts(spec: str, cases: Sequence[str]) -> dict[str, CaseEvent]:
    """Return the verdict on each case, of one run at level `should`."""
    with tempfile.TemporaryDirectory() as folder:
        events = Path(folder, "run.jsonl")
        command = [sys.executable, "-m", "wireproof", "--timeout-scale", "3", "check", spec]
        command += ["--no-families", "--level", "should", "--out", str(events)]
        command += [part for case in cases for part in ("--run", case)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not events.exists():
            raise SystemExit(f"{spec}: {done.stderr.strip()[-2000:]}")
        return {event.id: event for stream in read_events(events) for event in stream.cases}


def gone(names: Sequence[str] = (), *, brokers: bool = False) -> list[str]:
    """Replay the rows of these adapters, or all, and return a line for each row that does not hold."""
    lines = []
    for adapter, group in groupby(sorted(FOUND, key=lambda row: row.adapter), key=lambda row: row.adapter):
        if names and adapter.partition(":")[0] not in names:
            continue
        with spec_of(adapter, brokers=brokers) as spec:
            if not spec:
                continue
            cases = [row.case for row in group]
            seen = verdicts(spec, cases)
        fails = {case for case in cases if case in seen and seen[case].verdict in FAULTS}
        click.echo(f"{adapter}: {len(fails)} of {len(cases)} hold")
        lines += [
            f"no longer: {case} {adapter}: {seen[case].label if case in seen else 'not judged'}"
            for case in cases
            if case not in fails
        ]
    return lines


@click.command()
@click.argument("adapters", nargs=-1, metavar="[ADAPTER]...")
@click.option("--brokers", is_flag=True, help="Start the brokers of tests/live/brokers too.")
@click.option("--tables", is_flag=True, help="Write the tables of found.md, and replay nothing.")
def main(adapters: tuple[str, ...], *, brokers: bool, tables: bool) -> None:
    """Replay the faults of found.md, of all adapters or of these, named without their options."""
    if tables:
        PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
        return
    if unknown := sorted({*adapters} - {row.name for row in FOUND}):
        raise click.UsageError(f"no row is of {', '.join(unknown)}")
    lines = gone(adapters, brokers=brokers)
    for line in lines:
        click.echo(line)
    raise SystemExit(bool(lines))


if __name__ == "__main__":
    main()
