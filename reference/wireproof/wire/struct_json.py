"""The JSON form of versioned structs: readable, as Kafka's tools print the same fields.

As in all values of this project integers are decimal strings and bytes are lower-case hex. Text is text, a
uuid is Kafka's own form of it (base64url without padding), a float is its shortest decimal.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from wireproof.wire.json_values import Json
from wireproof.wire.struct_codec import UNKNOWN_TAGS, HeldStruct, StructValues
from wireproof.wire.struct_table import Kind, ListOf, StructField, VersionedStruct, fields_in


def struct_json(struct: VersionedStruct, version: int, values: StructValues) -> dict[str, Json]:
    """Return the JSON form of the fields of a struct, in the order of its table."""
    tree = {one.name: _json(one, one.kind, version, values[one.name]) for one in fields_in(struct, version)}
    if UNKNOWN_TAGS in values:
        tree[UNKNOWN_TAGS] = [{"tag": str(tag), "data": data.hex()} for tag, data in values[UNKNOWN_TAGS]]
    return tree


def _json(one: StructField, kind: Kind, version: int, value: Any) -> Json:  # noqa: ANN401 - of any type
    match kind:
        case _ if value is None:
            return None
        case ListOf(of=of):
            return [_json(one, of, version, element) for element in value]
        case VersionedStruct():
            return struct_json(kind, version, value)
        case "bytes" if isinstance(value, HeldStruct):
            return _held_json(one, value)
    return _FORMS.get(kind, str)(value)


def _held_json(one: StructField, held: HeldStruct) -> Json:
    if one.holds is None:
        return held.data.hex()
    fields = struct_json(one.holds, min(held.version, one.holds.newest), held.values)
    return {"version": str(held.version), **fields, **({"rest": held.rest.hex()} if held.rest else {})}


def uuid_text(data: bytes) -> str:
    """Return Kafka's text form of a uuid."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


_FORMS: Final[Mapping[str, Callable[[Any], Json]]] = {
    "bytes": lambda value: value.hex(),
    "uuid": uuid_text,
    "float64": repr,
    "bool": bool,
    "string": str,
}
"""The JSON forms of the types that are no integers."""


def code_names(
    struct: VersionedStruct, version: int, values: StructValues, prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the path and the name of each number that is a code with a name."""
    for one in fields_in(struct, version):
        path, value = f"{prefix}{one.name}", values[one.name]
        if one.codes is not None:
            numbers = enumerate(value) if isinstance(value, list) else [(-1, value)]
            yield from (
                (path if index < 0 else f"{path}[{index}]", one.codes[number])
                for index, number in numbers
                if number in one.codes
            )
        match one.kind, value:
            case VersionedStruct() as inner, dict():
                yield from code_names(inner, version, value, f"{path}.")
            case ListOf(of=VersionedStruct() as inner), list():
                for index, element in enumerate(value):
                    yield from code_names(inner, version, element, f"{path}[{index}].")
