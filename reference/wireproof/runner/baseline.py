"""Baselines: files of known failures.

A known failure is one case with the verdict and class that it fails with, a reason, an owner and an expiry
date. An entry that no longer applies ends a run with exit code 3:

    # a comment stays with the entry below it
    [[known-failure]]
    id = "kafka.batch/v2/crc/flipped-bit"
    kind = "fail:wrong-accept"
    class = "crc-mismatch"
    reason = "the library checks sums only on request"
    owner = "somebody"
    expires = 2027-06-30
    issue = "https://…"       # optional
    fault = "https://…#L10"   # optional: the lines of the implementation that are at fault

An id may end in `~<family>:*`, for all derived cases of one family of one fixture. The part before it may be
a pattern too, such as `kafka.*/**~flip:*`, for a feature that an implementation lacks: such a broad entry
covers only the cases that fail exactly as written, and there may be several with other verdicts.

A codec that runs away takes time and memory without bound. The machine decides which limit stops it first:
time (`timeout`), memory or output (`resource:…`), or the end of its process (`crash`). So an entry of any of
these kinds covers all of them. `exact = true` is for a codec that does not run away, such as one that a
failed assertion ends: it fails the same way on every machine, so another way is a change.

`flaky = true` marks an implementation that carries state from one input to another, as the reason
explains: such an entry is not stale if its case passes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Final, Literal

from attrs import evolve, frozen

from wireproof.cases.id_patterns import compile_pattern
from wireproof.files import read_limited_text
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent, fails_run
from wireproof.runner.verdicts import ROWS, gates
from wireproof.safe_parsing import MAX_TOML_SIZE, parse_toml
from wireproof.suggestions import bracket_error

Overlay = Literal["", "expected", "changed", "expired"]
"""The effect of the baseline on a case, beside its verdict."""


RUNAWAY: Final = ("resource", "timeout", "crash")
"""The verdicts of a codec that runs away; the machine decides which."""


MOSTLY_ACCEPTED: Final = ("undocumented", "pass-unclassified")
"""The verdicts that fail only a run at `--level should`, or one with `--strict-class`."""


class BaselineError(ValueError):
    """The baseline cannot be read or rewritten; one line names the entry and the reason."""


_fixtures: Final = lru_cache(compile_pattern)


@frozen(cache_hash=True)
class KnownFailure:
    """One known failure, as the file has it."""

    id: str
    kind: str
    cls: str
    reason: str
    owner: str
    expires: date
    issue: str = ""
    fault: str = ""
    flaky: bool = False
    exact: bool = False

    @property
    def fixture(self) -> str:
        """Return the id, or the pattern of ids, of the golden cases that it covers."""
        return self.id.partition("~")[0]

    @property
    def broad(self) -> bool:
        """Return True if it covers the families of more than one fixture."""
        return "*" in self.fixture

    def selects(self, golden: str) -> bool:
        """Return whether the entry is about a golden case, or about cases derived from it."""
        return bool(_fixtures(self.fixture).fullmatch(golden)) if self.broad else golden == self.fixture

    @property
    def failure(self) -> tuple[str, str]:
        """Return how the case fails, independent of the machine."""
        return _failure(self.kind, self.cls, exact=self.exact)

    @property
    def who(self) -> str:
        """Return the owner and the link to the issue."""
        return f"owner {self.owner}" + (f", {self.issue}" if self.issue else "")

    @property
    def prefix(self) -> str:
        """Return the beginning of the ids of a family; empty for one case, and for a broad entry."""
        return self.id[:-1] if self.id.endswith(":*") and not self.broad else ""

    def covers(self, event: CaseEvent) -> bool:
        """Return whether the entry is about this case."""
        if self.broad:
            parent, _, derived = event.id.partition("~")
            family = self.id.removeprefix(self.fixture)[1:-1]
            known = derived.startswith(family) and _fixtures(self.fixture).fullmatch(parent)
            return bool(known) and self.fails_as_recorded(event)
        return event.id.startswith(self.prefix) if self.prefix else event.id == self.id

    def fails_as_recorded(self, event: CaseEvent) -> bool:
        """Return True if the case fails in the way of the entry."""
        return self.failure == _failure(event.label, event.cls, exact=self.exact)


def _failure(kind: str, cls: str, *, exact: bool) -> tuple[str, str]:
    """Return verdict and class; for a codec that runs away, one name for every limit."""
    return ("runaway", "") if kind.partition(":")[0] in RUNAWAY and not exact else (kind, cls)


@frozen
class AppliedBaseline:
    """The effect of a baseline on a run.

    Attributes:
        overlays: by case id, for each case that the baseline covers.
        stale: entries that no case of a whole run fails any more.
        changed: entries whose case fails in another way.
        expired: entries past their date; their cases count as if there were no entry.
    """

    overlays: dict[str, Overlay]
    stale: tuple[KnownFailure, ...] = ()
    changed: tuple[KnownFailure, ...] = ()
    expired: tuple[KnownFailure, ...] = ()


NO_BASELINE: Final = AppliedBaseline({})


# --- the file ---

_FIELDS: Final = ("id", "kind", "class", "reason", "owner", "expires")
_LINKS: Final = ("issue", "fault")
"""Links of an entry, each of which may be missing."""

_SECURE: Final = "https://"
_MARKS: Final = ("flaky", "exact")
"""Flags of an entry, each `true` or absent."""


def parse(text: str, name: str = "baseline") -> tuple[KnownFailure, ...]:
    """Return the known failures of a file; raises `BaselineError`."""
    try:
        rows = parse_toml(text)
    except ValueError as error:
        raise BaselineError(f"{name}: {error}") from None
    entries = rows.pop("known-failure", [])
    if rows or not isinstance(entries, list):
        raise BaselineError(
            f"{name}: holds [[known-failure]] entries and nothing else, not {', '.join(rows) or 'entry = …'}"
        )
    known_failures = tuple(
        _known_failure(row, f"{name}: known failure {number}") for number, row in enumerate(entries, 1)
    )
    written = Counter((entry.id, *(entry.failure if entry.broad else ())) for entry in known_failures)
    for words, times in written.most_common(1):
        if times > 1:
            raise BaselineError(f"{name}: {' '.join(words)} is written twice")
    return known_failures


def read(path: Path) -> tuple[KnownFailure, ...]:
    """Read the known failures of the file `path`; raises `BaselineError`."""
    return parse(baseline_text(path), path.name)


def baseline_text(path: Path) -> str:
    """Read the text of the file `path`; raises `BaselineError`."""
    try:
        return read_limited_text(path, MAX_TOML_SIZE)
    except (OSError, UnicodeDecodeError) as error:
        raise BaselineError(f"{path}: {error}") from None


def _known_failure(row: object, where: str) -> KnownFailure:
    if not isinstance(row, dict):
        raise BaselineError(f"{where}: must be [[known-failure]] tables, not a value")
    if unexpected := set(row) - {*_LINKS, *_MARKS} ^ set(_FIELDS):
        raise BaselineError(
            f"{where}: must have exactly {', '.join(_FIELDS)}; look at {', '.join(sorted(unexpected))}"
        )
    for mark in _MARKS:
        if row.get(mark, True) is not True:
            raise BaselineError(f"{where}: {mark} is true, or not there")
    texts = {name: row[name] for name in row if name not in {"expires", *_MARKS}}
    empty = [
        name for name, value in texts.items() if not isinstance(value, str) or (not value and name != "class")
    ]
    if empty or type(row["expires"]) is not date:
        raise BaselineError(f"{where}: {empty[0] if empty else 'expires'} is not filled in")
    if not row.get("fault", _SECURE).startswith(_SECURE):
        raise BaselineError(f"{where}: fault is a link, {_SECURE}…")
    if row["kind"].partition(":")[0] not in ROWS:
        raise BaselineError(f"{where}: {row['kind']} is no verdict")
    if error := bracket_error(row["id"].partition("~")[0]):
        raise BaselineError(f"{where}: {error}")
    if "*" in row["id"] and not re.fullmatch(r"[^~]+~[^*~]+:\*", row["id"]):
        raise BaselineError(f"{where}: a pattern ends in ~<family>:*, golden cases are named one by one")
    entry = KnownFailure(*(row.get(name, "") for name in (*_FIELDS, *_LINKS)))
    return evolve(entry, flaky="flaky" in row, exact="exact" in row)


# --- a run seen through it ---


def is_known_failure(event: CaseEvent) -> bool:
    """Return whether a verdict can be a known failure: one that gates at some level."""
    return gates(event.verdict, event.level, hold="should", strict_class=True, security=event.is_security)


def apply(stream: EventStream, known_failures: Sequence[KnownFailure], today: date) -> AppliedBaseline:
    """Apply the known failures to a run. In a filtered run an entry whose case was left out is not stale."""
    overlays: dict[str, Overlay] = {}
    found: dict[KnownFailure, dict[str, list[CaseEvent]]] = {
        entry: {"as": [], "other": [], "not": []} for entry in known_failures
    }
    single = {entry.id: entry for entry in known_failures if not entry.prefix and not entry.broad}
    families = sorted(
        (entry for entry in known_failures if entry.prefix or entry.broad),
        key=lambda entry: entry.broad,
    )
    for event in stream.cases:
        entry = single.get(event.id) or next((entry for entry in families if entry.covers(event)), None)
        if entry is None:
            continue
        how = ("as" if entry.fails_as_recorded(event) else "other") if _is_about(entry, event) else "not"
        found[entry][how].append(event)
        if how != "not":
            overlays[event.id] = _overlay(entry, today, as_written=how == "as")
    overlays.update(_left_out(stream, overlays))
    return AppliedBaseline(
        overlays,
        tuple(
            entry
            for entry in known_failures
            if _is_seen(entry, stream) and _is_stale(found[entry], stream) and not entry.flaky
        ),
        tuple(entry for entry in known_failures if found[entry]["other"]),
        tuple(entry for entry in known_failures if entry.expires < today),
    )


def _left_out(stream: EventStream, overlays: Mapping[str, Overlay]) -> Iterator[tuple[str, Overlay]]:
    """Yield the cases that were left out because their family died of a known failure."""
    for event in stream.cases:
        if (
            event.label == "not-run:same-as"
            and overlays.get(event.text.removeprefix("same as ")) == "expected"
        ):
            yield event.id, "expected"


def _is_about(entry: KnownFailure, event: CaseEvent) -> bool:
    """Return whether a verdict confirms or changes an entry; one that most runs accept changes no other."""
    return is_known_failure(event) and (event.verdict not in MOSTLY_ACCEPTED or entry.kind == event.verdict)


def _overlay(entry: KnownFailure, today: date, *, as_written: bool) -> Overlay:
    if entry.expires < today:
        return "expired"
    return "expected" if as_written else "changed"


def _is_seen(entry: KnownFailure, stream: EventStream) -> bool:
    """Return whether a run can prove an entry stale: for families only if all of them ran."""
    derived = ("~" in event.id and not event.is_property for event in stream.cases)
    return "~" not in entry.id or (not stream.sampled and any(derived))


def _is_stale(found: dict[str, list[CaseEvent]], stream: EventStream) -> bool:
    if found["as"] or found["other"]:
        return False
    if any(event.verdict == "not-run" for event in found["not"]):
        return False
    return bool(found["not"]) or (stream.complete and not stream.filtered)


# --- writing it ---


def write(stream: EventStream, owner: str, reason: str, expires: date, issue: str = "") -> str:
    """Return a baseline of every failure of a run that would fail it; the user improves the reasons.

    Examples of `--property` are left out (`property_failures`).
    """
    gating = [event for event in _failures(stream) if not event.is_property]
    names = dict.fromkeys((pattern, event.label, event.cls) for event, pattern in _folded(gating))
    return "\n".join(_block(KnownFailure(*name, reason, owner, expires, issue)) for name in sorted(names))


def property_failures(stream: EventStream) -> int:
    """Count the failures of a run that no entry can name: the cases of another seed have other ids."""
    return sum(event.is_property for event in _failures(stream))


def _failures(stream: EventStream) -> Iterator[CaseEvent]:
    return (event for event in stream.cases if fails_run(event, stream.run))


def _folded(gating: Sequence[CaseEvent]) -> Iterator[tuple[CaseEvent, str]]:
    """Yield each failure with the id or the pattern that covers it.

    The derived cases of a family that fail alike are one entry: of one fixture, if it alone fails so and its
    family in no other way, else of the whole topic.
    """
    alike: dict[tuple[str, ...], set[str]] = {}
    kinds: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for event in gating:
        parent, family = _parts(event)
        alike.setdefault((event.suite, family, event.label, event.cls), set()).add(parent)
        kinds.setdefault((parent, family), set()).add((event.label, event.cls))
    for event in gating:
        parent, family = _parts(event)
        one = len(alike[event.suite, family, event.label, event.cls]) == len(kinds[parent, family]) == 1
        fixture = parent if one else f"{event.suite}/*"
        yield event, f"{fixture}~{family}:*" if family else event.id


def _parts(event: CaseEvent) -> tuple[str, str]:
    """Split an id into that of its fixture and its family, which a golden case does not have."""
    parent, _, derived = event.id.partition("~")
    return parent, derived.partition(":")[0]


def _block(entry: KnownFailure) -> str:
    pairs = (
        entry.id,
        entry.kind,
        entry.cls,
        entry.reason,
        entry.owner,
    )
    lines = [f"{name} = {_quoted(text)}" for name, text in zip(_FIELDS, pairs, strict=False)]
    lines.append(f"expires = {entry.expires.isoformat()}")
    links = {"issue": entry.issue, "fault": entry.fault}
    lines += [f"{name} = {_quoted(links[name])}" for name in _LINKS if links[name]]
    return "\n".join(("[[known-failure]]", *lines, ""))


def _quoted(text: str) -> str:
    """Return a basic string of TOML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'


