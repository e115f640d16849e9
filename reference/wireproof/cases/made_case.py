"""Make a generated case: the bytes or the value of its recipe, and the value that it expects.

Both are large, so they are made when they are needed and not when fixtures are loaded; the last ones are
kept, because a run needs them two or three times in a row.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from typing import TypeVar

from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Chunks, Data, Generated, PlainInput, Reject, Steps, Value
from wireproof.cases.generated_bytes import MAX_ASKED, Recipe
from wireproof.cases.steps import bytes_of_steps
from wireproof.cases.stream_prefix import stream_value
from wireproof.family import object_at
from wireproof.formats import FAMILIES
from wireproof.wire.json_values import Json, canonical_json, json_digest

T = TypeVar("T")


class GenerateError(ValueError):
    """A recipe makes other bytes, or another value, than its fixture states, or it makes nothing."""


@frozen
class Generator:
    """The makers of a kind of recipe: the bytes to decode, the value that they have, and the one to encode.

    The last one is the value without the fields that a decoder computes.
    """

    data: Callable[[Recipe], bytes]
    value: Callable[[Recipe], Json]
    given: Callable[[Recipe], Json]


@cache
def generators(family: str) -> Mapping[str, Generator]:
    """Return the generator of each kind of a family: the kinds are its formats. No other family is loaded."""
    found = FAMILIES.get(family)
    return object_at(found.generators) if found is not None and found.generators else {}


def generator_of(recipe: Recipe) -> Generator:
    """Return the generator of a recipe; raise `GenerateError` for an unknown kind."""
    found = generators(recipe.kind.partition(".")[0]).get(recipe.kind)
    if found is None:
        kinds = ", ".join(kind for family in FAMILIES for kind in generators(family))
        raise GenerateError(f"nothing generates {recipe.kind}; known kinds: {kinds}")
    return found


def check_generated(case: Case) -> None:
    """Raise `GenerateError` if the case has a recipe that does not fit its other fields."""
    if not isinstance(case.input, Generated):
        return
    generator_of(case.input.recipe)
    if case.input.recipe.kind != case.format_id:
        raise GenerateError(f"its recipe makes {case.input.recipe.kind}, not {case.format_id}")
    if case.op == "decode" and isinstance(case.expect, Reject):
        return
    if case.op == "scan" or not isinstance(case.expect, Accept):
        raise GenerateError("a generated case is a decode, or an accepted encode")
    if bool(case.expect.digest) != (case.op == "decode") or case.expect.value is not None:
        raise GenerateError("a generated decode expects a digest, an encode neither digest nor value")


def made_input(case: Case) -> PlainInput:
    """Return the input of a case, made if it is generated; raise `GenerateError` if its digest differs."""
    source = case.input
    if not isinstance(source, Generated):
        return source
    if case.op == "encode":
        return Value(_given(source.recipe, source.sha256))
    return Data(_data(source.recipe, source.sha256))


def made_case(case: Case) -> Case:
    """Return the case with its input and expected value, made if it is generated; raises `GenerateError`."""
    source, expect = case.input, case.expect
    if not isinstance(source, Generated):
        return case
    if not isinstance(expect, Accept):
        return evolve(case, input=made_input(case))
    if case.op == "encode":
        value = generator_of(source.recipe).value(source.recipe)
        return evolve(case, input=made_input(case), expect=evolve(expect, value=value))
    value = _value(source.recipe, expect.digest)
    whole = stream_value(case.format, source.list_name, [value]) if source.list_name else value
    return evolve(case, input=made_input(case), expect=evolve(expect, value=whole, digest=""))


def needs_digest(case: Case) -> bool:
    """Return whether an adapter must answer digests to be asked for a case: its values are over 1.5 MiB."""
    return isinstance(case.input, Generated) and case.input.recipe.payload > MAX_ASKED


def is_large(case: Case) -> bool:
    """Return whether a case runs only if a run asks for large cases: it takes seconds, not milliseconds.

    A stored input is never large: what a bomb decompresses to is bounded by the memory limit of its case.
    """
    if not isinstance(case.input, Generated):
        return False
    recipe = case.input.recipe
    return recipe.payload > 8 * 1024 * 1024 or recipe.records > 10_000


def large_cases(cases: Iterable[Case], patterns: Collection[str]) -> tuple[Case, ...]:
    """Return the large ones of some cases, except those whose id is one of the patterns of the selection."""
    return tuple(case for case in cases if case.id not in patterns and is_large(case))


@lru_cache(maxsize=1)
def _data(recipe: Recipe, digest: str) -> bytes:
    data = generator_of(recipe).data(recipe)
    return _checked(recipe, data, data, digest)


@lru_cache(maxsize=1)
def _given(recipe: Recipe, digest: str) -> Json:
    value = generator_of(recipe).given(recipe)
    return _checked(recipe, value, canonical_json(value), digest)


@lru_cache(maxsize=1)
def _value(recipe: Recipe, digest: str) -> Json:
    value = generator_of(recipe).value(recipe)
    if (found := json_digest(value)) != digest:
        raise GenerateError(f"{recipe} makes a value with the digest {found}, not {digest}")
    return value


def _checked(recipe: Recipe, content: T, data: bytes, digest: str) -> T:
    if (found := sha256(data).hexdigest()) != digest:
        raise GenerateError(f"{recipe} makes an input with the sha256 {found}, not {digest}")
    return content


def input_bytes(case: Case) -> bytes:
    """Return an input as bytes that can be compared: a value or steps as canonical JSON."""
    match made_input(case):
        case Data(data):
            return data
        case Chunks(chunks):
            return b"".join(chunks)
        case Value(value):
            return canonical_json(value)
        case Steps() as given:
            return bytes_of_steps(given)
