"""Detect the format of unknown bytes (every format is tried, the best fit first), and lay out damaged ones.

A format that accepts all the bytes comes first; of several, the one with the fewest remarks. Then come the
logs with whole entries whose checksum is right, by the bytes of these entries: a log with one damaged entry
is a damaged log. Then the formats whose mark begins the bytes, then the values that are at least half of
them. A few bytes that parse as a small value, entries without content, and rejections without a mark are no
evidence.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof import formats
from wireproof.derive.edit_bytes import EditedBytes, fix_up
from wireproof.formats import (
    FAMILIES,
    FORMATS,
    Format,
    TracedDecode,
    decode_with_trace,
    family_of,
    steps_of,
    trace_with_reader,
)
from wireproof.wire.byte_source import ByteSource, BytesSource, zeros_end
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Budget, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item
from wireproof.wire.trace import FieldSpan
from wireproof.wire.walk import items

# --- log survey ---
#
# How much of some bytes is a log of a format, as evidence for the format: what its checksums prove.
#
# Nothing is said of what is wrong with them: that is what the walk is for (`wireproof.wire.walk`).


@frozen
class LogSurvey:
    """The whole entries of a log.

    Attributes:
        size: bytes of the log.
        entries: the number of whole accepted entries.
        proven: bytes of those with a checksum over at least one message.
        tail: bytes at the end that begin an entry.
        whole: whether every byte belongs to a whole accepted entry.
        remarks: those of the entries.
    """

    size: int
    entries: int = 0
    proven: int = 0
    tail: int = 0
    whole: bool = True
    remarks: Counter[str] = field(factory=Counter)


def survey_log(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a possible log, doubting the sizes of damaged entries."""
    return _survey(data, items(steps_of(fmt), BytesSource(data), options))


