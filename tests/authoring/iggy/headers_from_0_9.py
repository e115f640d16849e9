"""TLV v2 from named parts, and `iggy.headers` of 0.9 and 0.10: iggy.md §2.4, §10.1, §10.2."""

# fmt: off

from itertools import permutations
from struct import pack
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import ALL, BLOG, CODES, kind_value, u8, u32, unhex

Keyed = tuple[str, bytes, str, bytes]
"""Kind and bytes of the key, kind and bytes of the value."""


def keyed(key_kind: int | str, key: bytes, kind: int | str, value: bytes, *, key_len: int | None = None, val_len: int | None = None) -> bytes:
    codes = [CODES[one] if isinstance(one, str) else one for one in (key_kind, kind)]
    sizes = (len(key) if key_len is None else key_len, len(value) if val_len is None else val_len)
    return u8(codes[0]) + u32(sizes[0]) + key + u8(codes[1]) + u32(sizes[1]) + value


def block(*headers: Keyed) -> bytes:
    return b"".join(keyed(*header) for header in headers)


def keyed_value(*headers: Keyed) -> list[Any]:
    """Sorted by the code of the key's kind and its bytes."""
    rows = sorted(headers, key=lambda header: (CODES[header[0]], header[1]))
    return [[kind_value(a, b), kind_value(c, d)] for a, b, c, d in rows]


def shown(*headers: Keyed) -> dict[str, Any]:
    return {"headers": keyed_value(*headers)}


W20 = unhex("02050000006b65792d31020700000056616c75652031")
W21 = unhex("06040000007b000000030100000001")
W22 = unhex(
    "020100000061010200000000ff0201000000620202000000c3a90201000000630301000000000201000000640401000000ff02010000"
    "00650502000000feff0201000000660604000000fdffffff0201000000670708000000fcffffffffffffff0201000000680810000000"
    "fbffffffffffffffffffffffffffffff0201000000690901000000ff02010000006a0a02000000020102010000006b0b040000000403"
    "020102010000006c0c08000000080706050403020102010000006d0d10000000100f0e0d0c0b0a090807060504030201020100000"
    "06e0e040000000000c03f02010000006f0f08000000cdccccccccdc5e40"
)
OPAQUE = b"user-header-bytes"
"""`opaque` of §10.2: what an encrypted block looks like to who has no key."""

KEY1: Keyed = ("string", b"key-1", "string", b"Value 1")
K: Keyed = ("string", b"k", "string", b"v")
EVERY = tuple(("string", *header) for header in ALL)
DOC = "iggy.md §10.2"
ONE = "kinds/string"

MIXED: tuple[Keyed, ...] = (
    ("int32", pack("<i", 123), "bool", b"\x01"), ("string", b"z", "string", b"1"), ("raw", b"z", "string", b"2"),
    ("string", b"Key", "string", b"3"), ("string", b"key", "string", b"4"),
)
SORTED = (MIXED[2], MIXED[3], MIXED[4], MIXED[1], MIXED[0])
"""§2.4 [RUN-R11]: raw z, string Key, key, z, int32 123."""


def write(writer: FixtureWriter) -> None:
    for revision in ("0.9", "0.10"):
        s = CaseBuilder(writer, "iggy.headers", revision)
        _kinds(s)
        _map(s)
        _faults(s)
        _bounds(s)
        _written(s)
    _strict(CaseBuilder(writer, "iggy.headers", "0.9"), CaseBuilder(writer, "iggy.headers", "0.10"))


def _kinds(s: CaseBuilder) -> None:
    layout, keys, kinds = "iggy.headers.keyed.layout", "iggy.headers.keyed.keys", "iggy.headers.kinds"
    whole = ("iggy.headers.key-length", "iggy.headers.value-length", "iggy.headers.truncated")
    s.accepts(ONE, "One string (W20)", W20, shown(KEY1), doc="iggy.md §13 W20 [RUN-R11]", origin="document", rules=(layout, kinds, *whole), why="Captured verbatim from iggy 0.11.0; read as TLV v1 the first length is 1282.")
    s.accepts("kinds/int-key", "A key that is a number (W21)", W21, shown(MIXED[0]), doc="iggy.md §13 W21", origin="document", rules=(layout, keys, "iggy.headers.keyed.any-kind"), why="The website says that keys are strings; the code takes every kind.")
    s.accepts("kinds/all", "All fifteen kinds of values (W22)", W22, shown(*EVERY), doc="iggy.md §13 W22 [RUN]", origin="document", rules=(layout, kinds), why="Rust 0.11.0, Java and Node read the same values.")
    all_keys = tuple((kind, value, "raw", key) for key, kind, value in ALL)
    s.accepts("kinds/all-keys", "All fifteen kinds of keys", block(*all_keys), shown(*all_keys), doc="iggy.md §2.3, §2.4", rules=(layout, keys, "iggy.headers.keyed.any-kind"), why="Node encodes keys of three kinds only, and must read them all.")
    s.accepts("kinds/float32-nan", "A NaN of 32 bits", unhex("02010000006b0e040000000000c07f"), shown(("string", b"k", "float32", pack("<I", 0x7FC00000))), doc=DOC + " f32_nan", origin="document", rules=("iggy.headers.float",), why="The accessor of Python refuses it, the block does not.")
    payload = pack("<Q", 0x7FF8000000000001)
    s.accepts("kinds/float64-nan-bits", "A NaN with a payload", block(("string", b"k", "float64", payload)), shown(("string", b"k", "float64", payload)), doc="iggy.md §10.1", rules=("iggy.headers.float",), why="NaN equals the same bit pattern and no other.")


