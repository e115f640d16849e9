"""What a check says of each fault of a proxy before a broker: `python -m tests.live.fault_table [HOST:PORT]`.

Without an address the broker is the loopback broker. A row has the exit code and what the run names: with
every answer broken that can be, with one in fifty, and with one alone.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from attrs import frozen

from tests.live import proxy
from tests.live.judging import judged
from tests.live.mock_broker.server import running
from wireproof.run.events import read_events

CASES: Final = (
    "kafka.log/mixed/append/producer-*",
    "kafka.log/mixed/append/max-timestamp-*",
    "kafka.log/mixed/append/compact-*",
    "kafka.log/mixed/transaction/**",
    "kafka.log/mixed/idempotence/wrap-*",
)

MODES: Final[Mapping[str, tuple[int, int]]] = {"all": (1, 0), "1 in 50": (50, 0), "once": (7, 1)}
"""By the name of a mode: one answer in so many is broken, and so many at most."""

AT_START: Final = re.compile(r"(?:lost at the start|does not answer as Kafka does): (.*)")
ASKED_AGAIN: Final = re.compile(r"asked again or opened again: .*")
MOST_SHOWN: Final = 90
UNSEEN: Final[Mapping[str, str]] = {
    "late": "an answer may take its time",
    "produce-twice": "the batch of an idempotent producer is stored once, and a refused one never",
    "records-cut": "a fetch may end inside an entry, which is fetched again then",
}
"""The faults that a client need not see, with the reason: but for the first, in a single answer."""

FINDINGS: Final = frozenset({"fail", "stalled", "crash", "timeout"})


@frozen
class Row:
    """What a run says of a fault.

    Attributes:
        broken: how many answers the proxy has broken.
        code: the exit code.
        rules: the rules that are broken, and verdicts without one.
        said: the first text of each: of a case, of the start, of the last line.
    """

    broken: int
    code: int
    rules: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def is_silent(self) -> bool:
        """Return True if the answers are broken and the run says nothing."""
        return bool(self.broken) and not self.said

    def __str__(self) -> str:
        """Return the row without its fault."""
        shown = [text[:MOST_SHOWN] for text in self.said] or ["-"]
        return f"{self.broken:5} {self.code}  {', '.join(self.rules) or '-':45} {' | '.join(shown)}"


def row_of(broker: str, fault: str, every: int, most: int, folder: Path) -> Row:
    """Check a broker behind a proxy."""
    with proxy.running(broker, fault, every, most) as broken:
        run = judged([f"127.0.0.1:{broken.port}"], folder, cases=CASES)
    events = [event for stream in read_events(folder / "run.jsonl") for event in stream.cases]
    failed = [event for event in events if event.verdict in FINDINGS]
    rules = dict.fromkeys(event.broken or f"{event.verdict} {event.kind or ''}".strip() for event in failed)
    start = AT_START.search(run.output)
    again = ASKED_AGAIN.search(run.output)
    texts = [start[1] if start else "", failed[0].got or failed[0].text if failed else ""]
    said = (*texts, again[0] if again else "")
    return Row(broken.broken, run.code, tuple(rules), tuple(filter(None, said)))


def rows(broker: str, faults: Mapping[str, proxy.Fault] = proxy.FAULTS) -> Iterator[tuple[str, str, Row]]:
    """Yield fault, mode and row."""
    with TemporaryDirectory(prefix="wireproof-") as folder:
        for fault in sorted(faults):
            for mode, (every, most) in MODES.items():
                yield fault, mode, row_of(broker, fault, every, most, Path(folder))


def main(arguments: list[str]) -> None:
    """Print the table."""
    if not arguments:
        with running() as broker:
            return main([broker])
    silent = 0
    for fault, mode, row in rows(*arguments):
        reason = UNSEEN.get(fault, "") if row.is_silent else ""
        silent += row.is_silent and not reason
        sys.stdout.write(f"{fault:18} {mode:8} {row}{reason and f' ({reason})'}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{silent} faults of which nothing is said, and must be\n")
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
