"""The layout of a campaign's work directory. It is readable at any moment, however the last run ended.

corpus/<adapter>/<format>/       inputs, named by their SHA-1; all workers share them while they run
findings/<adapter>/              one JSON and one binary file for each signature, and the counts
work/<worker>/                   the files of one worker: its shared input, its log, its seeds
stats.jsonl                      one line every ten seconds: executions, coverage, memory
"""

import re
import tempfile
from pathlib import Path
from typing import Final

from attrs import frozen

TEST_FILE_BYTES: Final = 1 << 16
"""Size in bytes of the test file that shows that the disk is not full."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9.+-]+")


def slug(name: str) -> str:
    """Return `name` as a safe file name."""
    return _UNSAFE.sub("-", name).strip("-.")[:80] or "x"


@frozen
class WorkDirectory:
    """The work directory of a campaign."""

    root: Path

    def corpus(self, adapter: str, format_id: str) -> Path:
        """Return the folder of the inputs of one adapter and format."""
        return self.root / "corpus" / slug(adapter) / slug(format_id)

    def findings(self, adapter: str) -> Path:
        """Return the folder of the findings in one adapter."""
        return self.root / "findings" / slug(adapter)

    def worker(self, name: str) -> Path:
        """Return the folder of the files that belong to one worker."""
        return self.root / "work" / name

    def check_space(self) -> None:
        """Write a test file; raises OSError if the disk is full or not writable."""
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.write(bytes(TEST_FILE_BYTES))

    @property
    def stats(self) -> Path:
        """Return the file of the statistics of all workers."""
        return self.root / "stats.jsonl"
