"""The family `bitcask`: the data files of Bitcask, a store of keys and values, and the entries in them."""

import re
from pathlib import Path
from typing import Final

from wireproof.family import Family, format_of_stream, formats_of_struct
from wireproof.schema.layout import Checksum, ChecksumAlgorithm, Length, Number, Octets
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.stream import RecordStream
from wireproof.schema.struct import Struct, many
from wireproof.wire.checksums import crc32
from wireproof.wire.remark_classes import RemarkClass

REVISIONS: Final = ("1",)
TOMBSTONE: Final = RemarkClass("bitcask.hrl, TOMBSTONE_PREFIX", "a deleted key", rejectable=True)

ENTRY: Final = Struct(
    "Entry",
    Checksum("crc", "uint32", algorithm=ChecksumAlgorithm("crc32", crc32), meaning="of all bytes after it"),
    Number("tstamp", "uint32", meaning="seconds"),
    Length("ksz", "uint16", of="key"),
    Length("value_sz", "uint32", of="value"),
    Octets("key"),
    Octets("value"),
    revisions=REVISIONS,
    cites="bitcask.hrl, HEADER_SIZE",
)

DATA: Final = Struct(
    "DataFile", many("entries", ENTRY), revisions=REVISIONS, cites="bitcask-intro.pdf, page 2"
)


@ENTRY.rule("crc", "bitcask.crc")
def _other_checksum(crc: int, computed: int) -> Fault | None:
    """Refuse a wrong checksum: `read` returns bad_crc, and `fold_int_loop` skips the entry."""
    return None if crc == computed else Fault("crc-mismatch", f"{crc:08x}, computed {computed:08x}")


@ENTRY.rule("value", "bitcask.tombstone")
def _deleted(value: bytes) -> Fault | None:
    """Remark a deleted key: `fold` has the entry, and `get` answers not_found."""
    return remarked("bitcask-tombstone") if value.startswith(b"bitcask_tombstone") else None


FAMILY: Final = Family(
    "bitcask",
    (
        *formats_of_struct(
            "bitcask.entry", ENTRY, REVISIONS, delimited=True, wrapped_by=("bitcask.data", "1", "entries")
        ),
        format_of_stream("bitcask.data", "1", RecordStream(DATA.at("1"))),
    ),
    remarks={"bitcask-tombstone": TOMBSTONE},
    file_names=((re.compile(r"\d+\.bitcask\.data"), "bitcask.data"),),
    fixtures=Path(__file__).with_name("bitcask_fixtures"),
)
