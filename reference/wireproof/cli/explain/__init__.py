"""`wireproof explain`: the entries of a stream or the fields of a value, and what is wrong with them."""

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO, cast, get_args

import click
from attrs import evolve, frozen

from wireproof import formats
from wireproof.cli.common.general_options import with_fixtures
from wireproof.cli.common.standard_output import rare_collections
from wireproof.family import deferred, object_at
from wireproof.formats import Format
from wireproof.inspect.detect_format import (
    COMPRESSED_KINDS,
    detect_stream,
    is_foreign,
    is_identified,
    looks_like,
    rank_formats,
)
from wireproof.inspect.entry_list import ListingSettings, Place, begin_of, listing_of, stream_of
from wireproof.inspect.entry_output import (
    JsonOutput,
    Listed,
    ListingOptions,
    TextOutput,
    as_json,
    summary_json,
)
from wireproof.inspect.file_survey import other_fit_lines, summary_lines, survey_stream
from wireproof.inspect.open_input import OpenInput, open_bytes, open_path, open_stream
from wireproof.run.exit_codes import Exit, deciding_code
from wireproof.wire.byte_source import pieces, zeros_end
from wireproof.wire.options import DEFAULT_OPTIONS, Options, ResyncMode
from wireproof.wire.text import counted, escape_unsafe

LONGEST_PATH: Final = 255
"""Characters of the longest path; a longer argument is hex, and a file system would reject it as a name."""

SMALL: Final = 1 << 16
"""Bytes of an input for which every format is tried."""

LARGEST_VALUE: Final = 1 << 20
LARGEST_NAMED_VALUE: Final = 1 << 24
"""Bytes of an input that is one value and no stream; the second if its format is given."""

SPOOLED: Final = 8 << 20
"""Bytes of the listing that are kept in memory until the summary is printed; more are in a temporary file."""

explain_value, other_lines = (
    deferred(f"wireproof.cli.explain.value:{name}") for name in ("explain_value", "other_lines")
)
"""They import the cases, of which a large log needs none."""

explain_directory, explain_other_file, explain_index_files_of = (
    deferred(f"wireproof.cli.explain.directory:{name}")
    for name in ("explain_directory", "explain_other_file", "explain_index_files_of")
)
"""They import what the families know of other files, of which a log alone needs nothing."""

MODES: Final = get_args(ResyncMode)


@frozen
class ExplainRequest:
    """What the command line asks for."""

    shown: ListingOptions
    options: Options
    rows: tuple[Format, ...]
    as_json: bool
    modes: tuple[ResyncMode, ...]
    folders: tuple[Path, ...]
    headers_only: bool = False


def formats_named(name: str | None) -> tuple[Format, ...]:
    """Return the formats that `--format` names: `kafka.batch/v2`, or every revision of `kafka.batch`."""
    if name is None:
        return ()
    form, _, revision = name.partition("/")
    if revision:
        return (formats.get(form, revision),)
    found = tuple(row for row in formats.FORMATS.values() if row.name == form)
    return found or (formats.get(form, "?"),)


