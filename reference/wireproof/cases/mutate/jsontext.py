"""Edits of JSON text: members that are missing, new, twice or of another type."""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final

from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.numbers import integer
from wireproof.iggy.kinds import BY_NAME
from wireproof.iggy.layout import STATES

MEMBER: Final = re.compile(r'("[^"]*": ?(?:\{[^{}]*\}|"[^"]*"|[0-9]+))')
"""A member whose value holds no other object."""

OBJECT: Final = re.compile(r'"[^"]*": ?\{[^{}]*\}')
"""The same, where that value is an object itself."""

OTHERS: Final[tuple[Any, ...]] = (
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
"""What stands in place of something else."""

CLOSED: Final[tuple[tuple[str, ...], ...]] = (tuple(BY_NAME), tuple(STATES.values()))
"""Lists of words of which each may stand where another one does, as far as a reader of text can tell."""

MORE: Final = ("x", "_", " ", "\U0001f600")
"""What stands behind a name; the last one takes two escapes."""


def edited(rng: Random, data: bytes) -> bytes | None:
    """The text with one to three places of its tree changed; None if it is no JSON."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return None
    twice = not below(rng, 4)
    for _ in range(pick(rng, (0, 0, 1) if twice else (1, 1, 1, 2))):
        places = _sorted(_places(tree))
        if not places:
            tree = [tree]
            continue
        _change(rng, *pick(rng, pick(rng, places)))
    text = json.dumps(
        tree, separators=pick(rng, ((",", ":"), (", ", ": "))), ensure_ascii=bool(below(rng, 2))
    )
    found = list(pick(rng, (MEMBER, OBJECT)).finditer(text)) if twice else []
    if found:  # a member twice, which no tree holds
        one = pick(rng, found)
        text = f"{text[: one.end()]},{one[0]}{text[one.end() :]}"
    return text.encode(errors="surrogatepass")


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - JSON
    """Every member and item: what holds it, and its key there; iterative."""
    todo = [tree]
    while todo:
        here = todo.pop()
        pairs = list(
            here.items() if isinstance(here, dict) else enumerate(here) if isinstance(here, list) else ()
        )
        for key, part in pairs:
            yield here, key
            todo.append(part)


def _sorted(places: Iterator[tuple[Any, Any]]) -> list[list[tuple[Any, Any]]]:
    """The items of lists, the members that are numbers, texts, and others: one sort does not hide another."""
    found: dict[type, list[tuple[Any, Any]]] = {}
    for holder, key in places:
        found.setdefault(_sort(holder, key), []).append((holder, key))
    return list(found.values())


WAYS: Final = {list: 3, int: 12, str: 12, object: 6}
"""By sort of a place, one change in so many takes it away; numbers and texts mostly are replaced."""


def _sort(holder: Any, key: Any) -> type:  # noqa: ANN401 - JSON
    sort = list if isinstance(holder, list) else type(holder[key])
    return sort if sort in WAYS else object


def _change(rng: Random, holder: Any, key: Any) -> None:  # noqa: ANN401 - JSON
    match below(rng, WAYS[_sort(holder, key)]):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[key + pick(rng, MORE)] = holder.pop(key)
        case 2 if isinstance(holder, dict):
            holder["more"] = deepcopy(pick(rng, OTHERS))
        case 1:
            holder.append(deepcopy(holder[key]))
        case _:
            holder[key] = _another(rng, holder[key])


def _another(rng: Random, part: Any) -> Any:  # noqa: ANN401 - JSON
    """Something else, mostly of the same sort: a number that a field may hold, a word of the same list."""
    if below(rng, 6):
        if type(part) is int:
            other = abs(integer(rng, part))
            return other + (other == part)
        words = [some for some in CLOSED if part in some] if isinstance(part, str) else []
        if words:
            return pick(rng, words[0])
    return deepcopy(pick(rng, OTHERS))
