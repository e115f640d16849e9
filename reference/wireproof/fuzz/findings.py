"""What a campaign found: a directory with one JSON and one binary file for each signature.

Every file is replaced whole, and the JSON alone is the truth: it holds the token, and so the bytes. The
counts are in the workers' tallies; what a JSON says of them is what they were when it was last written.
"""

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import cattrs
from attrs import evolve, frozen

from wireproof.cases.case import Case
from wireproof.cases.token import keep
from wireproof.files import read_bytes, replace_bytes, replace_text
from wireproof.fuzz.tally import Tally, totals
from wireproof.parsing import json_of
from wireproof.trial.signature import Signature
from wireproof.trial.verdicts import ROWS, SILENT, Verdict

APART: Final = frozenset({"info", "untyped"})
"""What is told apart: answers that the format leaves open, and refusals of an undocumented type."""


LARGEST: Final = 4 * 1024 * 1024
"""Bytes of the JSON of a finding; a long token lies in a file of its own."""


class FindingError(ValueError):
    """A file of the directory that cannot be read; one line says which."""


@frozen
class Finding:
    """One signature.

    Attributes:
        name: 16 hexadecimal digits of the signature; the files are called so.
        signature: how the input fails.
        version: of the implementation.
        text, want, got: the judge's words on the smallest.
        token: the case of the smallest; `@` and the name of a file beside it if it is over 2 KiB.
        size, sha256: of the smallest input, in bytes.
        first: when it was first seen, in UTC.
        count: how often.
        origin: the seed of the run and the number of the execution that found the smallest.
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

    @property
    def gates(self) -> bool:
        """Whether it counts against the implementation; else it is told apart."""
        return self.signature.kind.partition(":")[0] not in APART


def name_of(signature: Signature) -> str:
    """The name of a finding."""
    return hashlib.blake2b(str(signature).encode(), digest_size=8).hexdigest()


def is_finding(verdict: Verdict) -> bool:
    """Report whether a verdict is kept: what may gate a run, and what the format leaves open.

    An undocumented refusal is kept under the type of its error.
    """
    gates = ROWS[verdict.name].gate not in (*SILENT, "strict-class") and verdict.name != "undocumented"
    return gates or verdict.name == "info"


class Findings:
    """The directory, as one worker writes to it; several may at once.

    Attributes:
        gating: findings that count against the implementation, those of earlier runs too.
    """

    def __init__(self, folder: Path, worker: str) -> None:
        """Open `folder`, or make it."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._tally = Tally(folder / f"{worker}.tally")
        known = read(folder)
        self._sizes = {finding.name: finding.size for finding in known}
        self.gating = sum(finding.gates for finding in known)

    def wants(self, signature: Signature, size: int) -> bool:
        """Count one more of a signature; whether an input of `size` bytes is the first or the smallest."""
        name = name_of(signature)
        self._tally.add(name)
        known = self._sizes.get(name)
        return known is None or size < known

    def keep(self, signature: Signature, verdict: Verdict, case: Case, data: bytes, **told: str) -> None:
        """Keep the smallest input of a signature; another worker may have had a smaller one.

        Args:
            signature: its group.
            verdict: what the judge said.
            case: what is replayed.
            data: the input that the case was made from.
            told: `version` and `origin` of the finding.
        """
        name = name_of(signature)
        with self._locked():
            before = _read(self._path(name)) if self._path(name).exists() else None
            if before is None or before.size > len(data):
                made = _made(name, signature, verdict, self._token(case), data, before, told)
                self._write(made, data)
                self.gating += made.gates and before is None
            self._sizes[name] = min(len(data), before.size if before else len(data))

    def add(self, signature: Signature, verdict: Verdict, case: Case, data: bytes, **told: str) -> None:
        """Count it, and keep it if it is the first or the smallest."""
        if self.wants(signature, len(data)):
            self.keep(signature, verdict, case, data, **told)

    def close(self) -> None:
        """Close the tally."""
        self._tally.close()

    def _token(self, case: Case) -> str:
        token = keep(case, self._folder)
        return f"@{Path(token[1:]).name}" if token.startswith("@") else token

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    def _write(self, finding: Finding, data: bytes) -> None:
        replace_bytes(self._folder / f"{finding.name}.bin", data)
        _settled(self._folder, finding)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _made(
    name: str,
    signature: Signature,
    verdict: Verdict,
    token: str,
    data: bytes,
    before: Finding | None,
    told: dict[str, str],
) -> Finding:
    return Finding(
        name, signature, told.get("version", ""), verdict.text, verdict.want, verdict.got, token,
        len(data), hashlib.sha256(data).hexdigest(),
        before.first if before else datetime.now(tz=UTC).isoformat(timespec="seconds"),
        origin=told.get("origin", ""),
    )  # fmt: skip


def _settled(folder: Path, finding: Finding, *, durable: bool = True) -> None:
    text = json.dumps(cattrs.unstructure(finding), indent=2, ensure_ascii=False) + "\n"
    replace_text(folder / f"{finding.name}.json", text, durable=durable)


def _read(path: Path) -> Finding:
    try:
        page: Any = json_of(read_bytes(path, LARGEST))
        return cattrs.structure(page, Finding)
    except (OSError, ValueError, KeyError, TypeError, cattrs.BaseValidationError) as error:
        raise FindingError(f"{path}: no finding: {error}; remove it to go on") from None


def read(folder: Path) -> list[Finding]:
    """Every finding with its count so far, the most often met first; raises `FindingError`."""
    counts = totals(folder)
    found = [_read(path) for path in sorted(folder.glob("[0-9a-f]*.json"))]
    whole = [evolve(finding, count=counts[finding.name]) for finding in found]
    return sorted(whole, key=lambda finding: (-finding.count, finding.name))


def settle(folder: Path) -> list[Finding]:
    """As `read`; the counts go into the files."""
    found = read(folder)
    for finding in found:
        _settled(folder, finding, durable=False)
    return found
