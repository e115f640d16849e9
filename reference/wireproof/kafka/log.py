"""Format `kafka.log`: entries one after another, as in a fetch response or a segment file. kafka.md §2.4."""

from wireproof.kafka import consumer_view, entry, producer_rules
from wireproof.kafka.attribute_bits import wrap64
from wireproof.kafka.size_and_magic import peek_whole_entry
from wireproof.kafka.values import Log, LogEntry, Message, RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer


def decode(reader: Reader, options: Options) -> Log:
    """Decode whole entries; an entry that is cut ends the log and is not consumed: §1.4.

    Raises:
        Rejected: for the first invalid entry. `before` is a log of the entries before it, and of the invalid
            entry as far as it was decoded.
    """
    entries: list[LogEntry] = []
    try:
        _read_all(reader, options, entries)
        if options.profile == "produce":
            producer_rules.check_request(reader, entries)
    except Rejected as rejected:
        partial = [] if rejected.before is None else [rejected.before]
        raise rejected.with_before(_delivered([*entries, *partial], options)) from None
    return _delivered(entries, options)


def _delivered(entries: list[LogEntry], options: Options) -> Log:
    return Log(tuple(consumer_view.delivered_entries(entries, options)))


def _read_all(reader: Reader, options: Options, entries: list[LogEntry]) -> None:
    max_size, scope = entry.max_entry_size(options), reader.scope
    last: int | None = None
    while True:
        reader.scope = (scope, "batches", len(entries))
        start = reader.pos
        prefix = peek_whole_entry(reader, max_size)
        if prefix is None:
            reader.scope = scope
            return
        value = entry.read(reader, prefix, options)
        first, end = _offset_range(value)
        if first is not None and last is not None and first <= last:  # §1.5: not checked (I31)
            reader.remark("offsets-not-monotonic", "", at=start)
        last = end if last is None else max(last, end)
        entries.append(value)


def _offset_range(value: LogEntry) -> tuple[int | None, int]:
    """Return the offset of the first record or None, and the last offset of the entry's range."""
    match value:
        case RecordBatch():
            first = value.records[0].offset if value.records else None
            return first, wrap64(value.base_offset + value.last_offset_delta)
        case Message():
            return (value.messages[0] if value.messages else value).offset, value.offset


def encode(writer: Writer, value: Log, _: Options) -> None:
    """Encode the entries one after another.

    Raises:
        Rejected: `invalid-value`.
    """
    for index, batch in enumerate(value.batches):
        writer.enter("batches", index)
        entry.write(writer, batch)
        writer.leave()
