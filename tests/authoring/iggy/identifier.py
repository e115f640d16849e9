"""`iggy.identifier` and `iggy.partitioning` of 0.0.30: iggy.md §2.2."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import (
    BALANCED,
    kind_value,
    name,
    numeric,
    tagged,
    u32,
    unhex,
)


def write(writer: FixtureWriter) -> None:
    names = CaseBuilder(writer, "iggy.identifier", "0.0.30")
    parts = CaseBuilder(writer, "iggy.partitioning", "0.0.30")
    _identifier(names)
    _partitioning(parts)
    _longest(names, parts)


def _identifier(s: CaseBuilder) -> None:
    doc, kind = "iggy.md §2.2", ("iggy.identifier.kind",)
    size, utf8, zero = ("iggy.identifier.length",), ("iggy.identifier.utf8",), ("iggy.identifier.zero",)
    layout = "iggy.identifier.layout"
    s.accepts(
        "identifier/numeric",
        "Numeric 1",
        numeric(1),
        kind_value("numeric", u32(1)),
        doc=doc + ", §13 W5",
        origin="document",
        rules=(layout, *kind, *size),
        why="Read big-endian it is stream 16777216.",
    )
    s.accepts(
        "identifier/numeric-max",
        "Numeric 2^32 − 1",
        numeric((1 << 32) - 1),
        kind_value("numeric", b"\xff" * 4),
        doc=doc,
        rules=(layout,),
        why="The id is unsigned.",
    )
    s.accepts(
        "identifier/numeric-bytes",
        "Numeric 0x01020304",
        numeric(0x01020304),
        kind_value("numeric", unhex("04030201")),
        doc=doc,
        rules=(layout,),
        why="Four different bytes show the order.",
    )
    s.accepts(
        "identifier/string",
        "The name sample",
        name(b"sample"),
        kind_value("string", b"sample"),
        doc=doc + ", §13 W5",
        origin="document",
        rules=(layout, *kind, *size),
        why="Streams are commonly addressed by name.",
    )
    s.accepts(
        "identifier/string-255",
        "A name of 255 bytes",
        name(b"n" * 255),
        kind_value("string", b"n" * 255),
        doc=doc,
        rules=size,
        why="The length is one unsigned byte; read as signed it is −1.",
    )
    s.accepts(
        "identifier/string-utf8",
        "A name of two UTF-8 bytes",
        name("é".encode()),
        kind_value("string", "é".encode()),
        doc=doc + ", §11.1 J6",
        rules=(layout, *size),
        why="The length counts bytes, not UTF-16 units.",
    )
    s.accepts(
        "identifier/followed",
        "What follows is not its own",
        numeric(7) + b"\xff\xff",
        kind_value("numeric", u32(7)),
        doc=doc,
        consumed=6,
        rules=(layout,),
        why="In a request two identifiers follow each other.",
    )
    s.rejects(
        "identifier/kind-0",
        "Kind 0",
        tagged(0, u32(1)),
        "bad-kind",
        at=0,
        twin="identifier/numeric",
        doc=doc,
        rules=kind,
        why="Taken for a name it addresses another stream.",
    )
    s.rejects(
        "identifier/kind-3",
        "Kind 3",
        tagged(3, u32(1)),
        "bad-kind",
        at=0,
        twin="identifier/numeric",
        doc=doc,
        rules=kind,
        why="There is none.",
    )
    s.rejects(
        "identifier/numeric-3-bytes",
        "A numeric of three bytes",
        tagged(1, u32(1)[:3]),
        "bad-length",
        at=1,
        also=("length-mismatch",),
        twin="identifier/numeric",
        doc=doc,
        rules=size,
        why="A reader that takes four bytes all the same eats the next field.",
    )
    s.rejects(
        "identifier/numeric-8-bytes",
        "A numeric of eight bytes",
        tagged(1, u32(1) * 2),
        "bad-length",
        at=1,
        also=("length-mismatch",),
        twin="identifier/numeric",
        doc=doc,
        rules=size,
        why="The number is 32 bits wide.",
    )
    s.rejects(
        "identifier/string-empty",
        "A name of no bytes",
        tagged(2, b""),
        "bad-length",
        at=1,
        twin="identifier/string",
        doc=doc,
        rules=size,
        why="An empty name addresses nothing.",
    )
    s.rejects(
        "identifier/string-bad-utf8",
        "A name that is not UTF-8",
        name(b"\xff\xfe"),
        "bad-utf8",
        at=2,
        twin="identifier/string-utf8",
        doc=doc,
        rules=utf8,
        why="Replaced by U+FFFD, two names become one.",
    )
    s.rejects(
        "identifier/string-utf16-length",
        "The length of é in UTF-16 units",
        tagged(2, "é".encode(), 1),
        "bad-utf8",
        at=2,
        also=("bad-length", "trailing-data"),
        twin="identifier/string-utf8",
        doc="iggy.md §11.1 J6",
        rules=utf8,
        why="The Java SDK counts String.length() and writes an identifier that nobody can read.",
    )
    s.rejects(
        "identifier/truncated",
        "The last byte is missing",
        numeric(1)[:-1],
        "truncated",
        also=("length-past-end",),
        twin="identifier/numeric",
        doc=doc,
        rules=("iggy.identifier.truncated",),
        why="Half a number is another stream.",
    )
    s.rejects(
        "identifier/string-past-end",
        "A name longer than what is left",
        tagged(2, b"sample", 7),
        "truncated",
        also=("length-past-end",),
        twin="identifier/string",
        doc=doc,
        rules=("iggy.identifier.truncated",),
        why="The Go SDK once sliced beyond the end.",
    )
    s.rejects(
        "identifier/zero",
        "Numeric 0",
        numeric(0),
        "invalid-value",
        also=("not-permitted", "other"),
        at=2,
        twin="identifier/numeric",
        doc=doc,
        rules=zero,
        why="Ids begin at 1 up to 0.7.x; 0 is legal from 0.8.0 on.",
    )
    s.writes(
        "encode/numeric",
        "Numeric 1",
        kind_value("numeric", u32(1)),
        numeric(1),
        doc=doc,
        rules=(layout,),
        why="Order of bytes.",
    )
    s.writes(
        "encode/string",
        "The name sample",
        kind_value("string", b"sample"),
        name(b"sample"),
        doc=doc,
        rules=(layout,),
        why="Length and bytes.",
    )
    s.writes(
        "encode/string-utf8",
        "A name of two UTF-8 bytes",
        kind_value("string", "é".encode()),
        name("é".encode()),
        doc="iggy.md §11.1 J6",
        rules=(layout,),
        why="The length counts bytes.",
    )
    encode = ("iggy.identifier.encode",)
    s.refuses(
        "encode/zero",
        "Numeric 0",
        kind_value("numeric", u32(0)),
        twin="encode/numeric",
        doc=doc,
        rules=zero,
        why="The constructor answers InvalidIdentifier.",
    )
    s.refuses(
        "encode/empty",
        "An empty name",
        kind_value("string", b""),
        twin="encode/string",
        doc=doc,
        rules=encode,
        why="Nobody can read it.",
    )
    s.refuses(
        "encode/256-bytes",
        "A name of 256 bytes",
        kind_value("string", b"n" * 256),
        twin="encode/string",
        doc=doc,
        rules=encode,
        why="The length byte would wrap to 0.",
    )


def _partitioning(s: CaseBuilder) -> None:
    doc, kind, size = "iggy.md §2.2", ("iggy.partitioning.kind",), ("iggy.partitioning.length",)
    layout = "iggy.partitioning.layout"
    key = kind_value("messages_key", b"order-7")
    s.accepts(
        "partitioning/partition-id",
        "Partition 1 (W6)",
        unhex("020401000000"),
        kind_value("partition_id", u32(1)),
        doc="iggy.md §13 W6",
        origin="document",
        rules=(layout, *kind),
        why="Read big-endian it is partition 16777216.",
    )
    s.accepts(
        "partitioning/partition-id-bytes",
        "Partition 0x01020304",
        tagged(2, u32(0x01020304)),
        kind_value("partition_id", unhex("04030201")),
        doc=doc,
        rules=(layout,),
        why="Four different bytes show the order.",
    )
    s.accepts(
        "partitioning/messages-key",
        "The key order-7 (W7)",
        unhex("03076f726465722d37"),
        key,
        doc="iggy.md §13 W7",
        origin="document",
        rules=(layout, *kind),
        why="Messages of one key stay in order only if every client sends the same key.",
    )
    s.accepts(
        "partitioning/messages-key-binary",
        "A key that is no text",
        tagged(3, b"\x00\xff"),
        kind_value("messages_key", b"\x00\xff"),
        doc=doc,
        rules=(layout,),
        why="A key is bytes.",
    )
    s.accepts(
        "partitioning/messages-key-255",
        "A key of 255 bytes",
        tagged(3, b"k" * 255),
        kind_value("messages_key", b"k" * 255),
        doc=doc,
        rules=(layout,),
        why="The length is one unsigned byte.",
    )
    s.accepts(
        "partitioning/balanced",
        "Balanced, with bytes of a body behind it",
        BALANCED + b"\x00" * 16,
        kind_value("balanced", b""),
        doc=doc,
        consumed=2,
        rules=(layout, *kind, "iggy.partitioning.balanced"),
        why="The server chooses; the value is empty, and the messages follow.",
    )
    s.accepts(
        "partitioning/balanced-bare",
        "Balanced, and nothing behind it",
        BALANCED,
        kind_value("balanced", b""),
        doc=doc,
        remarks=("iggy-bare-balanced",),
        rules=("iggy.partitioning.balanced",),
        why="The server's own reader wants three bytes and answers InvalidCommand.",
    )
    s.accepts(
        "partitioning/balanced-value",
        "Balanced with two bytes",
        tagged(1, b"\xaa\xbb"),
        kind_value("balanced", b"\xaa\xbb"),
        doc=doc,
        remarks=("iggy-balanced-value",),
        rules=("iggy.partitioning.balanced",),
        why="Not looked at up to 8594d7d4c; a reader that takes no bytes reads the messages two bytes early.",
    )
    s.rejects(
        "partitioning/kind-0",
        "Kind 0",
        tagged(0, u32(1)),
        "bad-kind",
        at=0,
        twin="partitioning/partition-id",
        doc=doc,
        rules=kind,
        why="There is none.",
    )
    s.rejects(
        "partitioning/kind-4",
        "Kind 4",
        tagged(4, u32(1)),
        "bad-kind",
        at=0,
        twin="partitioning/partition-id",
        doc=doc,
        rules=kind,
        why="There is none.",
    )
    s.rejects(
        "partitioning/messages-key-empty",
        "A key of no bytes",
        tagged(3, b"") + b"\x00",
        "bad-length",
        at=1,
        twin="partitioning/messages-key",
        doc=doc,
        rules=size,
        why="InvalidKeyValueLength: all such messages would go to one partition.",
    )
    for length in (0, 3, 8):
        s.rejects(
            f"partitioning/partition-id-{length}-bytes",
            f"A partition id of {length} bytes",
            tagged(2, u32(1) * 2, length)[: 2 + length] + b"\x00",
            "bad-length",
            at=1,
            also=("length-mismatch",),
            twin="partitioning/partition-id",
            doc=doc,
            rules=size,
            why="The server takes the length and fails in the topic with CannotParseSlice.",
        )
    s.rejects(
        "partitioning/truncated",
        "The last byte of the key is missing",
        unhex("03076f726465722d"),
        "truncated",
        also=("length-past-end",),
        twin="partitioning/messages-key",
        doc=doc,
        rules=("iggy.partitioning.truncated",),
        why="Half a key is another key.",
    )
    writes = ("iggy.partitioning.layout",)
    s.writes(
        "encode/partition-id",
        "Partition 1",
        kind_value("partition_id", u32(1)),
        unhex("020401000000"),
        doc="iggy.md §13 W6",
        rules=writes,
        why="W6.",
    )
    s.writes(
        "encode/messages-key",
        "The key order-7",
        key,
        unhex("03076f726465722d37"),
        doc="iggy.md §13 W7",
        rules=writes,
        why="W7.",
    )
    s.writes(
        "encode/balanced",
        "Balanced",
        kind_value("balanced", b""),
        BALANCED,
        doc=doc,
        rules=writes,
        why="Two bytes, of which the second is 0.",
    )
    refused = ("iggy.partitioning.encode",)
    s.refuses(
        "encode/key-empty",
        "A key of no bytes",
        kind_value("messages_key", b""),
        twin="encode/messages-key",
        doc=doc,
        rules=refused,
        why="InvalidKeyValueLength.",
    )
    s.refuses(
        "encode/key-256-bytes",
        "A key of 256 bytes",
        kind_value("messages_key", b"k" * 256),
        twin="encode/messages-key",
        doc=doc,
        rules=refused,
        why="The length byte would wrap to 0.",
    )
    s.refuses(
        "encode/partition-id-3-bytes",
        "A partition id of three bytes",
        kind_value("partition_id", b"\x01\x00\x00"),
        twin="encode/partition-id",
        doc=doc,
        rules=refused,
        why="It is a u32.",
    )
    s.refuses(
        "encode/balanced-value",
        "Balanced with a value",
        kind_value("balanced", b"\x01"),
        twin="encode/balanced",
        doc=doc,
        rules=refused,
        why="Later servers refuse it.",
    )


def _longest(names: CaseBuilder, parts: CaseBuilder) -> None:
    names.rejects(
        "identifier/numeric-5-bytes",
        "A numeric of five bytes",
        tagged(1, u32(1) + b"\0"),
        "bad-length",
        at=1,
        also=("length-mismatch",),
        twin="identifier/numeric",
        doc="iggy.md §2.2",
        rules=("iggy.identifier.length",),
        why="A reader that takes four bytes all the same reads the fifth as the next kind.",
    )
    parts.accepts(
        "partitioning/key-of-1-byte",
        "A key of one byte, three bytes in all",
        tagged(3, b"k"),
        kind_value("messages_key", b"k"),
        doc="iggy.md §2.2",
        rules=("iggy.partitioning.layout",),
        why="Three bytes are what the server's reader wants to see.",
    )
