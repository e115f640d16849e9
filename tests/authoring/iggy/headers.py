"""`iggy.headers` of 0.0.30: iggy.md §2.3, §2.4 and §10."""

from struct import pack

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.json_send import CAPTURE
from tests.authoring.iggy.json_send import value as json_value
from tests.authoring.iggy.message_bytes import (
    ALL,
    BLOG,
    CODES,
    KEY1,
    entry,
    map_value,
    sent_value,
    tlv,
    u8,
    unhex,
)


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "iggy.headers", "0.0.30")
    for chapter in (_kinds, _map, _bounds, _written):
        chapter(s)
    _zero_bytes(s, CaseBuilder(writer, "iggy.json.send", "0.0.30"))


WIDE = {
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "int128": 16,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "uint128": 16,
}


def _kinds(s: CaseBuilder) -> None:
    layout, kinds = "iggy.headers.layout", "iggy.headers.kinds"
    s.accepts(
        "kinds/string",
        "One string (W1)",
        unhex("050000006b65792d31020700000056616c75652031"),
        {"headers": map_value(KEY1)},
        doc="iggy.md §13 W1",
        origin="document",
        rules=(
            layout,
            kinds,
            "iggy.headers.kind",
            "iggy.headers.key-length",
            "iggy.headers.value-length",
            "iggy.headers.truncated",
        ),
        why="The smallest useful block.",
    )
    s.accepts(
        "kinds/all",
        "All fifteen kinds (W3)",
        tlv(*ALL),
        {"headers": map_value(*ALL)},
        doc="iggy.md §13 W3",
        origin="document",
        rules=(layout, kinds, "iggy.headers.kind", "iggy.headers.size"),
        why="C# had no kinds Int8, Int16, Uint8 and Uint16 before 667e69ea4 and failed the whole poll.",
    )
    for kind in CODES:
        value = next(value for _, known, value in ALL if known == kind)
        s.accepts(
            f"kinds/only-{kind}",
            f"One {kind}",
            entry(b"k", kind, value),
            {"headers": map_value((b"k", kind, value))},
            doc="iggy.md §2.3",
            rules=(kinds,),
            why=f"Kind {CODES[kind]} is {kind}.",
        )
    for kind, size in WIDE.items():
        low = b"\x00" * (size - 1) + b"\x80"
        s.accepts(
            f"kinds/{kind}-high-bit",
            f"{kind} with only its highest bit",
            entry(b"k", kind, low),
            {"headers": map_value((b"k", kind, low))},
            doc="iggy.md §2.3",
            rules=(kinds,),
            why="The lowest signed number, the middle of the unsigned ones, and read big-endian 128.",
        )
    for label, kind, value in (
        ("nan", "float64", pack("<Q", 0x7FF8000000000001)),
        ("nan-signalling", "float32", pack("<I", 0x7F800001)),
        ("minus-zero", "float32", pack("<f", -0.0)),
        ("infinity", "float64", pack("<d", float("inf"))),
    ):
        s.accepts(
            f"kinds/{kind}-{label}",
            f"{kind}, {label}",
            entry(b"k", kind, value),
            {"headers": map_value((b"k", kind, value))},
            doc="iggy.md §10.1",
            rules=("iggy.headers.float",),
            why="Values are compared bit by bit: NaN equals the same NaN, 0.0 is not −0.0.",
        )
    for code in (0, 16, 255):
        s.rejects(
            f"kinds/kind-{code}",
            f"Kind {code}",
            entry(b"k", code, b"v"),
            "bad-kind",
            at=5,
            twin="kinds/only-string",
            doc="iggy.md §10.3",
            rules=("iggy.headers.kind",),
            why="Go and C++ keep the value; Rust fails the whole poll.",
        )
    s.rejects(
        "kinds/node-without-kind",
        "The kind byte overwritten by the value's length",
        unhex("050000006b65792d31070000000056616c75652031"),
        "bad-length",
        at=10,
        also=("length-past-end", "truncated", "length-mismatch"),
        twin="kinds/string",
        doc="iggy.md §13 nodebug_header, §11.1 N11",
        rules=("iggy.headers.value-length",),
        why="What the first Node client wrote.",
    )
    for label, kind, value, remark in (
        ("int32-3-bytes", "int32", b"\x01\x02\x03", "iggy-header-size"),
        ("bool-2-bytes", "bool", b"\x01\x00", "iggy-header-size"),
        ("uint64-1-byte", "uint64", b"\x01", "iggy-header-size"),
        ("bool-is-2", "bool", b"\x02", "iggy-header-bool"),
        ("string-bad-utf8", "string", b"\xff\xfe", "iggy-header-utf8"),
    ):
        s.accepts(
            f"kinds/{label}",
            f"{kind} of {value.hex()}",
            entry(b"k", kind, value),
            {"headers": map_value((b"k", kind, value))},
            doc="iggy.md §10.3",
            remarks=(remark,),
            rules=("iggy.headers.size",),
            why="The accessor fails later; a reader that pads, cuts or replaces changes the value.",
        )


