"""The fast decoders beside the reference: the same items, the same records, and no remark passed over."""

from typing import Any

from wireproof import formats
from wireproof.formats import FORMATS
from wireproof.kafka import columnar
from wireproof.kafka.columnar.columns import clean_records
from wireproof.kafka.columnar.entry_scan import scan_steps
from wireproof.kafka.values import Message
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

LOG = FORMATS["kafka.log/mixed"]


def assert_agrees(data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[int, int]:
    """Hold scans and records to the reference; how many frames without remarks, how many handed over."""
    wanted = list(formats.scan(LOG, [data], options))
    frames = columnar.scan(data, options)
    assert items_of(frames) == [(item.kind, item.at, item.length, item.cls) for item in wanted]
    assert frames.records.tolist() == [len(rows(item)) for item in wanted]
    answered = [item for item, handed in zip(wanted, frames.by_reference, strict=True) if not handed]
    assert [item.remarks for item in answered] == [()] * len(answered)
    steps = list(scan_steps(data, options, keep=True))
    batches = [clean_records(step.block) for step in steps if step.block is not None]
    for batch in batches:
        batch.validate(full=True)
    left = {item.at for step in steps for item in step.answers.values()}
    assert [row for batch in batches for row in batch.to_pylist()] == [
        row for item in wanted if item.at not in left for row in rows(item)
    ]
    plain = [item.kind == "frame" and not item.remarks for item in wanted]
    return sum(plain), sum(
        one and handed for one, handed in zip(plain, frames.by_reference.tolist(), strict=True)
    )


def items_of(frames: columnar.KafkaFrames) -> list[tuple[str, int, int, str | None]]:
    columns = (frames.kind.tolist(), frames.position.tolist(), frames.length.tolist())
    return [
        (columnar.KINDS[kind], at, length, frames.answers[row].cls if row in frames.answers else None)
        for row, (kind, at, length) in enumerate(zip(*columns, strict=True))
    ]


def rows(item: Item) -> list[dict[str, Any]]:
    """The records of an item of the reference, as `clean_records` has them."""
    match item.value:
        case None:
            return []
        case Message(messages=messages) as message:
            return [_row(item.at, one, ()) for one in ((message,) if messages is None else messages)]
        case batch:
            return [_row(item.at, one, one.headers) for one in batch.records]


def _row(at: int, one: Any, headers: Any) -> dict[str, Any]:
    pairs = [{"key": key, "value": value} for key, value in headers]
    stamp, key, value = one.timestamp, one.key, one.value
    return {
        "frame": at,
        "offset": one.offset,
        "timestamp": stamp,
        "key": key,
        "value": value,
        "headers": pairs,
    }