class PlaceType(click.ParamType):  # type: ignore[type-arg, unused-ignore] # generic since click 8.5
    """The place where a listing begins: an offset, or `@` and the position of a byte."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Place:  # noqa: ANN401 - click's signature
        text = str(value)
        with suppress(ValueError):
            place = Place(int(text.removeprefix("@"), 0), text.startswith("@"))
            if place.number >= 0 or not place.is_position:
                return place
        return self.fail(
            f"{text} is neither an offset, such as 1000, nor a position, such as @4096", param, ctx
        )


@click.command("explain")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|DIR|HEX|-…")
@click.option(
    "--format", "name", metavar="FORMAT", help="a format such as kafka.batch/v2  [default: try all]"
)
@click.option("--headers", "headers_only", is_flag=True,
              help="check headers and checksums alone, and read no records")  # fmt: skip
@click.option("--records", "detail", flag_value="records", help="list the records of each entry too")
@click.option("--fields", "detail", flag_value="fields", help="list every field, down to the last byte")
@click.option(
    "--at",
    "begin",
    type=PlaceType(),
    metavar="OFFSET|@POSITION",
    help="begin the list at the entry that has this offset, or this byte",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N",
              help="list at most N entries, records or fields  [default: all]")  # fmt: skip
@click.option("--json", "as_json_lines", is_flag=True, help="print JSON lines, the summary last")
@click.option("--max-message", type=click.IntRange(min=1), metavar="BYTES",
              help="maximum size of an entry  [default: that of the format]")  # fmt: skip
@click.option("--resync", "modes", multiple=True, type=click.Choice(MODES),
              help="count how this reader divides a stream; repeat it to compare two")  # fmt: skip
@with_fixtures
def command(
    sources: tuple[str, ...],
    name: str | None,
    folders: tuple[Path, ...],
    **more: Any,  # noqa: ANN401 - the options above
) -> int:
    """Show what some bytes are: a summary, a line for each entry, and what is wrong.

    A compressed file is decompressed first. A stream is listed entry by entry, another value by its fields.
    Exit code 0 if all the bytes are sound, 1 if some are not, 2 if no format fits. A `.index`, `.timeindex`
    or `.txnindex` is checked against the log beside it, and the index files of a `.log` against that log.
    """
    request = ExplainRequest(
        ListingOptions(more["detail"] or "entries", more["begin"], more["limit"]),
        evolve(DEFAULT_OPTIONS, max_message=more["max_message"]),
        formats_named(name),
        more["as_json_lines"],
        cast("tuple[ResyncMode, ...]", tuple(dict.fromkeys(more["modes"]))),
        folders,
        more["headers_only"],
    )
    if request.headers_only and request.shown.detail != "entries":
        raise click.UsageError("--headers reads no records: leave out --records and --fields")
    codes = []
    with rare_collections():
        for source in sources:
            if len(sources) > 1:
                click.echo(escape_unsafe(f"== {source}"), err=request.as_json)
            codes.append(_explain_source(source, request))
    return deciding_code(codes)


def _explain_source(source: str, request: ExplainRequest) -> Exit:
    is_path = source not in ("", "-") and len(source) <= LONGEST_PATH
    path = Path(source) if is_path else Path()
    if is_path and path.is_dir():
        in_folder: Exit = explain_directory(path, as_json=request.as_json)
        return in_folder
    is_file = is_path and path.is_file()
    if is_file and not request.rows and path.suffix != ".log":
        known: Exit | None = explain_other_file(path, as_json=request.as_json)
        if known is not None:
            return known
    with _opened(source) as opened:
        if not opened.source.size:
            raise click.UsageError(f"{source} is empty: {opened.stopped or 'there is nothing to explain'}")
        own = path if is_file and not opened.packed else None
        found = evolve(opened, folder=path.resolve().parent.name if is_file else "", path=own)
        if request.modes:
            code = _compare_modes(found, request)
        else:
            code = _explain(source, path.name if is_file else "", found, request)
    alone = request.as_json or not is_file or not _has_neighbours(path)
    return code if alone else deciding_code([code, explain_index_files_of(path)])


def _has_neighbours(file: Path) -> bool:
    """Return whether other files of its folder have the base name of a file, as index files of a log have."""
    base = file.name.partition(".")[0]
    try:
        with os.scandir(file.absolute().parent) as found:
            return any(one.name.startswith(base) and one.name != file.name for one in found)
    except OSError:
        return True  # a folder that may not be listed can have index files


def _opened(source: str) -> AbstractContextManager[OpenInput]:
    if source == "-":
        return open_stream(sys.stdin.buffer)
    path = Path(source)
    if len(source) <= LONGEST_PATH and (path.is_file() or path.is_fifo()):
        return open_path(path)
    text = re.sub(r"[\s:]|0x", "", source)
    if text and re.fullmatch(r"([0-9a-fA-F]{2})+", text):
        return open_bytes(bytes.fromhex(text))
    raise click.UsageError(
        f"{source[:60] or '(nothing)'} is neither a file nor hex: give a path, or pairs of hex digits"
    )


# --- one input ---


def _explain(source: str, file: str, found: OpenInput, request: ExplainRequest) -> Exit:
    """Explain an input in the format that fits best: as a stream, or as one value.

    Of a large input no format but a stream is tried, as long as one fits.
    """
    size, named, options = found.source.size, request.rows, request.options
    if size > SMALL:
        head = found.source.read(zeros_end(found.source, 0), SMALL)
        if not named and (not head or is_foreign(head, file)):
            raise _unknown(source, found, head)
        rows = [stream_of(row) for row in named]
        streams = detect_stream(found.source, rows, options, file)
        one = streams[0].row if streams else next((row for row in rows if row.scan is not None), None)
        if one is not None:
            code = _explain_stream(one, found, request)
            for line in () if request.as_json else other_fit_lines(streams):
                click.echo(line)
            return code
        if size > (LARGEST_NAMED_VALUE if named else LARGEST_VALUE):
            most = f"which is one value of at most {LARGEST_NAMED_VALUE}"
            large = f"{source}: {size} bytes are too many for {named[0].format_id}, {most}" if named else ""
            raise click.UsageError(large) if large else _unknown(source, found, head)
    data = found.source.read(0, size)
    if not named and is_foreign(data, file):
        raise _unknown(source, found, data)
    fits = rank_formats(data, named, options, name=file)
    best = fits[0].row
    if not named and not is_identified(fits[0], data):
        raise _unknown(source, found, data)
    # A single entry may be listed like those of a stream.
    shown = request.shown
    as_entry = request.as_json or request.headers_only or shown.detail == "records" or shown.begin is not None
    if best.scan is None and not (as_entry and listing_of(best)):
        value: Exit = explain_value(
            fits, data, found, request.shown, request.folders, as_json=request.as_json
        )
        return value
    code = _explain_stream(best, found, request)
    if not request.as_json:
        other_lines(fits, data, request.folders, similar=code != Exit.CONFORMS)
    return code


def _unknown(source: str, found: OpenInput, head: bytes) -> click.UsageError:
    """Return the error for bytes that no format fits."""
    like = looks_like(head)
    what = f"; they look like {'zeros' if like == 'an empty file' else like}" if like else ""
    then = "unpack them first" if like in COMPRESSED_KINDS else "if they belong to one, name it with --format"
    place = f"{source}: " if len(source) <= LONGEST_PATH and Path(source).is_file() else ""
    packed = f" unpacked from {found.packed}" if found.packed else ""
    stopped = f"; {found.stopped}" if found.stopped else ""
    size = counted(found.source.size, "byte", grouped=False)
    return click.UsageError(f"{place}{size}{packed}: no format fits{what}{stopped}; {then}")


# --- streams ---


def _explain_stream(row: Format, found: OpenInput, request: ExplainRequest) -> Exit:
    """List a stream: the summary first, which is known last."""
    fmt, listing = stream_of(row), listing_of(row)
    assert listing is not None, "every stream has one"
    if request.headers_only and not listing.headers:
        raise click.UsageError(f"--headers is for logs of Kafka, and this is {fmt.format_id}: leave it out")
    place = request.shown.begin
    begin = begin_of(fmt, listing, found.source, place, found.path) if place is not None else 0
    reading = ListingSettings(
        request.options,
        values=request.shown.detail == "records",
        begin=begin,
        headers_only=request.headers_only,
        is_file=bool(found.folder),
    )
    stream = Listed(fmt, listing, found.source, request.options, found.folder)
    if request.as_json:
        json_output = JsonOutput(stream, request.shown, sys.stdout)
        survey = survey_stream(fmt, listing, found, reading, json_output.part)
        json_output.line(as_json(summary_json(survey)))
    else:
        with spooled() as spool:
            output = TextOutput(stream, request.shown, spool)
            survey = survey_stream(fmt, listing, found, reading, output.part)
            for line in summary_lines(survey):
                click.echo(line)
            copy_spooled(spool)
        if output.left_out:
            click.echo(f"… {output.left_out} more {listing.units} are not listed: see --limit and --at")
    return Exit.CONFORMS if survey.ok else Exit.FAILS


def spooled() -> TextIO:
    """Return a file of text whose lines are collected before they are written: one at a time is slow."""
    file = cast("BinaryIO", tempfile.SpooledTemporaryFile(SPOOLED))  # noqa: SIM115 - the wrapper closes it
    return io.TextIOWrapper(file, encoding="utf-8", newline="\n")


def copy_spooled(spool: TextIO) -> None:
    spool.seek(0)
    while piece := spool.read(1 << 20):
        sys.stdout.write(piece)


def _places_of_modes(rows: Iterable[Format]) -> dict[str, str]:
    """Return the place of the comparison of readers for each format whose stream has one."""
    listings = ((row.name, listing_of(row)) for row in rows if row.scan is not None)
    return {name: one.compare_modes for name, one in listings if one is not None and one.compare_modes}


def _compare_modes(found: OpenInput, request: ExplainRequest) -> Exit:
    places = _places_of_modes(formats.FORMATS.values())
    named = [stream_of(row) for row in request.rows]
    place = next(iter((_places_of_modes(named) if named else places).values()), None)
    if place is None:
        raise click.UsageError(f"--resync is for {', '.join(places)}: name no other --format")
    most = 10 if request.shown.limit is None else request.shown.limit
    lines = object_at(place)(pieces(found.source, 0), request.modes, request.options, most)
    while True:
        try:
            click.echo(next(lines))
        except StopIteration as end:
            return Exit.CONFORMS if end.value else Exit.FAILS
