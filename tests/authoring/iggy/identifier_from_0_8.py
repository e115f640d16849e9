"""`iggy.identifier` from 0.8 and `iggy.partitioning` from 0.9 on: iggy.md §2.2."""

# fmt: off

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import BALANCED, kind_value, name, numeric, tagged, u32, unhex


def write(writer: FixtureWriter) -> None:
    _identifier(CaseBuilder(writer, "iggy.identifier", "0.8"))
    _partitioning(CaseBuilder(writer, "iggy.partitioning", "0.9"))


def _identifier(s: CaseBuilder) -> None:
    doc, layout, zero, size = "iggy.md §2.2", ("iggy.identifier.layout",), ("iggy.identifier.zero-based",), ("iggy.identifier.length",)
    s.accepts("identifier/zero", "Numeric 0", numeric(0), kind_value("numeric", u32(0)), doc=doc, rules=zero, why="From 0.8.0 on the first stream has the number 0; refused, it cannot be reached.")
    s.accepts("identifier/numeric", "Numeric 0x01020304", numeric(0x01020304), kind_value("numeric", unhex("04030201")), doc=doc, rules=(*layout, *size), why="Four different bytes show the order.")
    s.accepts("identifier/string", "The name sample", name(b"sample"), kind_value("string", b"sample"), doc=doc, rules=(*layout, *size, "iggy.identifier.kind"), why="Streams are commonly addressed by name.")
    for label, data, cls, at, rule in (
        ("kind-0", tagged(0, u32(1)), "bad-kind", 0, "kind"), ("kind-3", tagged(3, u32(1)), "bad-kind", 0, "kind"), ("numeric-3-bytes", tagged(1, u32(1)[:3]), "bad-length", 1, "length"),
        ("string-empty", tagged(2, b""), "bad-length", 1, "length"), ("string-bad-utf8", name(b"\xff\xfe"), "bad-utf8", 2, "utf8"), ("truncated", numeric(0)[:-1], "truncated", 2, "truncated"),
    ):
        s.rejects(f"identifier/{label}", f"As before 0.8: {label}", data, cls, at=at, also=("length-mismatch", "length-past-end"), twin="identifier/string", doc=doc, rules=(f"iggy.identifier.{rule}",), why="Only the number 0 came to be allowed.")
    s.writes("encode/zero", "Numeric 0", kind_value("numeric", u32(0)), numeric(0), doc=doc, rules=(*layout, *zero), why="The first of each has it.")
    s.refuses("encode/empty", "An empty name", kind_value("string", b""), twin="encode/zero", doc=doc, rules=("iggy.identifier.encode",), why="Nobody can read it.")


def _partitioning(s: CaseBuilder) -> None:
    doc, layout, size = "iggy.md §2.2", ("iggy.partitioning.layout",), ("iggy.partitioning.id-length",)
    s.accepts("partitioning/partition-id", "Partition 0", tagged(2, u32(0)), kind_value("partition_id", u32(0)), doc=doc, rules=(*layout, *size, "iggy.partitioning.kind"), why="Partitions are counted from 0 on since 0.8.0.")
    s.accepts("partitioning/messages-key", "The key order-7 (W7)", unhex("03076f726465722d37"), kind_value("messages_key", b"order-7"), doc="iggy.md §13 W7", origin="document", rules=layout, why="The golden vector of a producer has one.")
    s.accepts("partitioning/balanced", "Balanced, with bytes of a body behind it", BALANCED + bytes(4), kind_value("balanced", b""), doc=doc, consumed=2, rules=(*layout, "iggy.partitioning.balanced", "iggy.partitioning.balanced-length"), why="The value is empty.")
    s.rejects("partitioning/balanced-value", "Balanced with two bytes", tagged(1, b"\xaa\xbb"), "bad-length", at=1, also=("length-mismatch", "trailing-data"), twin="partitioning/balanced", doc=doc, rules=("iggy.partitioning.balanced-length",), why="8594d7d4c looks at the length of every kind.")
    for label, data, cls, at, rule in (
        ("kind-0", tagged(0, u32(1)), "bad-kind", 0, "kind"), ("kind-4", tagged(4, u32(1)), "bad-kind", 0, "kind"), ("partition-id-3-bytes", tagged(2, u32(1)[:3]), "bad-length", 1, "id-length"),
        ("messages-key-empty", tagged(3, b"") + b"\0", "bad-length", 1, "length"), ("truncated", unhex("03076f726465722d"), "truncated", 2, "truncated"),
    ):
        s.rejects(f"partitioning/{label}", f"As before 0.9: {label}", data, cls, at=at, also=("length-mismatch", "length-past-end"), twin="partitioning/messages-key", doc=doc, rules=(f"iggy.partitioning.{rule}",), why="Read otherwise, messages go to another partition.")
    s.writes("encode/balanced", "Balanced", kind_value("balanced", b""), BALANCED, doc=doc, rules=layout, why="Two bytes.")
    s.writes("encode/partition-id", "Partition 0x01020304", kind_value("partition_id", unhex("04030201")), unhex("020404030201"), doc=doc, rules=layout, why="Four different bytes show the order.")
    s.refuses("encode/balanced-value", "Balanced with a value", kind_value("balanced", b"\xaa"), twin="encode/balanced", doc=doc, rules=("iggy.partitioning.encode",), why="The server answers with an error.")