def fix(text: str, stream: EventStream, today: date) -> str:
    """Return the file without its stale entries and with the changed ones as they fail now.

    Comments, reasons, owners, dates and order stay. Nothing is added: a baseline only shrinks. Raises
    `BaselineError` for a run that is filtered or incomplete, which cannot show which entries are stale.
    """
    if stream.filtered or not stream.complete:
        raise BaselineError(
            "a baseline is rewritten from a whole run only: this one is filtered or incomplete"
        )
    known_failures = parse(text)
    applied = apply(stream, known_failures, today)
    head, blocks = _blocks(text)
    if len(blocks) != len(known_failures):
        raise BaselineError(
            "the baseline has entries in a form that cannot be rewritten; use [[known-failure]] tables"
        )
    return head + "".join(_kept(known_failures, blocks, applied, stream))


@frozen
class _EntryText:
    """An entry as text of the file.

    Attributes:
        lead: the comments right above it, which belong to it and to the following entries without comments.
        entry: from its `[[known-failure]]` to its last line.
        tail: blank lines, and separate comments.
    """

    lead: str
    entry: str
    tail: str

    @property
    def ends_group(self) -> bool:
        """Return True if a separate comment divides it from the next one."""
        return bool(self.tail.strip())


def _blocks(text: str) -> tuple[str, list[_EntryText]]:
    """Return the text above the first entry and its comments, and the entries."""
    lines = text.splitlines(keepends=True)
    heads = [
        number for number, line in enumerate(lines) if line.partition("#")[0].strip() == "[[known-failure]]"
    ]
    starts = [head - sum(1 for _ in _comments_above(lines, head)) for head in heads]
    rows = zip(heads, pairwise([*starts, len(lines)]), strict=True)
    blocks = [_cut(lines[start:head], lines[head:end]) for head, (start, end) in rows]
    return "".join(lines[: starts[0] if starts else len(lines)]), blocks


