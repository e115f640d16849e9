"""`iggy.identifier`, `iggy.partitioning` and `iggy.headers` of 0.0.30: iggy.md §2 and §10."""

from struct import pack

from book import Book
from iggy_parts import (
    ALL, BALANCED, BLOG, CODES, KEY1, entry, kind_value, map_value, name, numeric, tagged, tlv, u8, u32, unhex,
)  # fmt: skip
from iggy_shelf import Shelf

WIDE = {"int8": 1, "int16": 2, "int32": 4, "int64": 8, "int128": 16, "uint8": 1, "uint16": 2, "uint32": 4,
        "uint64": 8, "uint128": 16}  # fmt: skip


def write(book: Book) -> None:
    _identifier(Shelf(book, "iggy.identifier", "0.0.30"))
    _partitioning(Shelf(book, "iggy.partitioning", "0.0.30"))
    headers = Shelf(book, "iggy.headers", "0.0.30")
    _kinds(headers)
    _map(headers)
    _bounds(headers)
    _headers_written(headers)


# --- identifiers ---


def _identifier(s: Shelf) -> None:
    doc, kind = "iggy.md §2.2", ("iggy.identifier.kind",)
    size, utf8, zero = ("iggy.identifier.length",), ("iggy.identifier.utf8",), ("iggy.identifier.zero",)
    layout = "iggy.identifier.layout"
    s.ok("identifier/numeric", "Numeric 1", numeric(1), kind_value("numeric", u32(1)), doc=doc + " W5", origin="rulebook",
         rules=(layout, *kind, *size, *zero, "iggy.identifier.truncated"), why="Read big-endian it is stream 16777216.")
    s.ok("identifier/numeric-max", "Numeric 2^32 − 1", numeric((1 << 32) - 1), kind_value("numeric", b"\xff" * 4), doc=doc,
         rules=(layout,), why="The id is unsigned.")
    s.ok("identifier/numeric-bytes", "Numeric 0x01020304", numeric(0x01020304), kind_value("numeric", unhex("04030201")), doc=doc,
         rules=(layout,), why="Four different bytes show the order.")
    s.ok("identifier/string", "The name sample", name(b"sample"), kind_value("string", b"sample"), doc=doc + " W5", origin="rulebook",
         rules=(layout, *kind, *size), why="Streams are commonly addressed by name.")
    s.ok("identifier/string-255", "A name of 255 bytes", name(b"n" * 255), kind_value("string", b"n" * 255), doc=doc, rules=size,
         why="The length is one unsigned byte; read as signed it is −1.")
    s.ok("identifier/string-utf8", "A name of two UTF-8 bytes", name("é".encode()), kind_value("string", "é".encode()), doc=doc + ", §11.1 J6",
         rules=(*utf8, *size), why="The length counts bytes, not UTF-16 units.")
    s.ok("identifier/followed", "What follows is not its own", numeric(7) + b"\xff\xff", kind_value("numeric", u32(7)), doc=doc, consumed=6,
         rules=(layout,), why="In a request two identifiers follow each other.")
    s.no("identifier/kind-0", "Kind 0", tagged(0, u32(1)), "bad-kind", at=0, twin="identifier/numeric", doc=doc, rules=kind,
         why="Taken for a name it addresses another stream.")
    s.no("identifier/kind-3", "Kind 3", tagged(3, u32(1)), "bad-kind", at=0, twin="identifier/numeric", doc=doc, rules=kind, why="There is none.")
    s.no("identifier/numeric-3-bytes", "A numeric of three bytes", tagged(1, u32(1)[:3]), "bad-length", at=1, also=("length-mismatch",),
         twin="identifier/numeric", doc=doc, rules=size, why="A reader that takes four bytes all the same eats the next field.")
    s.no("identifier/numeric-8-bytes", "A numeric of eight bytes", tagged(1, u32(1) * 2), "bad-length", at=1, also=("length-mismatch",),
         twin="identifier/numeric", doc=doc, rules=size, why="The number is 32 bits wide.")
    s.no("identifier/string-empty", "A name of no bytes", tagged(2, b""), "bad-length", at=1, twin="identifier/string", doc=doc, rules=size,
         why="An empty name addresses nothing.")
    s.no("identifier/string-bad-utf8", "A name that is not UTF-8", name(b"\xff\xfe"), "bad-utf8", at=2, twin="identifier/string-utf8", doc=doc,
         rules=utf8, why="Replaced by U+FFFD, two names become one.")
    s.no("identifier/string-utf16-length", "The length of é in UTF-16 units", tagged(2, "é".encode(), 1), "bad-utf8", at=2,
         also=("bad-length", "trailing-data"), twin="identifier/string-utf8", doc="iggy.md §11.1 J6", rules=utf8,
         why="The Java SDK counts String.length() and writes an identifier that nobody can read.")
    s.no("identifier/truncated", "The last byte is missing", numeric(1)[:-1], "truncated", also=("length-past-end",), twin="identifier/numeric",
         doc=doc, rules=("iggy.identifier.truncated",), why="Half a number is another stream.")
    s.no("identifier/string-past-end", "A name longer than what is left", tagged(2, b"sample", 7), "truncated", also=("length-past-end",),
         twin="identifier/string", doc=doc, rules=("iggy.identifier.truncated",), why="The Go SDK once sliced beyond the end.")
    s.no("identifier/zero", "Numeric 0", numeric(0), "invalid-value", also=("not-permitted", "other"), at=2, twin="identifier/numeric", doc=doc,
         rules=zero, why="Ids begin at 1 up to 0.7.x; 0 is legal from 0.8.0 on.")
    s.writes("encode/numeric", "Numeric 1", kind_value("numeric", u32(1)), numeric(1), doc=doc, rules=(layout,), why="Order of bytes.")
    s.writes("encode/string", "The name sample", kind_value("string", b"sample"), name(b"sample"), doc=doc, rules=(layout,), why="Length and bytes.")
    s.writes("encode/string-utf8", "A name of two UTF-8 bytes", kind_value("string", "é".encode()), name("é".encode()), doc="iggy.md §11.1 J6", rules=(layout,),
             why="The length counts bytes.")
    encode = ("iggy.identifier.encode",)
    s.refuses("encode/zero", "Numeric 0", kind_value("numeric", u32(0)), twin="encode/numeric", doc=doc, rules=encode,
              why="The server answers InvalidIdentifier.")
    s.refuses("encode/empty", "An empty name", kind_value("string", b""), twin="encode/string", doc=doc, rules=encode, why="Nobody can read it.")
    s.refuses("encode/256-bytes", "A name of 256 bytes", kind_value("string", b"n" * 256), twin="encode/string", doc=doc, rules=encode,
              why="The length byte would wrap to 0.")