def _map(s: CaseBuilder) -> None:
    order, doc = ("iggy.headers.order",), "iggy.md §13 W2"
    blog = {"headers": map_value(*BLOG)}
    s.accepts(
        "map/blog",
        "The three headers of the announcement (W2)",
        tlv(*BLOG),
        blog,
        doc=doc,
        origin="document",
        rules=("iggy.headers.layout", *order),
        why="Three kinds and keys with a blank, a hyphen and an underscore.",
    )
    s.accepts(
        "map/blog-permuted",
        "The same in another order",
        tlv(BLOG[2], BLOG[0], BLOG[1]),
        blog,
        doc=doc,
        origin="document",
        rules=order,
        why="Rust writes a hash map: every order is the same map.",
    )
    s.accepts(
        "map/blog-reversed",
        "The same, backwards",
        tlv(*reversed(BLOG)),
        blog,
        doc="iggy.md §10.1",
        rules=order,
        why="An order that no client sorts by.",
    )
    s.accepts(
        "map/empty",
        "No headers",
        b"",
        {"headers": []},
        doc="iggy.md §2.4",
        rules=("iggy.headers.empty",),
        why="None and an empty map are both 0 bytes.",
    )
    s.accepts(
        "map/keys-of-two-cases",
        "K and k are two keys",
        tlv((b"K", "string", b"a"), (b"k", "string", b"b")),
        {"headers": map_value((b"K", "string", b"a"), (b"k", "string", b"b"))},
        doc="iggy.md §10.3 case_dup, §11.1 R1",
        rules=("iggy.headers.case",),
        why="HeaderKey::new lowercases, the decoder does not: lowercased, one of the two is lost.",
    )
    s.accepts(
        "map/upper-case-key",
        "An upper-case key",
        tlv((b"Trace-ID", "string", b"a")),
        {"headers": map_value((b"Trace-ID", "string", b"a"))},
        doc="iggy.md §11.1 R1",
        rules=("iggy.headers.case",),
        why="Lowercased, it cannot be looked up by the name it was sent under.",
    )
    twice = ((b"k", "string", b"a"), (b"k", "string", b"b"))
    s.accepts(
        "map/duplicate-key",
        "One key twice",
        tlv(*twice),
        {"headers": map_value(*twice)},
        doc="iggy.md §10.1",
        remarks=("iggy-duplicate-header",),
        rules=("iggy.headers.duplicate",),
        why="Rust, Java and C# keep the last, Go and Node both.",
    )
    apart = (twice[0], (b"a", "uint8", b"\x07"), twice[1])
    s.accepts(
        "map/duplicate-key-apart",
        "One key twice, another between",
        tlv(*apart),
        {"headers": map_value(*apart)},
        doc="iggy.md §10.1",
        remarks=("iggy-duplicate-header",),
        rules=("iggy.headers.duplicate",),
        why="Both keep their order in what is shown.",
    )


