"""Bytes that kafka.md §6 prints and that come from other compressors and other writers."""

from typing import Final

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import LEADER_CHANGE, control_value, kraft_version
from tests.authoring.kafka.entry_bytes import T, batch_value, message_value, record_value
from tests.authoring.kafka.log import log
from tests.authoring.kafka.message_sets import pair_value

WORKED: Final[dict[str, bytes]] = {
    "W33": bytes.fromhex(
        "000000000000000d0000004f42fa041401010000018bcfe56800ffffffff000000391f8b08000000000000ff63608003"
        "8902d6ea34462083b1fbfcd30c90086322883084ca3383d4e4cf882842559304228c0037dae1c848000000"
    ),
    "W35": bytes.fromhex(
        "000000000000000b00000054f1f784550002ffffffff0000004682534e41505059000000000100000001000000323800"
        "000901200a0000001056cf205f050f1801610000000131050c0800000b011c3c4952034b000000000001620000000132"
    ),
    "W37": bytes.fromhex(
        "000000000000000b0000004dc993df3b0003ffffffff0000003f04224d1860401a3000000012000100910a0000001056"
        "cf205f0f0071016100000001310c00b100000b000000104952034b1000700162000000013200000000"
    ),
    "W38": bytes.fromhex(
        "000000000000000b0000005c820ac5ba01030000018bcfe56800ffffffff0000004604224d1860408237000000160001"
        "00e01870057b6601000000018bcfe568190073016100000001312300950100000018ae1687b22400b001000000016200"
        "0000013200000000"
    ),
    "W39": bytes.fromhex(
        "00000000000000000000001021c810c9000000000001610000000130000000000000000100000018f69109c801000000"
        "018bcfe568000000000162000000013100000000000000020000003a0000000002ae4249e60000000000000000018bcf"
        "e568000000018bcfe56800ffffffffffffffffffffffffffff00000001100000000263023200"
    ),
    "W42": bytes.fromhex(
        "00000000000000000000004f00000001021154eaf90020000000000000018bcfe568000000018bcfe56800ffffffffff"
        "ffffffffffffffffff000000013a0000000800000002260000000000010200000001000200000001000000"
    ),
    "W45": bytes.fromhex(
        "0000000000000000000000410000000002a89c55860020000000000000018bcfe568000000018bcfe56800ffffffffff"
        "ffffffffffffffffff000000011e00000008000000050a000000010000"
    ),
    "X02": bytes.fromhex(
        "0000000000000000000000430000000002ebd409ed0010000000010000018bcfe568000000018bcfe568000000000000"
        "0003e8000300000000000000021000000002610231001000000202620232000000000000000002000000420000000002"
        "7e49ea6d0030000000000000018bcfe568000000018bcfe5680000000000000003e80003ffffffff0000000120000000"
        "08000000000c0000000000050000000000000000030000003a0000000002fb8c2f2f0010000000000000018bcfe56800"
        "0000018bcfe5680000000000000003e90000000000000000000110000000026302330000000000000000040000004200"
        "000000025e913b000030000000000000018bcfe568000000018bcfe5680000000000000003e90000ffffffff00000001"
        "2000000008000000010c00000000000500"
    ),
    "Z01": bytes.fromhex(
        "000000000000000000000045000000000211279d000002000000010000018bcfe568000000018bcfe56800ffffffffff"
        "ffffffffffffffffff000000021244100000000261023100100002020262023200"
    ),
}


