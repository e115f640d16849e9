"""Scan to a folder: append the tables, and remember what was read, so that the next scan reads the rest."""

import shutil
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from attrs import astuple, define, field
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from wireproof import __version__
from wireproof.segment_files import CheckedIndex
from wireproof.spark import batches, job_state
from wireproof.spark.batches import Progress, TaskCounts, as_uri, no_progress, parallelism
from wireproof.spark.logs.objects import ObjectPlace, SkippedObject, read_if_there
from wireproof.spark.logs.spans import ObjectSpan
from wireproof.spark.scan_job import (
    ASKED_SPAN_BYTES,
    SPAN_BYTES,
    ScanTables,
    frames_of,
    list_logs,
    plan_spans,
)
from wireproof.spark.scan_report import check_local_logs, first_names, index_rows
from wireproof.spark.stored_tables import latest_table, stored_rows
from wireproof.spark.table_columns import TABLES, spark_schema
from wireproof.spark.verdict_rows import FRAMES_SCHEMA, LARGEST, ScanSettings
from wireproof.wire.text import counted

MARK_BYTES: Final = 64
"""Bytes of an entry that show whether an object that grew is still the same one: a header has a checksum."""


@define
class KnownObject:
    """What a folder knows of an object.

    Attributes:
        place: the object as it was read.
        spans: scan, start, and the end before which its rows count, of each span that was read.
        certain: appended bytes change nothing before this byte; None if the object is not read whole.
        mark: the first bytes there.
    """

    place: ObjectPlace
    spans: list[tuple[str, int, int]] = field(factory=list)
    certain: int | None = None
    mark: str = ""

    @property
    def done(self) -> int:
        """Return the byte before which everything is read; spans are read in any order."""
        at = 0
        for _, start, end in sorted(self.spans, key=lambda span: span[1]):
            if start > at:
                break
            at = max(at, end)
        return at


