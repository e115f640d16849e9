"""Read Heka messages, frames and scans by heka.md §1 to §5, to check the golden cases.

Nothing here comes from the codec under test. A message is read with the schema as a table; the checks are
those that §2 and §4 have for a strict reader.
"""

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from typing import Any, Final

import cramjam

from tests.independent.refused import RefusedError

Json = Any
Field = tuple[int, int, int, Any]
"""Where the key of a field is, its number, its wire type, and the position and end of its content."""

MAX_KEY: Final = (1 << 32) - 1
MAX_GROUPS: Final = 100
MAX_MESSAGE: Final = 65536
MAX_BLOCK: Final = 1 << 28
"""Bytes that a snappy block may claim here; the cases with a larger claim are refused."""

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
TYPES: Final = ("STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL")
MESSAGE: Final = {
    1: ("uuid", BYTES), 2: ("timestamp", VARINT), 3: ("type", BYTES), 4: ("logger", BYTES),
    5: ("severity", VARINT), 6: ("payload", BYTES), 7: ("env_version", BYTES), 8: ("pid", VARINT),
    9: ("hostname", BYTES), 10: ("fields", BYTES),
}  # fmt: skip
FIELD: Final = {
    1: ("name", BYTES), 2: ("value_type", VARINT), 3: ("representation", BYTES),
    4: ("value_string", BYTES), 5: ("value_bytes", BYTES), 6: ("value_integer", VARINT),
    7: ("value_double", FIXED64), 8: ("value_bool", VARINT),
}  # fmt: skip
HEADER: Final = {
    1: ("message_length", VARINT), 3: ("hmac_hash_function", VARINT), 4: ("hmac_signer", BYTES),
    5: ("hmac_key_version", VARINT), 6: ("hmac", BYTES),
}  # fmt: skip
FUNCTIONS: Final = ("MD5", "SHA1")


def varint(data: bytes, at: int, end: int, cut: str = "truncated") -> tuple[int, int]:
    """Return a number of base 128 and the position behind it; refuse more than ten bytes or 64 bits."""
    number = 0
    for place in range(at, min(end, at + 10)):
        number |= (data[place] & 127) << 7 * (place - at)
        if data[place] < 128:
            if number >> 64:
                raise RefusedError("bad-varint", at)
            return number, place + 1
    raise RefusedError("bad-varint" if end - at >= 10 else cut, at)


def _key(data: bytes, at: int, end: int, cut: str, *, shortest: bool) -> tuple[int, int, int]:
    """Return number and wire type of a key: at most 2^32 − 1 and five bytes; §4, keys."""
    key, after = varint(data, at, end, cut)
    if key > MAX_KEY or after - at > 5 or (shortest and after - at > 1 and key >> 7 * (after - at - 1) == 0):
        raise RefusedError("bad-varint", at)
    if key >> 3 == 0 or key & 7 > FIXED32:
        raise RefusedError("bad-kind", at)
    return key >> 3, key & 7, after


def _fields(data: bytes, at: int, end: int, cut: str, *, shortest: bool) -> Iterator[Field]:
    """Yield the fields between two positions, with the number of a varint or begin and end of the content."""
    while at < end:
        begin = at
        number, wire, at = _key(data, begin, end, cut, shortest=shortest)
        match wire:
            case 0:
                content, after = varint(data, at, end, cut)
                yield begin, number, wire, (content, at, after)
            case 3:
                after = _group_end(data, at, end, [number], cut)
                yield begin, number, wire, None
            case 4:
                raise RefusedError("bad-kind", begin)
            case _:
                start, after = _content(data, at, end, wire, cut)
                yield begin, number, wire, (start, after)
        at = after


def _content(data: bytes, at: int, end: int, wire: int, cut: str) -> tuple[int, int]:
    """Return begin and end of content that has a length; one above 63 bits cannot be counted with."""
    size, start = {FIXED64: (8, at), FIXED32: (4, at)}.get(wire) or varint(data, at, end, cut)
    if size >= 1 << 63:
        raise RefusedError("length-past-end", at)
    if start + size > end:
        raise RefusedError(cut, start)
    return start, start + size


