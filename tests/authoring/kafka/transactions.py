"""Transactions in `kafka.log/mixed`: isolation levels, markers, and data keys that look like those of markers. kafka.md §1.9."""

from typing import Any, Final

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import LEADER_CHANGE, control, control_value
from tests.authoring.kafka.delivered import below, committed, data
from tests.authoring.kafka.entry_bytes import (
    DAY,
    T,
    batch,
    batch_value,
    gzip,
    i8,
    i16,
    i32,
    marker,
    record,
    record_value,
    varint,
)
from tests.authoring.kafka.log import ctl, log, one

ABORT, COMMIT = 0, 1

KEYS: Final = (
    ("null", "null", None),
    ("empty", "empty", b""),
    ("abort", "00000000, as the key of an ABORT marker", i16(0) + i16(ABORT)),
    ("commit", "00000001, as the key of a COMMIT marker", i16(0) + i16(COMMIT)),
    ("two-zeros", "0000, the version of a control key alone", i16(0)),
)

Entry = tuple[bytes, Any]


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_uncommitted, _aborted_keys, _committed_keys, _markers_hidden, _marker_epochs, _marker_horizons, _aborted_broken):
        chapter(s)


def _accepts(s: CaseBuilder, name: str, title: str, entries: list[Entry], left: list[Any], why: str, rule: str, *needs: str, doc: str = "kafka.md §1.9", **options: Any) -> None:
    s.accepts(f"transactions/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc=doc, why=why, rules=(rule,), needs=["feature:control-batch", *needs], options=options)


def uncommitted(*aborted: tuple[int, int]) -> dict[str, Any]:
    """Return the options of a consumer without isolation, the default, whose fetch names aborted transactions all the same."""
    return {key: value for key, value in committed(*aborted).items() if key != "isolation"}


def ended(base: int, kind: int, pid: int, **fields: int) -> Entry:
    """A marker whose batch has other fields than usual."""
    key, value = marker(kind)
    delta = fields.pop("ts", 0)
    held = {"base": base, "attributes": 0x30, "pid": pid, "pepoch": 0, **fields}
    base_ts = held.get("base_ts", T)
    return batch(record(key, value, ts=delta), 1, **held), batch_value(
        [record_value(key, value, ts=delta, base=base, base_ts=base_ts, control=control_value(key, value))], **held)


def _uncommitted(s: CaseBuilder) -> None:
    """The list of aborted transactions is for read_committed alone."""
    rule, why = "kafka.log.uncommitted", "twmb/franz-go PR 758: records of aborted transactions were left out without isolation too."
    rows = [data(0, (b"a", b"b"), 1000), ctl(2, ABORT, 1000), data(3, (b"c",), 1001), ctl(4, COMMIT, 1001)]
    fields = {"attributes": 0x11, "pid": 1000, "pepoch": 0, "seq": 0}
    packed = [(batch(gzip(record(b"a", b"v")), 1, **fields), batch_value([record_value(b"a", b"v")], **fields)), ctl(1, ABORT, 1000)]
    _accepts(s, "uncommitted-aborted-list", "A fetch under read_uncommitted with a list of aborted transactions", rows, [rows[0][1], rows[2][1]], why, rule, "feature:fetch-offset", fetch_offset=0, **uncommitted((1000, 0)))
    _accepts(s, "uncommitted-aborted-list-gzip", "The same of an aborted batch in gzip", packed, [packed[0][1]], why, rule, "feature:fetch-offset", "codec:gzip", fetch_offset=0, **uncommitted((1000, 0)))
    _accepts(s, "uncommitted-aborted-list-from-inside", "A fetch under read_uncommitted from inside the aborted transaction", rows, [below(rows[0][1], 1), rows[2][1]], why, rule, "feature:fetch-offset", fetch_offset=1, **uncommitted((1000, 0)))


def _aborted_keys(s: CaseBuilder) -> None:
    """A data record ends no transaction, whatever its key: the control bit of its batch is 0."""
    rule, need = "kafka.log.data-keys", "feature:read-committed"
    why = "tulios/kafkajs PR 312: a null key crashed the filter. kafkajs 2.2.4 takes 00000000 for an ABORT marker and delivers what follows of the aborted transaction."
    for name, title, key in KEYS:
        rows = [data(0, (key, b"b"), 1000), ctl(2, ABORT, 1000), data(3, (b"c",), 1000), ctl(4, COMMIT, 1000)]
        _accepts(s, f"aborted-key-{name}", f"An aborted transaction whose first key is {title}", rows, [rows[2][1]], why, rule, need, **committed((1000, 0)))
    abort = KEYS[2][2]
    rows = [data(0, (b"a",), 1000), data(1, (abort,), 1000), data(2, (b"b",), 1000), ctl(3, ABORT, 1000), data(4, (b"c",), 1000), ctl(5, COMMIT, 1000)]
    _accepts(s, "aborted-key-abort-alone", "An aborted transaction of three batches, the key 00000000 alone in the second", rows, [rows[4][1]], why, rule, need, **committed((1000, 0)))
    plain = [data(0, (b"a",), 1000), one(1, abort), data(2, (b"b",), 1000), ctl(3, ABORT, 1000)]
    _accepts(s, "plain-key-abort-among-aborted", "A plain record with the key 00000000 inside an aborted transaction", plain, [plain[1][1]], why, rule, need, **committed((1000, 0)))


def _committed_keys(s: CaseBuilder) -> None:
    """Data is delivered, whatever its key."""
    rule, need = "kafka.log.data-keys", "feature:read-committed"
    why = "A reader that takes the record for a marker loses it."
    for name, title, key in KEYS:
        rows = [data(0, (b"a",), 1000), data(1, (key, b"b"), 1001), data(3, (b"c",), 1000), ctl(4, ABORT, 1000), ctl(5, COMMIT, 1001)]
        _accepts(s, f"committed-key-{name}", f"A committed transaction whose first key is {title}, inside an aborted one", rows, [rows[1][1]], why, rule, need, **committed((1000, 0)))
    rows = [data(0, (KEYS[2][2], b"b"), 1000), ctl(2, COMMIT, 1000)]
    _accepts(s, "fetched-key-abort", "A fetch without isolation of a record with the key 00000000", rows, [rows[0][1]], why, rule, "feature:fetch-offset", fetch_offset=0)


def _markers_hidden(s: CaseBuilder) -> None:
    """A control record of any type goes to no application, under either isolation level."""
    rule, why = "kafka.log.control", "segmentio/kafka-go #1332, zendesk/ruby-kafka #893: control records reached the application."
    leader = i16(0) + i32(1) + b"\x02" + i32(1) + b"\x00" + b"\x02" + i32(1) + b"\x00" + b"\x00"
    kinds: tuple[tuple[str, str, Entry], ...] = (
        ("abort", "An ABORT marker", ctl(1, ABORT, 1000)),
        ("commit", "A COMMIT marker", ctl(1, COMMIT, 1000)),
        ("leader-change", "A LEADER_CHANGE record", typed(2, leader, LEADER_CHANGE)),
        ("type-99", "A control record of the unknown type 99", typed(99, b"v", control(type="99"))),
    )
    for name, title, entry in kinds:
        rows = [one(0), entry, one(2)]
        left = [rows[0][1], rows[2][1]]
        _accepts(s, f"control-{name}-uncommitted", f"{title} between data, read_uncommitted", rows, left, why, rule, "feature:fetch-offset", fetch_offset=0)
        _accepts(s, f"control-{name}-committed", f"{title} between data, read_committed", rows, left, why, rule, "feature:read-committed", **committed())


def typed(kind: int, value: bytes, shown: Any) -> Entry:
    """A control record at offset 1 that belongs to no transaction, as a controller writes it."""
    key = i16(0) + i16(kind)
    held = {"base": 1, "attributes": 0x20}
    return batch(record(key, value), 1, **held), batch_value([record_value(key, value, base=1, control=shown)], **held)


def _marker_epochs(s: CaseBuilder) -> None:
    """KIP-890: a marker has the epoch of the next transaction, one above that of its data."""
    rule, need, doc = "kafka.log.marker-epoch", "feature:read-committed", "kafka.md §1.9; KIP-890"
    why = "From 4.0 on brokers raise the epoch with each marker: a reader that looks for the epoch of the data leaves the transaction open."
    abort = [data(0, (b"a",), 1000), ended(1, ABORT, 1000, pepoch=1), data(2, (b"b",), 1000, pepoch=1), ended(3, COMMIT, 1000, pepoch=2)]
    _accepts(s, "marker-epoch-abort", "An ABORT marker of epoch 1 behind data of epoch 0, then a committed transaction", abort, [abort[2][1]], why, rule, need, doc=doc, **committed((1000, 0)))
    commit = [data(0, (b"a",), 1000), ended(1, COMMIT, 1000, pepoch=1), data(2, (b"b",), 1000, pepoch=1), ended(3, ABORT, 1000, pepoch=2)]
    _accepts(s, "marker-epoch-commit", "A COMMIT marker of epoch 1 behind data of epoch 0, then an aborted transaction", commit, [commit[0][1]], why, rule, need, doc=doc, **committed((1000, 2)))
    twice = [data(0, (b"a",), 1000), ended(1, ABORT, 1000, pepoch=1), data(2, (b"b",), 1000, pepoch=1), ended(3, ABORT, 1000, pepoch=2), data(4, (b"c",), 1000, pepoch=2), ended(5, COMMIT, 1000, pepoch=3)]
    _accepts(s, "marker-epoch-two-aborts", "Two aborted transactions, each marker one epoch above its data", twice, [twice[4][1]], why, rule, need, doc=doc, **committed((1000, 0), (1000, 2)))
    last = (1 << 15) - 2
    new = [data(0, (b"a",), 1000, pepoch=last), ended(1, ABORT, 1000, pepoch=last + 1), data(2, (b"b",), 1001), ended(3, COMMIT, 1001, pepoch=1)]
    _accepts(s, "marker-epoch-last", "A marker of the last epoch, 32767; then a new producer id", new, [new[2][1]], "Behind the last epoch comes another producer id.", rule, need, doc=doc, **committed((1000, 0)))


def _marker_horizons(s: CaseBuilder) -> None:
    """KIP-534: the cleaner sets bit 6 in a marker, which is a marker all the same."""
    rule, need, doc = "kafka.v2.delete-horizon", "feature:read-committed", "kafka.md §1.8, §1.9"
    why = "A reader that compares the attributes with those of a fresh marker does not find it, and hides committed records."
    horizon = {"attributes": 0x70, "base_ts": T + DAY, "ts": -DAY}
    rows = [data(0, (b"a",), 1000), ended(1, ABORT, 1000, **horizon), data(2, (b"b",), 1000), ctl(3, COMMIT, 1000)]
    _accepts(s, "abort-with-horizon", "An ABORT marker with a delete horizon, then a committed transaction", rows, [rows[2][1]], why, rule, need, "feature:delete-horizon", doc=doc, **committed((1000, 0)))
    _accepts(s, "horizon-hidden", "A fetch of an ABORT marker with a delete horizon, and data", rows[1:3], [rows[2][1]], "What the cleaner is about to delete is a control record still.", rule, "feature:fetch-offset", "feature:delete-horizon", doc=doc, fetch_offset=1)


def _aborted_broken(s: CaseBuilder) -> None:
    """§13.3: what is not delivered need not be decoded; the CRC of the batch is right."""
    fields = {"pid": 1000, "pepoch": 0, "seq": 0}
    past_end = batch(varint(60) + i8(0) + varint(0) * 2, 1, attributes=0x10, **fields)
    garbage = batch(b"no gzip", 1, attributes=0x11, **fields)
    for name, title, raw, reject, needs in (
        ("record", "whose record is longer than the batch", past_end, {"class": "length-past-end", "also": ["truncated", "count-mismatch"]}, []),
        ("gzip", "whose gzip stream is none", garbage, {"class": "decompress-failed", "also": ["truncated"]}, ["codec:gzip"]),
    ):
        rows = [(raw, None), ctl(1, ABORT, 1000), data(2, (b"b",), 1000), ctl(3, COMMIT, 1000)]
        answers = [{"id": "passed-over", "accept": {"value": log(rows[2][1])}}, {"id": "refused", "reject": reject}]
        s.writer.add({"id": f"{s.prefix}transactions/aborted-broken-{name}", "title": f"An aborted batch {title}, then a committed transaction", "why": "A reader that decodes what it does not deliver stops at a batch that nobody is to see.", "op": "decode", "level": "may",
                      "rules": ["kafka.log.aborted.undecoded"], "input": {"hex": b"".join(data for data, _ in rows).hex()}, "expect": {"either": {"behaviours": answers}}, "needs": ["feature:read-committed", *needs], "options": committed((1000, 0)),
                      "source": {"origin": "builder", "document": "kafka.md §1.9, §13.3"}})
