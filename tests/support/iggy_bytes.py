"""Iggy bytes for the tests: the worked examples of iggy.md §13, and small parts of our own to bend them."""

import re
from struct import pack
from typing import Any, Final

from folders import TOP

from tests.fixture_tables.vectors import vectors_of
from wireproof import formats
from wireproof.formats import Decoded
from wireproof.wire.rejection import Rejected


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


FORMATS: Final = {
    "W1": "iggy.headers/0.0.30",
    "W2": "iggy.headers/0.0.30",
    "W3": "iggy.headers/0.0.30",
    "W6": "iggy.partitioning/0.0.30",
    "W7": "iggy.partitioning/0.0.30",
    "W8": "iggy.poll-request/0.0.30",
    "W9": "iggy.poll-request/0.0.92",
    "W10": "iggy.poll-request/0.8",
    "W11": "iggy.poll-request/0.8",
    "W12": "iggy.poll/0.0.30",
    "W13": "iggy.poll/0.0.40",
    "W14": "iggy.poll/0.0.60",
    "W15": "iggy.log/0.0.30",
    "W16": "iggy.log/0.2.7",
    "W17": "iggy.send/0.7",
    "W18": "iggy.poll/0.7",
    "W19": "iggy.poll/0.8",
    "W20": "iggy.headers/0.9",
    "W21": "iggy.headers/0.10",
    "W22": "iggy.headers/0.9",
    "W23": "iggy.send/0.9",
    "W24": "iggy.poll/0.9",
    "W25": "iggy.send/0.11",
    "W26": "iggy.poll/0.11",
    "W27": "iggy.poll/0.11",
    "W28": "iggy.reply/0.11",
}
"""The format of each worked example that is a whole value."""

SEALS: Final = dict(
    re.findall(
        r"^### (W\d+) (?:(?!^###).)*?SHA-256 `([0-9a-f]+)…`",
        (TOP / "reference/docs/iggy.md").read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
)
"""The start of the SHA-256 of each, as the document prints it."""

PRINTED: Final = {name: vector.printed[0] for name, vector in vectors_of("iggy").items() if vector.printed}

WORKED: Final = {name: (form, SEALS[name], PRINTED[name]) for name, form in FORMATS.items()}
"""Name to format, the start of its SHA-256, and the bytes."""

FRAME: Final = PRINTED["W5"]
"""W5, with the length and code of its frame."""