def _group_end(data: bytes, at: int, end: int, open_groups: list[int], cut: str) -> int:
    """Return the position behind a group: groups lie in one another, at most 100 deep."""
    while open_groups:
        begin = at
        number, wire, at = _key(data, begin, end, cut, shortest=False)
        if wire == GROUP:
            open_groups.append(number)
            if len(open_groups) > MAX_GROUPS:
                raise RefusedError("bad-nesting", begin)
        elif wire == END_GROUP:
            if open_groups.pop() != number:
                raise RefusedError("bad-nesting", begin)
        elif wire == VARINT:
            _, at = varint(data, at, end, cut)
        else:
            size, start = {FIXED64: (8, at), FIXED32: (4, at)}.get(wire) or varint(data, at, end, cut)
            if start + size > end:
                raise RefusedError(cut, start)
            at = start + size
    return at


def signed(number: int) -> int:
    """Return a number of 64 bits as a signed one."""
    return number - (1 << 64) if number >> 63 else number


def _int32(number: int, at: int) -> str:
    """Return an int32: it has ten bytes, or the five of its low 32 bits (§4, M14 to M19)."""
    value = number - (1 << 32) if 1 << 31 <= number < 1 << 32 else signed(number)
    if not -(1 << 31) <= value < 1 << 31:
        raise RefusedError("bad-varint", at)
    return str(value)


# --- messages ---


def read_message(data: bytes, at: int, end: int, cut: str) -> Json:
    """Return the value of a message: §1 and §4; `cut` is the class of a part that runs past its end."""
    value: dict[str, Any] = {name: None for name, _ in MESSAGE.values()} | {"fields": []}
    for begin, number, wire, content in _fields(data, at, end, cut, shortest=True):
        name = _known(MESSAGE, number, wire, begin)
        if name == "fields":
            value["fields"].append(_read_field(data, *content))
        elif wire == BYTES:
            value[name] = data[slice(*content)].hex()
            if name == "uuid" and content[1] - content[0] != 16:
                raise RefusedError("bad-length", content[0])
        else:
            value[name] = str(signed(content[0])) if name == "timestamp" else _int32(*content[:2])
    if value["uuid"] is None or value["timestamp"] is None:
        raise RefusedError("missing-field", end)
    return value


def _known(schema: Mapping[int, tuple[str, int]], number: int, wire: int, at: int) -> str:
    """Return the name of a field; packed numbers are bytes."""
    if number not in schema:
        raise RefusedError("unknown-field", at)
    name, wanted = schema[number]
    if wire != wanted and not (wire == BYTES and schema is FIELD and number >= 6):
        raise RefusedError("type-mismatch", at)
    return name


def _read_field(data: bytes, at: int, end: int) -> Json:
    value: dict[str, Any] = {"name": None, "value_type": None, "representation": None}
    value |= {name: [] for number, (name, _) in FIELD.items() if number > 3}
    places: dict[int, int] = {}
    for begin, number, wire, content in _fields(data, at, end, "length-past-end", shortest=True):
        name = _known(FIELD, number, wire, begin)
        if number > 3:
            places.setdefault(number, begin)
            value[name] += _values(data, number, wire, content)
        elif name == "value_type":
            if content[0] >= len(TYPES):
                raise RefusedError("bad-kind", content[1])
            value[name] = TYPES[content[0]]
        else:
            value[name] = data[slice(*content)].hex()
    if value["name"] is None:
        raise RefusedError("missing-field", end)
    kept = TYPES.index(value["value_type"] or "STRING") + 4
    if wrong := [begin for number, begin in places.items() if number != kept]:
        raise RefusedError("type-mismatch", min(wrong))
    return value


def _values(data: bytes, number: int, wire: int, content: Any) -> list[Any]:
    """Return the values of one field of an array: a text, a number, or a packed chunk of numbers."""
    if number < 6:
        return [data[slice(*content)].hex()]
    if number == 7:
        start, end = content
        if (end - start) % 8:
            raise RefusedError("bad-length", start)
        return [data[place : place + 8][::-1].hex() for place in range(start, end, 8)]
    numbers = [content[0]]
    if wire == BYTES:
        at, end = content
        numbers = []
        while at < end:
            one, at = varint(data, at, end, "length-past-end")
            numbers.append(one)
    return [bool(one) if number == 8 else str(signed(one)) for one in numbers]


# --- frames ---


