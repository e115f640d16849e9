"""`kafka.log`: entries one after another, as a fetch response or a segment file holds them. kafka.md §2.4."""

from wireproof.kafka import delivery, entry, produce
from wireproof.kafka.arithmetic import wrap64
from wireproof.kafka.frame import measure
from wireproof.kafka.values import Entry, Log, Message, RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import Writer


def decode(reader: Reader, options: Options) -> Log:
    """Whole entries from the first byte on; an entry that is cut ends the log and is not consumed: §1.4.

    Raises:
        Rejected: at the first entry that is refused, with the entries before it, and that entry as far
            as it was decoded, in `before`.
    """
    entries: list[Entry] = []
    try:
        _read_all(reader, options, entries)
        if options.profile == "produce":
            produce.check_log(reader, entries)
    except Rejected as refused:
        partial = [] if refused.before is None else [refused.before]
        raise refused.delivering(_shown([*entries, *partial], options)) from None
    return _shown(entries, options)


def _shown(entries: list[Entry], options: Options) -> Log:
    return Log(tuple(delivery.view(entries, options)))


def _read_all(reader: Reader, options: Options, entries: list[Entry]) -> None:
    most, scope = entry.most(options), reader.scope
    last: int | None = None
    while True:
        reader.scope = (scope, "batches", len(entries))
        start = reader.pos
        frame = measure(reader, most)
        if frame is None:
            reader.scope = scope
            return
        one = entry.read(reader, frame, options)
        first, end = _range(one)
        if first is not None and last is not None and first <= last:  # §1.5: not checked (I31)
            reader.remark("offsets-not-monotonic", "", at=start)
        last = end if last is None else max(last, end)
        entries.append(one)


def _range(one: Entry) -> tuple[int | None, int]:
    """The first offset that the entry holds, if it holds any, and the last one that it stands for."""
    match one:
        case RecordBatch():
            first = one.records[0].offset if one.records else None
            return first, wrap64(one.base_offset + one.last_offset_delta)
        case Message():
            return (one.messages[0] if one.messages else one).offset, one.offset


def encode(writer: Writer, value: Log, _: Options) -> None:
    """The entries one after another; raises `Rejected` (`invalid-value`)."""
    for index, one in enumerate(value.batches):
        writer.enter("batches", index)
        entry.write(writer, one)
        writer.leave()