# --- partitionings ---


def _partitioning(s: Shelf) -> None:
    doc, kind, size = "iggy.md §2.2", ("iggy.partitioning.kind",), ("iggy.partitioning.length",)
    layout = "iggy.partitioning.layout"
    key = kind_value("messages_key", b"order-7")
    s.ok("partitioning/partition-id", "Partition 1 (W6)", unhex("020401000000"), kind_value("partition_id", u32(1)), doc="iggy.md §13 W6",
         origin="rulebook", rules=(layout, *kind, *size), why="Read big-endian it is partition 16777216.")
    s.ok("partitioning/partition-id-bytes", "Partition 0x01020304", tagged(2, u32(0x01020304)), kind_value("partition_id", unhex("04030201")), doc=doc,
         rules=(layout,), why="Four different bytes show the order.")
    s.ok("partitioning/messages-key", "The key order-7 (W7)", unhex("03076f726465722d37"), key, doc="iggy.md §13 W7", origin="rulebook",
         rules=(layout, *kind, *size, "iggy.partitioning.truncated"), why="Messages of one key stay in order only if every client sends the same key.")
    s.ok("partitioning/messages-key-binary", "A key that is no text", tagged(3, b"\x00\xff"), kind_value("messages_key", b"\x00\xff"), doc=doc,
         rules=(layout,), why="A key is bytes.")
    s.ok("partitioning/messages-key-255", "A key of 255 bytes", tagged(3, b"k" * 255), kind_value("messages_key", b"k" * 255), doc=doc, rules=size,
         why="The length is one unsigned byte.")
    s.ok("partitioning/balanced", "Balanced, with bytes of a body behind it", BALANCED + b"\x00" * 16, kind_value("balanced", b""), doc=doc,
         consumed=2, rules=(layout, *kind, "iggy.partitioning.balanced"), why="The server chooses; the value is empty, and the messages follow.")
    s.ok("partitioning/balanced-bare", "Balanced, and nothing behind it", BALANCED, kind_value("balanced", b""), doc=doc, remarks=("iggy-bare-balanced",), rules=("iggy.partitioning.balanced",),
         why="The server's own reader wants three bytes and answers InvalidCommand.")
    s.ok("partitioning/balanced-value", "Balanced with two bytes", tagged(1, b"\xaa\xbb"), kind_value("balanced", b"\xaa\xbb"), doc=doc, remarks=("iggy-balanced-value",), rules=("iggy.partitioning.balanced",),
         why="Not looked at up to 8594d7d4c; a reader that takes no bytes reads the messages two bytes too early.")
    s.no("partitioning/kind-0", "Kind 0", tagged(0, u32(1)), "bad-kind", at=0, twin="partitioning/partition-id", doc=doc, rules=kind, why="There is none.")
    s.no("partitioning/kind-4", "Kind 4", tagged(4, u32(1)), "bad-kind", at=0, twin="partitioning/partition-id", doc=doc, rules=kind, why="There is none.")
    s.no("partitioning/messages-key-empty", "A key of no bytes", tagged(3, b"") + b"\x00", "bad-length", at=1, twin="partitioning/messages-key", doc=doc,
         rules=size, why="InvalidKeyValueLength: all such messages would go to one partition.")
    for length in (0, 3, 8):
        s.no(f"partitioning/partition-id-{length}-bytes", f"A partition id of {length} bytes", tagged(2, u32(1) * 2, length)[: 2 + length] + b"\x00",
             "bad-length", at=1, also=("length-mismatch",), twin="partitioning/partition-id", doc=doc, rules=size,
             why="The server takes the length and fails in the topic with CannotParseSlice.")
    s.no("partitioning/truncated", "The last byte of the key is missing", unhex("03076f726465722d"), "truncated", also=("length-past-end",),
         twin="partitioning/messages-key", doc=doc, rules=("iggy.partitioning.truncated",), why="Half a key is another key.")
    writes = ("iggy.partitioning.layout",)
    s.writes("encode/partition-id", "Partition 1", kind_value("partition_id", u32(1)), unhex("020401000000"), doc="iggy.md §13 W6", rules=writes, why="W6.")
    s.writes("encode/messages-key", "The key order-7", key, unhex("03076f726465722d37"), doc="iggy.md §13 W7", rules=writes, why="W7.")
    s.writes("encode/balanced", "Balanced", kind_value("balanced", b""), BALANCED, doc=doc, rules=writes, why="Two bytes, of which the second is 0.")
    refused = ("iggy.partitioning.encode",)
    s.refuses("encode/key-empty", "A key of no bytes", kind_value("messages_key", b""), twin="encode/messages-key", doc=doc, rules=refused, why="InvalidKeyValueLength.")
    s.refuses("encode/key-256-bytes", "A key of 256 bytes", kind_value("messages_key", b"k" * 256), twin="encode/messages-key", doc=doc, rules=refused,
              why="The length byte would wrap to 0.")
    s.refuses("encode/partition-id-3-bytes", "A partition id of three bytes", kind_value("partition_id", b"\x01\x00\x00"), twin="encode/partition-id", doc=doc,
              rules=refused, why="It is a u32.")
    s.refuses("encode/balanced-value", "Balanced with a value", kind_value("balanced", b"\x01"), twin="encode/balanced", doc=doc, rules=refused,
              why="Later servers refuse it.")