def _map(s: CaseBuilder) -> None:
    order, keys = ("iggy.headers.order",), ("iggy.headers.keyed.keys",)
    three = tuple(("string", *header) for header in BLOG)
    for label, rows in (("blog", three), ("blog-reversed", three[::-1])):
        s.accepts(f"map/{label}", f"Three headers{', backwards' * (rows != three)}", block(*rows), shown(*three), doc="iggy.md §2.4", rules=order, why="Rust 0.9 writes them in the order of its hash table.")
    s.accepts("map/mixed", "Keys of three kinds, in the order of their insertion", block(*MIXED), shown(*MIXED), doc="iggy.md §2.4 [RUN-R11]", rules=(*order, *keys), why="Node, Go and C# write headers as they were put in.")
    s.accepts("map/empty", "No headers", b"", shown(), doc=DOC + " empty", origin="document", rules=("iggy.headers.empty",), why="None and an empty map are one.")
    two: tuple[Keyed, ...] = (("string", b"k", "string", b"a"), ("raw", b"k", "string", b"b"))
    s.accepts("map/one-key-of-two-kinds", "k as a string and k as raw bytes", unhex("02010000006b02010000006101010000006b020100000062"), shown(*two), doc=DOC + " dup_key_diff_kind", origin="document", rules=keys, why="Two keys: a map by bytes alone loses one.")
    case: tuple[Keyed, ...] = (("string", b"K", "string", b"a"), ("string", b"k", "string", b"b"))
    s.accepts("map/keys-of-two-cases", "K and k are two keys", block(*case), shown(*case), doc="iggy.md §11.1 R1", rules=("iggy.headers.case",), why="No reader lowercases from 0.9.0 on.")
    twice: tuple[Keyed, ...] = (("string", b"k", "string", b"a"), ("string", b"k", "string", b"b"))
    s.accepts("map/duplicate-key", "One key twice", unhex("02010000006b02010000006102010000006b020100000062"), shown(*twice), doc=DOC + " dup_key", origin="document", remarks=("iggy-duplicate-header",), rules=("iggy.headers.duplicate",), why="Rust, Java and C# keep the last, Go and Node both.")
    s.accepts("map/duplicate-key-apart", "One key twice, another between", block(twice[0], MIXED[0], twice[1]), shown(*twice, MIXED[0]), doc="iggy.md §10.1", remarks=("iggy-duplicate-header",), rules=("iggy.headers.duplicate",), why="Not only neighbours are one key.")


def _faults(s: CaseBuilder) -> None:
    """What the accessor alone refuses: kinds and lengths hold."""
    utf8, fault = ("iggy.headers.keyed.utf8",), ("iggy.headers.size",)
    s.accepts("kinds/bool-is-2", "A bool of 2", unhex("02010000006b030100000002"), shown(("string", b"k", "bool", b"\x02")), doc=DOC + " bool_is_2", origin="document", remarks=("iggy-header-bool",), rules=fault, why="Java and Node read false, C# true, Rust refuses the accessor.")
    s.accepts("kinds/key-bool-is-2", "A key that is a bool of 2", block(("bool", b"\x02", "raw", b"v")), shown(("bool", b"\x02", "raw", b"v")), doc="iggy.md §2.3", remarks=("iggy-header-bool",), rules=fault, why="Two keys of one truth are two keys.")
    s.accepts("kinds/string-bad-utf8", "A string that is not UTF-8", unhex("02010000006b0202000000fffe"), shown(("string", b"k", "string", b"\xff\xfe")), doc=DOC + " utf8_bad_val", origin="document", remarks=("iggy-header-utf8",), rules=utf8, why="Java and Node put U+FFFD there, and the bytes are lost.")
    s.accepts("kinds/key-bad-utf8", "A key that is a string and not UTF-8", unhex("0202000000fffe020100000076"), shown(("string", b"\xff\xfe", "string", b"v")), doc=DOC + " utf8_bad_key", origin="document", remarks=("iggy-header-utf8",), rules=utf8, why="Replaced by U+FFFD, two keys become one.")
    s.accepts("kinds/key-raw", "A key of bytes that are no text", block(("raw", b"\xff\xfe", "string", b"v")), shown(("raw", b"\xff\xfe", "string", b"v")), doc="iggy.md §2.3", rules=(*utf8, "iggy.headers.keyed.keys"), why="Only a string need be UTF-8.")


