"""The comparison of two runs, case by case (fixed, broken and changed), and of two exports."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof.adapters.registry.registered import age
from wireproof.cases.fixtures import Suite
from wireproof.files import read_limited_text
from wireproof.judge.verdicts import PASSING
from wireproof.report.export import CASES
from wireproof.run.baselines.baseline import Origin, origin_lookup, origin_text
from wireproof.run.events import CaseEvent, EventStream, Run, fails_run
from wireproof.strict_parsing import parse_json
from wireproof.wire.json_values import canonical_json


@frozen
class CaseChange:
    """One case in both runs; None where a run does not have it. `origin` says why a failure is new."""

    id: str
    before: CaseEvent | None
    after: CaseEvent | None
    origin: str = ""

    def __str__(self) -> str:
        """Return a line such as `id: fail:wrong-value → pass:canonical`."""
        was = self.before.label if self.before else "(none)"
        now = self.after.label if self.after else "(none)"
        return f"{self.id}: {was} → {now}" + (f" ({self.origin})" if self.origin else "")


@frozen
class RunDiff:
    """The changes of a second run against a first.

    Attributes:
        changed: another verdict, class or field; passes in both runs or in neither.
        partial: True if a run is incomplete, so that `added` and `removed` are uncertain.
        examples: False if the runs have other generated examples, which were therefore left out.
    """

    fixed: tuple[CaseChange, ...] = ()
    broken: tuple[CaseChange, ...] = ()
    changed: tuple[CaseChange, ...] = ()
    added: tuple[CaseChange, ...] = ()
    removed: tuple[CaseChange, ...] = ()
    partial: bool = False
    examples: bool = True

    def lines(self) -> list[str]:
        """Return the changes as lines of text, the worst first."""
        parts = ("broken", "removed", "changed", "fixed", "added")
        rows = [f"{name:<8} {change}" for name in parts for change in getattr(self, name)]
        note = ["incomplete: a case that is missing may only not have been run"] if self.partial else []
        apart = [] if self.examples else ["generated examples are left out: the runs have other ones"]
        return [*rows, *note, *apart]


def diff(before: EventStream, after: EventStream, suite: Suite | None = None) -> RunDiff:
    """Compare two runs of an adapter; with the suite of the later one, say why a failure is new."""
    alike = before.run.examples == after.run.examples
    old, new = (
        {event.id: event for event in stream.cases if alike or not event.is_property}
        for stream in (before, after)
    )
    failed = {name for name, event in old.items() if event.verdict not in PASSING and _judged(event)}
    origin = origin_lookup(before.run.suite, failed, suite) if suite else None
    rows: dict[str, list[CaseChange]] = {}
    for name in sorted({**old, **new}):
        was, now = old.get(name), new.get(name)
        why = origin(now, after.run) if origin and now and fails_run(now, after.run) else None
        if why and was and now and why.kind == "level-changed" and was.level == now.level:
            why = Origin("codec")  # of a derived case, where two runs show more than a baseline
        change = CaseChange(name, was, now, origin_text(why, before.run.suite, after.run.suite))
        if was is None or now is None:
            side = "removed" if was else "added"
        elif (was.verdict in PASSING) != (now.verdict in PASSING):
            side = "fixed" if now.verdict in PASSING else "broken"
        elif (was.label, was.cls, was.path) != (now.label, now.cls, now.path):
            side = "changed"
        else:
            continue
        rows.setdefault(side, []).append(change)
    found = {side: tuple(changes) for side, changes in rows.items()}
    return RunDiff(**found, partial=not (before.complete and after.complete), examples=alike)


# --- history ---


_VERSION: Final = re.compile(r"^([^:@]+)@([^:]*)")


@frozen
class FirstFailure:
    """A case that at least one version of an implementation fails, and the first that does.

    Attributes:
        passed: the version before that, which passed it; empty if none did.
        fixed_in: the first later version that passes it again; empty while it fails.
    """

    id: str
    first: str
    label: str
    passed: str = ""
    fixed_in: str = ""

    def __str__(self) -> str:
        """Return a line such as `id: fail:wrong-value since 3.0.12, passed in 2.2.0`."""
        since = f"since {self.first}, passed in {self.passed}" if self.passed else f"from {self.first} on"
        return f"{self.id}: {self.label} {since}" + (f", fixed in {self.fixed_in}" if self.fixed_in else "")


@frozen
class AdapterHistory:
    """The last run of each version of one implementation, the oldest first; `passed` of judged cases."""

    adapter: str
    versions: tuple[str, ...]
    passed: Mapping[str, tuple[int, int]]
    turns: tuple[FirstFailure, ...]

    def lines(self) -> Iterator[str]:
        for version, (passed, judged) in self.passed.items():
            yield f"{self.adapter} {version}: {passed} of {judged} pass"
        golden = [turn for turn in self.turns if "~" not in turn.id]
        yield from (f"{self.adapter}: {turn}" for turn in golden)
        if len(golden) < len(self.turns):
            yield f"{self.adapter}: and {len(self.turns) - len(golden)} of damaged families"


def histories(streams: Sequence[EventStream]) -> Iterator[AdapterHistory]:
    for name, runs in runs_by_name(streams).items():
        by_case: dict[str, list[tuple[str, CaseEvent]]] = {}
        for version, stream in runs.items():
            for event in stream.cases:
                by_case.setdefault(event.id, []).append((version, event))
        turns = tuple(turn for case, events in sorted(by_case.items()) for turn in _turns(case, events))
        judged = {version: list(filter(_judged, one.cases)) for version, one in runs.items()}
        passed = {
            version: (sum(event.verdict in PASSING for event in events), len(events))
            for version, events in judged.items()
        }
        yield AdapterHistory(name, tuple(runs), passed, turns)


def runs_by_name(streams: Sequence[EventStream]) -> Mapping[str, Mapping[str, EventStream]]:
    """Return the last run of each version of each implementation: by name, then by version, the oldest first.

    Runs with one name and version, but of other adapters, are of other implementations: all codecs that begin
    with one template have its name. These get the adapter as the user named it into their name.
    """
    specs: dict[tuple[str, str], set[str]] = {}
    for run in (stream.run for stream in streams):
        specs.setdefault((run.adapter, version_of(run)), set()).add(unversioned(run.spec))
    shared = {name for (name, version), found in specs.items() if version and len(found) > 1}
    adapters: dict[str, dict[str, EventStream]] = {}
    for stream in sorted(streams, key=lambda one: one.run.started):
        run = stream.run
        name = f"{run.adapter} ({unversioned(run.spec)})" if run.adapter in shared else run.adapter
        adapters.setdefault(name, {})[version_of(run) or run.started] = stream
    return {
        name: {version: runs[version] for version in sorted(runs, key=age)}
        for name, runs in sorted(adapters.items())
    }


def version_of(run: Run) -> str:
    """Return the version that an adapter tells, or else that of a spec such as `sarama@1.44.0`."""
    asked = _VERSION.match(run.spec)
    return asked[2] if asked and asked[2] not in run.version else run.version


def unversioned(spec: str) -> str:
    """Return a spec without the version of a registered name: `sarama` for `sarama@1.44.0`."""
    return _VERSION.sub(r"\1", spec)


def _judged(event: CaseEvent) -> bool:
    return event.verdict not in ("unsupported", "not-run")


def _turns(case: str, events: Sequence[tuple[str, CaseEvent]]) -> Iterator[FirstFailure]:
    passed, failing = "", None
    for version, event in events:
        if not _judged(event):
            continue
        if event.verdict in PASSING:
            if failing is not None:
                yield FirstFailure(case, *failing, fixed_in=version)
            passed, failing = version, None
        elif failing is None:
            failing = version, event.label, passed
    if failing is not None:
        yield FirstFailure(case, *failing)


MAX_SHOWN: Final = 70
"""Characters that are shown of an expectation or of options."""

Row = Mapping[str, Any]


class ExportDiffError(ValueError):
    """A folder is no export, or a line of it is no case; the message is one line."""


@frozen
class CaseDifference:
    """A part of a case that differs, by its name in `PARTS`; each side is a short text."""

    id: str
    part: str
    before: str
    now: str

    def __str__(self) -> str:
        return f"{self.id}: {self.part}: {self.before} → {self.now}"


@frozen
class ExportDiff:
    """The differences of two exports; `changed` are of cases that both have."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[CaseDifference, ...] = ()

    @property
    def broken(self) -> bool:
        """Return True if a case is gone or has another input, which no version may do."""
        return bool(self.removed) or any(one.part == INPUT for one in self.changed)

    def lines(self) -> Iterator[str]:
        """Yield the differences as lines of text, errors first."""
        yield from (f"removed  {name}" for name in self.removed)
        yield from (f"input    {one}" for one in self.changed if one.part == INPUT)
        yield from (f"changed  {one}" for one in self.changed if one.part != INPUT)
        yield from (f"added    {name}" for name in self.added)


