"""Facts of the specification that the layouts must agree with: iggy.md §2.1, §5, §6, §7."""

import pytest
from each import each

from wireproof.formats import FORMATS
from wireproof.iggy import batch, frame, message, send
from wireproof.schema.layout import Layout

HEADERS = [one.at(revision) for one in frame.HEADERS.values() for revision in ("0.11", "0.11.1-edge")]


@each("layout", HEADERS, ids=lambda layout: layout.name)
def test_the_header_of_every_command_has_128_bytes(layout: Layout) -> None:
    assert layout.fixed_size == 128


@pytest.mark.parametrize("revision", ["0.11", "0.11.1-edge"])
def test_a_vsr_frame_has_128_bytes_before_the_header_of_its_command(revision: str) -> None:
    layout = frame.VSR_FRAME.at(revision)
    assert layout.fixed_size == 128
    assert (layout.offset("size"), layout.offset("command")) == (48, 60)


@each(
    "layout, size",
    [
        (message.SENT.at("0.7"), 56),
        (message.SENT.at("0.9"), 64),
        (message.POLLED.at("0.8"), 56),
        (message.POLLED.at("0.9"), 64),
        (send.ENTRY, 16),
        (batch.RETAINED_LAYOUT, 24),
        (batch.FRAME, 48),
        (batch.BATCHES["log"].at("0.11"), 256),
        (batch.PRODUCER.at("0.11.1-edge"), 19),
    ],
)
def test_headers_have_the_size_of_the_specification(layout: Layout, size: int) -> None:
    assert layout.fixed_size == size


@each("format_id", [row for row in FORMATS if row.startswith("iggy.")])
def test_every_binary_format_has_a_layout(format_id: str) -> None:
    assert (FORMATS[format_id].layout is None) == (".json." in format_id)