def _bounds(s: CaseBuilder) -> None:
    _unknown_kinds(s)
    key, value, cut = ("iggy.headers.key-length",), ("iggy.headers.value-length",), ("iggy.headers.truncated",)
    for label, rows in (("key-255", ("string", b"k" * 255, "string", b"v")), ("value-255", ("string", b"k", "string", b"v" * 255)), ("key-1", K)):
        s.accepts(f"bounds/{label}", f"Of 255 bytes: {label}" if label != "key-1" else "One byte each", block(rows), shown(rows), doc="iggy.md §9", rules=(*key, *value), why="The longest and the shortest that there are.")
    for label, data, at, rule in (
        ("key-empty", keyed("string", b"", "string", b"v"), 1, key),
        ("key-256", keyed("string", b"k" * 256, "string", b"v"), 1, key),
        ("value-empty", keyed("string", b"k", "string", b""), 7, value),
        ("value-256", keyed("string", b"k", "string", b"v" * 256), 7, value),
    ):
        s.rejects(f"bounds/{label}", f"A length of 0 or 256: {label}", data, "bad-length", at=at, twin="bounds/key-1", doc=DOC, rules=rule, why="Java takes it, Node throws.")
    for label, data in (("raw-value-empty", "02010000006b0100000000"), ("raw-value-256", "02010000006b0100010000" + "76" * 256)):
        s.rejects(f"bounds/{label}", f"A raw value of 0 or 256 bytes: {label}", unhex(data), "bad-length", at=7, twin="bounds/key-1", doc=DOC, origin="document", rules=value, why="Java takes it, Node throws.")
    blank: Keyed = ("string", b" ", "string", b" ")
    s.accepts("bounds/blank", "A key and a value of one blank", block(blank), shown(blank), doc="iggy.md §11.1 J4", rules=(*key, *value), why="One byte is one byte: Java refuses to write it, and others do.")
    s.rejects("bounds/negative-length", "A key of 2^32 − 1 bytes", unhex("02ffffffff6b020100000076"), "bad-length", at=1, also=("length-past-end", "truncated", "negative-length"), twin="bounds/key-1", doc=DOC + " neg_len", origin="document", rules=key, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="Signed, it is −1, which passes C#'s check.")
    for label, data, at in (
        ("value-past-end", "02010000006b020a000000616263", 11), ("length-cut", "02010000006b020100", 7), ("odd", "02020000006162", 7),
        ("one-byte-more", "02010000006b020100000076ff", 12), ("one-zero-more", "02010000006b02010000007600", 12), ("opaque", "757365722d6865616465722d6279746573", 0),
    ):
        s.rejects(f"bounds/{label}", f"A block that is no whole list of entries: {label}", unhex(data), "bad-kind" if label in ("one-byte-more", "one-zero-more", "opaque") else "truncated", at=at, also=("truncated", "length-past-end", "trailing-data", "bad-kind", "bad-length"), twin="bounds/key-1", doc=DOC, origin="document", rules=cut, why="Node shortens a value to what is there, Java gives no headers.")


def _unknown_kinds(s: CaseBuilder) -> None:
    """§10.2: kind 0 is none; the readers differ on those that do not exist yet."""
    level = "should" if s.prefix == "iggy.headers/0.9/" else "must"
    for part, at, made in (("", 6, lambda code: keyed("string", b"k", code, b"v")), ("key-", 0, lambda code: keyed(code, b"k", "string", b"v"))):
        of = "a key" if part else "a value"
        s.rejects(f"kinds/{part}kind-0", f"Kind 0 of {of}", made(0), "bad-kind", at=at, twin=ONE, doc=DOC, level=level, rules=("iggy.headers.keyed.kind-zero",), why="Rust refuses it, Go keeps the kind, Java gives no headers.")
        for code in (16, 255):
            behaviours = {"refused": {"reject": {"class": "bad-kind", "at": at}}, "kept": {"accept": {}}}
            s.either(f"kinds/{part}kind-{code}", f"Kind {code} of {of}", made(code), behaviours, doc=DOC, rules=("iggy.headers.keyed.kind",), why="The wire validator of Rust and Go keep it, what makes a map of it in Rust does not.")


