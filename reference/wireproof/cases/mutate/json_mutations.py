"""Mutations of JSON text: members that are missing, added, duplicated or of another type."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from random import Random
from typing import Any, Final

from wireproof.cases.mutate.draws import below, boundary_integer, pick
from wireproof.cases.mutate.mutation_rules import all_rules

MEMBER: Final = re.compile(r'("[^"]*": ?(?:\{[^{}]*\}|"[^"]*"|[0-9]+))')
"""A member whose value contains no nested object."""

OBJECT: Final = re.compile(r'"[^"]*": ?\{[^{}]*\}')
"""A member whose value is an object without nested objects."""

REPLACEMENTS: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    1.5,
    1 << 127,
    1 << 128,
    (1 << 64) - 1,
    "",
    "x",
    "\U0001f600",
    "AA==",
    "AB==",
    "bool",
    "int32",
    "uint128",
    [],
    {},
    [0],
)
"""Replacements for any JSON value."""

NAME_SUFFIXES: Final = ("x", "_", " ", "\U0001f600")
"""Suffixes for the names of members; the last one needs two escapes."""


@cache
def _enumerations() -> tuple[tuple[str, ...], ...]:
    """Return the enumerations of all families.

    A word of one is often replaced by another word of the same enumeration.
    """
    return tuple(words for rules in all_rules() for words in rules.enumerations)


def mutate_json(rng: Random, data: bytes) -> bytes | None:
    """Return the text with one to three changes in its tree; None if it is not JSON."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return None
    duplicate = not below(rng, 4)
    for _ in range(pick(rng, (0, 0, 1) if duplicate else (1, 1, 1, 2))):
        places = _by_type(_places(tree))
        if not places:
            tree = [tree]
            continue
        _change(rng, *pick(rng, pick(rng, places)))
    text = json.dumps(
        tree, separators=pick(rng, ((",", ":"), (", ", ": "))), ensure_ascii=bool(below(rng, 2))
    )
    members = list(pick(rng, (MEMBER, OBJECT)).finditer(text)) if duplicate else []
    if members:  # a duplicate member, which a tree cannot express
        member = pick(rng, members)
        text = f"{text[: member.end()]},{member[0]}{text[member.end() :]}"
    return text.encode(errors="surrogatepass")


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - JSON
    """Yield the container and the key of every member and item, without recursion."""
    pending = [tree]
    while pending:
        node = pending.pop()
        pairs = list(
            node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
        )
        for key, part in pairs:
            yield node, key
            pending.append(part)


def _by_type(places: Iterator[tuple[Any, Any]]) -> list[list[tuple[Any, Any]]]:
    """Group places by type: list items, numbers, strings, others. So frequent types do not dominate."""
    groups: dict[type, list[tuple[Any, Any]]] = {}
    for holder, key in places:
        groups.setdefault(_type_of(holder, key), []).append((holder, key))
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
            holder[key + pick(rng, NAME_SUFFIXES)] = holder.pop(key)
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
        words = (
            [enumeration for enumeration in _enumerations() if part in enumeration]
            if isinstance(part, str)
            else []
        )
        if words:
            return pick(rng, words[0])
    return deepcopy(pick(rng, REPLACEMENTS))
