"""Iggy bytes for the tests: the worked examples of iggy.md §13, and small parts of our own to bend them."""

from struct import pack
from typing import Any

from iggy_later_examples import LATER

from wireproof import formats
from wireproof.formats import Decoded
from wireproof.wire.rejection import Rejected

KEY1 = bytes.fromhex("050000006b65792d31020700000056616c75652031")
"""W1: the header key-1 = "Value 1"."""


def u32(number: int) -> bytes:
    return pack("<I", number)


def sent(number: int, payload: bytes, headers: bytes = b"") -> bytes:
    return number.to_bytes(16, "little") + u32(len(headers)) + headers + u32(len(payload)) + payload


PLACE = bytes.fromhex("010401000000020673616d706c650100")
"""Stream 1, topic "sample", balanced."""


def entry(key: bytes, kind: int, value: bytes) -> bytes:
    return u32(len(key)) + key + bytes([kind]) + u32(len(value)) + value


def decode(format_id: str, data: bytes) -> Decoded:
    return formats.decode(formats.get(*format_id.split("/")), data)


def encode(format_id: str, value: Any) -> bytes:
    return formats.encode(formats.get(*format_id.split("/")), value)


def refusal(format_id: str, data: bytes) -> Rejected | None:
    try:
        decode(format_id, data)
    except Rejected as rejected:
        return rejected
    return None


def remarks(format_id: str, data: bytes) -> list[str]:
    return [remark.cls for remark in decode(format_id, data).remarks]


WORKED = {
    "W1": ("iggy.headers/0.0.30", "605b435191282d5e", KEY1),
    "W2": (
        "iggy.headers/0.0.30",
        "e5eadca335854cc9",
        bytes.fromhex(
            "050000006b65792031020600000076616c756531050000006b65792d32030100000001"
            "050000006b65795f330c0800000040e2010000000000"
        ),
    ),
    "W3": (
        "iggy.headers/0.0.30",
        "f7fdadcab19c17ab",
        bytes.fromhex(
            "0100000061010200000000ff01000000620202000000c3a9010000006303010000000001000000640401000000ff"
            "01000000650502000000feff01000000660604000000fdffffff01000000670708000000fcffffffffffffff"
            "01000000680810000000fbffffffffffffffffffffffffffffff01000000690901000000ff"
            "010000006a0a020000000201010000006b0b0400000004030201010000006c0c080000000807060504030201"
            "010000006d0d10000000100f0e0d0c0b0a090807060504030201010000006e0e040000000000c03f"
            "010000006f0f08000000cdccccccccdc5e40"
        ),
    ),
    "W6": ("iggy.partitioning/0.0.30", "239e7a63fc4b3afd", bytes.fromhex("020401000000")),
    "W7": ("iggy.partitioning/0.0.30", "c4b0073c871e4631", bytes.fromhex("03076f726465722d37")),
    "W12": (
        "iggy.poll/0.0.30",
        "11b3ff4dc0f0f551",
        bytes.fromhex(
            "0200000000000000000000000060f09e34030600010000000000000000000000000000000000000005000000"
            "68656c6c6f01000000000000000160f09e340306000200000000000000000000000000000015000000"
            "050000006b65792d31020700000056616c7565203105000000776f726c64"
        ),
    ),
    "W13": (
        "iggy.poll/0.0.40",
        "16a6571e7af9ebe1",
        bytes.fromhex(
            "020000000000000000000000010060f09e340306000100000000000000000000000000000086a6103600000000"
            "0500000068656c6c6f0100000000000000010160f09e34030600020000000000000000000000000000004311773a"
            "15000000050000006b65792d31020700000056616c7565203105000000776f726c64"
        ),
    ),
    "W14": (
        "iggy.poll/0.0.60",
        "9a7781316521f776",
        bytes.fromhex(
            "010000000100000000000000"
            "020000000000000000000000010060f09e340306000100000000000000000000000000000086a6103600000000"
            "0500000068656c6c6f0100000000000000010160f09e34030600020000000000000000000000000000004311773a"
            "15000000050000006b65792d31020700000056616c7565203105000000776f726c64"
        ),
    ),
    "W15": (
        "iggy.log/0.0.30",
        "cc98294d1595481c",
        bytes.fromhex(
            "00000000000000000060f09e340306000100000000000000000000000000000086a61036000000000500000068656c6c6f"
            "01000000000000000160f09e34030600020000000000000000000000000000004311773a"
            "15000000050000006b65792d31020700000056616c7565203105000000776f726c64"
        ),
    ),
    **LATER,
}
"""Name to format, the start of its SHA-256 as the document prints it, and the bytes."""

FRAME = bytes.fromhex(
    "6900000065000000010401000000020673616d706c65010000000000000000000000000000000000000000000b000000"
    "68656c6c6f2d776f726c640200000000000000000000000000000015000000050000006b65792d31020700000056616c"
    "7565203105000000776f726c64"
)
"""W5, with the length and code of its frame."""
