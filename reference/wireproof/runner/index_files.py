"""The index files of a log segment: found by name, read, and checked against the log beside them.

Systems give their files the same names, `00000000000000001000.index`. So the log beside an index file, or
its own bytes, identify the system. The families have the rules: `wireproof.segment_files.IndexRules`.
"""

from pathlib import Path
from typing import Any, Final, TypeAlias

from wireproof.family import object_at
from wireproof.formats import FAMILIES
from wireproof.segment_files import LOG, CheckedIndex, IndexFileError, IndexRules, SegmentFileName

HEAD_BYTES: Final = 1 << 20
"""Bytes at the beginning of a log that identify its system."""

Owner: TypeAlias = tuple[IndexRules, Any]
"""The rules of the system of a log, and the entries of the log."""


def index_rules() -> tuple[IndexRules, ...]:
    """Return the rules of the installed families that have some."""
    places = (family.index_files for family in FAMILIES.values())
    return tuple(object_at(place) for place in places if place)


def parse_file_name(path: Path) -> SegmentFileName | None:
    """Parse the name of a segment's file; None for any other name."""
    found = (rules.file_name.fullmatch(path.name) for rules in index_rules())
    return next((SegmentFileName(int(one["base"]), one["kind"], path) for one in found if one), None)


def kind_of(path: Path) -> str:
    """Return the kind of an index file by the ending of its name; empty for another file."""
    found = (rules.ending.fullmatch(path.name) for rules in index_rules())
    return next((one["kind"] for one in found if one), "")


def check_index_file(path: Path) -> CheckedIndex:
    """Return an index file, checked against the log beside it.

    Raises:
        IndexFileError: its name has no base offset, or it is too large.
    """
    name = parse_file_name(path)
    if name is None or name.kind == LOG:
        raise IndexFileError(
            f"{path}: the name of an index file must be its base offset: 00000000000000000000.index"
        )
    return _check(name, name.beside(LOG))


def check_index_files(log: Path) -> tuple[CheckedIndex, ...]:
    """Return the index files beside a log, checked; none if there are none, as in many archives."""
    name = parse_file_name(log)
    if name is None or name.kind != LOG or not log.is_file():
        return ()
    kinds = dict.fromkeys(kind for rules in index_rules() for kind in rules.kinds)
    names = [_of_kind(name, kind) for kind in kinds if name.beside(kind).is_file()]
    if not names:
        return ()
    if (owner := owner_of(log)) is not None:
        rules, entries = owner
        names += [_of_kind(name, kind) for kind in rules.missing(name, entries)]
    return tuple(_check(one, log) for one in names)


def owner_of(log: Path) -> Owner | None:
    """Return the rules of the system of a log, and its entries; None for a log that shows no system.

    A log whose beginning proves nothing belongs to the first system that finds an entry in it.
    """
    with log.open("rb") as file:
        head = file.read(HEAD_BYTES)
    certain = (rules for rules in index_rules() if rules.begins_log(head))
    for rules in (*certain, *index_rules()):
        entries = rules.read_log(log)
        if entries is not None and (entries.heads or not entries.size):
            return rules, entries
    return None


def proven_system(log: Path) -> str:
    """Return the system that the beginning of a log proves; empty if it proves none."""
    with log.open("rb") as file:
        head = file.read(HEAD_BYTES)
    return next((rules.system for rules in index_rules() if rules.begins_log(head)), "")


def is_claimed_before(head: bytes, system: str) -> bool:
    """Return whether the beginning of a log proves a system that is listed before this one."""
    for rules in index_rules():
        if rules.system == system:
            return False
        if rules.begins_log(head):
            return True
    return False


def _of_kind(name: SegmentFileName, kind: str) -> SegmentFileName:
    return SegmentFileName(name.base, kind, name.beside(kind))


def _check(name: SegmentFileName, log: Path) -> CheckedIndex:
    """Check an index file against its log, or by its own bytes if the log shows no system."""
    owner = owner_of(log) if log.is_file() else None
    if owner is not None:
        rules, entries = owner
        return rules.check(name, entries)
    for rules in index_rules():
        if name.kind in rules.kinds and (found := rules.fits_alone(name)) is not None:
            entries = rules.read_log(log) if log.is_file() else None
            return found if entries is None else rules.check(name, entries)
    first = next(rules for rules in index_rules() if name.kind in rules.kinds)
    return first.check(name, first.read_log(log) if log.is_file() else None)
