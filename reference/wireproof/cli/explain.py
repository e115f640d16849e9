"""`wireproof explain`: the fields of some bytes, the errors in them, and the most similar fixture."""

import re
import sys
from pathlib import Path

import click

from wireproof import formats
from wireproof.cases.detect_format import FormatFit, is_foreign, is_identified, rank_formats
from wireproof.cases.file_signatures import COMPRESSED_KINDS, looks_like
from wireproof.cases.fixtures import cases_of_format
from wireproof.cases.log_survey import MISMATCH_REMARKS
from wireproof.cases.similar_cases import most_similar
from wireproof.cli.options import with_fixtures
from wireproof.formats import Format
from wireproof.report import damage_lines, index_file_view, remark_lines
from wireproof.report.field_listing import field_lines
from wireproof.runner import index_files
from wireproof.runner.exit_codes import Exit, deciding_code
from wireproof.wire.rejection import Remark

LONGEST_PATH = 255
"""Characters of the longest path; a longer argument is hex, and a file system would reject it as a name."""

MAX_FITS = 4
"""Number of formats that are named in addition to the best one."""


def bytes_of(source: str) -> bytes:
    """Return the bytes of a file, of standard input (`-`), or of hex digits; raises `click.UsageError`."""
    if source == "-":
        return sys.stdin.buffer.read()
    if len(source) <= LONGEST_PATH and Path(source).is_file():
        return Path(source).read_bytes()
    text = re.sub(r"[\s:]|0x", "", source)
    if text and re.fullmatch(r"([0-9a-fA-F]{2})+", text):
        return bytes.fromhex(text)
    raise click.UsageError(
        f"{source[:60] or '(nothing)'} is neither a file nor hex: give a path, or pairs of hex digits"
    )


def formats_named(name: str | None) -> list[Format]:
    """Return the formats that `--format` names: `kafka.batch/v2`, or every revision of `kafka.batch`."""
    if name is None:
        return []
    form, _, revision = name.partition("/")
    if revision:
        return [formats.get(form, revision)]
    return [row for row in formats.FORMATS.values() if row.name == form] or [formats.get(form, "?")]


@click.command("explain")
@click.argument("source", metavar="FILE|HEX|-")
@click.option(
    "--format", "name", metavar="FORMAT", help="a format such as kafka.batch/v2  [default: try all]"
)
@with_fixtures
def command(source: str, name: str | None, folders: tuple[Path, ...]) -> int:
    """Print the fields of the bytes in a file or in hex, damaged or not.

    Exit code 0 if all the bytes are sound, 1 if some are not, 2 if no format fits. A `.index`, `.timeindex`
    or `.txnindex` is checked against the log beside it, and the index files of a `.log` against that log.
    """
    path = Path(source) if len(source) <= LONGEST_PATH else Path()
    if name is None and path.is_file() and index_files.kind_of(path):
        one = index_files.check_index_file(path)
        for line in index_file_view.entry_lines(one):
            click.echo(line)
        return Exit.FAILS if one.errors else Exit.CONFORMS
    code = _explain(source, name, folders)
    return deciding_code([code, _beside(path)]) if path.is_file() else code


def _beside(log: Path) -> Exit:
    """Print a line for each index file of a log and for each error in it."""
    found = index_files.check_index_files(log)
    for line in index_file_view.verdict_lines(found):
        click.echo(line)
    return Exit.FAILS if any(one.errors for one in found) else Exit.CONFORMS


