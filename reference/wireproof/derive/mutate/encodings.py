"""Encodings of values that nobody wrote: edited ones, the smallest and largest of a format, those of recipes.

An edit changes one part of a value; `mended` adjusts the parts that the format derives from it, so that few
edits are lost. Faults that only bytes can have are left to the edits of bytes.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from operator import is_
from typing import Any, TypeAlias, get_args, get_type_hints

from attrs import fields, has

from wireproof.cases.generated_bytes import Recipe
from wireproof.cases.made_case import Generator
from wireproof.derive.mutate.mutation_rules import common_rules, rules_of
from wireproof.derive.mutate.values_of_type import computed_fields, constructor_fields, largest, smallest
from wireproof.formats import FORMATS, Format, decode
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer


def mended(value: Any) -> Any:  # noqa: ANN401 - a value class, or a part of one
    """Return the normalised value; its parts are normalised first."""
    if isinstance(value, (bytes, int, str, type(None))):
        return value
    if isinstance(value, tuple):
        parts = [mended(part) for part in value]
        return value if all(map(is_, parts, value)) else tuple(parts)
    cls, rules = type(value), common_rules()
    if has(cls) and cls not in rules.whole:
        again = {name: mended(getattr(value, name)) for name in constructor_fields(cls)}
        same = all(part is getattr(value, name) for name, part in again.items())
        value = value if same else cls(**again)
    normalise = rules.normalise.get(cls)
    return normalise(value) if normalise else value


def completed(value: Any, read: Any) -> Any:  # noqa: ANN401 - a value class, or a part of one
    """Return a value with its computed fields as in `read`, what a decode of its encoding returned."""
    if isinstance(value, tuple) and isinstance(read, tuple) and len(value) == len(read):
        return tuple(map(completed, value, read))
    cls = type(value)
    if cls is not type(read) or not has(cls):
        return value
    names, computed = constructor_fields(cls), computed_fields().get(cls, ())
    parts = {name: (getattr(value, name), getattr(read, name)) for name in names}
    return cls(**{name: pair[1] if name in computed else completed(*pair) for name, pair in parts.items()})


def wrapped(value: int, bits: int) -> int:
    """Wrap `value` to a signed integer of `bits` bits."""
    return ((value + (1 << bits - 1)) & ((1 << bits) - 1)) - (1 << bits - 1)


@lru_cache(maxsize=256)
def seed(row: Format) -> bytes:
    """Return the smallest encoding of a format; lists that must not be empty have one element."""
    value = rules_of(row).for_format(row, smallest(row.value))
    hints = get_type_hints(row.value)
    parts = {a.name: getattr(value, a.name) for a in fields(row.value)}
    for name, part in parts.items():
        if part == () and get_args(hints[name])[-1:] == (Ellipsis,):
            parts[name] = (smallest(get_args(hints[name])[0], name),)
    one = row.value(**parts)
    for candidate in (value, one, mended(one)):
        with suppress(Rejected):
            return written(row, candidate)
    return b""


def written(row: Format, value: Any, options: Options = DEFAULT_OPTIONS) -> bytes:  # noqa: ANN401 - of the row's class
    """Return the encoding of a value; raise `Rejected` (`invalid-value`) if it cannot be encoded."""
    writer = Writer()
    row.encode(writer, value, options)
    return bytes(writer.data)


@lru_cache(maxsize=256)
def samples(row: Format) -> tuple[bytes, ...]:
    """Return the distinct encodings of the largest values of a format, one for each turn."""
    found: list[bytes] = []
    while (data := sample(row, len(found))) not in found:
        found.append(data)
    return tuple(found)


@lru_cache(maxsize=256)
def sample(row: Format, turn: int = 0) -> bytes:
    """Return the encoding of the largest value of a format; if it cannot be encoded, of the smallest one."""
    value = rules_of(row).for_format(row, largest(row.value, turn=turn))
    try:
        return written(row, mended(value))
    except Rejected:
        return seed(row)


Maker: TypeAlias = Callable[[Recipe], Any]
"""Returns the value of a recipe; its checksums may be wrong."""


def generator_by_codec(maker: Maker, options: Options = DEFAULT_OPTIONS) -> Generator:
    """Return a generator of the bytes that the reference writes, and of the value that it reads in them.

    The digests in a fixture are compared with both, and an independent reader reads the bytes too.
    """

    def tree(recipe: Recipe) -> Json:
        return _made(maker, recipe, options)[1]

    return Generator(lambda recipe: _made(maker, recipe, options)[0], tree, tree)


@lru_cache(maxsize=1)  # a case needs the bytes and the value of one recipe
def _made(maker: Maker, recipe: Recipe, options: Options) -> tuple[bytes, Json]:
    row, value = FORMATS[recipe.kind], maker(recipe)
    data = written(row, value, options)
    if not row.is_json:  # a writer of JSON computes nothing, and its reader is slow
        value = decode(row, data, options).value
    return data, to_json(value, with_derived=True)
