"""Charts of a job: how fast it went, and which verdicts stand where in the archive."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from wireproof.report.chart import Chart, Lane, svg
from wireproof.report.matrix import QUIET
from wireproof.spark import spanwise, tables

Table = Sequence[dict[str, Any]]

BARS: Final = 200
LANES: Final = 24
OBJECTS: Final = 8
"""Objects that have a chart of their own: those in which most is worth looking at."""

MIB: Final = 1 << 20


def drawn(folder: Path, unit: str, positions: Table) -> list[str]:
    """The charts of a job as SVG.

    Args:
        folder: of the job.
        unit: what is counted at the places.
        positions: the table.
    """
    shown = sorted({row["object"] for row in positions})
    charts = [
        *speed(folder),
        *places(folder),
        *([_over(f"{unit}, over all of it", shown, positions)] if positions else []),
    ]
    loud = _loudest(positions) if len(shown) > 1 else []
    charts += [_over(f"{unit}, over {name}", [name], positions) for name in loud]
    return [svg(chart) for chart in charts]


# --- how fast it went ---


def weights(folder: Path) -> tuple[list[int], str]:
    """What each span is, by the plan of the job, and the unit of it."""
    page = tables.load(folder / "plan.json")
    if "spans" in page:
        return [end - start for *_, start, end in page["spans"]], "MiB"
    cases, grain = page["asked"]["cases"], page["asked"]["grain"]
    return [min(grain, cases - start) for start in range(0, cases, grain)], "cases"


def speed(folder: Path) -> Iterator[Chart]:
    """What was committed in each stretch of time since the plan: files that commit spans bear the time.

    Nothing where the files bear none, as those of a folder that was copied do: all would be of one moment.
    """
    sizes, unit = weights(folder)
    files = [spanwise.committed(folder, number) for number in range(len(sizes))]
    began = (folder / "plan.json").stat().st_mtime
    ends = [file.stat().st_mtime - began for file in files if file.exists()]
    if len(ends) < len(sizes) or len(ends) < 2 or max(ends) - min(ends) < 0.1:
        return
    count = min(BARS // 2, max(2, len(ends) // 2))
    wide = max(ends) / count
    bars = [0.0] * count
    for size, end in zip(sizes, ends, strict=True):
        bars[min(count - 1, max(0, int(end / wide)))] += size / wide / (MIB if unit == "MiB" else 1)
    mean = sum(sizes) / max(ends) / (MIB if unit == "MiB" else 1)
    lane = Lane(f"{unit}/s", bars, "", f"up to {max(bars):,.0f}, {mean:,.0f} on the whole")
    yield Chart("throughput, from the plan to the last span", [lane], "0 s", f"{max(ends):,.1f} s")


def places(folder: Path) -> Iterator[Chart]:
    """How fast each span of a scan was done, over the bytes of all objects; what is slow lies there.

    Spans are done side by side, so this is what one task did in a second, not what the scan did.
    """
    sizes, unit = weights(folder)
    seconds = [_seconds(folder, number) for number in range(len(sizes))]
    if unit != "MiB" or len(sizes) < 2 or min(seconds) <= 0:
        return
    total, count = sum(sizes), min(BARS, len(sizes))
    done, spent = [0.0] * count, [0.0] * count
    for size, end, time in zip(sizes, accumulate(sizes), seconds, strict=True):
        bar = min(count - 1, (end - size // 2) * count // max(total, 1))
        done[bar] += size / MIB
        spent[bar] += time
    bars = [size / time if time else 0.0 for size, time in zip(done, spent, strict=True)]
    told = f"up to {max(bars):,.0f}, {sum(done) / sum(spent):,.0f} on the whole"
    yield Chart("throughput of a task, over all of it", [Lane("MiB/s", bars, "", told)], "0", f"{total:,}")


def _seconds(folder: Path, number: int) -> float:
    """From the beginning of a span to its commit; 0 where the files do not bear it."""
    began, ended = spanwise.begun(folder, number), spanwise.committed(folder, number)
    return ended.stat().st_mtime - began.stat().st_mtime if began.exists() and ended.exists() else 0.0


# --- which verdicts stand where ---


def _over(title: str, shown: Sequence[str], positions: Table) -> Chart:
    """Verdicts over some objects, one behind the other in their order."""
    wanted = set(shown)
    rows = [row for row in positions if row["object"] in wanted]
    sizes = dict.fromkeys(shown, 0)
    for row in rows:
        sizes[row["object"]] = max(sizes[row["object"]], row["end"])
    starts = dict(zip(shown, accumulate(sizes.values(), initial=0), strict=False))  # one more than objects
    total = sum(sizes.values())
    count = min(BARS, max(1, total // min(row["end"] - row["start"] for row in rows)))
    lanes: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * count)
    for row in rows:
        middle = starts[row["object"]] + (row["start"] + row["end"]) // 2
        lanes[row["implementation"], row["verdict"]][middle * count // total] += row["count"]
    order = sorted(lanes, key=lambda key: (_quiet(key[1]), key))
    return Chart(title, [_lane(*key, lanes[key]) for key in order[:LANES]], "0", f"{total:,}")


def _lane(implementation: str, verdict: str, bars: list[float]) -> Lane:
    colour = "pass" if _quiet(verdict) else "mild" if verdict == "tail" else "bad"
    return Lane(
        f"{implementation}: {verdict}", bars, colour, f"{sum(bars):,.0f} in all, up to {max(bars):,.0f}"
    )


def _quiet(verdict: str) -> bool:
    return verdict.partition(":")[0] in QUIET


def _loudest(positions: Table) -> list[str]:
    found: dict[str, int] = defaultdict(int)
    for row in positions:
        if not _quiet(row["verdict"]):
            found[row["object"]] += row["count"]
    return sorted(found, key=lambda name: (-found[name], name))[:OBJECTS]
