"""Mutations of values: change parts of a decoded value and encode it again.

The encoder computes lengths, counts, checksums and frames.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from operator import eq
from random import Random
from typing import Any, Final

from attrs import evolve

from wireproof.cases.mutate.decode_trace import DecodeTrace
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.encodings import mended, written
from wireproof.cases.mutate.mutation_rules import Edit, merged
from wireproof.cases.mutate.values_of_type import (
    MAX_ELEMENTS,
    EditSite,
    PathStep,
    edit_sites,
    is_changeable,
    replace_part,
    replacement_for,
)
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


@lru_cache(maxsize=512)
def sites_of_value(parent: DecodeTrace) -> tuple[EditSite, ...]:
    """Return the parts of the parent's value, without the value itself."""
    return tuple(site for site in edit_sites(parent.value) if site.steps)


@lru_cache(maxsize=512)
def editable_sites(parent: DecodeTrace) -> tuple[EditSite, ...]:
    """Return the parts that an edit can change directly; the others change through their parts."""
    return tuple(filter(is_changeable, sites_of_value(parent)))


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
                tuple(site for site in edit_sites(value) if site.steps and is_changeable(site)),
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


def edit_value(value: Any, rng: Random) -> Any:  # noqa: ANN401 - a value class
    """Return the value with one part changed; half of the time the fields that depend on it follow."""
    found = tuple(site for site in edit_sites(value) if site.steps)
    if not found:
        return value
    site = found[rng.randrange(len(found))]
    try:
        new = replace_part(value, site.steps, replacement_for(site, rng, found))
        return mended(new) if rng.randrange(2) else new
    except Rejected:  # the class allows no such value
        return value
