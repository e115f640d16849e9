"""Runs of several versions of an implementation: the version that failed a case first, and that fixed it."""

import re
from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import PASSING


@frozen
class FirstFailure:
    """A case that at least one version of an implementation fails.

    Attributes:
        first: the version that fails it first, with its verdict.
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
    """The runs of one implementation, by version.

    Attributes:
        versions: the oldest first; if a version was run twice, the later run.
        passed: for each version, the number of passing and of judged cases.
    """

    adapter: str
    versions: tuple[str, ...]
    passed: Mapping[str, tuple[int, int]]
    turns: tuple[FirstFailure, ...]


def histories(streams: Sequence[EventStream]) -> Iterator[AdapterHistory]:
    """Yield the history of each implementation, sorted by name."""
    adapters: dict[str, dict[str, EventStream]] = {}
    for stream in sorted(streams, key=lambda one: one.run.started):
        adapters.setdefault(stream.run.adapter, {})[stream.run.version or stream.run.started] = stream
    for name, runs in sorted(adapters.items()):
        yield _history(name, {version: runs[version] for version in sorted(runs, key=version_key)})


def version_key(version: str) -> tuple[tuple[int, int, str], ...]:
    """Return the sort key of a version: numbers by value; `1.0rc1` comes before `1.0`."""
    parts = re.findall(r"\d+|[a-z]+", version.lower())
    keys = ((1, int(part), "") if part.isdecimal() else (-1, 0, part) for part in parts)
    return (*keys, (0, 0, ""))


def _history(name: str, runs: Mapping[str, EventStream]) -> AdapterHistory:
    by_case: dict[str, list[tuple[str, CaseEvent]]] = {}
    for version, stream in runs.items():
        for event in stream.cases:
            by_case.setdefault(event.id, []).append((version, event))
    turns = [turn for case, events in sorted(by_case.items()) for turn in _turns(case, events)]
    return AdapterHistory(
        name, tuple(runs), {version: _passed(one) for version, one in runs.items()}, tuple(turns)
    )


def _passed(stream: EventStream) -> tuple[int, int]:
    judged = [event for event in stream.cases if _judged(event)]
    return sum(event.verdict in PASSING for event in judged), len(judged)


def _judged(event: CaseEvent) -> bool:
    return event.verdict not in ("unsupported", "not-run")


def _turns(case: str, events: Sequence[tuple[str, CaseEvent]]) -> Iterator[FirstFailure]:
    """Yield each version in which the case began to fail; ignore a version that did not run it."""
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
