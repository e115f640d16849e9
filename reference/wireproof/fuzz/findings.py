"""The findings of a campaign: a folder with one JSON file and one binary file for each way to fail.

A way to fail is a signature with the shape of the difference, or with the top frames of a crash. Four inputs
of each are kept, which need different capabilities: what one bug hides of another shows when it is mended.

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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

from attrs import evolve, frozen

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Case, Level, Reject
from wireproof.cases.outcome import Outcome, Refused
from wireproof.cases.reference_answers import reference_answer
from wireproof.cases.token import TokenError, from_token, save_token
from wireproof.derive.examples import with_expectation
from wireproof.files import lock_file, read_limited_bytes, replace_bytes, replace_text
from wireproof.judge.judge import Reference, judge_ways
from wireproof.judge.signature import Signature, shape_of_finding, signature
from wireproof.judge.verdicts import NO_FINDING_GATES, ROWS, Verdict, VerdictName
from wireproof.run.events import CaseEvent, case_event
from wireproof.strict_parsing import parse_json, structure, to_tree

NOT_GATING: Final = frozenset({"info", "untyped", "lenient"})
"""Kinds that do not count against the implementation.

`info` is an answer that the format leaves open, `untyped` a rejection by an undocumented exception type,
`lenient` an answer to bytes that only a case of level `should` or `may` refuses. The last two count where the
level `should` does, as in `check --level should`.
"""


def case_of_token(folder: Path, token: str) -> Case:
    """Return the case of an input in a folder of findings, with the expectation of this version.

    Raises:
        FindingError: it cannot be read.
    """
    try:
        return with_expectation(from_token(f"@{folder / token[1:]}" if token.startswith("@") else token))
    except (TokenError, OSError) as error:
        raise FindingError(f"{folder}: an input cannot be read: {error}") from None


class FindingError(ValueError):
    """A file of the folder cannot be read; the message names the file."""


State = Literal["open", "mended", "known"]
"""Mended: no kept input fails so any more. Known: the user has written so into the file; it fails no run."""

WayToFail: TypeAlias = tuple[Signature, str]
"""What a finding is about: a signature, and the shape of the difference or the top frames of a crash."""

MAX_INPUTS: Final = 4
"""Inputs of a finding that are kept, each with other capabilities."""

MOST_WAYS: Final = 4
"""Ways of one wrong value that can be new findings: a reader that has lost its place has many more."""

LOOKED_AT: Final = 32
"""Occurrences of a finding of which each is looked at, and of the later ones one in so many."""


@frozen
class KeptInput:
    """An input of a finding: the capabilities that it needs, such as `codec:zstd`, its token, its bytes."""

    facets: tuple[str, ...]
    token: str
    size: int


@frozen
class Finding:
    """One way to fail, with the smallest input that shows it.

    Attributes:
        name: 16 hexadecimal digits, computed from signature and shape; the names of the files.
        signature: how the implementation fails.
        version: of the implementation.
        text, want, got: message, expectation and answer in the verdict on the smallest input.
        token: the case; `@` and a file name in the same folder if the token is over 2 KiB.
        size, sha256: of the smallest input, in bytes.
        first: time of the first occurrence, in UTC.
        count: number of occurrences.
        origin: random seed, and number of the execution that found the smallest input.
        level: of the case of the smallest input.
        path: the field of the verdict on the smallest input, with indices.
        shape: how the value differs, or where a crash was; empty if neither is known.
        facets: the capabilities that the smallest input needs.
        others: further inputs, which need other capabilities.
        state: as the start of the last campaign found it.
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
    path: str = ""
    shape: str = ""
    facets: tuple[str, ...] = ()
    others: tuple[KeptInput, ...] = ()
    state: State = "open"

    def __str__(self) -> str:
        return f"{self.signature} · {self.shape}" if self.shape else str(self.signature)

    @property
    def way(self) -> WayToFail:
        return self.signature, self.shape

    @property
    def inputs(self) -> tuple[KeptInput, ...]:
        """Return all kept inputs, the smallest one first."""
        return KeptInput(self.facets, self.token, self.size), *self.others

    def event(self, case: Case) -> CaseEvent:
        """Return the event of the verdict on the smallest input, which is `case`."""
        name, _, kind = self.signature.kind.partition(":")
        at = case.expect.at if isinstance(case.expect, Reject) else None
        verdict = Verdict(
            cast("VerdictName", name), kind, self.signature.cls, self.path, at, self.text, self.want, self.got
        )
        return case_event(0, evolve(case, level=self.level, title=""), verdict)

    def is_open_at(self, hold: Level) -> bool:
        """Return True if the finding fails a run in which `hold` is the lowest level whose failures do."""
        return self.state == "open" and self.gates_at(hold)

    def gates_at(self, hold: Level) -> bool:
        """Return True if the finding counts where `hold` is the lowest level whose failures do."""
        kind = self.signature.kind.partition(":")[0]
        if hold == "should" and kind in ("untyped", "lenient"):
            return self.level in ("must", "should")
        return kind not in NOT_GATING