def _bounds(s: CaseBuilder) -> None:
    keys, values, cut = (
        ("iggy.headers.key-length",),
        ("iggy.headers.value-length",),
        ("iggy.headers.truncated",),
    )
    doc, past = "iggy.md §9, §10.3", ("length-past-end",)
    for size in (1, 255):
        s.accepts(
            f"bounds/key-{size}",
            f"A key of {size} bytes",
            tlv((b"k" * size, "string", b"v")),
            {"headers": map_value((b"k" * size, "string", b"v"))},
            doc=doc,
            rules=keys,
            why="The limits are 1 and 255, though the length has 32 bits.",
        )
        s.accepts(
            f"bounds/value-{size}",
            f"A value of {size} bytes",
            tlv((b"k", "raw", b"v" * size)),
            {"headers": map_value((b"k", "raw", b"v" * size))},
            doc=doc,
            rules=values,
            why="The limits are 1 and 255, though the length has 32 bits.",
        )
    s.accepts(
        "bounds/key-utf8",
        "A key of two UTF-8 bytes",
        tlv(("é".encode(), "string", b"v")),
        {"headers": map_value(("é".encode(), "string", b"v"))},
        doc="iggy.md §11.1 J2, C2",
        rules=("iggy.headers.key-utf8",),
        why="Java and C# counted UTF-16 units and misframed it.",
    )
    for size in (0, 256):
        s.rejects(
            f"bounds/key-{size}",
            f"A key of {size} bytes",
            tlv((b"k" * size, "string", b"v")),
            "bad-length",
            at=0,
            twin="bounds/key-1",
            doc=doc,
            rules=keys,
            why="InvalidHeaderKey; the first build of 0.0.30 took it.",
        )
        s.rejects(
            f"bounds/value-{size}",
            f"A value of {size} bytes",
            tlv((b"k", "raw", b"v" * size)),
            "bad-length",
            at=6,
            twin="bounds/value-1",
            doc=doc,
            rules=values,
            why="InvalidHeaderValue; the first build of 0.0.30 took it.",
        )
    s.rejects(
        "bounds/key-length-huge",
        "A key length of 2^32 − 1",
        entry(b"k", "string", b"v", key_len=0xFFFFFFFF),
        "bad-length",
        at=0,
        also=("negative-length", *past),
        twin="bounds/key-1",
        doc="iggy.md §10.2 neg_len",
        rules=keys,
        limits={"ms": 1000, "rss_mb": 512},
        flags=["resource"],
        why="The length must not be trusted for an allocation.",
    )
    s.rejects(
        "bounds/value-length-huge",
        "A value length of 2^32 − 1",
        entry(b"k", "string", b"v", val_len=0xFFFFFFFF),
        "bad-length",
        at=6,
        also=("negative-length", *past),
        twin="bounds/value-1",
        doc="iggy.md §10.2 neg_len",
        rules=values,
        limits={"ms": 1000, "rss_mb": 512},
        flags=["resource"],
        why="The length must not be trusted for an allocation.",
    )
    s.rejects(
        "bounds/key-bad-utf8",
        "A key that is not UTF-8",
        tlv((b"\xff\xfe", "string", b"v")),
        "bad-utf8",
        at=4,
        twin="bounds/key-utf8",
        doc=doc,
        rules=("iggy.headers.key-utf8",),
        why="Java and Node put U+FFFD in its place, and two keys become one.",
    )
    whole = tlv(KEY1)
    for label, data, why in (
        (
            "value-missing",
            unhex("010000006b0201000000"),
            "Rust 0.6 panics: a poisoned message takes the server's task down.",
        ),
        ("value-cut", whole[:-1], "Node shortens the value without a word."),
        ("value-past-end", entry(b"k", "string", b"abc", val_len=10), "Node reads abc."),
        ("length-cut", unhex("010000006b020100"), "Rust 0.6 panics here too."),
        ("kind-missing", unhex("010000006b"), "There is nothing to be read of what kind."),
        ("key-cut", whole[:6], "Half a key is another key."),
        ("one-byte-more", whole + b"\xff", "What is left over is no entry."),
        ("one-zero-more", whole + b"\x00", "Zeros are no padding."),
        ("opaque", b"user-header-bytes", "Encrypted headers are not to be read as a map."),
    ):
        also = ("length-past-end", "trailing-data", "bad-length", "bad-kind")
        cls = "bad-length" if label == "opaque" else "truncated"
        s.rejects(
            f"bounds/{label}",
            f"A block cut short: {label.replace('-', ' ')}",
            data,
            cls,
            also=(*also, "truncated"),
            twin="kinds/string",
            doc="iggy.md §10.2, §10.3",
            rules=cut,
            flags=["security"],
            why=why,
        )


