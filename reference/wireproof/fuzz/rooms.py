"""Where a campaign keeps what it has: one directory, readable at any moment, however the last run ended.

corpus/<adapter>/<format>/       inputs by their sha1; the fuzzing processes share it as they run
findings/<adapter>/              one JSON and one binary a signature, the tallies beside them
work/                            what one worker is at: its cell, its log, its seeds
stats.jsonl                      one line every ten seconds: executions, coverage, findings
"""

import re
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from attrs import frozen

PROBE: Final = 1 << 16
"""Bytes that a disk must take for a campaign to go on."""

_ODD: Final = re.compile(r"[^A-Za-z0-9.+-]+")


def slug(name: str) -> str:
    """A name as a file's."""
    return _ODD.sub("-", name).strip("-.")[:80] or "x"


@frozen
class Rooms:
    """The parts of a campaign's directory."""

    root: Path

    def corpus(self, adapter: str, joined: str) -> Path:
        """The inputs of one adapter and format."""
        return self.root / "corpus" / slug(adapter) / slug(joined)

    def findings(self, adapter: str) -> Path:
        """What was found in one adapter."""
        return self.root / "findings" / slug(adapter)

    def work(self, worker: str) -> Path:
        """What one worker is at."""
        return self.root / "work" / worker

    def probe(self) -> None:
        """Raise the OSError of a disk that takes nothing more, if it takes nothing more."""
        with TemporaryFile(dir=self.root) as file:
            file.write(bytes(PROBE))

    @property
    def stats(self) -> Path:
        """The lines of all workers."""
        return self.root / "stats.jsonl"
