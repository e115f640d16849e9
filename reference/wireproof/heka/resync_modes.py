"""The three modes to find frames in a stream: strict, as Go, and as C. heka.md, sections 2.1, 2.2, 2.4.

They differ in the headers that they accept, in the treatment of a whole frame with an invalid message, and
in the treatment of a false separator near the end of the stream. Signatures and messages are decoded by the
same strict codec in all modes: only the search for frames follows the named reader.
"""

from collections.abc import Callable, Mapping
from typing import Final, Literal

from attrs import frozen

from wireproof.heka import frame, header
from wireproof.heka.header import HekaHeader
from wireproof.wire.options import Options
from wireproof.wire.protobuf import LENGTH_DELIMITED, VARINT
from wireproof.wire.reader import Reader
from wireproof.wire.reject_classes import RejectClass
from wireproof.wire.rejection import Rejected, Remark


@frozen
class AcceptedHeader:
    """A header that a mode accepts: its value and its remarks."""

    header: HekaHeader
    remarks: tuple[Remark, ...] = ()


@frozen
class ModeRules:
    """The rules of a mode.

    Attributes:
        head: reads the bytes of a frame up to its unit separator; returns the header or a reject class.
        on_rejection: the treatment of a whole frame whose message is rejected. `aligned`: one garbage item if
            another frame or the end follows, else search inside (S17, S31). `deliver`: a frame without value.
            `within`: always search inside.
        rescans: True if a frame that the end of the stream cuts is searched for others: S15, S16, S33.
    """

    head: Callable[[bytes, Options], AcceptedHeader | RejectClass]
    on_rejection: Literal["aligned", "deliver", "within"]
    rescans: bool = False


def _strict(data: bytes, options: Options) -> AcceptedHeader | RejectClass:
    reader = Reader(data)
    try:
        found = frame.read_header(reader, options)
    except Rejected as rejected:
        return rejected.cls
    assert found is not None, "the caller passes the whole header"
    return AcceptedHeader(found, tuple(reader.remarks))


def _length_only(length: int) -> HekaHeader:
    return HekaHeader(
        message_length=length, hmac_hash_function=None, hmac_signer=None, hmac_key_version=None, hmac=None
    )


def _c(data: bytes, options: Options) -> AcceptedHeader | RejectClass:
    """Read a header as C: `08`, a varint from 1 to the limit, any bytes: section 2.2, steps 4 and 5."""
    if data[-1] != frame.UNIT_SEPARATOR:
        return "bad-separator"
    reader = Reader(data, pos=2, end=len(data) - 1)
    try:
        if reader.uint8("key") != key_byte(1, VARINT):
            return "missing-field"
        length, _ = reader.base128("message_length", 10)
    except Rejected as rejected:
        return rejected.cls
    return (
        AcceptedHeader(_length_only(length))
        if 1 <= length <= header.max_message_size(options)
        else "limit-exceeded"
    )


def key_byte(number: int, wire: int) -> int:
    """Return the key of a field as one byte."""
    return number << 3 | wire


def _go(data: bytes, options: Options) -> AcceptedHeader | RejectClass:
    """Read a header as Go: section 2.1, steps 3 to 6.

    A header with an error after its length counts, and the last length wins. A length over the limit is
    rejected even then: Heka would wait for that many bytes, and discard its buffer once it is full.
    """
    if data[-1] != frame.UNIT_SEPARATOR:
        return "bad-separator"
    reader = Reader(data, pos=2, end=len(data) - 1)
    got: dict[int, bytes | int] = {}
    failed: RejectClass | None = None
    try:
        while reader.left:
            _field(reader, got)
    except Rejected as rejected:
        failed = rejected.cls
    if failed is not None and LENGTH_FIELD not in got:
        return failed
    found = _signed(got)
    return (
        AcceptedHeader(found)
        if found.message_length <= header.max_message_size(options)
        else "limit-exceeded"
    )


def _any_varint(reader: Reader) -> int:
    """Read a varint of any length, as gogo: section 4, rule summary; S36."""
    raw, _ = reader.base128("varint", max(reader.left, 1))
    return raw & 0xFFFF_FFFF_FFFF_FFFF


LENGTH_FIELD: Final = 1
_WIRES: Final = {LENGTH_FIELD: VARINT, 3: VARINT, 4: LENGTH_DELIMITED, 5: VARINT, 6: LENGTH_DELIMITED}
"""The fields of a header since 2013 and their wire types; message_encoding counts as unknown: S20."""


def _field(reader: Reader, got: dict[int, bytes | int]) -> None:
    """Read a field of the header into `got`, or skip an unknown field. The field number is an int32."""
    key = _any_varint(reader)
    number, wire = key >> 3 & 0xFFFF_FFFF, key & 7
    if number not in _WIRES:
        reader.pos -= _size(key)  # the middle of a key that is longer than needed, as in gogo: M41
        _skip(reader)
    elif wire != _WIRES[number]:
        raise reader.reject("type-mismatch", f"#{number}", f"wire type {wire}")
    elif wire == VARINT:
        got[number] = _any_varint(reader)
    else:
        got[number] = reader.take("bytes", _any_varint(reader))


def _size(key: int) -> int:
    """Return the size of a varint in its shortest form, in bytes."""
    return max(1, -(-key.bit_length() // 7))


def _skip(reader: Reader) -> None:
    """Skip a field as gogo: section 4, group. Any end key ends a group, and a single one is a field."""
    depth = 0
    while True:
        match _any_varint(reader) & 7:
            case 0:
                _any_varint(reader)
            case 1 | 5 as wire:
                reader.skip("fixed", 8 if wire == 1 else 4)
            case 2:
                reader.skip("bytes", _any_varint(reader))
            case 3:
                depth += 1
            case 4:
                depth -= 1
            case wire:
                raise reader.reject("bad-kind", "key", f"wire type {wire}")
        if depth <= 0:
            return


def _signed(got: Mapping[int, bytes | int]) -> HekaHeader:
    length, function, signer, version, digest = (got.get(number) for number in _WIRES)
    named = function & 0xFFFF_FFFF if isinstance(function, int) else None
    return HekaHeader(
        message_length=length & 0xFFFF_FFFF if isinstance(length, int) else 0,
        hmac_hash_function=header.HASH_FUNCTIONS[named] if named in (0, 1) else None,
        hmac_signer=signer if isinstance(signer, bytes) else None,
        hmac_key_version=version & 0xFFFF_FFFF if isinstance(version, int) else None,
        hmac=digest if isinstance(digest, bytes) else None,
    )


RESYNC_MODES: Final[dict[str, ModeRules]] = {
    "strict": ModeRules(_strict, "aligned", rescans=True),
    "go": ModeRules(_go, "deliver"),
    "c": ModeRules(_c, "within"),
}
"""The modes by `Options.resync`."""