@define
class FolderScan:
    """A scan whose tables are in a folder.

    Attributes:
        settings, out: as `open_scan` takes them.
        started: the time of its begin, which is in its id.
        places, skipped: the objects, and those that are not read.
        ranges: what is to be read of the objects.
        changes: what is new, changed or gone since the last scan, in lines for a person.
        state, known: what the folder knows, as JSON, and of the objects by name.
        tables: the rows of `signatures` and `files`, as the scan wrote them.
        seconds: the duration.
        indexes: the index files beside local logs.
    """

    settings: ScanSettings
    out: Path
    started: datetime
    places: list[ObjectPlace] = field(factory=list)
    skipped: list[SkippedObject] = field(factory=list)
    ranges: list[ObjectSpan] = field(factory=list)
    changes: list[str] = field(factory=list)
    state: dict[str, Any] = field(factory=dict)
    known: dict[str, KnownObject] = field(factory=dict)
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = field(factory=dict)
    seconds: float = 0
    indexes: Sequence[CheckedIndex] = ()

    @property
    def new_bytes(self) -> int:
        """Return the bytes that this scan reads."""
        return sum(span.size for span in self.ranges)

    @property
    def id(self) -> str:
        """Return the name of the scan, which sorts by time."""
        return f"scan-{self.started:%Y%m%d-%H%M%S-%f}"

    def folder(self, table: str) -> Path:
        """Return the folder of a table of this scan."""
        return self.out / table / f"scan_date={self.started:%Y-%m-%d}" / f"scan_id={self.id}"

    def load(self) -> None:
        """Read what the folder knows, and remove what a killed scan left half done.

        Raises:
            SourceError: the folder contains something else.
        """
        inputs = {
            "source": self.settings.name, "options": dict(self.settings.options),
            "adapters": list(self.settings.adapters), "version": __version__,
        }  # fmt: skip
        self.state = job_state.load_state(self.out, "scan", inputs)
        self.known = {
            row["place"][2]: KnownObject(
                ObjectPlace(*row["place"]), [(one, start, end) for one, start, end in row["spans"]],
                row["certain"], row["mark"],
            )
            for row in self.state.get("objects", [])
        }  # fmt: skip
        job_state.remove_uncommitted(self.out / "frames", self.state.get("batches", []))
        complete = {f"scan_id={scan}" for scan in self.state.get("scans", [])}
        for name in TABLES.keys() - {"frames"}:
            for folder in (self.out / name).glob("scan_date=*/scan_id=*"):
                if folder.name not in complete:
                    shutil.rmtree(folder)

    def save(self) -> None:
        """Store what is known."""
        self.state["objects"] = [
            {"place": list(astuple(one.place)), "spans": one.spans, "certain": one.certain, "mark": one.mark}
            for one in self.known.values()
        ]
        job_state.save_state(self.out, self.state)

    def find_ranges(self, places: Sequence[ObjectPlace]) -> list[ObjectSpan]:
        """Return what is to be read of the objects; say what changed."""
        before, names = self.known, {place.display_name for place in places}
        self.known, ranges, again = {}, list[ObjectSpan](), list[str]()
        for place in places:
            known = before.get(place.display_name)
            if known is None or known.place != place:
                grown = known is not None and _only_grew(known, place)
                kept = [(one, start, min(end, known.certain or 0)) for one, start, end in known.spans
                        if start < (known.certain or 0)] if known and grown else []  # fmt: skip
                if known is not None:
                    how = "read on" if kept else "read again"
                    size = f"{known.place.size:,} bytes, now {place.size:,}"
                    again.append(f"{place.display_name} ({size}; {how} from {kept[-1][2] if kept else 0:,})")
                known = KnownObject(place, kept)
            self.known[place.display_name] = known
            if known.certain is None and known.done < place.size:
                ranges.append(ObjectSpan(place, known.done, place.size))
        if before:
            lines = (
                ("new", [name for name in self.known if name not in before]),
                ("changed", again),
                ("gone, and no longer in the tables", [name for name in before if name not in names]),
            )
            self.changes += [
                f"{what}: {counted(len(rows), 'object')}: {first_names(rows)}" for what, rows in lines if rows
            ]
        return ranges

    @property
    def is_current(self) -> bool:
        """Return whether the tables of the last scan are those of the objects as they are now."""
        if not self.state.get("scans") or self.ranges or self.changes:
            return False
        stored = {(row["path"], row["reason"]) for row in stored_rows(latest_table(self.out, "skipped"))}
        return {(each.display_name, each.reason) for each in self.skipped} == stored

    def check_indexes(self) -> None:
        """Check the index files beside the logs."""
        self.indexes = check_local_logs(self.places if self.settings.source.kind.index_files else [])

    def load_tables(self, scan: str | None = None) -> None:
        """Read the tables of a scan, by default of the newest one."""
        shown = ("signatures", "files")
        self.tables = {name: stored_rows(latest_table(self.out, name, scan)) for name in shown}

    def run(self, spark: SparkSession, progress: Progress = no_progress) -> Self:
        """Read what is new, append the tables of all objects, and return this scan with its result.

        A scan that was killed goes on where its last batch was committed. An object that grew is read from
        its last certain entry on; one that is shorter or begins otherwise is read again.

        Args:
            spark: the session.
            progress: receives the bytes done, the total bytes and the tasks, a few times a second.
        """
        began, settings = time.monotonic(), self.settings
        progress(0, self.new_bytes, TaskCounts(phase="looking for entries"))
        spans = plan_spans(spark, settings, self.ranges)
        first = parallelism(spark) * (ASKED_SPAN_BYTES if settings.adapters else 16 * SPAN_BYTES)
        rows_of = partial(frames_of, spark, settings)
        units, table = [(span.weight, span) for span in spans], self.folder("frames")
        batches.run_batches(spark, units, first, rows_of, self.commit, table, progress)
        is_cut = any(len(known.spans) > 1 for known in self.known.values())
        rows = self.rows(spark)
        tables = ScanTables(spark, settings, rows, self.places, self.skipped, is_cut=is_cut)
        self.skipped = [SkippedObject(*row.values()) for row in tables.small("skipped")]
        for path in tables.lost:
            del self.known[path]
        self.places = [known.place for known in self.known.values()]
        self.check_indexes()
        self._write_tables(tables)
        self.load_tables(self.id)
        for row in self.tables["files"]:
            known, place = self.known[row["path"]], self.known[row["path"]].place
            if known.certain is None:
                known.certain = 0  # a whole object of a store is replaced, never appended to
                if row["certain"] and not (place.compression or place.store):
                    found = read_if_there(place, row["certain"], MARK_BYTES)
                    if found is not None:  # else it is gone already; the next scan says so
                        known.certain, known.mark = row["certain"], found.hex()
        self.seconds = time.monotonic() - began
        shown = settings.options.keys() - {"keys", "path", "paths"}
        row = {
            "version": __version__, "started": self.started, "seconds": self.seconds, "source": settings.name,
            "options": sorted(f"{name}={settings.options[name]}" for name in shown),
            "adapters": list(settings.adapters), "objects": len(self.places),
            "bytes": sum(place.size for place in self.places), "new_bytes": self.new_bytes,
        }  # fmt: skip
        batches.write_small("run", [row], TABLES["run"], self.folder("run"))
        self.state["scans"] = [*self.state.get("scans", []), self.id]
        self.save()
        return self

    def _write_tables(self, tables: ScanTables) -> None:
        """Write the tables of a scan, each as one file."""
        small = {name: tables.small(name) for name in ("signatures", "matrix", "files", "skipped")}
        small["index_files"] = list(index_rows(self.indexes))
        for name, rows in small.items():
            batches.write_small(name, rows, TABLES[name], self.folder(name))

        def write(name: str) -> None:
            folder = self.folder(name)
            if tables.is_empty(name):
                batches.write_small(name, [], TABLES[name], folder)
            elif name == "samples":
                batches.write_small(name, tables.samples, TABLES[name], folder)
            else:
                batches.write_sorted(name, getattr(tables, name), folder)

        with ThreadPoolExecutor(3) as pool:  # most of each is waiting for Spark to begin
            list(pool.map(write, ("damage", "failures", "samples")))

    def commit(self, spans: Sequence[ObjectSpan], folder: Path) -> None:
        """Store that spans are written to a folder."""
        for span in spans:
            self.known[span.place.display_name].spans.append((self.id, span.start, span.end))
        self.state.setdefault("batches", []).append(str(folder.relative_to(self.out / "frames")))
        self.save()

    def rows(self, spark: SparkSession) -> DataFrame:
        """Return the rows of all objects as they are now, whichever scan read them."""
        if all(one == self.id for known in self.known.values() for one, *_ in known.spans):
            return spark.read.schema(spark_schema(TABLES["frames"])).parquet(as_uri(self.folder("frames")))
        parts = [
            (one, name, start, LARGEST if end >= known.place.size else end)
            for name, known in self.known.items()
            for one, start, end in known.spans
        ]
        keys = spark.createDataFrame(parts, "scan_id string, path string, span long, until long")
        stored = spark.read.schema(spark_schema(TABLES["frames"])).parquet(as_uri(self.out / "frames"))
        current = stored.join(sql.broadcast(keys), ["scan_id", "path", "span"]).filter("position < until")
        return current.select(*FRAMES_SCHEMA.names)


def _only_grew(known: KnownObject, place: ObjectPlace) -> bool:
    """Return whether an object that was read whole has what it had where its last certain entry begins."""
    if place.size <= known.place.size or place.compression or not known.certain:
        return False
    found = read_if_there(place, known.certain, MARK_BYTES)
    return found is not None and found.hex().startswith(known.mark)


def open_scan(settings: ScanSettings, out: Path) -> FolderScan:
    """Return the scan of what is new in the objects as they are now, whose tables are in a folder.

    Args:
        settings: the source, its options and the adapters.
        out: the folder, which every worker can write to at this path.

    Raises:
        SourceError: the folder contains something else, or nothing was found.
    """
    job = FolderScan(settings, out, datetime.now(UTC))
    job.load()
    job.places, job.skipped = list_logs(settings.source, job.known)
    job.ranges = job.find_ranges(job.places)
    out.mkdir(parents=True, exist_ok=True)
    job.save()
    return job
