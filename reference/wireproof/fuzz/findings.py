"""The findings of a campaign: a folder with one JSON file and one binary file for each signature.

Files are replaced, never rewritten in place. The JSON file is complete by itself: its token holds the bytes.

The counts are in mapped files, so that `kill -9` loses none of them; the count in a JSON file is as old as
the file. Each worker has a file of its own, and the files are never merged: the count of a finding is the sum
over the files, whichever worker was killed at whatever time.
"""

import hashlib
import json
import mmap
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.cases.case import Case, Level
from wireproof.cases.token import save_token
from wireproof.files import lock_file, read_limited_bytes, replace_bytes, replace_text
from wireproof.runner.signature import Signature
from wireproof.runner.verdicts import NO_FINDING_GATES, ROWS, Verdict
from wireproof.strict_parsing import parse_json, structure, to_tree

NOT_GATING: Final = frozenset({"info", "untyped", "lenient"})
"""Kinds that do not count against the implementation.

`info` is an answer that the format leaves open, `untyped` a rejection by an undocumented exception type,
`lenient` an answer to bytes that only a case of level `should` or `may` refuses.
"""

FAILING_AT_SHOULD: Final = frozenset({"untyped", "lenient"})
"""Those of these kinds that count where the level `should` does, as in `check --level should`."""


MAX_JSON_BYTES: Final = 4 * 1024 * 1024
"""Size limit in bytes of the JSON file of a finding. A long token has a file of its own."""


class FindingError(ValueError):
    """A file of the folder cannot be read; the message names the file."""


@frozen
class Finding:
    """One signature, with the smallest input that shows it.

    Attributes:
        name: 16 hexadecimal digits, computed from the signature; the names of the files.
        signature: how the implementation fails.
        version: of the implementation.
        text, want, got: message, expectation and answer in the verdict on the smallest input.
        token: the case; `@` and a file name in the same folder if the token is over 2 KiB.
        size, sha256: of the smallest input, in bytes.
        first: time of the first occurrence, in UTC.
        count: number of occurrences.
        origin: random seed, and number of the execution that found the smallest input.
        level: of the case of the smallest input.
    """

    name: str
    signature: Signature
    version: str
    text: str
    want: str
    got: str
    token: str
    size: int
    sha256: str
    first: str
    count: int = 0
    origin: str = ""
    level: Level = "must"

    @property
    def gates(self) -> bool:
        """Return True if the finding counts against the implementation."""
        return self.gates_at("must")

    def gates_at(self, hold: Level) -> bool:
        """Return True if the finding counts where `hold` is the lowest level whose failures do."""
        kind = self.signature.kind.partition(":")[0]
        if hold == "should" and kind in FAILING_AT_SHOULD:
            return self.level in ("must", "should")
        return kind not in NOT_GATING


def finding_name(signature: Signature) -> str:
    """Return the name of the finding with this signature."""
    return hashlib.blake2b(str(signature).encode(), digest_size=8).hexdigest()


def is_finding(verdict: Verdict) -> bool:
    """Report whether a verdict becomes a finding: it can fail a run, or the format leaves the answer open.

    An undocumented rejection becomes a finding of another kind, under the type of its exception.
    """
    gates = ROWS[verdict.name].gate not in NO_FINDING_GATES and verdict.name != "undocumented"
    return gates or verdict.name == "info"


