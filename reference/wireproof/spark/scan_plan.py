"""The plan of a scan: the objects, their spans, and how the spans are distributed over tasks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof import __version__
from wireproof.spark import checkpointed_job, source_settings
from wireproof.spark.errors import SourceError
from wireproof.spark.object_places import EMPTY, ObjectPlace, SkippedObject, current_size, list_objects
from wireproof.spark.object_spans import ObjectSpan, group_spans, split_range, whole_objects
from wireproof.spark.source_settings import TASKS_PER_CORE, SourceSettings

SPAN_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a span. An interruption loses up to that many for each core."""

MIN_TASK_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a task, below which starting it costs more than reading them: about a tenth of a second."""

SAMPLES: Final = 3


@frozen
class ScanPlan:
    """The plan of a scan.

    Attributes:
        name, options: of the source, as `source_settings.parse` takes them.
        adapters: as the registry reads them.
        spans: all of them; a span is identified by its index.
        most: the number of samples of a signature.
        out: the folder, which every worker can write to at this path.
        skipped: the objects that are not read.
    """

    name: str
    options: dict[str, str]
    adapters: tuple[str, ...]
    spans: tuple[ObjectSpan, ...]
    most: int
    out: Path
    skipped: tuple[SkippedObject, ...] = ()

    @property
    def source(self) -> SourceSettings:
        """Return the settings of the source."""
        return source_settings.parse(self.name, self.options)

    @property
    def weights(self) -> list[int]:
        """Return the bytes of each span."""
        return [span.weight for span in self.spans]

    @property
    def remaining(self) -> list[int]:
        """Return the spans that are not committed."""
        return checkpointed_job.remaining_spans(self)

    def commit_file(self, number: int) -> Path:
        """Return the file that commits a span."""
        return checkpointed_job.commit_file(self.out, number)

    def tasks(self, count: int) -> list[list[int]]:
        """Return the remaining spans as about `count` tasks of about the same weight, in order.

        Small tasks become fewer, down to one for each core, because the reference alone reads them in less
        time than Spark needs to start them. If adapters are asked, even a few bytes take long.
        """
        remaining = self.remaining
        total = sum(self.spans[number].weight for number in remaining)
        numbers = {id(self.spans[number]): number for number in remaining}
        if not self.adapters:
            count = min(count, max(-(-total // MIN_TASK_BYTES), count // TASKS_PER_CORE))
        grain = max(1, -(-total // max(count, 1)))
        tasks = group_spans((self.spans[number] for number in remaining), grain)
        return [[numbers[id(span)] for span in task] for task in tasks]


def plan_scan(
    name: str,
    options: dict[str, str],
    adapters: Sequence[str],
    out: Path,
    most: int = SAMPLES,
    grain: int = SPAN_BYTES,
) -> ScanPlan:
    """Return the plan that is stored in `out`, or make a new one and store it there.

    Raises:
        SourceError: `out` contains another scan, or an object has changed since it was planned.
    """
    inputs = {"source": name, "options": options, "adapters": list(adapters), "samples": most, "grain": grain}
    inputs["version"] = __version__
    page = checkpointed_job.load_or_make_plan(out, "scan", inputs, lambda: _page(name, options, grain))
    spans, skipped = map(_span, page["spans"]), (SkippedObject(*row) for row in page["skipped"])
    plan = ScanPlan(name, options, tuple(adapters), tuple(spans), most, out, tuple(skipped))
    for place in {span.place for span in plan.spans}:
        if current_size(place) != place.size:
            raise SourceError(
                f"{place.display_name} had {place.size} bytes when {out} was planned: choose another folder"
            )
    return plan


def _page(name: str, options: dict[str, str], grain: int) -> dict[str, Any]:
    """Return the spans of all objects, and the objects that have none."""
    source = source_settings.parse(name, options)
    places, skipped = list_objects(source.paths, source.kind.suffixes)
    full = [place for place in places if place.size]
    if not full:
        raise SourceError("nothing to scan: every object is empty")
    spans = [
        span
        for part in whole_objects(full)
        for span in split_range(source.framing, source.options, part, grain)
    ]
    skipped += [SkippedObject(place.display_name, 0, EMPTY) for place in places if not place.size]
    return {
        "spans": list(map(_row, spans)),
        "skipped": [[each.display_name, each.size, each.reason] for each in skipped],
    }


def _row(span: ObjectSpan) -> list[Any]:
    place = span.place
    return [place.store, place.path, place.display_name, place.size, span.start, span.end, span.garbage]


def _span(row: list[Any]) -> ObjectSpan:
    return ObjectSpan(ObjectPlace(*row[:4]), *row[4:])