def quick_survey(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a possible log, trusting every size."""
    return _survey(data, formats.scan(fmt, [data], options))


def _survey(data: bytes, found: Iterable[Item]) -> LogSurvey:
    entries = proven = tail = 0
    whole, remarks = True, Counter[str]()
    for item in found:
        whole = whole and item.kind == "frame"
        tail = item.length if item.kind == "tail" else 0
        if item.kind == "frame":
            entries += 1
            proven += item.length * _proven(item.value)
            remarks.update(remark.cls for remark in item.remarks)
    return LogSurvey(len(data), entries, proven, tail, whole, remarks)


def _proven(value: Any) -> bool:  # noqa: ANN401 - any entry's class
    """Return whether an entry has content: a checksum of nothing is right even in zeros."""
    parts = getattr(value, "messages", None)
    if parts is None:
        return bool(getattr(value, "payload", True))
    return bool(parts) and all(_proven(part) for part in parts)


@cache
def mismatch_remarks() -> frozenset[str]:
    """Return the remarks on a wrong checksum or count: a reader may ignore it, but the bytes are damaged."""
    return frozenset(name for name, one in formats.remark_classes().items() if one.mismatch)


# --- file signatures ---
#
# File types that are no format of the suite, recognised by their first bytes, for messages.


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

SIGNATURE_BYTES: Final = 64
"""Bytes of an input that says nothing if one byte is all that it has."""


def looks_like(data: bytes) -> str:
    """Return the file type of the bytes; empty if it is unknown."""
    if not data.strip(b"\0"):
        return "zeros" if data else "an empty file"
    begun = next((word for start, word in FILE_BEGINNINGS if data.startswith(start)), "")
    if begun or _text(data):
        return begun or ("JSON" if data.lstrip()[:1] in (b"{", b"[") else "text")
    repeated = len(data) > SIGNATURE_BYTES and not data.strip(data[:1])
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


# --- detect format ---


EMPTY_KINDS: Final = ("zeros", "an empty file")
"""Contents of no format, whatever the file name."""

FEW_BYTES: Final = 4096
"""Bytes of a small input; the rest of a segment after a damaged first entry is larger."""


@frozen
class FormatFit:
    """A format and its layout of the bytes.

    Attributes:
        marked: whether the bytes begin with the mark of the format.
        named: whether the file has a name that its system gives.
        survey: of a log: how much of it is sound.
    """

    row: Format
    layout: TracedDecode
    marked: bool
    size: int
    named: bool = False
    survey: LogSurvey | None = None

    @property
    def consumed(self) -> int:
        """Return the bytes that the format accepts, from the first on."""
        decoded = self.layout.decoded
        return decoded.consumed if decoded is not None else 0

    @property
    def proven(self) -> int:
        """Return the bytes of the whole entries of a log whose checksum is right."""
        return self.survey.proven if self.survey is not None else 0

    @property
    def sure(self) -> int:
        """Return how sure the format is, from 0 (no evidence) to 4 (all bytes accepted)."""
        if self.consumed == self.size > 0:
            return 4
        if self.proven or self.marked:
            return 3 if self.proven else 2
        return int(2 * self.consumed >= self.size > 0 and self.survey is None)

    @property
    def rank(self) -> tuple[int, ...]:
        """Return the sort key, higher is better.

        It has certainty, name, bytes explained, few remarks, a released revision, and fields.
        """
        decoded = self.layout.decoded
        remarks = len(decoded.remarks) if decoded is not None else 0
        explained = max(self.consumed, self.proven)
        released = int(not self.row.provisional)
        return (self.sure, int(self.named), explained, -remarks, released, len(self.layout.spans))


def rank_formats(
    data: bytes, rows: Sequence[Format] = (), options: Options = DEFAULT_OPTIONS, name: str = ""
) -> list[FormatFit]:
    """Return every format that may fit (or those given) with its layout of `data`, the best fit first.

    Args:
        data: all the bytes.
        rows: formats to try; empty for every one. If checksums prove that at least half of the bytes are
            entries of a system's log, only the formats of that system are tried.
        options: of the codecs.
        name: of the file, without folders.
    """
    surveys = dict(_surveys(data, rows, options, name))
    proven = (name for name, one in surveys.items() if 2 * one.proven > len(data))
    system = "" if rows else next(proven, "").partition(".")[0]
    tried = rows or (FORMATS.of_family(system) if system else list(FORMATS.values()))
    found = [
        FormatFit(
            row,
            layout_of_damaged(row, data, options),
            is_marked(row, data),
            len(data),
            is_named(row, name),
            surveys.get(row.format_id),
        )
        for row in tried
    ]
    return sorted(found, key=lambda fit: fit.rank, reverse=True)


def is_foreign(data: bytes, name: str = "") -> bool:
    """Return whether the bytes begin like those of another file type, and the file is not named as a log."""
    like = looks_like(data)
    if like in ("", "JSON") or like in EMPTY_KINDS:
        return like in EMPTY_KINDS
    return not any(is_named(row, name) for row in FORMATS.values() if row.scan is not None)


def is_identified(fit: FormatFit, data: bytes) -> bool:
    """Return whether there is evidence to read the bytes as the best fit's format."""
    like = looks_like(data)
    if like in EMPTY_KINDS:
        return False
    return fit.sure > 2 or (fit.sure > 0 and like in ("", "JSON"))


def _surveys(
    data: bytes, rows: Sequence[Format], options: Options, name: str
) -> Iterator[tuple[str, LogSurvey]]:
    """Yield the surveys of the logs among the formats, until one of them explains half of the bytes.

    A full survey doubts the sizes of entries. It runs for the formats in which something is sound, or for all
    if nothing is; for a small input without a name it does not run.
    """
    surveyed = _quick_surveys(data, rows, options)
    logs, found = [row for row, _ in surveyed], {row.format_id: survey for row, survey in surveyed}
    yield from found.items()
    some = any(one.proven for one in found.values())
    doubted = [row for row in logs if found[row.format_id].proven] if some else logs
    doubted = [row for row in doubted if not found[row.format_id].whole and steps_of(row).damaged_length]
    if not (some or rows or len(data) > FEW_BYTES or any(is_named(row, name) for row in logs)):
        return
    for row in sorted(doubted, key=lambda row: found[row.format_id].proven, reverse=True):
        again = survey_log(row, data, options)
        yield row.format_id, again
        if 2 * again.proven > len(data):
            return


def _quick_surveys(data: bytes, rows: Sequence[Format], options: Options) -> list[tuple[Format, LogSurvey]]:
    """Return the quick surveys of the logs among the formats.

    If all are tried and a log of one system is proven, the systems after it are left out, and not loaded.
    """
    found: list[tuple[Format, LogSurvey]] = []
    for group in [rows] if rows else FORMATS.by_family():
        found += [(row, quick_survey(row, data, options)) for row in group if row.scan is not None]
        if any(2 * survey.proven > len(data) for _, survey in found):
            break
    return found


def is_marked(row: Format, data: bytes) -> bool:
    """Return whether the bytes begin with the mark of the format."""
    return any(mark(data) for start, mark in family_of(row).marks.items() if row.name.startswith(start))


def is_named(row: Format, name: str) -> bool:
    """Return whether a file name is one that the system of the format gives."""
    names = family_of(row).file_names
    return any(row.name.startswith(start) and known.fullmatch(name) for known, start in names)


# --- detect stream ---
#
# Detect the format of a large input by windows of it: only streams are large.
#
# Where a window has whole entries with a right checksum, the stream with most bytes of them is the format.


WINDOW_BYTES: Final = (1 << 16, 1 << 20)
"""Bytes of the first windows, both at the beginning."""

OTHER_WINDOWS: Final = 3
"""Windows of the larger size in the rest of the input."""

MAX_FIRST_ENTRY: Final = 1 << 24
"""Bytes of the first entry that are read where it is larger than a window."""

MANY_ENTRIES: Final = 2
"""Entries with a right checksum after which no other family is asked."""

HEAD_BEFORE: Final = 64
"""Bytes before the first one that is not 0, where an entry may begin."""


@frozen
class StreamFit:
    """A stream format, and the survey of a window of the input."""

    row: Format
    survey: LogSurvey


def detect_stream(source: ByteSource, rows: Sequence[Format], options: Options, name: str) -> list[StreamFit]:
    """Return the streams among the formats (or all) that fit, the best one first; none if none is proven."""
    for data in _windows(source):
        found: list[StreamFit] = []
        for logs in _streams_by_family(rows):
            read = {row.format_id: _first_entry(row, source, data) for row in logs}
            fits = [StreamFit(row, quick_survey(row, read[row.format_id], options)) for row in logs]
            found += fits
            if any(_is_certain(fit, len(read[fit.row.format_id]), name) for fit in fits):
                break
        if any(fit.survey.proven for fit in found):
            return sorted(found, key=lambda fit: _rank(fit, name), reverse=True)
    return _doubted(source, list(chain(*_streams_by_family(rows))), options, name)


def _streams_by_family(rows: Sequence[Format]) -> Iterator[list[Format]]:
    """Yield the streams among the formats, or those of each family, which is loaded when its turn comes."""
    if rows:
        yield [row for row in rows if row.scan is not None]
        return
    for family in FAMILIES.values():
        yield [row for row in family.formats if row.scan is not None]


def _is_certain(fit: StreamFit, size: int, name: str) -> bool:
    """Return whether no other family can fit better: many entries or half of the bytes, and a cut one.

    Each byte before that is proven by a checksum, there is no remark, and the file has the right name.
    """
    survey = fit.survey
    whole = survey.proven + survey.tail == size
    many = survey.entries >= MANY_ENTRIES or 2 * survey.proven > size > survey.proven
    return whole and many and not survey.remarks and not fit.row.provisional and is_named(fit.row, name)


def _windows(source: ByteSource) -> Iterator[bytes]:
    start = max(zeros_end(source, 0) - HEAD_BEFORE, 0)
    for length in WINDOW_BYTES:
        yield source.read(0, length) if start < length // 2 else source.read(start, length)
    step = source.size // (OTHER_WINDOWS + 1)
    for number in range(1, OTHER_WINDOWS + 1):
        yield source.read(number * step, WINDOW_BYTES[-1])


def _first_entry(row: Format, source: ByteSource, data: bytes) -> bytes:
    """Return the window, or the first entry of the input and what follows if the window cuts this entry."""
    if not (is_marked(row, data) or steps_of(row).unlimited) or data[:64] != source.read(0, 64):
        return data
    needed = steps_of(row).size(data)
    whole = len(data) < needed <= min(MAX_FIRST_ENTRY, source.size)
    return source.read(0, needed + WINDOW_BYTES[0]) if whole else data


def _rank(fit: StreamFit, name: str) -> tuple[int, ...]:
    """Return the sort key, higher is better: proven bytes, the name, few remarks, a released revision."""
    survey = fit.survey
    named, released = is_named(fit.row, name), not fit.row.provisional
    return (survey.proven, int(named), -survey.remarks.total(), int(released))


def _doubted(source: ByteSource, logs: Sequence[Format], options: Options, name: str) -> list[StreamFit]:
    """Return the formats in which entries follow damaged ones, for an input with the name of a log."""
    data = source.read(0, WINDOW_BYTES[0])
    tried = [row for row in logs if is_named(row, name)]
    found = [StreamFit(row, survey_log(row, data, options)) for row in tried]
    proven = [fit for fit in found if fit.survey.proven]
    return sorted(proven, key=lambda fit: _rank(fit, name), reverse=True)


PADDING_BYTES: Final = 1 << 16
"""Zeros that replace the bytes that were cut off."""

MAX_READINGS: Final = 4
"""Maximum number of readings: one for each wrong checksum inside another."""

MAX_FIELDS_BEYOND: Final = 64
"""Fields read beyond the bytes, after which a reading stops: zeros can be endless messages."""


class BoundedSpans(list[FieldSpan]):
    """The fields of a reading that stops after too many fields beyond the first `size` bytes."""

    __slots__ = ("left", "size")

    def __init__(self, size: int) -> None:
        """Start without fields."""
        super().__init__()
        self.size = size
        self.left = MAX_FIELDS_BEYOND

    def append(self, span: FieldSpan) -> None:
        """Add a field; raises `Rejected` (`truncated`) after too many beyond the bytes."""
        if not span.space and span.start >= self.size:
            self.left -= 1
            if self.left < 0:
                raise Rejected("truncated", span.start, span.path)
        super().append(span)


def layout_of_damaged(fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> TracedDecode:
    """Return the layout of `data`, with the fields after the fault for which it is rejected."""
    first = decode_with_trace(fmt, data, options)
    if first.rejected is None or first.rejected.cls not in ("crc-mismatch", "truncated"):
        return first
    padded = data + bytes(PADDING_BYTES) if first.rejected.cls == "truncated" else data
    readings = [first.spans, *_further(fmt, padded, len(data), options)]
    size = len(data)
    found: dict[tuple[str, int, str], FieldSpan] = {}
    for spans in readings:
        for span in spans:
            if span.space or span.end <= size:
                found.setdefault((span.space, span.start, span.path), span)
    return evolve(first, spans=tuple(found.values()))


def _further(fmt: Format, data: bytes, size: int, options: Options) -> Iterator[tuple[FieldSpan, ...]]:
    """Yield the fields of `data`, then those of the same bytes after each wrong checksum is fixed up."""
    for _ in range(MAX_READINGS):
        reader = TracingReader(data, budget=Budget(options.max_output), spans=BoundedSpans(size))
        layout = trace_with_reader(fmt, reader, options)
        yield layout.spans
        if layout.rejected is None or layout.rejected.cls != "crc-mismatch":
            break
        data = fix_up(EditedBytes(data, layout.spans), lengths=False).data