class Findings:
    """The folder of findings, as one worker writes to it. Several workers may write at the same time.

    Attributes:
        gating: number of findings that count against the implementation, with those of earlier runs.
    """

    def __init__(self, folder: Path, worker: str, hold: Level = "must") -> None:
        """Open `folder`, or create it; raises `FindingError` if a finding cannot be read.

        `hold` is the lowest level whose failures count.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._counts = FindingCounts(folder / f"{worker}.tally")
        known = read_findings(folder)
        self._sizes = {finding.name: finding.size for finding in known}
        self._hold: Level = hold
        self.gating = sum(finding.gates_at(hold) for finding in known)

    def count(self, signature: Signature, size: int) -> bool:
        """Count an occurrence; returns whether an input of `size` bytes is the first or the smallest."""
        name = finding_name(signature)
        self._counts.add(name)
        known = self._sizes.get(name)
        return known is None or size < known

    def save(self, signature: Signature, verdict: Verdict, case: Case, data: bytes, **details: str) -> None:
        """Save an input, unless another worker has saved one of at most the same size.

        Args:
            signature: the group of the finding.
            verdict: of the judge.
            case: what `replay` runs.
            data: the input that the case was made from.
            details: `version` and `origin` of the finding.
        """
        name = finding_name(signature)
        with self._locked():
            before = read_finding(self._path(name)) if self._path(name).exists() else None
            if before is None or before.size > len(data):
                finding = _finding(name, signature, verdict, self._token(case), data, before, details)
                finding = evolve(finding, level=case.level)
                replace_bytes(self._folder / f"{finding.name}.bin", data)
                _write_json(self._folder, finding)
                self.gating += finding.gates_at(self._hold) - (
                    before is not None and before.gates_at(self._hold)
                )
            self._sizes[name] = min(len(data), before.size if before else len(data))

    def add(self, signature: Signature, verdict: Verdict, case: Case, data: bytes, **details: str) -> None:
        """Count an occurrence, and save the input if it is the first or the smallest."""
        if self.count(signature, len(data)):
            self.save(signature, verdict, case, data, **details)

    def close(self) -> None:
        """Close the file of the counts."""
        self._counts.close()

    def _token(self, case: Case) -> str:
        token = save_token(case, self._folder)
        return f"@{Path(token[1:]).name}" if token.startswith("@") else token

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / "lock").open("w") as file:
            lock_file(file.fileno())
            yield


def _finding(
    name: str,
    signature: Signature,
    verdict: Verdict,
    token: str,
    data: bytes,
    before: Finding | None,
    details: dict[str, str],
) -> Finding:
    """Return a new finding; the time of its first occurrence is that of `before`."""
    return Finding(
        name, signature, details.get("version", ""), verdict.text, verdict.want, verdict.got, token,
        len(data), hashlib.sha256(data).hexdigest(),
        before.first if before else datetime.now(tz=UTC).isoformat(timespec="seconds"),
        origin=details.get("origin", ""),
    )  # fmt: skip


def _write_json(folder: Path, finding: Finding, *, durable: bool = True) -> None:
    text = json.dumps(to_tree(finding), indent=2, ensure_ascii=False) + "\n"
    replace_text(folder / f"{finding.name}.json", text, durable=durable)


def finding_files(folder: Path) -> list[Path]:
    """Return the JSON files of a folder of findings, by name."""
    return sorted(folder.glob("[0-9a-f]*.json"))


def read_finding(path: Path) -> Finding:
    """Return the finding of a JSON file, with the count of its last change; raises `FindingError`."""
    try:
        page: Any = parse_json(read_limited_bytes(path, MAX_JSON_BYTES))
        return structure(page, Finding, "the finding")
    except (OSError, ValueError) as error:
        raise FindingError(f"{path} is not a finding: {error}; remove the file to continue") from None


def read_findings(folder: Path) -> list[Finding]:
    """Return every finding with its present count, the most frequent first; raises `FindingError`."""
    counts = total_counts(folder)
    found = [read_finding(path) for path in finding_files(folder)]
    counted = [evolve(finding, count=counts[finding.name]) for finding in found]
    return sorted(counted, key=lambda finding: (-finding.count, finding.name))


def update_counts(folder: Path) -> list[Finding]:
    """Write the present counts into the JSON files, and return the findings as `read_findings` does."""
    found = read_findings(folder)
    for finding in found:
        _write_json(folder, finding, durable=False)
    return found


# --- how often each finding occurred ---

COUNTER: Final = struct.Struct("<16sQ")
"""One counter: the name of the finding in hexadecimal, and the count."""

MAX_COUNTERS: Final = 8192
"""Number of counters in a file. A finding beyond that number is kept, but not counted."""


class FindingCounts:
    """The counters of one worker."""

    def __init__(self, path: Path) -> None:
        """Open the file `path`, or create it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            # All blocks now: if the disk is full, a write to a mapped page without a block ends the process.
            file.write(bytes(max(0, COUNTER.size * MAX_COUNTERS - file.tell())))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), COUNTER.size * MAX_COUNTERS)
        self._places = {name: place for place, (name, _) in enumerate(_counters(self._map))}

    def add(self, name: str) -> None:
        """Add one to the count of the finding `name`."""
        place = self._places.setdefault(name, len(self._places))
        if place < MAX_COUNTERS:
            at = place * COUNTER.size
            _, count = COUNTER.unpack_from(self._map, at)
            # In one copy: `pack_into` clears the bytes first, and a kill in between would lose the count.
            self._map[at : at + COUNTER.size] = COUNTER.pack(name.encode(), count + 1)

    def close(self) -> None:
        """Unmap the file."""
        self._map.close()


def _counters(data: bytes | mmap.mmap) -> list[tuple[str, int]]:
    rows = (COUNTER.unpack_from(data, place * COUNTER.size) for place in range(len(data) // COUNTER.size))
    return [(name.decode(), count) for name, count in rows if count]


def total_counts(folder: Path) -> Counter[str]:
    """Return the count of each finding, summed over the files in `folder`."""
    counts: Counter[str] = Counter()
    for path in sorted(folder.glob("*.tally")):
        for name, count in _counters(path.read_bytes()):
            counts[name] += count
    return counts
