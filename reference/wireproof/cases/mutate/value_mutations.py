"""Mutations of values: change parts of a decoded value and encode it again.

The encoder computes lengths, counts, checksums and frames.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from operator import eq
from random import Random
from typing import Any, Final

from attrs import evolve

from wireproof.cases.mutate.boundary_values import boundary_bytes, boundary_integer
from wireproof.cases.mutate.decode_trace import DecodeTrace
from wireproof.cases.mutate.edit_sites import (
    EditSite,
    PartType,
    PathStep,
    edit_sites,
    part_type,
    replace_part,
)
from wireproof.cases.mutate.fullest import full
from wireproof.cases.mutate.least import least, written
from wireproof.cases.mutate.mended import mended
from wireproof.cases.mutate.mutation_rules import Edit, merged
from wireproof.cases.mutate.random_draws import below, pick
from wireproof.cases.mutate.widths import fitted
from wireproof.formats import Format
from wireproof.wire.rejection import Rejected

MAX_TRIES: Final = 4
"""The most attempts to find edits whose result can be encoded."""

FEW_EDITS: Final = (1, 1, 2, 3)
"""Numbers of edits to draw from."""

MANY_EDITS: Final = (3, 6, 10)
"""Numbers of edits for a generated value, which is the same for every mutation."""

SPECIAL: Final = 5
"""One in this many edits is a special one of the family, if it has any for the class."""

MAX_ELEMENTS: Final = 48
"""The most elements that an edit gives a list."""

FLIPS: Final = (*(1 << bit for bit in range(8)), 0x48, 0x30)
"""The bits to flip in attributes: one bit, or two that belong together or are unusual together."""


ALTERNATIVE: Final = 3
"""One in this many edits of a union draws another alternative."""

CODED_FIELD: Final = 3
"""One in this many edits of a number with known codes draws one of the codes."""


@cache
def _special_edits() -> dict[type, tuple[tuple[str, Edit], ...]]:
    """Return class to the names and functions of its special edits."""
    return merged(lambda rules: rules.edits)


@cache
def _compressing_edits() -> dict[type, Edit]:
    """Return class to the function that compresses a value."""
    return merged(lambda rules: rules.compress)


@cache
def _entry_lists() -> dict[type, str]:
    """Return the class of a stream to the field that has its entries."""
    return merged(lambda rules: rules.entries)


@cache
def _codes() -> dict[tuple[type, str], tuple[int, ...]]:
    """Return class and field to the codes that have a meaning.

    Random draws find small codes easily, but hardly ever a single code in a large range.
    """
    return merged(lambda rules: rules.codes)


@lru_cache(maxsize=512)
def sites_of_value(parent: DecodeTrace) -> tuple[EditSite, ...]:
    """Return the parts of the parent's value, without the value itself."""
    return tuple(site for site in edit_sites(parent.value) if site.steps)


@lru_cache(maxsize=512)
def editable_sites(parent: DecodeTrace) -> tuple[EditSite, ...]:
    """Return the parts that an edit can change directly; the others change through their parts."""
    return tuple(filter(_changeable, sites_of_value(parent)))


def _changeable(site: EditSite) -> bool:
    return site.kind.holds in _CHANGES or site.kind.null or bool(site.kind.others)


def mutate_value(
    parent: DecodeTrace, rng: Random, edits: list[str], many: Sequence[int] = FEW_EDITS
) -> bytes | None:
    """Change parts of the parent's value and encode it again; return None if no result could be encoded.

    Args:
        parent: the bytes to edit.
        rng: the source of all randomness.
        edits: a list to which the names of the edits are added.
        many: the numbers of edits to draw from.
    """
    for _ in range(MAX_TRIES):
        value, names = _changed(parent, rng, pick(rng, many))
        try:
            data = written(parent.row, mended(value))
        except Rejected:
            continue
        edits += names
        return data
    return None


