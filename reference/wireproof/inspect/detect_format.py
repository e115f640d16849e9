"""Detect the format of unknown bytes (every format is tried, the best fit first), and lay out damaged ones.

A format that accepts all the bytes comes first; of several, the one with the fewest remarks. Then come the
logs with whole entries whose checksum is right, by the bytes of these entries: a log with one damaged entry
is a damaged log. Then the formats whose mark begins the bytes, then the values that are at least half of
them. A few bytes that parse as a small value, entries without content, and rejections without a mark are no
evidence.
"""

from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof import formats
from wireproof.derive.edit_bytes import EditedBytes, fix_up
from wireproof.formats import (
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
from wireproof.wire.trace import FieldSpan
from wireproof.wire.walk import items

# --- how much of some bytes is a log, as evidence for the format: what its checksums prove ---


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


def survey_log(
    fmt: Format, data: bytes, options: Options = DEFAULT_OPTIONS, *, doubting: bool = False
) -> LogSurvey:
    """Survey all the bytes of a possible log, trusting every size, or doubting those of damaged entries."""
    entries = proven = tail = 0
    whole, remarks = True, Counter[str]()
    scanned = (
        items(steps_of(fmt), BytesSource(data), options) if doubting else formats.scan(fmt, [data], options)
    )
    for item in scanned:
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


# --- file types that are no format of the suite, recognised by their first bytes, for messages ---


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

WHITE_SPACE: Final = frozenset("\t\n\v\f\r\x85\u2028\u2029\u3000\u00a0")
"""Signs of a text that are not printable. For Python, the separators of Heka (1E, 1F) are white space too."""

SIGNATURE_BYTES: Final = 64
"""Bytes that show the type of a file; one byte that fills more says nothing."""


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
    head = data[:4096]
    try:
        text = getincrementaldecoder("utf-8")().decode(head, final=head == data)
    except UnicodeDecodeError:
        return False
    return all(sign.isprintable() or sign in WHITE_SPACE for sign in text)


# --- every format is tried ---


EMPTY_KINDS: Final = ("zeros", "an empty file")
"""Contents of no format, whatever the file name."""


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
        """Return certainty, name, bytes explained, few remarks, released, and fields: higher is better."""
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
    logs: list[Format] = []
    found: dict[str, LogSurvey] = {}
    for group in _streams_by_family(rows):
        logs += group
        found |= {row.format_id: survey_log(row, data, options) for row in group}
        if any(2 * one.proven > len(data) for one in found.values()):
            break  # the systems after it are left out, and not loaded
    yield from found.items()
    some = any(one.proven for one in found.values())
    doubted = [row for row in logs if found[row.format_id].proven] if some else logs
    doubted = [row for row in doubted if not found[row.format_id].whole and steps_of(row).damaged_length]
    # The rest of a segment after a damaged first entry has more bytes than these.
    if not (some or rows or len(data) > 4096 or any(is_named(row, name) for row in logs)):
        return
    for row in sorted(doubted, key=lambda row: found[row.format_id].proven, reverse=True):
        again = survey_log(row, data, options, doubting=True)
        yield row.format_id, again
        if 2 * again.proven > len(data):
            return


def _streams_by_family(rows: Sequence[Format]) -> Iterator[list[Format]]:
    """Yield the streams among the formats, or those of each family, which is loaded when its turn comes."""
    for group in [rows] if rows else FORMATS.by_family():
        yield [row for row in group if row.scan is not None]


def is_marked(row: Format, data: bytes) -> bool:
    return any(mark(data) for start, mark in family_of(row).marks.items() if row.name.startswith(start))


def is_named(row: Format, name: str) -> bool:
    """Return whether a file name is one that the system of the format gives."""
    names = family_of(row).file_names
    return any(row.name.startswith(start) and known.fullmatch(name) for known, start in names)


# --- a large input, by windows of it: only streams are large ---
#
# Where a window has whole entries with a right checksum, the stream with most bytes of them is the format.


WINDOW_BYTES: Final = (1 << 16, 1 << 20)
"""Bytes of the first windows, both at the beginning; three more of the larger size are in the rest."""


@frozen
class StreamFit:
    """A stream format, the survey of a window of the input, and whether its system gives such names."""

    row: Format
    survey: LogSurvey
    named: bool

    @property
    def rank(self) -> tuple[int, ...]:
        """Return proven bytes, the name, few remarks, and whether it is released: higher is better."""
        remarks, released = self.survey.remarks.total(), not self.row.provisional
        return (self.survey.proven, int(self.named), -remarks, int(released))

    @property
    def is_certain(self) -> bool:
        """Return whether no other family can fit better: several entries or half of the bytes, and a cut one.

        Each byte before that is proven by a checksum, there is no remark, and the file has the right name.
        """
        survey, size = self.survey, self.survey.size
        whole = survey.proven + survey.tail == size
        many = survey.entries > 1 or 2 * survey.proven > size > survey.proven
        return whole and many and not survey.remarks and not self.row.provisional and self.named


def detect_stream(source: ByteSource, rows: Sequence[Format], options: Options, name: str) -> list[StreamFit]:
    """Return the streams among the formats (or all) that fit, the best one first; none if none is proven."""
    found: list[StreamFit] = []
    for data in _windows(source):
        found = []
        for logs in _streams_by_family(rows):
            for row in logs:
                survey = survey_log(row, _first_entry(row, source, data), options)
                found.append(StreamFit(row, survey, is_named(row, name)))
            if any(fit.is_certain for fit in found):
                break
        if any(fit.survey.proven for fit in found):
            return sorted(found, key=lambda fit: fit.rank, reverse=True)
    # Of an input with the name of a log, those in which entries follow damaged ones.
    data = source.read(0, WINDOW_BYTES[0])
    doubted = [
        evolve(fit, survey=survey_log(fit.row, data, options, doubting=True)) for fit in found if fit.named
    ]
    return sorted((fit for fit in doubted if fit.survey.proven), key=lambda fit: fit.rank, reverse=True)


def _windows(source: ByteSource) -> Iterator[bytes]:
    start = max(zeros_end(source, 0) - 64, 0)  # an entry may begin with zeros
    for length in WINDOW_BYTES:
        yield source.read(0, length) if start < length // 2 else source.read(start, length)
    for quarter in (1, 2, 3):
        yield source.read(quarter * (source.size // 4), WINDOW_BYTES[-1])


def _first_entry(row: Format, source: ByteSource, data: bytes) -> bytes:
    """Return the window, or the first entry of the input and what follows if the window cuts this entry."""
    if not (is_marked(row, data) or steps_of(row).unlimited) or data[:64] != source.read(0, 64):
        return data
    needed = steps_of(row).size(data)
    whole = len(data) < needed <= min(1 << 24, source.size)
    return source.read(0, needed + WINDOW_BYTES[0]) if whole else data


# --- the fields of damaged bytes ---


PADDING_BYTES: Final = 1 << 16
"""Zeros that replace the bytes that were cut off."""

MAX_FIELDS_BEYOND: Final = 64
"""Fields read beyond the bytes, after which a reading stops: zeros can be endless messages."""


class BoundedSpans(list[FieldSpan]):
    """The fields of a reading that stops after too many fields beyond the first `size` bytes."""

    __slots__ = ("left", "size")

    def __init__(self, size: int) -> None:
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
    padded, size = data + bytes(PADDING_BYTES) if first.rejected.cls == "truncated" else data, len(data)
    spans = [*first.spans]
    for _ in range(4):  # a reading for each wrong checksum inside another, which is fixed up
        reader = TracingReader(padded, budget=Budget(options.max_output), spans=BoundedSpans(size))
        layout = trace_with_reader(fmt, reader, options)
        spans += layout.spans
        if layout.rejected is None or layout.rejected.cls != "crc-mismatch":
            break
        padded = fix_up(EditedBytes(padded, layout.spans), lengths=False).data
    found: dict[tuple[str, int, str], FieldSpan] = {}
    for span in spans:
        if span.space or span.end <= size:
            found.setdefault((span.space, span.start, span.path), span)
    return evolve(first, spans=tuple(found.values()))
