"""File types that are no format of the suite, recognised by their first bytes, for messages."""

from typing import Final

FILE_BEGINNINGS: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\x02\x21\x4c\x18", "lz4 of the legacy framing"),
    (b"BZh9", "bzip2"),
    (b"BZh1", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\xff\x06\x00\x00sNaPpY", "framed snappy"),
    (b"\x82SNAPPY\x00", "snappy of snappy-java"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xca\xfe\xba\xbe", "a Java class"),
    (b"\x7fELF", "an ELF program"),
    (b"PAR1", "Parquet"),
    (b"Obj\x01", "an Avro file"),
    (b"ORC", "ORC"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%PDF-", "PDF"),
    (b"\x89PNG\r\n", "PNG"),
)

COMPRESSED_KINDS: Final = frozenset({"gzip", "zstd", "lz4", "bzip2", "xz", "framed snappy"})
"""The compressed types, to be decompressed first."""

TEXT_BYTES: Final = 4096
"""Bytes that are checked for text."""

WHITE_SPACE: Final = frozenset("\t\n\v\f\r\x85\u2028\u2029\u3000\u00a0")
"""Signs of a text that are not printable. For Python, the separators of Heka (1E, 1F) are white space too."""

FEW_BYTES: Final = 64
"""Bytes of an input that says nothing if one byte is all that it has."""


def looks_like(data: bytes) -> str:
    """Return the file type of the bytes; empty if it is unknown."""
    if not data.strip(b"\0"):
        return "zeros" if data else "an empty file"
    begun = next((word for start, word in FILE_BEGINNINGS if data.startswith(start)), "")
    if begun or _text(data):
        return begun or ("JSON" if data.lstrip()[:1] in (b"{", b"[") else "text")
    repeated = len(data) > FEW_BYTES and not data.strip(data[:1])
    return f"the byte {data[0]:02x}, repeated" if repeated else ""


def _text(data: bytes) -> bool:
    """Return whether the bytes are UTF-8 without control characters other than white space."""
    try:
        text = data[:TEXT_BYTES].decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(data[:TEXT_BYTES]) - 3 or len(data) <= TEXT_BYTES:
            return False
        text = data[: error.start].decode("utf-8")
    return all(sign.isprintable() or sign in WHITE_SPACE for sign in text)
