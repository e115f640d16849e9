"""The lines about a server that stored the messages of an interop run."""

import shlex
from collections.abc import Iterator
from typing import Final

from wireproof.runner.interop_relay import SENT, STORED, RelayFault, RelayReport
from wireproof.runner.interop_results import Token
from wireproof.runner.signature import without_indices

MAX_FAULTS: Final = 12
"""Number of kinds of faults that are shown; the others are counted."""


def relay_lines(report: RelayReport, token: Token) -> Iterator[str]:
    """Yield how many messages were stored, why the others were not, and the faults of the server by kind."""
    kinds: dict[tuple[str, str, str], list[RelayFault]] = {}
    for fault in report.faults:
        verdict = fault.verdict
        kinds.setdefault((verdict.label, verdict.cls, without_indices(verdict.path)), []).append(fault)
    counts = report.counts
    others = [f"{number} {name}" for name, number in counts.items() if name not in (SENT, STORED)]
    lines = [f"{counts[STORED]} of {counts[SENT]} messages stored", *others]
    yield f"THROUGH {report.spec} ({report.name}): {'; '.join(lines)}"
    for reason, number in report.left_out.most_common():
        yield f"  {number} not carried: {reason}"
    for some in list(kinds.values())[:MAX_FAULTS]:
        yield from _kind(some, report.spec, token)
    if len(kinds) > MAX_FAULTS:
        yield f"… and {len(kinds) - MAX_FAULTS} more kinds of faults of the server"


def _kind(some: list[RelayFault], spec: str, token: Token) -> Iterator[str]:
    fault = some[0]
    verdict, case = fault.verdict, fault.case
    writers = ", ".join(dict.fromkeys(name for one in some for name in one.message.producers))
    times = f"{len(some)} time{'' if len(some) == 1 else 's'}"
    what = verdict.path or verdict.detail or verdict.cls
    yield f"WRONG {spec} {case.format_id}: {verdict.label} {what}, {times}; written by {writers}"
    if verdict.want:
        yield f"  want    {verdict.want}"
    yield f"  got     {verdict.got}"
    yield f"  replay  wireproof replay {shlex.quote(token(case))} {shlex.quote(spec)}"
