"""The conclusion of a run: its exit code, and the sentence that explains it.

A run conforms only if everything that was requested was judged: at least one case has a verdict, and no case
was left out (`not-run`) for a reason other than the codec's own failure, which counts against it already.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from wireproof.judge.verdicts import CAUSED_BY_CODEC, ROWS
from wireproof.run.baselines.baseline import NO_BASELINE, AppliedBaseline, Overlay
from wireproof.run.events import CaseEvent, EventStream, Run, fails_run
from wireproof.run.exit_codes import Exit, deciding_code
from wireproof.wire.text import counted

NO_RESULT: Final = frozenset({"unsupported", "not-run", "adapter-error"})
"""The verdicts that are no result about the codec."""


def count_judged(events: Iterable[CaseEvent]) -> int:
    return sum(event.verdict not in NO_RESULT for event in events)


def is_whole(stream: EventStream) -> bool:
    """Return whether a run came to its end: a run that does not ends with exit code 4."""
    return stream.footer is not None and not stream.lacks


def why_nothing_judged(stream: EventStream) -> str:
    """Return why a run judged nothing, as a sentence; empty if it judged anything."""
    if count_judged(stream.cases):
        return ""
    if not stream.cases:
        return (
            f"no case was judged: {stream.lacks[0] if stream.lacks else 'none is of a format that it claims'}"
        )
    reasons = Counter(f"{event.label}: {event.text}".rstrip(": ") for event in stream.cases)
    shown = "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(3))
    rest = f"; {counted(len(reasons) - 3, 'further reason')}" if len(reasons) > 3 else ""
    return f"no case was judged: {shown}{rest}"


def examples_line(stream: EventStream) -> str:
    """Describe the generated examples of a run; empty for a run without any."""
    drawn = stream.run.examples
    if drawn is None:
        return ""
    found = sum(event.is_property for event in stream.cases)
    each = f"{drawn.count} of each format and op"
    return f"generated examples: {found:,}, {each}, of seed {drawn.seed}, by Hypothesis {drawn.hypothesis}"


def large_line(run: Run) -> str:
    """Say how many large cases a run left out; empty if none."""
    if not run.left_out:
        return ""
    count, must = len(run.left_out), sum(level == "must" for level in run.left_out.values())
    which = f"of which {must} must" if must < count else "all must"
    return f"{counted(count, 'large case')} left out, {which}: add --large"


def exit_code(
    stream: EventStream,
    applied: AppliedBaseline = NO_BASELINE,
    *,
    named: bool = True,
) -> Exit:
    """Return the exit code of a run; `applied` is the effect of its baseline.

    An adapter that was not `named` by the user, but is installed, may have nothing to do with the cases.
    """
    overlays = applied.overlays
    codes = [_verdict_code(event, overlays.get(event.id, ""), stream) for event in stream.cases]
    if applied.stale or applied.changed:
        codes.append(Exit.BASELINE)
    return deciding_code([*codes, *trust_codes(stream, applied, named=named)])


def trust_codes(
    stream: EventStream, applied: AppliedBaseline = NO_BASELINE, *, named: bool = True
) -> Iterator[Exit]:
    """Yield the exit codes that mark a run as not trustworthy as a whole, whatever its verdicts are."""
    if named and not count_judged(stream.cases):
        yield Exit.USAGE
    if not is_whole(stream):
        yield Exit.ADAPTER
    overlays = applied.overlays
    for event in stream.cases:
        if _is_left_out(event, overlays.get(event.id, "")):
            yield Exit.FAILS if event.kind in CAUSED_BY_CODEC else Exit.ADAPTER


def _is_left_out(event: CaseEvent, overlay: Overlay) -> bool:
    """Return whether a case was not run, and that is no known failure."""
    return event.verdict == "not-run" and overlay != "expected"


def _is_missing(event: CaseEvent, stream: EventStream) -> bool:
    """Return whether a requirement set asks at `must` for a case that the codec does not support."""
    return bool(stream.run.requirements) and event.level == "must" and event.verdict == "unsupported"


def _verdict_code(event: CaseEvent, overlay: Overlay, stream: EventStream) -> Exit:
    match ROWS[event.verdict].gate:
        case "suite":
            return Exit.SUITE
        case "adapter":
            return Exit.ADAPTER
    fails = fails_run(event, stream.run) or _is_missing(event, stream)
    if not fails or overlay == "expected":
        return Exit.CONFORMS
    return Exit.BASELINE if overlay == "changed" else Exit.FAILS


def conclusion_sentence(stream: EventStream, applied: AppliedBaseline = NO_BASELINE) -> str:
    """Describe in one line how a run ended: `conforms, but for 1,081 known failures`."""
    if why := why_nothing_judged(stream):
        return why
    if stream.lacks:
        rest = f" and {len(stream.lacks) - 3} more" if len(stream.lacks) > 3 else ""
        return f"incomplete: {', '.join(stream.lacks[:3])}{rest}"
    if stream.footer is None:
        return "incomplete: the run was broken off"
    overlays = applied.overlays
    known = sum(overlay == "expected" for overlay in overlays.values())
    codes = Counter(_verdict_code(event, overlays.get(event.id, ""), stream) for event in stream.cases)
    not_run = sum(_is_left_out(event, overlays.get(event.id, "")) for event in stream.cases)
    unsupported = sum(_is_missing(event, stream) for event in stream.cases)
    fails, changed = codes[Exit.FAILS] - unsupported, codes[Exit.BASELINE]
    broken, contradicted = codes[Exit.ADAPTER], codes[Exit.SUITE]
    counts = (
        (fails, f"fails {fails:,} of {count_judged(stream.cases):,} judged cases"),
        (unsupported, f"does not support {counted(unsupported, 'required case')}"),
        (changed, f"{counted(changed, 'known failure fails', 'known failures fail')} in another way"),
        (broken, f"the adapter broke its contract in {counted(broken, 'case')}"),
        (contradicted, f"the suite contradicts itself in {counted(contradicted, 'case')}"),
        (not_run, f"{counted(not_run, 'case was', 'cases were')} not run"),
    )
    failures = [text for count, text in counts if count]
    title = stream.run.requirements.title if stream.run.requirements else ""
    if title and stream.run.shard:
        title = f"shard {stream.run.shard} of {title}"  # the others may fail
    if not failures:
        good = f"meets {title}" if title else "conforms"
        large = len(stream.run.left_out)
        good += f", but for {counted(known, 'known failure')}" if known else ""
        if number := len({*applied.stale, *applied.changed}):
            good += f"; {counted(number, 'entry', 'entries')} of the baseline out of date"
        return good + (f"; {counted(large, 'large case')} left out" if large else "")
    bad = f"does not meet {title}" if title else "does not conform"
    return f"{bad}: " + ", ".join(failures) + (f"; {counted(known, 'known failure')} beside" if known else "")