# --- the parts of a case ---


def _input(row: Row) -> str:
    """Return what identifies an input: the digest of its bytes, or the value or the steps as JSON."""
    given = row.get("input", {})
    made = given.get("sha256") if "generate" in given else row.get("sha256")
    chunks = [len(one) for one in given.get("chunks", ())]
    if made:
        return f"sha256 {made}{f' in chunks {chunks}' if chunks else ''}"
    steps = [{key: part for key, part in step.items() if key != "expect"} for step in row.get("steps", ())]
    return _json(given or steps)


def _expectation(row: Row) -> str:
    return _json(row.get("expect") or [step.get("expect") for step in row.get("steps", ())])


def _json(tree: Any) -> str:  # noqa: ANN401 - JSON
    return canonical_json(tree).decode()


def _text(name: str) -> Callable[[Row], str]:
    """Return the function that reads a part with a default that no line of an export writes."""
    return lambda row: _json(row[name]) if name in row else "(none)"


INPUT: Final = "input"

PARTS: Final[Mapping[str, Callable[[Row], str]]] = {
    INPUT: _input,
    "level": lambda row: str(row.get("level", "")),
    "expectation": _expectation,
    "op": lambda row: str(row.get("op", "")),
    "profile": lambda row: str(row.get("profile", "reader")),
    "options": _text("options"),
    "needs": _text("needs"),
    "flags": _text("flags"),
    "limits": _text("limits"),
    "twin": _text("twin"),
}
"""The parts of a case that a verdict, or the choice of a case, depends on."""