# --- header maps ---


def _kinds(s: Shelf) -> None:
    layout, kinds = "iggy.headers.layout", "iggy.headers.kinds"
    s.ok("kinds/string", "One string (W1)", unhex("050000006b65792d31020700000056616c75652031"), {"headers": map_value(KEY1)}, doc="iggy.md §13 W1",
         origin="rulebook", rules=(layout, kinds, "iggy.headers.kind", "iggy.headers.key-length", "iggy.headers.value-length", "iggy.headers.truncated"),
         why="The smallest useful block.")
    s.ok("kinds/all", "All fifteen kinds (W3)", tlv(*ALL), {"headers": map_value(*ALL)}, doc="iggy.md §13 W3", origin="rulebook",
         rules=(layout, kinds, "iggy.headers.kind", "iggy.headers.size"), why="C# had no kinds Int8, Int16, Uint8 and Uint16 before 667e69ea4 and failed the whole poll.")
    for kind in CODES:
        value = next(value for _, known, value in ALL if known == kind)
        s.ok(f"kinds/only-{kind}", f"One {kind}", entry(b"k", kind, value), {"headers": map_value((b"k", kind, value))}, doc="iggy.md §2.3",
             rules=(kinds,), why=f"Kind {CODES[kind]} is {kind}.")
    for kind, size in WIDE.items():
        low = b"\x00" * (size - 1) + b"\x80"
        s.ok(f"kinds/{kind}-high-bit", f"{kind} with only its highest bit", entry(b"k", kind, low), {"headers": map_value((b"k", kind, low))},
             doc="iggy.md §2.3", rules=(kinds,), why="The lowest signed number, the middle of the unsigned ones, and read big-endian 128.")
    for label, kind, value in (
        ("nan", "float64", pack("<Q", 0x7FF8000000000001)), ("nan-signalling", "float32", pack("<I", 0x7F800001)),
        ("minus-zero", "float32", pack("<f", -0.0)), ("infinity", "float64", pack("<d", float("inf"))),
    ):  # fmt: skip
        s.ok(f"kinds/{kind}-{label}", f"{kind}, {label}", entry(b"k", kind, value), {"headers": map_value((b"k", kind, value))}, doc="iggy.md §10.1",
             rules=("iggy.headers.float",), why="Values are compared bit by bit: NaN equals the same NaN, 0.0 is not −0.0.")
    for code in (0, 16, 255):
        s.no(f"kinds/kind-{code}", f"Kind {code}", entry(b"k", code, b"v"), "bad-kind", at=5, twin="kinds/only-string", doc="iggy.md §10.3",
             rules=("iggy.headers.kind",), why="Go and C++ keep the value; Rust fails the whole poll.")
    s.no("kinds/node-without-kind", "The kind byte overwritten by the value's length", unhex("050000006b65792d31070000000056616c75652031"), "bad-length", at=10,
         also=("length-past-end", "truncated", "length-mismatch"), twin="kinds/string", doc="iggy.md §13 nodebug_header, §11.1 N11",
         rules=("iggy.headers.value-length",), why="What the first Node client wrote.")
    for label, kind, value, remark in (
        ("int32-3-bytes", "int32", b"\x01\x02\x03", "iggy-header-size"), ("bool-2-bytes", "bool", b"\x01\x00", "iggy-header-size"),
        ("uint64-1-byte", "uint64", b"\x01", "iggy-header-size"), ("bool-is-2", "bool", b"\x02", "iggy-header-bool"),
        ("string-bad-utf8", "string", b"\xff\xfe", "iggy-header-utf8"),
    ):  # fmt: skip
        s.ok(f"kinds/{label}", f"{kind} of {value.hex()}", entry(b"k", kind, value), {"headers": map_value((b"k", kind, value))}, doc="iggy.md §10.3",
             remarks=(remark,), rules=("iggy.headers.size",),
             why="The reader takes it and the accessor fails later; a reader that pads, cuts or replaces changes it.")


