"""The plan of a scan: the objects, their spans, and how the spans are distributed over tasks."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

from attrs import astuple, frozen

from wireproof import __version__
from wireproof.spark import checkpointed_job, source_settings
from wireproof.spark.errors import SourceError
from wireproof.spark.object_places import EMPTY, ObjectPlace, SkippedObject, list_objects, unreadable
from wireproof.spark.object_spans import ObjectSpan, group_spans, split_range
from wireproof.spark.scan_report import first_names
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
        spans: all of them by number, in the order of the objects' names and of their bytes.
        most: the number of samples of a signature.
        out: the folder, which every worker can write to at this path.
        skipped: the objects that are not read.
        changes: the differences from the plan that was stored before, in lines for a person.
    """

    name: str
    options: dict[str, str]
    adapters: tuple[str, ...]
    spans: dict[int, ObjectSpan]
    most: int
    out: Path
    skipped: tuple[SkippedObject, ...] = ()
    changes: tuple[str, ...] = ()

    @property
    def source(self) -> SourceSettings:
        """Return the settings of the source."""
        return source_settings.parse(self.name, self.options)

    @property
    def places(self) -> list[ObjectPlace]:
        """Return the objects that are read."""
        return list(dict.fromkeys(span.place for span in self.spans.values()))

    @property
    def weights(self) -> dict[int, int]:
        """Return the bytes of each span."""
        return {number: span.weight for number, span in self.spans.items()}

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
    """Return the plan of a scan of the objects as they are now, and store it in `out`.

    If `out` has a plan already, the spans of the objects that have not changed since stay as they are,
    committed or not. An object that is new, or has another size or time of change, is read whole: bytes that
    are appended to a log may complete an entry, or prove that it is damaged. Objects that are gone leave the
    tables.

    Raises:
        SourceError: `out` contains another scan.
    """
    inputs = {"source": name, "options": options, "adapters": list(adapters), "samples": most}
    inputs |= {"span_bytes": grain, "version": __version__}
    changes = list[str]()

    def renew(stored: dict[str, Any]) -> dict[str, Any]:
        page = _page(name, options, grain, stored)
        changes.extend(_changes(*(_places(each) for each in (stored, page))) if "objects" in stored else [])
        return page

    page = checkpointed_job.update_plan(out, "scan", inputs, renew)
    spans = {
        number: ObjectSpan(place, start, end, garbage)
        for place, each in zip(_places(page).values(), page["objects"], strict=True)
        for number, start, end, garbage in each["spans"]
    }
    checkpointed_job.remove_other_spans(out, spans)
    skipped = tuple(SkippedObject(*row) for row in page["skipped"])
    return ScanPlan(name, options, tuple(adapters), spans, most, out, skipped, tuple(changes))


def _page(name: str, options: dict[str, str], grain: int, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the spans of all objects, those of a stored plan for unchanged objects; and what has none.

    The number of a span is never used again, so that no file of an earlier span is taken for one of its own.
    """
    source = source_settings.of_whole_objects(source_settings.parse(name, options))
    places, skipped = list_objects(source.paths, source.kind.suffixes)
    known = {tuple(each["place"]): each["spans"] for each in stored.get("objects", ())}
    numbers, objects = count(stored.get("next_span", 0)), list[dict[str, Any]]()
    for place in places:
        if reason := EMPTY if not place.size else "" if astuple(place) in known else unreadable(place):
            skipped.append(SkippedObject(place.display_name, place.size, reason))
            continue
        spans = known.get(astuple(place)) or [
            [next(numbers), span.start, span.end, span.garbage]
            for span in split_range(source.framing, source.options, (place, 0, place.size), grain)
        ]
        objects.append({"place": list(astuple(place)), "spans": spans})
    if not objects:
        raise SourceError("nothing to scan: every object is empty or cannot be read")
    return {
        "objects": objects,
        "next_span": next(numbers),
        "skipped": [[each.display_name, each.size, each.reason] for each in skipped],
    }


def _places(page: dict[str, Any]) -> dict[str, ObjectPlace]:
    """Return the objects of a plan, by name."""
    places = (ObjectPlace(*each["place"]) for each in page.get("objects", ()))
    return {place.display_name: place for place in places}


def _changes(before: dict[str, ObjectPlace], now: dict[str, ObjectPlace]) -> Iterator[str]:
    """Yield a line for the objects that are new, changed and gone since the plan was stored."""
    sizes = {
        name: f"{name} ({before[name].size:,} bytes, now {now[name].size:,})"
        for name in before
        if name in now
    }
    for what, names in (
        ("new", [name for name in now if name not in before]),
        ("read again", [sizes[name] for name in sizes if before[name] != now[name]]),
        ("gone, and no longer in the tables", [name for name in before if name not in now]),
    ):
        if names:
            yield f"{what}: {len(names)} objects: {first_names(names)}"