def _written(s: CaseBuilder) -> None:
    layout, doc = ("iggy.headers.layout",), "iggy.md §2.4"
    s.writes(
        "encode/string",
        "One string (W1)",
        {"headers": map_value(KEY1)},
        tlv(KEY1),
        doc="iggy.md §13 W1",
        rules=layout,
        why="W1.",
    )
    s.writes(
        "encode/empty",
        "No headers",
        {"headers": []},
        b"",
        doc=doc,
        rules=("iggy.headers.empty",),
        why="No count, no terminator: nothing.",
    )
    pair = BLOG[:2]
    s.writes(
        "encode/two",
        "Two headers, in either order",
        {"headers": map_value(*pair)},
        tlv(*pair),
        tlv(*reversed(pair)),
        doc=doc,
        rules=("iggy.headers.order",),
        why="A map has no order.",
    )
    for kind in CODES:
        value = next(value for _, known, value in ALL if known == kind)
        s.writes(
            f"encode/only-{kind}",
            f"One {kind}",
            {"headers": map_value((b"k", kind, value))},
            entry(b"k", kind, value),
            doc="iggy.md §2.3",
            rules=("iggy.headers.kinds",),
            why=f"Kind {CODES[kind]} is {kind}.",
        )
    refused, long = ("iggy.headers.encode",), b"x" * 256
    for label, headers, why in (
        ("key-empty", ((b"", "string", b"v"),), "Node wrote it; no reader takes it."),
        ("key-256-bytes", ((long, "string", b"v"),), "InvalidHeaderKey."),
        ("key-bad-utf8", ((b"\xff", "string", b"v"),), "Nobody can look it up."),
        ("value-empty", ((b"k", "string", b""),), "Node wrote it; no reader takes it."),
        ("value-256-bytes", ((b"k", "raw", long),), "InvalidHeaderValue."),
        ("int32-3-bytes", ((b"k", "int32", b"\x01\x02\x03"),), "The accessor of every reader fails."),
        ("bool-is-2", ((b"k", "bool", u8(2)),), "Read as true, false or a failure."),
        ("string-bad-utf8", ((b"k", "string", b"\xff"),), "Read with U+FFFD, or not at all."),
        (
            "duplicate-key",
            ((b"k", "string", b"a"), (b"k", "string", b"b")),
            "A map has one value a key; which one is read depends on the reader.",
        ),
        ("unknown-kind", ((b"k", "decimal", b"\x01"),), "There is no such kind."),
    ):
        s.refuses(
            f"encode/{label}",
            f"A header that no reader takes: {label.replace('-', ' ')}",
            {"headers": map_value(*headers)},
            twin="encode/string",
            doc="iggy.md §2.3, §9",
            rules=refused,
            also=("bad-length", "type-mismatch", "bad-utf8", "bad-kind", "duplicate-field"),
            why=why,
        )


def _zero_bytes(block: CaseBuilder, json: CaseBuilder) -> None:
    """§2.4, §9: a length ends a key, and a zero byte is UTF-8 as any other."""
    doc, rules, why = (
        "iggy.md §2.4, §9",
        ("iggy.headers.layout", "iggy.headers.key-length"),
        "Read as a string of C, the key ends too soon, and two keys become one.",
    )
    one, other = (b"k\0a", "raw", b"v"), (b"k\0b", "raw", b"w")
    block.accepts(
        "bounds/key-zero-byte",
        "A key with a zero byte inside",
        tlv(one),
        {"headers": map_value(one)},
        doc=doc,
        rules=rules,
        why=why,
    )
    block.accepts(
        "bounds/key-only-zero-byte",
        "A key of one zero byte",
        tlv((b"\0", "raw", b"v")),
        {"headers": map_value((b"\0", "raw", b"v"))},
        doc=doc,
        rules=rules,
        why="It has one byte, and is not empty.",
    )
    block.accepts(
        "map/keys-alike-to-a-zero-byte",
        "Two keys that differ behind a zero byte",
        tlv(one, other),
        {"headers": map_value(one, other)},
        doc=doc,
        rules=rules,
        why=why,
    )
    block.writes(
        "encode/key-zero-byte",
        "A key with a zero byte inside, written",
        {"headers": map_value(one)},
        tlv(one),
        doc=doc,
        rules=rules,
        why=why,
    )
    text = CAPTURE.replace(
        b'"payload"', b'"headers":{"k\\u0000a":{"kind":"raw","value":"dg=="}},"payload"', 1
    )
    json.accepts(
        "headers/key-zero-byte",
        "A key with a zero byte inside, escaped",
        text,
        json_value(sent_value(0, b"hello", one)),
        doc="iggy.md §8.1; RFC 8259 §7",
        rules=("iggy.json.headers",),
        why=why,
    )