def _map(s: Shelf) -> None:
    order, doc = ("iggy.headers.order",), "iggy.md §13 W2"
    blog = {"headers": map_value(*BLOG)}
    s.ok("map/blog", "The three headers of the announcement (W2)", tlv(*BLOG), blog, doc=doc, origin="rulebook", rules=("iggy.headers.layout", *order),
         why="Three kinds and keys with a blank, a hyphen and an underscore.")
    s.ok("map/blog-permuted", "The same in another order", tlv(BLOG[2], BLOG[0], BLOG[1]), blog, doc=doc, origin="rulebook", rules=order,
         why="Rust writes a hash map: every order is the same map.")
    s.ok("map/blog-reversed", "The same, backwards", tlv(*reversed(BLOG)), blog, doc="iggy.md §10.1", rules=order, why="An order that no client sorts by.")
    s.ok("map/empty", "No headers", b"", {"headers": []}, doc="iggy.md §2.4", rules=("iggy.headers.empty",), why="None and an empty map are both 0 bytes.")
    s.ok("map/keys-of-two-cases", "K and k are two keys", tlv((b"K", "string", b"a"), (b"k", "string", b"b")),
         {"headers": map_value((b"K", "string", b"a"), (b"k", "string", b"b"))}, doc="iggy.md §10.3 case_dup, §11.1 R1",
         rules=("iggy.headers.case",), why="HeaderKey::new lowercases, the decoder does not: lowercased, one of the two is lost.")
    s.ok("map/upper-case-key", "An upper-case key", tlv((b"Trace-ID", "string", b"a")), {"headers": map_value((b"Trace-ID", "string", b"a"))},
         doc="iggy.md §11.1 R1", rules=("iggy.headers.case",), why="Lowercased, it cannot be looked up by the name it was sent under.")
    twice = ((b"k", "string", b"a"), (b"k", "string", b"b"))
    s.ok("map/duplicate-key", "One key twice", tlv(*twice), {"headers": map_value(*twice)}, doc="iggy.md §10.1", remarks=("iggy-duplicate-header",),
         rules=("iggy.headers.duplicate",), why="Rust, Java and C# keep the last, Go and Node both.")
    apart = (twice[0], (b"a", "uint8", b"\x07"), twice[1])
    s.ok("map/duplicate-key-apart", "One key twice, another between", tlv(*apart), {"headers": map_value(*apart)}, doc="iggy.md §10.1", remarks=("iggy-duplicate-header",), rules=("iggy.headers.duplicate",), why="Both keep their order in what is shown.")


