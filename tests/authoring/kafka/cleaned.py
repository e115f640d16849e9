"""Batches of v2 as the cleaner leaves them: another baseTimestamp, and markers with a delete horizon. kafka.md §1.8, §1.9."""

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import (
    DAY,
    T,
    batch,
    batch_value,
    gzip,
    marker,
    record,
    record_value,
)


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    _base_timestamp(v2)
    _markers(v2)


def _base_timestamp(s: CaseBuilder) -> None:
    """The base is the time of the first record that is left; offsets stay those of the batch as it was written."""
    why = "The base is no longer the time of baseOffset: a reader that keeps times by offset from an earlier fetch gives wrong ones."
    rule = ("kafka.v2.timestamp.cleaned",)
    for name, title, first, deltas, most in (
        ("later", "the first record left is seven ms later", T + 7, (0, 3), T + 10),
        ("negative-delta", "the second record left is older than the first", T + 7, (0, -4), T + 7),
        ("none-of-records", "of the records left none has the base as its time", T, (7, 3), T + 7),
    ):
        rows = [(b"a", 1, deltas[0]), (b"b", 3, deltas[1])]
        raw = b"".join(record(key, b"v", off=off, ts=ts) for key, off, ts in rows)
        values = [record_value(key, b"v", off=off, ts=ts, base=10, base_ts=first) for key, off, ts in rows]
        fields = {"base": 10, "last": 5, "base_ts": first, "max_ts": most}
        s.accepts(f"timestamps/cleaned-{name}", f"Offsets 11 and 13 of a batch of 10 to 15: {title}", batch(raw, 2, **fields), batch_value(values, **fields), doc="kafka.md §1.8", why=why, rules=rule)
    raw = record(b"a", b"v", off=1) + record(b"b", b"v", off=3, ts=3)
    values = [record_value(b"a", b"v", off=1, base=10, base_ts=T + 7), record_value(b"b", b"v", off=3, ts=3, base=10, base_ts=T + 7)]
    fields = {"base": 10, "last": 5, "base_ts": T + 7, "max_ts": T + 10, "attributes": 1}
    s.accepts("timestamps/cleaned-gzip", "Offsets 11 and 13 of a gzip batch of 10 to 15, with the time of 11 as its base", batch(gzip(raw), 2, **fields), batch_value(values, **fields), doc="kafka.md §1.8", why=why, rules=rule, needs=["codec:gzip"])


def _markers(s: CaseBuilder) -> None:
    """KIP-534: a marker waits for its horizon, too."""
    horizon = T + DAY
    for kind, name in ((0, "abort"), (1, "commit")):
        key, value = marker(kind)
        fields = {"base": 9, "attributes": 0x70, "pid": 1000, "pepoch": 0, "base_ts": horizon}
        s.accepts(f"control/{name}-delete-horizon", f"{name.upper()} with a delete horizon", batch(record(key, value, ts=-DAY), 1, **fields),
                  batch_value([record_value(key, value, ts=-DAY, base=9, base_ts=horizon, control=control_value(key, value))], **fields), doc="kafka.md §1.8, §1.9", rules=("kafka.v2.delete-horizon", "kafka.control.key"),
                  needs=["feature:control-batch", "feature:delete-horizon"], why="baseTimestamp is no time of the marker: its delta leads back to it.")