def read_header(data: bytes, at: int, end: int, limit: int) -> tuple[Json, int, dict[str, int]]:
    """Return a header, its message_length, and where the key of each field is: §1 and §2."""
    header: dict[str, Any] = dict.fromkeys(name for name, _ in HEADER.values())
    places: dict[str, int] = {}
    for begin, number, wire, content in _fields(data, at, end, "length-past-end", shortest=False):
        name, wanted = HEADER.get(number, (None, None))
        if name is None:
            continue
        if wire != wanted:
            raise RefusedError("type-mismatch", begin)
        if name == "message_length" and name in places:
            raise RefusedError("duplicate-field", begin)
        places[name] = begin
        if name == "hmac_key_version" and content[0] >> 32:
            raise RefusedError("bad-varint", content[1])
        header[name] = content[0] if wire == VARINT else data[slice(*content)].hex()
        places[f"{name}-value"] = content[1] if wire == VARINT else content[0]
    length, version = header["message_length"], header["hmac_key_version"]
    if length is None:
        raise RefusedError("missing-field", end)
    if not length:
        raise RefusedError("bad-length", places["message_length"])
    if length > limit:
        raise RefusedError("limit-exceeded", places["message_length"])
    function = header["hmac_hash_function"]
    shown = None if function is None or function >= len(FUNCTIONS) else FUNCTIONS[function]
    number_of = None if version is None else str(version)
    return (
        header | {"message_length": str(length), "hmac_hash_function": shown, "hmac_key_version": number_of},
        length,
        places,
    )


def _signer(
    header: Json, content: bytes, places: dict[str, int], content_at: int, keys: Mapping[str, str]
) -> str | None:
    """Return the signer that a signature proves: §3, a strict reader."""
    name, digest = header["hmac_signer"], header["hmac"]
    if digest is None:
        if name is not None:
            raise RefusedError("auth-failed", content_at)
        return None
    function = header["hmac_hash_function"]
    if function is None and "hmac_hash_function" in places:
        raise RefusedError("auth-failed", places["hmac_hash_function-value"])
    label = bytes.fromhex(name or "").decode("utf-8", "surrogateescape")
    key = keys.get(f"{label}_{header['hmac_key_version'] or 0}")
    used = hashlib.sha1 if function == "SHA1" else hashlib.md5
    if not name or key is None or hmac.new(bytes.fromhex(key), content, used).hexdigest() != digest:
        raise RefusedError("auth-failed", content_at)
    return str(name)


def read_frame(data: bytes, at: int, options: Mapping[str, Any]) -> tuple[Json, int] | None:
    """Return a frame and the position behind it, or None if the bytes end in it."""
    if data[at] != 0x1E:
        raise RefusedError("bad-separator", at)
    if at + 1 >= len(data):
        return None
    start, end = at + 2, at + 2 + data[at + 1]
    if end >= len(data):
        return None
    if data[end] != 0x1F:
        raise RefusedError("bad-separator", end)
    if start == end:
        raise RefusedError("bad-length", at + 1)
    header, length, places = read_header(data, start, end, options.get("max_message", MAX_MESSAGE))
    content, after = end + 1, end + 1 + length
    if after > len(data):
        return None
    keys = options.get("keys")
    signer = None if keys is None else _signer(header, data[content:after], places, content, keys)
    if options.get("content") == "opaque":
        message: Json = data[content:after].hex()
    else:
        message = _message_of(data, content, after, options, "length-past-end")
    return {"header": header, "message": message, "signer": signer}, after


def _message_of(data: bytes, at: int, end: int, options: Mapping[str, Any], cut: str) -> Json:
    """Return a message, decompressed first if that is declared: §5."""
    if options.get("compression") != "snappy":
        return read_message(data, at, end, cut)
    plain = _snappy(data[at:end], at)
    try:
        return read_message(plain, 0, len(plain), cut)
    except RefusedError as refused:
        raise RefusedError(refused.cls, f"{at}>{refused.at}") from None


def _snappy(block: bytes, at: int) -> bytes:
    claimed, _ = varint(block, 0, len(block))
    if claimed > MAX_BLOCK:
        raise RefusedError("limit-exceeded", at)
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError:
        raise RefusedError("decompress-failed", at) from None


# --- formats ---


def read_single(data: bytes, options: Mapping[str, Any]) -> tuple[Json, int]:
    """Return the value of a message and how many bytes it has."""
    return _message_of(data, 0, len(data), options, "truncated"), len(data)


def read_stream(data: bytes, options: Mapping[str, Any]) -> tuple[Json, int]:
    """Return the frames of a stream and how many bytes they have; what the bytes end in is not consumed."""
    at, frames = 0, list[Json]()
    while at < len(data):
        try:
            found = read_frame(data, at, options)
        except RefusedError as refused:
            raise RefusedError(refused.cls, refused.at, {"frames": frames}) from None
        if found is None:
            break
        frame, at = found
        frames.append(frame)
    return {"frames": frames}, at