def _comments_above(lines: Sequence[str], head: int) -> Iterator[int]:
    return takewhile(lambda at: lines[at - 1].lstrip().startswith("#"), range(head, 0, -1))


def _cut(lead: Sequence[str], rest: Sequence[str]) -> _EntryText:
    loose = sum(1 for _ in takewhile(lambda line: not line.partition("#")[0].strip(), reversed(rest)))
    last = len(rest) - loose
    return _EntryText("".join(lead), "".join(rest[:last]), "".join(rest[last:]))


def _kept(
    known_failures: Sequence[KnownFailure],
    blocks: Sequence[_EntryText],
    applied: AppliedBaseline,
    stream: EventStream,
) -> Iterator[str]:
    """Yield the entries that stay. A comment is removed with the last entry that it belongs to."""
    waiting = ""
    for entry, block in zip(known_failures, blocks, strict=True):
        lead = block.lead or waiting
        if entry in applied.stale:
            waiting = "" if block.ends_group else lead
            yield block.tail.lstrip("\r\n")
            continue
        waiting = ""
        yield lead + _fixed(entry, block.entry, applied, stream) + block.tail


def _fixed(entry: KnownFailure, text: str, applied: AppliedBaseline, stream: EventStream) -> str:
    if entry not in applied.changed or entry.prefix:
        return text
    event = next(event for event in stream.cases if event.id == entry.id)
    return _with(_with(text, "kind", event.label), "class", event.cls)