def _changed(parent: DecodeTrace, rng: Random, count: int) -> tuple[Any, list[str]]:
    """Apply that many edits to the parent's value, and return it with their names."""
    value, editable = parent.value, editable_sites(parent)
    names: list[str] = []
    touched: list[tuple[PathStep, ...]] = []
    extra = _special_edits().get(type(value))
    for _ in range(count):
        if extra is not None and not below(rng, SPECIAL):
            name, change = pick(rng, extra)
            value = change(value, rng)
            editable, touched = (
                tuple(site for site in edit_sites(value) if site.steps and _changeable(site)),
                [],
            )
            names.append(name)
        elif editable:
            site = choose_site(editable, rng)
            if not any(_overlap(site.steps, steps) for steps in touched):
                value, name = _edited(value, site, rng, editable)
                touched.append(site.steps)
                names.append(name)
    return value, names


def _overlap(one: tuple[PathStep, ...], two: tuple[PathStep, ...]) -> bool:
    """Return whether one part contains the other: after an edit of one, the site of the other is outdated."""
    return all(map(eq, one, two))


def _edited(value: Any, site: EditSite, rng: Random, sites_found: tuple[EditSite, ...]) -> tuple[Any, str]:  # noqa: ANN401 - a value
    try:
        return replace_part(
            value, site.steps, replacement_for(site, rng, sites_found)
        ), f"{site.kind.holds} {site.name}"
    except Rejected:  # the validator of the class refuses the value
        return value, "none"


def choose_site(found: tuple[EditSite, ...], rng: Random) -> EditSite:
    """Draw a site; prefer lists, enumerations and flags, because they lead to more code paths."""
    site = found[below(rng, len(found))]
    if below(rng, 3) and site.kind.holds not in ("list", "word") and site.name != "attributes":
        site = found[below(rng, len(found))]
    return site


def replacement_for(site: EditSite, rng: Random, found: tuple[EditSite, ...]) -> Any:  # noqa: ANN401 - a part of a value
    """Return a replacement for the part at a site."""
    if site.kind.null and (site.now is None or not below(rng, 4)):
        return new_part(site.kind, rng, site.name) if site.now is None else None
    if site.kind.others and not below(rng, ALTERNATIVE):
        return _alternative(site.kind.others, site.name, rng)
    if site.kind.holds in ("int", "bytes") and not below(rng, 6):
        return _sibling(site, rng, found)
    change = _CHANGES.get(site.kind.holds)
    return change(site, rng) if change else site.now


def _alternative(types: Sequence[Any], name: str, rng: Random) -> Any:  # noqa: ANN401 - a part of a value
    """Return a value of one of several types; for a class, a maximal one or a small one."""
    drawn = pick(rng, types)
    kind = part_type(drawn)
    return full(drawn, name) if kind.holds == "value" and below(rng, 2) else new_part(kind, rng, name)


def _integer(site: EditSite, rng: Random) -> int:
    """Return another number that fits the field; for attributes, flip bits."""
    now: int = site.now
    known = _codes().get((site.owner, site.name))
    if known and not below(rng, CODED_FIELD):
        return pick(rng, known)
    new = now ^ pick(rng, FLIPS) if site.name == "attributes" else boundary_integer(rng, now)
    return fitted(site.owner, site.name, new)


def _sibling(site: EditSite, rng: Random, found: tuple[EditSite, ...]) -> Any:  # noqa: ANN401 - a part of a value
    """Return the value of another part of the same type."""
    values = [one.now for one in found if one.kind.holds == site.kind.holds and one.now is not None]
    return pick(rng, values) if values else site.now


