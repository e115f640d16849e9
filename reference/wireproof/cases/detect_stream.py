"""Detect the format of a large input by windows of it: only streams are large.

Where a window has whole entries with a right checksum, the stream with most bytes of them is the format.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from attrs import frozen

from wireproof.cases.byte_source import ByteSource, zeros_end
from wireproof.cases.detect_format import is_marked, is_named
from wireproof.cases.log_survey import LogSurvey, bytes_needed, quick_survey, survey_log
from wireproof.formats import FAMILIES, Format, stream_rules
from wireproof.wire.options import Options

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
            surveyed = ((row, _first_entry(row, source, data)) for row in logs)
            found += [StreamFit(row, quick_survey(row, read, options)) for row, read in surveyed]
            if any(_is_certain(fit, data, name) for fit in found):
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


def _is_certain(fit: StreamFit, data: bytes, name: str) -> bool:
    """Return whether no other family can fit better: many entries, and nothing else but a cut one.

    Each byte before that is proven by a checksum, there is no remark, and the file has the right name.
    """
    survey = fit.survey
    whole = survey.proven + survey.tail == len(data) and survey.entries >= MANY_ENTRIES
    return whole and not survey.remarks and not fit.row.provisional and is_named(fit.row, name)


def _windows(source: ByteSource) -> Iterator[bytes]:
    start = max(zeros_end(source, 0) - HEAD_BEFORE, 0)
    for length in WINDOW_BYTES:
        yield source.read(0, length) if start < length // 2 else source.read(start, length)
    step = source.size // (OTHER_WINDOWS + 1)
    for number in range(1, OTHER_WINDOWS + 1):
        yield source.read(number * step, WINDOW_BYTES[-1])


def _first_entry(row: Format, source: ByteSource, data: bytes) -> bytes:
    """Return the window, or the first entry of the input and what follows if the window cuts this entry."""
    if not (is_marked(row, data) or stream_rules(row).unlimited) or data[:64] != source.read(0, 64):
        return data
    needed = bytes_needed(row, data)
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