def _bounds(s: Shelf) -> None:
    keys, values, cut = ("iggy.headers.key-length",), ("iggy.headers.value-length",), ("iggy.headers.truncated",)
    doc, past = "iggy.md §9, §10.3", ("length-past-end",)
    for size in (1, 255):
        s.ok(f"bounds/key-{size}", f"A key of {size} bytes", tlv((b"k" * size, "string", b"v")), {"headers": map_value((b"k" * size, "string", b"v"))}, doc=doc,
             rules=keys, why="The limits are 1 and 255, though the length has 32 bits.")
        s.ok(f"bounds/value-{size}", f"A value of {size} bytes", tlv((b"k", "raw", b"v" * size)), {"headers": map_value((b"k", "raw", b"v" * size))}, doc=doc,
             rules=values, why="The limits are 1 and 255, though the length has 32 bits.")
    s.ok("bounds/key-utf8", "A key of two UTF-8 bytes", tlv(("é".encode(), "string", b"v")), {"headers": map_value(("é".encode(), "string", b"v"))},
         doc="iggy.md §11.1 J2, C2", rules=("iggy.headers.key-utf8",), why="Java and C# counted UTF-16 units and misframed it.")
    for size in (0, 256):
        s.no(f"bounds/key-{size}", f"A key of {size} bytes", tlv((b"k" * size, "string", b"v")), "bad-length", at=0, twin="bounds/key-1", doc=doc, rules=keys,
             why="InvalidHeaderKey; the first build of 0.0.30 took it.")
        s.no(f"bounds/value-{size}", f"A value of {size} bytes", tlv((b"k", "raw", b"v" * size)), "bad-length", at=6, twin="bounds/value-1", doc=doc, rules=values,
             why="InvalidHeaderValue; the first build of 0.0.30 took it.")
    s.no("bounds/key-length-huge", "A key length of 2^32 − 1", entry(b"k", "string", b"v", key_len=0xFFFFFFFF), "bad-length", at=0, also=("negative-length", *past),
         twin="bounds/key-1", doc="iggy.md §10.2 neg_len", rules=keys, limits={"ms": 1000, "rss_mb": 512}, flags=["resource"],
         why="The length must not be trusted for an allocation.")
    s.no("bounds/value-length-huge", "A value length of 2^32 − 1", entry(b"k", "string", b"v", val_len=0xFFFFFFFF), "bad-length", at=6, also=("negative-length", *past),
         twin="bounds/value-1", doc="iggy.md §10.2 neg_len", rules=values, limits={"ms": 1000, "rss_mb": 512}, flags=["resource"],
         why="The length must not be trusted for an allocation.")
    s.no("bounds/key-bad-utf8", "A key that is not UTF-8", tlv((b"\xff\xfe", "string", b"v")), "bad-utf8", at=4, twin="bounds/key-utf8", doc=doc,
         rules=("iggy.headers.key-utf8",), why="Java and Node put U+FFFD in its place, and two keys become one.")
    whole = tlv(KEY1)
    for label, data, why in (
        ("value-missing", unhex("010000006b0201000000"), "Rust 0.6 panics: a poisoned message takes the server's task down."),
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
        s.no(f"bounds/{label}", f"A block cut short: {label.replace('-', ' ')}", data, cls, also=(*also, "truncated"), twin="kinds/string", doc="iggy.md §10.2, §10.3",
             rules=cut, flags=["security"], why=why)


def _headers_written(s: Shelf) -> None:
    layout, doc = ("iggy.headers.layout",), "iggy.md §2.4"
    s.writes("encode/string", "One string (W1)", {"headers": map_value(KEY1)}, tlv(KEY1), doc="iggy.md §13 W1", rules=layout, why="W1.")
    s.writes("encode/empty", "No headers", {"headers": []}, b"", doc=doc, rules=("iggy.headers.empty",), why="No count, no terminator: nothing.")
    pair = BLOG[:2]
    s.writes("encode/two", "Two headers, in either order", {"headers": map_value(*pair)}, tlv(*pair), tlv(*reversed(pair)), doc=doc,
             rules=("iggy.headers.order",), why="A map has no order.")
    for kind in CODES:
        value = next(value for _, known, value in ALL if known == kind)
        s.writes(f"encode/only-{kind}", f"One {kind}", {"headers": map_value((b"k", kind, value))}, entry(b"k", kind, value), doc="iggy.md §2.3",
                 rules=("iggy.headers.kinds",), why=f"Kind {CODES[kind]} is {kind}.")
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
        ("duplicate-key", ((b"k", "string", b"a"), (b"k", "string", b"b")), "A map has one value a key; which one is read depends on the reader."),
        ("unknown-kind", ((b"k", "decimal", b"\x01"),), "There is no such kind."),
    ):  # fmt: skip
        s.refuses(f"encode/{label}", f"A header that no reader takes: {label.replace('-', ' ')}", {"headers": map_value(*headers)}, twin="encode/string", doc="iggy.md §2.3, §9",
                  rules=refused, also=("bad-length", "type-mismatch", "bad-utf8", "bad-kind", "duplicate-field"), why=why)