def _explain(source: str, name: str | None, folders: tuple[Path, ...]) -> Exit:
    data = bytes_of(source)
    if not data:
        raise click.UsageError(f"{source} is empty: there is nothing to explain")
    file = Path(source).name if len(source) <= LONGEST_PATH else ""
    if name is None and is_foreign(data, file):
        raise click.UsageError(_unknown(source, data))
    best, *others = rank_formats(data, formats_named(name), name=file)
    if name is None and not is_identified(best, data):
        raise click.UsageError(_unknown(source, data))
    click.echo(f"{len(data)} bytes as {best.row.format_id}: {_said(best, len(data))}")
    misfits = [one for one in _remarks(best) if one.cls in MISMATCH_REMARKS]
    wrong = list(
        damage_lines.damaged_place_lines(best.survey)
        if best.survey is not None
        else remark_lines.misfit_lines(misfits)
    )
    for line in wrong:
        click.echo(line)
    refused = best.layout.rejected
    for shown in field_lines(best.layout, refused.at if refused else None):
        click.echo(str(shown))
    for line in remark_lines.remark_text_lines(
        [one for one in _remarks(best) if one.cls not in MISMATCH_REMARKS]
    ):
        click.echo(line)
    _others(best, others, len(data))
    cases = cases_of_format(best.row.format_id, folders)
    case = most_similar(data, best.row.format_id, refused.cls if refused else None, cases)
    if case is not None:
        click.echo(f"nearest fixture: {case.id}: {case.title}")
    return Exit.CONFORMS if best.consumed == len(data) and not wrong else Exit.FAILS


def _unknown(source: str, data: bytes) -> str:
    """Return the message for bytes that no format fits."""
    like = looks_like(data)
    what = f"; they look like {like}" if like else ""
    then = "unpack them first" if like in COMPRESSED_KINDS else "if they belong to one, name it with --format"
    place = f"{source}: " if len(source) <= LONGEST_PATH and Path(source).is_file() else ""
    return f"{place}{len(data)} bytes: no format fits{what}; {then}"


def _others(best: FormatFit, others: list[FormatFit], size: int) -> None:
    """Print the other formats that fit as well, and the revisions of the best one."""
    same = [fit for fit in others if fit.rank[:3] == best.rank[:3] and fit.consumed]
    if also := [fit.row.format_id for fit in same]:
        click.echo(f"also fits: {', '.join(also[:MAX_FITS])}")
    if (revisions := [fit for fit in (best, *others) if fit.row.name == best.row.name])[1:]:
        click.echo(f"revisions of {best.row.name}: {'; '.join(map(_revision, _in_order(revisions)))}")
    for fit in _damaged(best, others):
        click.echo(f"or else {fit.row.format_id}: {_said(fit, size)}")


def _in_order(revisions: list[FormatFit]) -> list[FormatFit]:
    """Sort the revisions of a format in the order of the table."""
    order = list(formats.FORMATS)
    return sorted(revisions, key=lambda fit: order.index(fit.row.format_id))


def _revision(fit: FormatFit) -> str:
    """Describe how a revision fits: all bytes or some, its remarks, or its refusal."""
    decoded, rejected = fit.layout.decoded, fit.layout.rejected
    if rejected is not None:
        return f"{fit.row.revision} not, {rejected.cls} at {rejected.at}"
    assert decoded is not None
    if not decoded.consumed:
        return f"{fit.row.revision} not, nothing in it is whole"
    part = "fits" if decoded.consumed == fit.size else f"fits {decoded.consumed} bytes"
    remarks = ", ".join(sorted({remark.cls for remark in decoded.remarks}))
    return f"{fit.row.revision} {part}" + (f" with {remarks}" if remarks else "")


def _damaged(best: FormatFit, others: list[FormatFit]) -> list[FormatFit]:
    """Return equally good formats of other systems for refused bytes that no checksum proves."""
    if best.layout.decoded is not None or best.proven:
        return []
    others = [fit for fit in others if fit.sure]
    systems = {best.row.name.partition(".")[0]: best}
    for fit in others:
        systems.setdefault(fit.row.name.partition(".")[0], fit)
    return list(systems.values())[1:]


def _said(fit: FormatFit, size: int) -> str:
    """Return the verdict on the bytes as one line."""
    if fit.survey is not None and fit.proven and not fit.survey.whole:
        return damage_lines.survey_verdict(fit.survey)
    if fit.layout.rejected is not None:
        rejected = fit.layout.rejected
        return f"refused, {rejected.cls} at {rejected.at} ({rejected.path}): {rejected.text}"
    left = size - fit.consumed
    return f"accepted, {fit.consumed} bytes" + (f", {left} more follow" if left else "")


def _remarks(fit: FormatFit) -> tuple[Remark, ...]:
    return fit.layout.decoded.remarks if fit.layout.decoded else ()