@lru_cache(maxsize=1024)
def finding_name(signature: Signature, shape: str = "") -> str:
    text = f"{signature} · {shape}" if shape else str(signature)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def is_way(way: WayToFail, sign: Signature, shape: str) -> bool:
    """Return whether a failure is that of a finding; implementations may differ."""
    return (evolve(sign, implementation=way[0].implementation), shape) == way


def is_finding(verdict: Verdict) -> bool:
    """Report whether a verdict becomes a finding: it can fail a run, or the format leaves the answer open.

    An undocumented rejection becomes a finding of another kind, under the type of its exception.
    """
    gates = ROWS[verdict.name].gate not in NO_FINDING_GATES and verdict.name != "undocumented"
    return gates or verdict.name == "info"


@frozen
class Failure:
    """A way in which an adapter fails a case, or in which its answer differs from that of the reference."""

    verdict: Verdict
    signature: Signature

    @property
    def shape(self) -> str:
        """Return what findings of one signature may differ in."""
        return shape_of_finding(self.verdict)

    @property
    def fails(self) -> bool:
        """Return True if the format leaves the answer not open, and the refusal is not the only surprise."""
        return is_finding(self.verdict) and self.verdict.name != "info"

    def __str__(self) -> str:
        return " · ".join(filter(None, (str(self.signature), self.shape)))


def failures_of(
    hello: Hello, case: Case, sent: Case, outcome: Outcome, reference: Reference = reference_answer
) -> list[Failure]:
    """Return the ways in which the answer to a case can be a finding; those of a wrong value are several.

    They are of the format of `case`, whatever the form in which it was `sent`, as a stream for some adapters.
    """
    verdicts = judge_ways(sent, outcome, hello=hello, reference=reference)
    found = ((one, signature_of_finding(hello.name, case, one, outcome)) for one in verdicts)
    return [Failure(verdict, sign) for verdict, sign in found if sign is not None]


def signature_of_finding(
    implementation: str, case: Case, verdict: Verdict, outcome: Outcome
) -> Signature | None:
    """Return the signature of a verdict that becomes a finding, or of an undocumented refusal; else None."""
    if is_finding(verdict):
        return signature(implementation, case, verdict)
    if verdict.passing and isinstance(outcome, Refused) and outcome.untyped:
        sign = signature(implementation, case, verdict)
        return evolve(sign, kind="untyped", cls=outcome.text.partition(":")[0], path="")
    return None


