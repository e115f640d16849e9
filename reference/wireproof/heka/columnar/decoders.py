"""Scan through the kernels, with values; the adapter `columnar` is built on this function."""

from contextlib import suppress
from typing import Final

from wireproof.family import FastDecoder
from wireproof.heka import frame
from wireproof.heka.columnar.frame_scan import heka_scan_steps
from wireproof.heka.frame import HekaFrame
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item


def scan_items(data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[list[Item], int]:
    """Scan a `heka.stream`: return its items with values, and how many of them come from the reference.

    The kernels find the frames and do not decode them: the reference decodes the bytes of each clean frame.
    If it refuses a frame that the kernels called clean, the item has no value, and the judge reports a
    difference.
    """
    items_found: list[Item] = []
    by_reference = 0
    for step in heka_scan_steps(data, options):
        rows = zip(step.position.tolist(), step.length.tolist(), strict=True)
        items_found += [
            Item("frame", at, length, _frame(data[at : at + length], options)) for at, length in rows
        ]
        items_found += step.items
        by_reference += sum(item.kind != "tail" for item in step.items)
    return items_found, by_reference


def _frame(data: bytes, options: Options) -> HekaFrame | None:
    reader = Reader(data)
    with suppress(Rejected):
        return frame.read(reader, options)
    return None


WARM_FRAME: Final = bytes.fromhex("1e0208141f0a10101112131415161718191a1b1c1d2e2f1001")
"""A frame: heka.md §2."""

FAST_DECODERS: Final = {"heka.stream/0.10": FastDecoder(scan=scan_items, warm=(WARM_FRAME,))}
"""The fast decoder, by format and revision."""
