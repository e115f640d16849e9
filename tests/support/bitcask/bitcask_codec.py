"""A codec of somebody else: it reads the entries and the data files of Bitcask with the standard library."""

import struct
import zlib
from typing import Any

from wireproof.cases.outcome import Accepted

HEAD = struct.Struct(">IIHI")


class BitcaskCodec:
    """An adapter in Python: an object with a name, a version and the operations."""

    name, version = "bitcask-codec", "1.0"
    documented = (ValueError,)
    looks = True

    def decode(self, request: Any) -> Any:
        """Return the value of a request's bytes; ValueError is a refusal."""
        entries, at, data = [], 0, request.data
        while len(data) - at >= HEAD.size:
            crc, tstamp, ksz, value_sz = HEAD.unpack_from(data, at)
            key, end = at + HEAD.size, at + HEAD.size + ksz + value_sz
            if self.looks and end > len(data):
                break
            if self.looks and zlib.crc32(data[at + 4 : end]) != crc:
                raise ValueError("bad_crc")
            value = data[key + ksz : end]
            entries.append({"tstamp": str(tstamp), "key": data[key : key + ksz].hex(), "value": value.hex()})
            at = min(end, len(data))
            if request.format == "bitcask.entry":
                return Accepted(entries[0], consumed=at)
        if request.format == "bitcask.entry":
            raise ValueError("eof")
        return Accepted({"entries": entries}, consumed=at)


class CarelessBitcaskCodec(BitcaskCodec):
    """The same with two bugs: it looks neither at the end of the bytes nor at checksums."""

    name = "careless-bitcask-codec"
    looks = False
