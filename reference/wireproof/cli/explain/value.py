"""The part of `wireproof explain` about one value: its fields, other formats that fit, a similar fixture."""

from collections.abc import Sequence
from pathlib import Path

import click

from wireproof import formats
from wireproof.cases.fixtures import cases_of_format
from wireproof.cases.id_patterns import most_similar
from wireproof.inspect import file_survey
from wireproof.inspect.detect_format import FormatFit, mismatch_remarks
from wireproof.inspect.entry_list import listing_of
from wireproof.inspect.entry_output import ListingOptions, as_json, fields_json, notes_of
from wireproof.inspect.field_listing import field_lines
from wireproof.inspect.file_survey import MAX_FITS
from wireproof.inspect.open_input import OpenInput
from wireproof.run.exit_codes import Exit
from wireproof.wire.rejection import Remark
from wireproof.wire.text import counted


def explain_value(
    fits: Sequence[FormatFit],
    data: bytes,
    found: OpenInput,
    shown: ListingOptions,
    folders: tuple[Path, ...],
    *,
    as_json: bool,
) -> Exit:
    """Print a value field by field, and what is wrong with it."""
    best = fits[0]
    misfits = [one for one in _remarks(best) if one.cls in mismatch_remarks()]
    wrong = list(file_survey.misfit_lines(misfits))
    sound = best.consumed == len(data) and not wrong and not found.stopped
    if as_json:
        _print_json(best, data, shown, sound=sound)
        return Exit.CONFORMS if sound else Exit.FAILS
    packed = f" (unpacked from {found.packed})" if found.packed else ""
    size = counted(len(data), "byte", grouped=False)
    click.echo(f"{size}{packed} as {best.row.format_id}: {_said(best, len(data))}")
    refused = best.layout.rejected
    limit = file_survey.size_lines([(refused.cls, refused.path)] if refused is not None else [])
    for line in (*wrong, *([f"wrong: {found.stopped}"] if found.stopped else []), *limit):
        click.echo(line)
    notes = notes_of(listing_of(best.row), best.layout.spans)
    most = 5000 if shown.limit is None else shown.limit
    for count, field in enumerate(field_lines(best.layout, refused.at if refused else None, notes)):
        if count >= most:
            click.echo(f"… {len(best.layout.spans)} fields in all: --limit sets how many lines are listed")
            break
        click.echo(str(field))
    harmless = [one for one in _remarks(best) if one.cls not in mismatch_remarks()]
    for line in file_survey.remark_text_lines(harmless):
        click.echo(line)
    other_lines(fits, data, folders)
    return Exit.CONFORMS if sound else Exit.FAILS


def _print_json(best: FormatFit, data: bytes, shown: ListingOptions, *, sound: bool) -> None:
    notes = notes_of(listing_of(best.row), best.layout.spans)
    for count, tree in enumerate(fields_json(best.layout, notes)):
        if shown.limit is not None and count >= shown.limit:
            break
        click.echo(as_json(tree))
    summary = {
        "type": "summary",
        "format": best.row.format_id,
        "bytes": len(data),
        "ok": sound,
        "sound": best.consumed,
        "remarks": [{"class": r.cls, "at": r.at, "path": r.path} for r in _remarks(best)],
    }
    click.echo(as_json(summary))


def other_lines(
    fits: Sequence[FormatFit], data: bytes, folders: tuple[Path, ...], *, similar: bool = True
) -> None:
    """Print the other formats that fit, and if `similar` the most similar fixture."""
    best, *others = fits
    refused = best.layout.rejected
    same = [fit for fit in others if fit.rank[:3] == best.rank[:3] and fit.consumed]
    if also := [fit.row.format_id for fit in same]:
        click.echo(f"also fits: {', '.join(also[:MAX_FITS])}")
    if (revisions := [fit for fit in fits if fit.row.name == best.row.name])[1:]:
        order = [row.format_id for row in formats.FORMATS.of_family(best.row.family)]
        revisions.sort(key=lambda fit: order.index(fit.row.format_id))
        click.echo(f"revisions of {best.row.name}: {'; '.join(map(_revision, revisions))}")
    if best.layout.decoded is None and not best.proven:
        # Other systems may have these bytes too: no checksum proves the format that refuses them.
        systems = {best.row.family: best}
        for fit in others:
            if fit.sure:
                systems.setdefault(fit.row.family, fit)
        for fit in list(systems.values())[1:]:
            click.echo(f"or else {fit.row.format_id}: {_said(fit, len(data))}")
    if similar:
        cases = cases_of_format(best.row.format_id, folders)
        case = most_similar(data, best.row.format_id, refused.cls if refused else None, cases)
        if case is not None:
            click.echo(f"nearest fixture: {case.id}: {case.title}")


def _revision(fit: FormatFit) -> str:
    """Describe how a revision fits: all bytes or some, its remarks, or its refusal."""
    decoded, rejected = fit.layout.decoded, fit.layout.rejected
    if rejected is not None:
        return f"{fit.row.revision} not, {rejected.cls} at {rejected.at}"
    assert decoded is not None
    if not decoded.consumed:
        return f"{fit.row.revision} not, nothing in it is whole"
    part = (
        "fits" if decoded.consumed == fit.size else f"fits {counted(decoded.consumed, 'byte', grouped=False)}"
    )
    remarks = ", ".join(sorted({remark.cls for remark in decoded.remarks}))
    return f"{fit.row.revision} {part}" + (f" with {remarks}" if remarks else "")


def _said(fit: FormatFit, size: int) -> str:
    """Return the verdict on the bytes as one line."""
    if fit.layout.rejected is not None:
        rejected = fit.layout.rejected
        return f"refused, {rejected.cls} at {rejected.at} ({rejected.path}): {rejected.text}"
    left = size - fit.consumed
    more = f", {counted(left, 'more follows', 'more follow', grouped=False)}" if left else ""
    return f"accepted, {counted(fit.consumed, 'byte', grouped=False)}{more}"


def _remarks(fit: FormatFit) -> tuple[Remark, ...]:
    return fit.layout.decoded.remarks if fit.layout.decoded else ()