class Findings:
    """The folder of findings, as one worker writes to it. Several workers may write at the same time."""

    def __init__(self, folder: Path, worker: str) -> None:
        """Open `folder`, or create it; raises `FindingError` if a finding cannot be read."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._counts = FindingCounts(folder / f"{worker}.tally")
        self._seen: Counter[str] = Counter()
        self._kept = {
            finding.name: {one.facets: one.size for one in finding.inputs}
            for finding in read_findings(folder)
            if finding.state != "mended"  # else any input opens it again
        }

    def separate(self, ways: Sequence[Failure]) -> list[Failure]:
        """Return which ways of one wrong value are findings: the first, known ones, and a few others or none.

        So a codec with many bugs has a finding for each, found one by one, and a lost reader has one.
        """
        known = [finding_name(one.signature, one.shape) in self._kept for one in ways]
        new = known[1:].count(False)
        return [one for place, one in enumerate(ways) if not place or known[place] or new < MOST_WAYS]

    def is_settled(self, signature: Signature, shape: str, size: int) -> bool:
        """Return whether it need not be known what an input of `size` bytes needs: it is hardly one to keep.

        After some occurrences of a finding, only one in several is looked at for other capabilities.
        """
        name = finding_name(signature, shape)
        kept, seen = self._kept.get(name, {}), self._seen[name]
        self._seen[name] += 1
        if size < max(kept.values(), default=size + 1):
            return False
        return len(kept) >= MAX_INPUTS or (seen >= LOOKED_AT and seen % LOOKED_AT != 0)

    def count(self, signature: Signature, shape: str, needs: tuple[str, ...], size: int) -> bool:
        """Count an occurrence; return whether an input of `size` bytes with these needs is kept."""
        name = finding_name(signature, shape)
        self._counts.add(name)
        return _is_kept(self._kept.get(name, {}), needs, size)

    def save(self, signature: Signature, verdict: Verdict, case: Case, data: bytes, **details: str) -> None:
        """Save an input, unless another worker has saved one of at most the same size.

        The needs of `case`, which `replay` runs and which was made from `data`, are the facets of the input;
        `details` are `version` and `origin` of the finding.
        """
        shape = shape_of_finding(verdict)
        name = finding_name(signature, shape)
        with self._locked():
            before = read_finding(self._path(name)) if self._path(name).exists() else None
            state: State = "open" if before is None or before.state == "mended" else before.state
            # whatever the inputs of a mended finding were
            inputs = before.inputs if before is not None and before.state != "mended" else ()
            if _is_kept({one.facets: one.size for one in inputs}, case.needs, len(data)):
                token = save_token(case, self._folder)
                token = f"@{Path(token[1:]).name}" if token.startswith("@") else token
                mine = KeptInput(case.needs, token, len(data))
                others = [one for one in inputs if one.facets != mine.facets]
                others = sorted(others, key=lambda one: one.size)[: MAX_INPUTS - 1]
                if before is not None and others and others[0].size <= mine.size:  # it stays the smallest
                    finding = evolve(before, others=(*others[1:], mine))
                else:
                    now = datetime.now(tz=UTC).isoformat(timespec="seconds")
                    finding = Finding(
                        name, signature, details.get("version", ""), verdict.text, verdict.want, verdict.got,
                        mine.token, len(data), hashlib.sha256(data).hexdigest(),
                        before.first if before else now, 0, details.get("origin", ""), case.level,
                        verdict.path, shape, mine.facets, tuple(others), state,
                    )  # fmt: skip
                    replace_bytes(self._folder / f"{name}.bin", data)
                _write_json(self._folder, finding)
                inputs = finding.inputs
            self._kept[name] = {one.facets: one.size for one in inputs}

    def add(self, signature: Signature, verdict: Verdict, case: Case, data: bytes, **details: str) -> None:
        """Count an occurrence, and save the input if it is one of those that are kept."""
        if self.count(signature, shape_of_finding(verdict), case.needs, len(data)):
            self.save(signature, verdict, case, data, **details)

    def set_state(self, name: str, state: State) -> None:
        with self._locked():
            finding = read_finding(self._path(name))
            if finding.state != state:
                _write_json(self._folder, evolve(finding, state=state))

    def data_of(self, name: str) -> bytes:
        """Return the bytes of the smallest input of a finding."""
        return (self._folder / f"{name}.bin").read_bytes()

    def remove(self, name: str) -> None:
        """Remove a finding whose inputs are those of another one now."""
        with self._locked():
            for suffix in ("json", "bin"):
                (self._folder / f"{name}.{suffix}").unlink(missing_ok=True)

    def close(self) -> None:
        self._counts.close()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / "lock").open("w") as file:
            lock_file(file.fileno())
            yield


def _is_kept(kept: Mapping[tuple[str, ...], int], facets: tuple[str, ...], size: int) -> bool:
    """Return whether an input is kept beside those with these facets and sizes."""
    if facets in kept:
        return size < kept[facets]
    return len(kept) < MAX_INPUTS or size < min(kept.values())


def _write_json(folder: Path, finding: Finding, *, durable: bool = True) -> None:
    text = json.dumps(to_tree(finding), indent=2, ensure_ascii=False) + "\n"
    replace_text(folder / f"{finding.name}.json", text, durable=durable)


def finding_files(folder: Path) -> list[Path]:
    """Return the JSON files of a folder of findings, by name."""
    return sorted(folder.glob("[0-9a-f]*.json"))


def read_finding(path: Path) -> Finding:
    """Return the finding of a JSON file, with the count of its last change; raises `FindingError`."""
    try:
        page: Any = parse_json(read_limited_bytes(path, 4 << 20))  # a long token has a file of its own
        return structure(page, Finding, "the finding")
    except (OSError, ValueError) as error:
        text = f"{path} is not a finding of this version: {error}; move the file away to continue"
        raise FindingError(text) from None


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
        place = self._places.setdefault(name, len(self._places))
        if place < MAX_COUNTERS:
            at = place * COUNTER.size
            _, count = COUNTER.unpack_from(self._map, at)
            # In one copy: `pack_into` clears the bytes first, and a kill in between would lose the count.
            self._map[at : at + COUNTER.size] = COUNTER.pack(name.encode(), count + 1)

    def close(self) -> None:
        self._map.close()


def _counters(data: bytes | mmap.mmap) -> list[tuple[str, int]]:
    rows = (COUNTER.unpack_from(data, place * COUNTER.size) for place in range(len(data) // COUNTER.size))
    return [(name.decode(), count) for name, count in rows if count]


def total_counts(folder: Path) -> Counter[str]:
    """Return the count of each finding, summed over the files in `folder`."""
    counts: Counter[str] = Counter()
    for path in folder.glob("*.tally"):
        counts.update(dict(_counters(path.read_bytes())))
    return counts
