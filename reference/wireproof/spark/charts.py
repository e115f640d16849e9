"""Charts of a job: its speed, and the places of verdicts in the archive."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from wireproof.report.chart import Chart, Lane, svg
from wireproof.report.matrix import QUIET
from wireproof.spark import checkpointed_job, job_files

TableRows = Sequence[dict[str, Any]]

BARS: Final = 200
LANES: Final = 24
OBJECTS: Final = 8
"""Objects that have a chart of their own: those with the most verdicts that need attention."""

MIB: Final = 1 << 20


def draw_charts(folder: Path, unit: str, positions: TableRows) -> list[str]:
    """Draw the charts of a job as SVG.

    Args:
        folder: of the job.
        unit: of the counts in `positions`.
        positions: the table.
    """
    names = sorted({row["object"] for row in positions})
    charts = [
        *throughput(folder),
        *task_speed(folder),
        *([_verdict_chart(f"{unit} over the whole job", names, positions)] if positions else []),
    ]
    busiest = _busiest(positions) if len(names) > 1 else []
    charts += [_verdict_chart(f"{unit} over {name}", [name], positions) for name in busiest]
    return [svg(chart) for chart in charts]


# --- speed ---


def span_sizes(folder: Path) -> tuple[dict[int, int], str]:
    """Return the size of each span by its number, from the plan of the job, and its unit."""
    page = job_files.load_json(folder / "plan.json")
    if "objects" in page:
        spans = (span for each in page["objects"] for span in each["spans"])
        return {number: end - start for number, start, end, _ in spans}, "MiB"
    cases, grain = page["asked"]["cases"], page["asked"]["grain"]
    return {n: min(grain, cases - start) for n, start in enumerate(range(0, cases, grain))}, "cases"


def throughput(folder: Path) -> Iterator[Chart]:
    """Yield the chart of the work committed in each interval since the plan was made.

    The time of a commit is that of its file. Nothing is drawn if all times are equal, as in a folder that was
    copied, or if there are spans of an earlier plan.
    """
    sizes, unit = span_sizes(folder)
    files = [checkpointed_job.commit_file(folder, number) for number in sizes]
    start = (folder / "plan.json").stat().st_mtime
    ends = [file.stat().st_mtime - start for file in files if file.exists()]
    if len(ends) < len(sizes) or len(ends) < 2 or max(ends) - min(ends) < 0.1 or min(ends) < 0:
        return
    bar_count = min(BARS // 2, max(2, len(ends) // 2))
    seconds_per_bar = max(ends) / bar_count
    bars = [0.0] * bar_count
    for size, end in zip(sizes.values(), ends, strict=True):
        bar = min(bar_count - 1, max(0, int(end / seconds_per_bar)))
        bars[bar] += size / seconds_per_bar / (MIB if unit == "MiB" else 1)
    mean = sum(sizes.values()) / max(ends) / (MIB if unit == "MiB" else 1)
    lane = Lane(f"{unit}/s", bars, "", f"at most {max(bars):,.0f}, on average {mean:,.0f}")
    yield Chart("throughput, from the plan to the last span", [lane], "0 s", f"{max(ends):,.1f} s")


def task_speed(folder: Path) -> Iterator[Chart]:
    """Yield the chart of the speed of each span of a scan, by the position of its bytes.

    Spans run in parallel, so this is the speed of one task and not of the scan.
    """
    by_number, unit = span_sizes(folder)
    seconds, sizes = [_seconds(folder, number) for number in by_number], list(by_number.values())
    if unit != "MiB" or len(sizes) < 2 or min(seconds) <= 0:
        return
    total, widest = sum(sizes), max(sizes)
    count = _bar_count(total, widest)
    done, spent = [0.0] * count, [0.0] * count
    for size, end, time in zip(sizes, accumulate(sizes), seconds, strict=True):
        for bar, share in _shares(end - size, end, total, count):
            done[bar] += share * size / MIB
            spent[bar] += share * time
    bars = [size / time if time else 0.0 for size, time in zip(done, spent, strict=True)]
    text = f"at most {max(bars):,.0f}, on average {sum(done) / sum(spent):,.0f}"
    yield Chart("throughput of a task over the whole job", [Lane("MiB/s", bars, "", text)], "0", f"{total:,}")


def _seconds(folder: Path, number: int) -> float:
    """Return the seconds from start to commit of a span; 0 if its files do not show them."""
    start, end = checkpointed_job.start_file(folder, number), checkpointed_job.commit_file(folder, number)
    return end.stat().st_mtime - start.stat().st_mtime if start.exists() and end.exists() else 0.0


# --- the places of verdicts ---


def _verdict_chart(title: str, names: Sequence[str], positions: TableRows) -> Chart:
    """Return the chart of verdicts over some objects, one after another."""
    wanted = set(names)
    rows = [row for row in positions if row["object"] in wanted]
    sizes = dict.fromkeys(names, 0)
    for row in rows:
        sizes[row["object"]] = max(sizes[row["object"]], row["end"])
    ends = accumulate(sizes.values(), initial=0)  # one element more than there are objects
    starts = dict(zip(names, ends, strict=False))
    total = sum(sizes.values())
    count = _bar_count(total, max(row["end"] - row["start"] for row in rows))
    lanes: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * count)
    for row in rows:
        before, lane = starts[row["object"]], lanes[row["implementation"], row["verdict"]]
        for bar, share in _shares(before + row["start"], before + row["end"], total, count):
            lane[bar] += share * row["count"]
    order = sorted(lanes, key=lambda key: (_quiet(key[1]), key))
    return Chart(title, [_lane(*key, lanes[key]) for key in order[:LANES]], "0", f"{total:,}")


def _bar_count(total: int, widest: int) -> int:
    """Return the number of bars of one width, none narrower than the widest part that is drawn."""
    return min(BARS, max(1, total // max(widest, 1)))


def _shares(start: int, end: int, total: int, count: int) -> Iterator[tuple[int, float]]:
    """Yield each of `count` bars over `total` bytes that the range touches, and its share of the range."""
    for bar in range(start * count // total, -(-end * count // total)):
        first, last = max(start * count, bar * total), min(end * count, (bar + 1) * total)
        yield bar, (last - first) / (count * (end - start))


def _lane(implementation: str, verdict: str, bars: list[float]) -> Lane:
    colour = "pass" if _quiet(verdict) else "mild" if verdict == "tail" else "bad"
    most = f"{max(bars):,.1f}".removesuffix(".0")
    return Lane(f"{implementation}: {verdict}", bars, colour, f"{sum(bars):,.0f} in total, at most {most}")


def _quiet(verdict: str) -> bool:
    return verdict.partition(":")[0] in QUIET


def _busiest(positions: TableRows) -> list[str]:
    counts: dict[str, int] = defaultdict(int)
    for row in positions:
        if not _quiet(row["verdict"]):
            counts[row["object"]] += row["count"]
    return sorted(counts, key=lambda name: (-counts[name], name))[:OBJECTS]