# --- two exports ---


def read_export(folder: Path) -> dict[str, Row]:
    """Return the cases of an export by their ids; raises `ExportDiffError`."""
    path = folder / CASES
    try:
        lines = read_limited_text(path, 256 << 20).splitlines()  # thirty times the size of today
    except (OSError, ValueError) as error:
        raise ExportDiffError(f"{path}: {error}: name a folder that `wireproof export` wrote") from None
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = parse_json(line)
        except ValueError as error:
            raise ExportDiffError(f"{path}:{number}: {error}") from None
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise ExportDiffError(f"{path}:{number}: a line must be an object with an id")
        rows[row["id"]] = row
    return rows


def export_diff(before: Mapping[str, Row], now: Mapping[str, Row]) -> ExportDiff:
    changed = []
    for name in sorted(before.keys() & now.keys()):
        for part, read in PARTS.items():
            was, is_now = read(before[name]), read(now[name])
            if was != is_now:
                pairs, shorter = zip(was, is_now, strict=False), min(len(was), len(is_now))
                same = next((at for at, (one, two) in enumerate(pairs) if one != two), shorter)
                start = max(0, same - 20) if max(len(was), len(is_now)) > MAX_SHOWN else 0
                changed.append(CaseDifference(name, part, _cut(was, start), _cut(is_now, start)))
    added, removed = sorted(now.keys() - before.keys()), sorted(before.keys() - now.keys())
    return ExportDiff(tuple(added), tuple(removed), tuple(changed))


def _cut(text: str, start: int) -> str:
    head = "…" if start else ""
    return head + text[start : start + MAX_SHOWN] + ("…" if len(text) > start + MAX_SHOWN else "")


# --- the changelog of cases ---


def changelog(found: ExportDiff) -> str:
    """Return the differences as Markdown, for the notes of a release."""
    cases = len({one.id for one in found.changed})
    counts = {
        "added": len(found.added),
        "changed": cases,
        "removed": len(found.removed),
    }
    parts = ["## Cases", "", (", ".join(f"{number} {name}" for name, number in counts.items()) + "."), ""]
    for title, rows in (
        ("Added", _topics(found.added)),
        ("Removed", _topics(found.removed)),
    ):
        parts += [f"### {title}", "", *rows, ""] if rows else []
    if found.changed:
        parts += ["### Changed", "", "| case | part | before | now |", "|---|---|---|---|"]
        parts += [
            f"| `{one.id}` | {one.part} | {_code(one.before)} | {_code(one.now)} |" for one in found.changed
        ]
        parts += [""]
    return "\n".join(parts)


def _topics(names: tuple[str, ...]) -> list[str]:
    topics: dict[str, list[str]] = {}
    for name in names:
        topic, _, last = name.rpartition("/")
        topics.setdefault(topic, []).append(last)
    return [f"- `{topic}/`: {', '.join(f'`{one}`' for one in lasts)}" for topic, lasts in topics.items()]


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|").replace("`", "'") + "`"
