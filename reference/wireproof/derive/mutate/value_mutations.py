"""Mutations of values and of JSON texts: change parts of a decoded value and encode it again.

The encoder computes lengths, counts, checksums and frames.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from operator import eq
from random import Random
from typing import Any, Final

from attrs import evolve

from wireproof.derive.mutate.decode_trace import DecodeTrace
from wireproof.derive.mutate.draws import below, boundary_integer, pick
from wireproof.derive.mutate.encodings import mended, written
from wireproof.derive.mutate.mutation_rules import common_rules
from wireproof.derive.mutate.values_of_type import (
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

FEW_EDITS: Final = (1, 1, 2, 3)
"""Numbers of edits to draw from."""

MANY_EDITS: Final = (3, 6, 10)
"""Numbers of edits for a generated value, which is the same for every mutation."""


@lru_cache(maxsize=512)
def sites_of_value(parent: DecodeTrace) -> tuple[EditSite, ...]:
    return tuple(edit_sites(parent.value))


@lru_cache(maxsize=512)
def editable_sites(parent: DecodeTrace) -> tuple[EditSite, ...]:
    """Return the parts that an edit can change directly; the others change through their parts."""
    return tuple(filter(is_changeable, sites_of_value(parent)))


def mutate_value(parent: DecodeTrace, rng: Random, many: Sequence[int] = FEW_EDITS) -> bytes | None:
    """Change parts of the parent's value and encode it again; return None if no result could be encoded.

    `many` has the numbers of edits to draw from.
    """
    special = common_rules().edits.get(type(parent.value))
    for _ in range(4):
        value, editable = parent.value, editable_sites(parent)
        touched: list[tuple[PathStep, ...]] = []
        for _ in range(pick(rng, many)):
            if special is not None and not below(rng, 5):
                _, change = pick(rng, special)
                value, touched = change(value, rng), []
                editable = tuple(filter(is_changeable, edit_sites(value)))
            elif editable:
                site = pick(rng, editable)
                # lists, enumerations and flags lead to more code paths
                if below(rng, 3) and site.kind.holds not in ("list", "word") and site.name != "attributes":
                    site = pick(rng, editable)
                # If one part contains the other, the site of the other is outdated after an edit of one.
                if not any(all(map(eq, site.steps, steps)) for steps in touched):
                    touched.append(site.steps)
                    with suppress(Rejected):  # the validator of the class refuses the value
                        value = replace_part(value, site.steps, replacement_for(site, rng, editable))
        with suppress(Rejected):
            return written(parent.row, mended(value))
    return None


def compress_value(parent: DecodeTrace, rng: Random) -> bytes | None:
    """Compress the value, or one entry of a log, and encode it. Without compression return None."""
    value = parent.value
    name = common_rules().entries.get(type(value))
    entries = (value,) if name is None else getattr(value, name)
    at = below(rng, len(entries))
    change = common_rules().compress.get(type(entries[at])) if entries else None
    if change is None:
        return None
    with suppress(Rejected):
        whole = change(entries[at], rng)
        if name is not None:
            changed: Any = {name: (*entries[:at], whole, *entries[at + 1 :])}
            whole = evolve(value, **changed)
        return written(parent.row, mended(whole))
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
    with suppress(Rejected):
        return written(fmt, mended(replace_part(one.value, target.steps, new)))
    return None


def edit_value(value: Any, rng: Random) -> Any:  # noqa: ANN401 - a value class
    """Return the value with one part changed; half of the time the fields that depend on it follow."""
    found = tuple(edit_sites(value))
    if not found:
        return value
    site = found[rng.randrange(len(found))]
    try:
        new = replace_part(value, site.steps, replacement_for(site, rng, found))
        return mended(new) if rng.randrange(2) else new
    except Rejected:  # the class allows no such value
        return value


REPLACEMENTS: Final[tuple[Any, ...]] = (
    None, True, 0, -1, 1.5, 1 << 127, 1 << 128, (1 << 64) - 1, "", "x", "\U0001f600", "AA==", "AB==", "bool",
    "int32", "uint128", [], {}, [0],
)  # fmt: skip
"""Replacements for any JSON value."""


def mutate_json(rng: Random, data: bytes) -> bytes | None:
    """Return the text with one to three changes in its tree; None if it is not JSON."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return None
    duplicate = not below(rng, 4)
    for _ in range(pick(rng, (0, 0, 1) if duplicate else (1, 1, 1, 2))):
        places = _places_by_type(tree)
        if places:
            _change(rng, *pick(rng, pick(rng, places)))
        else:
            tree = [tree]
    text = json.dumps(
        tree, separators=pick(rng, ((",", ":"), (", ", ": "))), ensure_ascii=bool(below(rng, 2))
    )
    if duplicate:  # a member whose value has no nested object, once more: a tree cannot express that
        pattern = pick(rng, (r'"[^"]*": ?(?:\{[^{}]*\}|"[^"]*"|[0-9]+)', r'"[^"]*": ?\{[^{}]*\}'))
        members = list(re.finditer(pattern, text))
    if duplicate and members:
        member = pick(rng, members)
        text = f"{text[: member.end()]},{member[0]}{text[member.end() :]}"
    return text.encode(errors="surrogatepass")


def _places_by_type(tree: Any) -> list[list[tuple[Any, Any]]]:  # noqa: ANN401 - JSON
    """Return the container and the key of every member and item, without recursion.

    Grouped by type (list items, numbers, strings, others), so that frequent types do not dominate.
    """
    groups: dict[type, list[tuple[Any, Any]]] = {}
    pending = [tree]
    while pending:
        node = pending.pop()
        pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        for key, part in pairs:
            groups.setdefault(_type_of(node, key), []).append((node, key))
            pending.append(part)
    return list(groups.values())


CHANGES_BY_TYPE: Final = {list: 3, int: 12, str: 12, object: 6}
"""The number of equally likely changes by type of a place, one of which is its removal.

Numbers and strings are mostly replaced.
"""


def _type_of(holder: Any, key: Any) -> type:  # noqa: ANN401 - JSON
    kind = list if isinstance(holder, list) else type(holder[key])
    return kind if kind in CHANGES_BY_TYPE else object


def _change(rng: Random, holder: Any, key: Any) -> None:  # noqa: ANN401 - JSON
    match below(rng, CHANGES_BY_TYPE[_type_of(holder, key)]):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[key + pick(rng, ("x", "_", " ", "\U0001f600"))] = holder.pop(key)  # one takes two escapes
        case 2 if isinstance(holder, dict):
            holder["more"] = deepcopy(pick(rng, REPLACEMENTS))
        case 1:
            holder.append(deepcopy(holder[key]))
        case _:
            holder[key] = _replacement(rng, holder[key])


def _replacement(rng: Random, part: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a replacement, mostly of the same type: another number, or a word of the same enumeration."""
    if below(rng, 6):
        if type(part) is int:
            other = abs(boundary_integer(rng, part))
            return other + (other == part)
        enumerations = common_rules().enumerations if isinstance(part, str) else ()
        words = next((words for words in enumerations if part in words), ())
        if words:
            return pick(rng, words)
    return deepcopy(pick(rng, REPLACEMENTS))
