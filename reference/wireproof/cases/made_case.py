"""Make a generated case: the bytes or the value of its recipe, and the value that it expects.

Both are large, so they are made when they are needed and not when fixtures are loaded; the last ones are
kept, because a run needs them two or three times in a row.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from hashlib import sha256
from typing import Final, TypeVar

from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Data, Generated, PlainInput, Value
from wireproof.cases.generate import heka, iggy, iggy_json, iggy_log, kafka
from wireproof.cases.generate.recipe import MAX_ASKED, Recipe
from wireproof.cases.stream_prefix import stream_value
from wireproof.wire.json_values import Json, canonical_json, json_digest

T = TypeVar("T")


class GenerateError(ValueError):
    """A recipe makes other bytes, or another value, than its fixture states, or it makes nothing."""


@frozen
class Generator:
    """The makers of one kind of recipe.

    Attributes:
        data: the bytes to decode.
        value: the value that they have.
        given: the value to encode: `value` without the fields that a decoder computes.
    """

    data: Callable[[Recipe], bytes]
    value: Callable[[Recipe], Json]
    given: Callable[[Recipe], Json]


def _alike(data: Callable[[Recipe], bytes], value: Callable[[Recipe], Json]) -> Generator:
    """Return a generator whose decoded value can be encoded as it is."""
    return Generator(data, value, value)


def _kafka_message(magic: int) -> Generator:
    value = partial(kafka.message_value, magic=magic)
    made = partial(kafka.message, magic=magic)
    return Generator(made, partial(value, computed=True), partial(value, computed=False))


def _iggy() -> Iterator[tuple[str, Generator]]:
    yield "iggy.send/0.0.30", _alike(iggy.send_30, iggy.send_30_value)
    yield "iggy.send/0.11", _alike(iggy.send_11, iggy.send_11_value)
    yield "iggy.poll/0.11", _alike(iggy.poll_11, iggy.poll_11_value)
    for name in ("0.0.30", "0.0.40", "0.0.60"):
        made, value = partial(iggy.poll_30, revision=name), partial(iggy.poll_30_value, revision=name)
        yield f"iggy.poll/{name}", _alike(made, value)
    for name in iggy.HEADED:
        yield f"iggy.send/{name}", _alike(partial(iggy.send_70, revision=name), iggy.send_70_value)
        made, value = partial(iggy.poll_70, revision=name), partial(iggy.poll_70_value, revision=name)
        yield f"iggy.poll/{name}", _alike(made, value)


def _iggy_json() -> Iterator[tuple[str, Generator]]:
    for name in ("0.0.30", "0.7", "0.8", "0.9", "0.10"):
        yield f"iggy.json.send/{name}", _alike(iggy_json.send, iggy_json.send_value)
    for name in ("0.0.30", "0.0.40", "0.0.60"):
        value = partial(iggy.poll_30_value, revision=name)
        yield f"iggy.json.poll/{name}", _alike(partial(iggy_json.poll_30, revision=name), value)
    for name in iggy_json.RESERVED:
        value = partial(iggy_json.poll_70_json_value, revision=name)
        yield f"iggy.json.poll/{name}", _alike(partial(iggy_json.poll_70, revision=name), value)


def _iggy_log() -> Iterator[tuple[str, Generator]]:
    yield "iggy.log/0.0.30", _alike(iggy_log.log_30, iggy_log.log_30_value)
    yield "iggy.log/0.0.40", _alike(iggy_log.log_40, iggy_log.log_40_value)
    yield "iggy.log/0.2.7", _alike(iggy_log.log_27, iggy_log.log_27_value)
    for name in iggy.HEADED:
        made, value = partial(iggy_log.log_70, revision=name), partial(iggy_log.log_70_value, revision=name)
        yield f"iggy.log/{name}", _alike(made, value)
    for name in ("0.11", "0.11.1-edge"):
        yield f"iggy.log/{name}", _alike(iggy_log.log_11, partial(iggy_log.log_11_value, revision=name))


GENERATORS: Final[Mapping[str, Generator]] = {
    "heka.message/0.10": _alike(heka.message, heka.message_value),
    "heka.stream/0.10": _alike(heka.stream, heka.stream_value),
    **dict(_iggy()),
    **dict(_iggy_json()),
    **dict(_iggy_log()),
    "kafka.batch/v0": _kafka_message(0),
    "kafka.batch/v1": _kafka_message(1),
    "kafka.batch/v2": Generator(
        kafka.batch, partial(kafka.batch_value, computed=True), partial(kafka.batch_value, computed=False)
    ),
}
"""The generator of each kind."""


def generator_of(recipe: Recipe) -> Generator:
    """Return the generator of a recipe; raise `GenerateError` for an unknown kind."""
    found = GENERATORS.get(recipe.kind)
    if found is None:
        raise GenerateError(f"nothing generates {recipe.kind}; known kinds: {', '.join(GENERATORS)}")
    return found


def check_generated(case: Case) -> None:
    """Raise `GenerateError` if the case has a recipe that does not fit its other fields."""
    if not isinstance(case.input, Generated):
        return
    generator_of(case.input.recipe)
    if case.input.recipe.kind != case.format_id:
        raise GenerateError(f"its recipe makes {case.input.recipe.kind}, not {case.format_id}")
    if case.op == "scan" or not isinstance(case.expect, Accept):
        raise GenerateError("a generated case is an accepted decode or encode")
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
    """Return the case with its input and its expected value; raise `GenerateError` as `made_input`.

    A case that is not generated is returned as it is.
    """
    source, expect = case.input, case.expect
    if not isinstance(source, Generated) or not isinstance(expect, Accept):
        return case
    if case.op == "encode":
        value = generator_of(source.recipe).value(source.recipe)
        return evolve(case, input=made_input(case), expect=evolve(expect, value=value))
    value = _value(source.recipe, expect.digest)
    whole = stream_value(case.format, source.list_name, [value]) if source.list_name else value
    return evolve(case, input=made_input(case), expect=evolve(expect, value=whole, digest=""))


def is_large(case: Case) -> bool:
    """Return whether an adapter must answer digests to be asked for a case: its values are over 1.5 MiB."""
    return isinstance(case.input, Generated) and case.input.recipe.payload > MAX_ASKED


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


def _checked(recipe: Recipe, made: T, data: bytes, digest: str) -> T:
    if (found := sha256(data).hexdigest()) != digest:
        raise GenerateError(f"{recipe} makes an input with the sha256 {found}, not {digest}")
    return made