def _list(now: tuple[Any, ...], kind: PartType, rng: Random, name: str) -> tuple[Any, ...]:
    """Return the list with an element added, removed or duplicated, reordered, doubled or truncated."""
    at = below(rng, len(now) + 1)
    match below(rng, 6):
        case 0 if now:
            at %= len(now)
            return now[:at] + now[at + 1 :]
        case 1 if now and len(now) < MAX_ELEMENTS:
            at %= len(now)
            return now[: at + 1] + now[at:]
        case 2 if len(now) > 1:
            return tuple(rng.sample(now, len(now)))
        case 3 if now and len(now) < MAX_ELEMENTS // 2:
            return now * 2
        case _ if len(now) < MAX_ELEMENTS:
            return (*now[:at], new_part(part_type(kind.of[0]), rng, name), *now[at:])
    return now[: below(rng, len(now) + 1)]


def new_part(kind: PartType, rng: Random, name: str) -> Any:  # noqa: ANN401 - a part of a value
    """Return a value for a part that was None or did not exist."""
    if kind.holds == "value":
        return _fresh_value(least(pick(rng, kind.of)), rng)
    if kind.holds == "pair":
        return tuple(new_part(part_type(hint), rng, name) for hint in kind.of)
    if kind.holds == "list":
        return () if below(rng, 2) else (new_part(part_type(kind.of[0]), rng, name),)
    return _SCALARS[kind.holds](kind, rng)


_SCALARS: Final[dict[str, Callable[[PartType, Random], Any]]] = {
    "int": lambda _, rng: boundary_integer(rng, 0),
    "bytes": lambda _, rng: boundary_bytes(rng, b"k"),
    "bool": lambda _, rng: bool(below(rng, 2)),
    "word": lambda kind, rng: pick(rng, kind.of),
}
"""Scalar type to a function that returns a new value."""

_CHANGES: Final[dict[str, Callable[[EditSite, Random], Any]]] = {
    "int": _integer,
    "bytes": lambda site, rng: boundary_bytes(rng, site.now),
    "bool": lambda site, _: not site.now,
    "word": lambda site, rng: pick(rng, site.kind.of),
    "list": lambda site, rng: _list(site.now, site.kind, rng, site.name),
}
"""Type to a function that returns a replacement; pairs and values change through their parts."""


def _fresh_value(value: Any, rng: Random) -> Any:  # noqa: ANN401 - an instance of a value class
    """Return the value with one part changed."""
    parts = tuple(site for site in edit_sites(value) if site.steps)
    site = pick(rng, parts)
    try:
        return replace_part(value, site.steps, replacement_for(site, rng, parts))
    except Rejected:
        return value


def compress_value(parent: DecodeTrace, rng: Random) -> bytes | None:
    """Compress the value, or one entry of a log, and encode it. Without compression return None."""
    value = parent.value
    name = _entry_lists().get(type(value))
    entries = (value,) if name is None else getattr(value, name)
    at = below(rng, len(entries))
    change = _compressing_edits().get(type(entries[at])) if entries else None
    if change is None:
        return None
    try:
        entry = change(entries[at], rng)
        changed: dict[str, Any] = {} if name is None else {name: (*entries[:at], entry, *entries[at + 1 :])}
        whole = evolve(value, **changed) if changed else entry
        return written(parent.row, mended(whole))
    except Rejected:
        return None


def cross_values(fmt: Format, one: DecodeTrace, two: DecodeTrace, rng: Random) -> bytes | None:
    """Replace or extend a part of `one` by a part of `two` of the same type; return None if no part fits."""
    candidates = [
        site for site in sites_of_value(one) if site.kind.holds in ("list", "pair", "value", "bytes", "int")
    ]
    if not candidates:
        return None
    lists = [site for site in candidates if site.kind.holds == "list"]
    target = pick(rng, lists if lists and below(rng, 2) else candidates)
    others = [site.now for site in sites_of_value(two) if site.kind == target.kind]
    if not others:
        return None
    new = pick(rng, others)
    if target.kind.holds == "list" and target.now and new and below(rng, 2):
        new = (*target.now[: below(rng, len(target.now) + 1)], *new[below(rng, len(new)) :])[:MAX_ELEMENTS]
    try:
        return written(fmt, mended(replace_part(one.value, target.steps, new)))
    except Rejected:
        return None