def _strict(loose: CaseBuilder, strict: CaseBuilder) -> None:
    """§10.2: from 0.10.0 on the size must be that of the kind; §11.1 R11."""
    sound, rules = ("string", b"k", "int32", b"\x01\x02\x03\x04"), ("iggy.headers.keyed.size",)
    strict.accepts("kinds/int32", "An int32 of four bytes", block(sound), shown(sound), doc="iggy.md §2.3", rules=("iggy.headers.kinds",), why="One edit away from those of another size.")
    rows: tuple[tuple[str, Keyed, int], ...] = (
        ("int32-3-bytes", ("string", b"k", "int32", b"\x01\x02\x03"), 7), ("bool-2-bytes", ("string", b"k", "bool", b"\x01\x00"), 7), ("float64-4-bytes", ("string", b"k", "float64", bytes(4)), 7),
        ("key-int32-3-bytes", ("int32", b"\x01\x02\x03", "raw", b"v"), 1), ("key-uint128-8-bytes", ("uint128", bytes(8), "raw", b"v"), 1),
    )
    for label, row, at in rows:
        key = label.startswith("key")
        loose.accepts(f"kinds/{label}", f"Of another size than its kind: {label}", block(row), shown(row), doc="iggy.md §10.3, §11.1 R11", remarks=("iggy-header-size",), rules=("iggy.headers.size",), why="0.9.0 reads it and its accessor fails; padded, it is another number.")
        refused = {"class": "bad-length", "also": ["length-mismatch", "type-mismatch", "invalid-value"], "at": at}
        behaviours = {"refused": {"reject": refused}, "kept": {"accept": {"value": shown(row)}}}
        strict.either(f"kinds/{label}", f"Of another size than its kind: {label}", block(row), behaviours, doc=DOC, rules=("iggy.headers.keyed.key-size",) if key else rules, why="Rust and Go refuse it; Java takes it and fails later, or reads true.")


def _written(s: CaseBuilder) -> None:
    doc, layout, refused = "iggy.md §2.4", ("iggy.headers.keyed.layout",), ("iggy.headers.encode",)
    s.writes("encode/string", "One string (W20)", shown(KEY1), W20, doc="iggy.md §13 W20", rules=layout, why="The worked example.")
    s.writes("encode/int-key", "A key that is a number (W21)", shown(MIXED[0]), W21, doc="iggy.md §13 W21", rules=layout, why="The worked example.")
    s.writes("encode/empty", "No headers", shown(), b"", doc=doc, rules=("iggy.headers.empty",), why="No count, no terminator.")
    s.writes("encode/blank", "A key and a value of one blank", shown(("string", b" ", "string", b" ")), block(("string", b" ", "string", b" ")), doc="iggy.md §11.1 J4", rules=layout, why="Java refuses it, others write it.")
    two = MIXED[:2]
    s.writes("encode/two", "Two headers, in either order", shown(*two), *(block(*order) for order in permutations(two)), doc=doc, rules=layout, why="The order is the writer's.")
    if s.prefix == "iggy.headers/0.10/":
        value = {"headers": [[kind_value(a, b), kind_value(c, d)] for a, b, c, d in MIXED]}
        expect = {"accept": {"value": shown(*MIXED), "bytes": [block(*SORTED).hex()]}}
        s.writer.add({"id": s.prefix + "encode/sorted", "title": "Five headers, sorted by kind and bytes of the key", "why": "Rust, and with it Python and C++, write what does not depend on a hash; Node, Go and C# write the order of insertion.", "op": "encode",
                    "level": "may", "rules": ["iggy.headers.keyed.sorted"], "input": {"value": value}, "expect": expect, "source": {"origin": "builder", "document": "iggy.md §2.4 [RUN-R11]"}})
    for label, row in (("value-empty", ("string", b"k", "string", b"")), ("key-empty", ("string", b"", "string", b"v")), ("key-256-bytes", ("string", b"k" * 256, "string", b"v")), ("int32-3-bytes", ("string", b"k", "int32", b"123")),
                       ("key-int32-3-bytes", ("int32", b"123", "raw", b"v")), ("bool-is-2", ("string", b"k", "bool", b"\x02")), ("key-bad-utf8", ("string", b"\xff", "raw", b"v"))):
        s.refuses(f"encode/{label}", f"A header that no reader takes: {label}", shown(row), twin="encode/string", doc="iggy.md §2.3, §9", rules=refused, also=("bad-length", "type-mismatch", "bad-utf8", "bad-kind"), why="Node's encoder validates nothing.")
    again = [[kind_value("string", b"k"), kind_value("raw", b"v")]] * 2
    s.refuses("encode/duplicate-key", "One key twice", {"headers": again}, twin="encode/string", doc="iggy.md §10.1", rules=refused, also=("duplicate-field",), why="A map has each key once.")