def write(writer: FixtureWriter) -> None:
    v0, v1 = CaseBuilder(writer, "kafka.batch", "v0"), CaseBuilder(writer, "kafka.batch", "v1")
    v2, whole = CaseBuilder(writer, "kafka.batch", "v2"), CaseBuilder(writer, "kafka.log", "mixed")
    printed = {"origin": "document"}
    inner = pair_value(0)
    v0.accepts("wrapper/snappy-copies", "v0 snappy wrapper whose blocks hold copies", WORKED["W35"],
          message_value(0, None, None, offset=11, attributes=2, messages=inner), doc="kafka.md §6 E26 W35", rules=("kafka.snappy.frame", "kafka.wrapper.absolute"),
          needs=["codec:snappy", "feature:wrapper"], why="A reader of literals only fails here.", **printed)
    v0.accepts("wrapper/lz4-kip57-compressed", "v0 LZ4 wrapper of a real compressor", WORKED["W37"],
          message_value(0, None, None, offset=11, attributes=3, messages=inner), doc="kafka.md §6 E27 W37", rules=("kafka.lz4.kip57",),
          needs=["codec:lz4", "feature:wrapper"], why="KAFKA-9203: an upgrade of a library broke reading these.", **printed)
    v1.accepts("wrapper/lz4-compressed", "v1 LZ4 wrapper of a real compressor", WORKED["W38"],
          message_value(1, None, None, offset=11, attributes=3, ts=T, messages=pair_value(1, stamps=(T, T + 1))), doc="kafka.md §6 E28 W38",
          rules=("kafka.lz4.kip57", "kafka.wrapper.relative"), needs=["codec:lz4", "feature:wrapper"], why="The same set after KIP-57.", **printed)
    v1.accepts("wrapper/gzip-gap-worked", "v1 wrapper at 13 over inner offsets 0 and 3, as printed", WORKED["W33"],
          message_value(1, None, None, offset=13, attributes=1, ts=T, messages=pair_value(1, (10, 13), stamps=(T, T))), doc="kafka.md §6 E25 W33",
          rules=("kafka.wrapper.relative",), needs=["codec:gzip", "feature:wrapper"], why="Another compressor's member: the gap is in the offsets, not in the count.", **printed)
    v2.accepts("compression/snappy-raw-worked", "snappy without framing, as printed", WORKED["Z01"],
          batch_value([record_value(b"a", b"1"), record_value(b"b", b"2", ts=1, off=1)], attributes=2), doc="kafka.md §6 E07 Z01",
          rules=("kafka.snappy.raw",), needs=["codec:snappy"], remarks=("max-timestamp",), why="Old librdkafka wrote it so, with maxTimestamp of the first record.", **printed)
    three = [message_value(0, b"a", b"0"), message_value(1, b"b", b"1", offset=1), batch_value([record_value(b"c", b"2", base=2)], base=2)]
    whole.accepts("entries/v0-v1-v2-worked", "A message of each format, as printed", WORKED["W39"], log(*three), doc="kafka.md §6 E29 W39",
             rules=("kafka.log.magic",), needs=["feature:mixed-magic"], why="Three clients take the first magic for that of all.", **printed)
    _kraft(v2)
    _transactions(whole)


def _kraft(s: CaseBuilder) -> None:
    need = {"needs": ["feature:control-batch"], "origin": "document", "rules": ("kafka.control.type",)}
    for name, vector, key, value, control, epoch, title in (
        ("leader-change", "W42", "00000002", "00000000000102000000010002000000010000", LEADER_CHANGE, 1, "LEADER_CHANGE of KRaft"),
        ("kraft-version", "W45", "00000005", "0000000100", kraft_version(1), 0, "KRAFT_VERSION of KRaft"),
    ):
        record = record_value(bytes.fromhex(key), bytes.fromhex(value), control=control)
        s.accepts(f"control/{name}", title, WORKED[vector], batch_value([record], attributes=0x20, epoch=epoch), doc=f"kafka.md §6 {vector}",
             why="The metadata log is a Kafka log too.", **need)


def _transactions(s: CaseBuilder) -> None:
    def data(base: int, pid: int, epoch: int, *rows: tuple[bytes, bytes]):
        records = [record_value(k, v, off=n, base=base) for n, (k, v) in enumerate(rows)]
        return batch_value(records, base=base, attributes=0x10, pid=pid, pepoch=epoch, seq=0)

    def mark(base: int, pid: int, epoch: int, kind: int):
        key, value = bytes((0, 0, 0, kind)), bytes.fromhex("000000000005")
        record = record_value(key, value, base=base, control=control_value(key, value))
        return batch_value([record], base=base, attributes=0x30, pid=pid, pepoch=epoch)

    entries = [data(0, 1000, 3, (b"a", b"1"), (b"b", b"2")), mark(2, 1000, 3, 0), data(3, 1001, 0, (b"c", b"3")), mark(4, 1001, 0, 1)]
    s.accepts("delivered/two-transactions", "One aborted transaction, one committed", WORKED["X02"], log(*entries), doc="kafka.md §6 E32 X02",
         rules=("kafka.log.join", "kafka.log.aborted"), needs=["feature:control-batch"], origin="document", why="librdkafka bd71c96b3 lost its place after a marker.")
    aborted = [["1000", "0"]]
    committed = {"options": {"isolation": "read_committed", "aborted": aborted}, "needs": ["feature:control-batch", "feature:read-committed"]}
    s.accepts("delivered/read-committed", "The aborted transaction is hidden", WORKED["X02"], log(entries[2]), doc="kafka.md §6 E32 X02", rules=("kafka.log.committed",),
         origin="document", why="confluentinc/librdkafka b1dbb53fc delivered aborted records.", **committed)
