"""Checksum algorithms of Iggy's layouts, and the numbers that its readers remark or refuse."""

from collections.abc import Sequence
from typing import Any, Final

from wireproof.iggy.batch_checksum import batch_checksum
from wireproof.wire.checksums import crc32, xxh3_64
from wireproof.wire.layout import ChecksumAlgorithm, Layout, Number, Zero
from wireproof.wire.layout_codec import FixedRun, runs
from wireproof.wire.reader import Reader

CRC32: Final = ChecksumAlgorithm("crc32", crc32)
"""CRC-32 (ISO-HDLC), zero-extended if the field has 64 bits: iggy.md, sections 3.3 and 5."""

XXH3: Final = ChecksumAlgorithm("xxh3-64", xxh3_64)
"""XXH3-64 with seed 0, since 0.8.0: iggy.md, sections 5 and 6."""

BATCH_CHECKSUM: Final = ChecksumAlgorithm("iggy-batch", batch_checksum)
"""The checksum of a batch, over its header and the checksums of its messages: iggy.md, section 6."""


def check_field(reader: Reader, part: Any, number: Any, at: int) -> Any:  # noqa: ANN401 - a part; int, bytes or a name
    """Return the number of a field, or the name of its code; remark or refuse a number that is not valid."""
    match part:
        case Zero(name=name, nonzero=nonzero):
            if any(number) if isinstance(number, bytes) else number:
                if nonzero == "reject":
                    text = "not 0" if isinstance(number, bytes) else str(number)
                    raise reader.reject("reserved-nonzero", name, text, at=at, detail=part.error)
                reader.remark("iggy-unset-field", name, at=at)
        case Number(codes=codes) if codes is not None:
            if number not in codes:
                raise reader.reject("bad-kind", part.name, f"code {number}", at=at, detail="InvalidCommand")
            return codes[number]
        case Number(known=known) if known is not None and number not in known:
            raise reader.reject("bad-kind", part.name, f"code {number}", at=at)
        case Number(most=most) if most is not None and number > most:
            raise reader.reject("invalid-value", part.name, f"{number}, at most {most}", at=at)
    return number


def iggy_runs(layout: Layout, *ends: str) -> Sequence[FixedRun]:
    """Return the runs at the beginning of a layout, cut after each part in `ends`."""
    return runs(layout, *ends, check=check_field, alone=False)
