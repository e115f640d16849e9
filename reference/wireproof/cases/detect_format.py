"""Detect the format of unknown bytes: every format is tried, the best fit first.

A format that accepts all the bytes comes first; of several, the one with the fewest remarks. Then come the
logs with whole entries whose checksum is right, by the bytes of these entries: a log with one damaged entry
is a damaged log. Then the formats whose mark begins the bytes, then the values that are at least half of
them. A few bytes that parse as a small value, entries without content, and rejections without a mark are no
evidence.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.best_effort_layout import layout_of_damaged
from wireproof.cases.file_signatures import looks_like
from wireproof.cases.log_survey import LogSurvey, quick_survey, survey_log
from wireproof.formats import FORMATS, Format, TracedDecode, family_of, stream_rules
from wireproof.wire.options import DEFAULT_OPTIONS, Options

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
    system = "" if rows else _system(surveys, len(data))
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
    return like in EMPTY_KINDS or (like not in ("", "JSON") and not _is_named_as_log(name))


def _is_named_as_log(name: str) -> bool:
    return any(is_named(row, name) for row in FORMATS.values() if row.scan is not None)


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
    doubted = [row for row in doubted if not found[row.format_id].whole and stream_rules(row).damaged_length]
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


def _system(surveys: dict[str, LogSurvey], size: int) -> str:
    """Return the family of a system whose log is proven; else nothing."""
    return next((name.partition(".")[0] for name, one in surveys.items() if 2 * one.proven > size), "")


def is_marked(row: Format, data: bytes) -> bool:
    """Return whether the bytes begin with the mark of the format."""
    return any(mark(data) for start, mark in family_of(row).marks.items() if row.name.startswith(start))


def is_named(row: Format, name: str) -> bool:
    """Return whether a file name is one that the system of the format gives."""
    names = family_of(row).file_names
    return any(row.name.startswith(start) and known.fullmatch(name) for known, start in names)