def _with(block: str, name: str, value: str) -> str:
    """Return the entry with one of its lines rewritten; a comment at the end of the line stays."""
    was = re.compile(rf"^{name}\s*=\s*(\"[^\"\n]*\"|'[^'\n]*')", re.MULTILINE)
    return was.sub(lambda _: f"{name} = {_quoted(value)}", block, count=1)


def check(known_failures: Iterable[KnownFailure], known: Iterable[str], today: date) -> tuple[str, ...]:
    """Return the faults of a baseline without a run, one line each: unknown ids, dates in the past."""
    ids = set(known)
    problems = []
    for entry in known_failures:
        if entry.fixture not in ids and not any(map(entry.selects, ids)):
            problems.append(f"{entry.id}: no such case")
        if entry.expires < today:
            problems.append(f"{entry.id}: expired on {entry.expires.isoformat()}, {entry.who}")
    return tuple(problems)


# --- the ratchet ---


def growth(old: Iterable[KnownFailure], new: Iterable[KnownFailure]) -> tuple[str, ...]:
    """Return where `new` permits more than `old`, one line each, because a baseline only shrinks.

    More means an entry that no old one covers, a later date, a new `flaky`, or the loss of `exact`. An
    entry that fails in another way is not more.
    """
    before = tuple(old)
    problems = []
    for entry in new:
        holders = [other for other in before if _within(entry, other)]
        latest = max((other.expires for other in holders), default=None)
        if latest is None:
            problems.append(f"{entry.id}: a new entry ({entry.kind}), {entry.who}")
        elif entry.expires > latest:
            was, now = latest.isoformat(), entry.expires.isoformat()
            problems.append(f"{entry.id}: expires on {now}, was {was}, {entry.who}")
        elif entry.flaky and not any(other.flaky for other in holders):
            problems.append(f"{entry.id}: is flaky now, {entry.who}")
        elif entry.failure[0] == "runaway" and all(other.exact for other in holders):
            problems.append(f"{entry.id}: is not exact now, {entry.who}")
    return tuple(problems)


def _within(entry: KnownFailure, other: KnownFailure) -> bool:
    """Return whether the cases of one entry are among those of another."""
    if entry.id == other.id:
        return not entry.broad or _as_much(entry, other)
    if not other.broad:
        return bool(other.prefix) and entry.id.startswith(other.prefix)
    family = other.id.removeprefix(other.fixture).removesuffix("*")
    alike = _as_much(entry, other) and entry.id.startswith(entry.fixture + family)
    return alike and not entry.broad and bool(_fixtures(other.fixture).fullmatch(entry.fixture))


def _as_much(entry: KnownFailure, other: KnownFailure) -> bool:
    """Return True if two entries fail in the same way; an exact one also matches any limit of the other."""
    return other.failure in (entry.failure, _failure(entry.kind, entry.cls, exact=False))
