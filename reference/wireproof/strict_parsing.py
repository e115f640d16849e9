"""The one place where JSON and TOML of people and other programs become objects.

The parsers have limits for time and memory. `Reader` makes frozen classes of what was parsed, by msgspec:
every value must have its exact type, no field may be unknown, and a fault is one line that names the field.
"""

import json
import re
import reprlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import GenericAlias, NoneType, UnionType
from typing import Any, Final, ForwardRef, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from attrs import NOTHING, Attribute, fields, has
from msgspec import Raw, ValidationError
from msgspec.structs import astuple

from wireproof.suggestions import suggestion

MAX_JSON_VALUES: Final = 250_000
"""Limit for the values of a JSON text: a value of three characters takes two hundred bytes of memory."""

MAX_TOML_SIZE: Final = 4 * 1024 * 1024
"""Limit for the characters of a TOML text."""

MAX_TOML_LINE: Final = 4096
"""Limit for the characters of a TOML line: `tomllib` reads a key of many parts in quadratic time."""

JSON_NAME: Final = "json"
"""The key of an attribute's metadata with its name in JSON, if that differs from its name in Python."""

END_OF_POSITIONS: Final = 1 << 63
"""No input has this many bytes."""

POSITION: Final = re.compile(r"(0|[1-9][0-9]*)(>(0|[1-9][0-9]*))+")
"""A position in decompressed data: the position of the compressed data on the wire, then that in it."""

MAX_DIGITS: Final = 20
"""Limit for the digits of an integer: 64 bits need 20 with their sign."""

T = TypeVar("T")

Hook = Callable[[Any], Any]
"""A function that makes a part of an object from JSON; it raises ValueError with the end of a sentence."""

ObjectHook = Callable[[list[tuple[str, Any]]], Any]
"""A function that makes a JSON object from its keys and values."""


class FieldError(ValueError):
    """A field is missing, unknown or wrong; the text is one line that names it."""


# --- parsers ---


def parse_json(text: str | bytes, *, most: int = MAX_JSON_VALUES, pairs: ObjectHook | None = None) -> Any:  # noqa: ANN401 - JSON
    """Parse a JSON text; `pairs` makes the objects from their keys and values.

    ValueError: it is not JSON, not UTF-8, nested too deeply, or may have more than `most` values.
    """
    text = text.decode() if isinstance(text, bytes) else text
    if sum(map(text.count, ",[{")) > most:
        raise ValueError(f"it may hold more than {most:,} values")
    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def refuse_repeated_keys(data: bytes) -> None:
    """Raise ValueError for JSON with a key twice in one object: the first value would be lost silently."""
    if msgspec.json.format(data, indent=-1) != msgspec.json.encode(msgspec.json.decode(data)):
        parse_json(data, pairs=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)} is repeated")
    return found


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text; ValueError: it is none, nested too deeply, too large, or a line is too long."""
    if len(text) > MAX_TOML_SIZE:
        raise ValueError(f"it is larger than {MAX_TOML_SIZE:,} characters")
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > MAX_TOML_LINE:
            raise ValueError(f"line {number} is longer than {MAX_TOML_LINE:,} characters")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


# --- parts of objects ---


def shorten_value(value: object) -> str:
    """Describe a wrong value, short enough for one line."""
    text = repr(value[:64]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def wrong(description: str, value: object) -> ValueError:
    """Return the error for a value that is not as described; the reader puts the field's name before it."""
    return ValueError(f"must be {description}, got {shorten_value(value)}")


def whole_number(value: object) -> int:
    if type(value) is not int:
        raise wrong("a whole number", value)
    return value


def count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise wrong("a whole number from 0 on", value)
    return value


def decimal(value: object) -> int:
    if not isinstance(value, str) or len(value) > MAX_DIGITS or not re.fullmatch(r"-?(0|[1-9][0-9]*)", value):
        raise wrong("an integer as a decimal string", value)
    return int(value)


def octets(value: object) -> bytes:
    """Return the bytes of lower-case hex; `bytes.fromhex` alone allows capitals and blanks too."""
    if isinstance(value, str):
        try:
            data = bytes.fromhex(value)
        except ValueError:
            data = None
        if data is not None and data.hex() == value:
            return data
    raise wrong("bytes in lower-case hex", value)


def position(value: object) -> object:
    """Return `value` if it is a position: a number, -1 for none, a path such as `61>12`, or null."""
    if value is None:
        return value
    if type(value) is int and -1 <= value < END_OF_POSITIONS:
        return value
    if isinstance(value, str) and len(value) <= 256 and POSITION.fullmatch(value):
        return value
    raise wrong("a position such as 17 or 61>3", value)


def _one_of(words: tuple[object, ...]) -> Hook:
    def hook(value: object) -> object:
        if value in words:
            return value
        if len(words) > 8:  # of more words the nearest is suggested
            raise ValueError(f"is unknown: {shorten_value(value)}; {suggestion(str(value), map(str, words))}")
        raise wrong(f"one of {', '.join(map(str, words))}", value)

    return hook


def json_name(attribute: "Attribute[Any]") -> str:
    name: str = attribute.metadata.get(JSON_NAME, attribute.name)
    return name


# --- objects from JSON ---


class _Checked(type):
    """The type of a part that a hook makes: msgspec hands over its JSON, and takes what the hook returns."""

    hook: Hook

    def __instancecheck__(cls, value: object) -> bool:
        return True


def _checked(hook: Hook) -> Any:  # noqa: ANN401 - a type
    kind = _Checked("Checked", (), {})
    kind.hook = hook
    return kind


def _call_hook(kind: Any, value: object) -> object:  # noqa: ANN401 - of the class `_Checked`
    return kind.hook(value)


class Reader:
    """Makes objects of attrs classes from JSON, strictly.

    For each class there is a msgspec struct of the same fields: it decides what the JSON may be, and
    the object is made from it.
    """

    def __init__(self, special: Mapping[object, object] | None = None, *, other_fields: bool = False) -> None:
        """Read a class, a type, or a field (class and name) in `special` as that says.

        It is a hook, or another type; None leaves a field out, so that it is unknown. With `other_fields`
        an object may have unknown fields, which are left out.
        """
        self._special = dict(special or {})
        self._other_fields = other_fields
        self._plans: dict[object, tuple[Any, Hook | None]] = {}

    def read(self, tree: object, cls: type[T], owner: str) -> T:
        """Return the object of class `cls` that `tree`, called `owner`, describes; raises `FieldError`."""
        kind, make = self._plan(cls)
        try:
            value: T = _made(make, msgspec.convert(tree, kind, dec_hook=_call_hook))
        except ValidationError as error:
            raise FieldError(_line(str(error), tree, owner)) from None
        except RecursionError:
            raise FieldError(f"{owner} is nested too deeply") from None
        except (LookupError, TypeError, ValueError) as error:
            raise FieldError(f"{owner} {error}") from None
        return value

    def decode(self, data: bytes | Raw, cls: type[T], owner: str, *, at: str = "") -> T:
        """Return the object of a JSON text, the field `at` of another; raises `FieldError`, or ValueError."""
        kind, make = self._plan(cls)
        try:
            value: T = _made(make, msgspec.json.decode(data, type=kind, dec_hook=_call_hook))
        except ValidationError as error:
            raise FieldError(_line(str(error), parse_json(bytes(data)), owner, at)) from None
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        except msgspec.DecodeError as error:
            parse_json(bytes(data))  # it says it as for every other file
            raise ValueError(str(error)) from None
        except (LookupError, TypeError, ValueError) as error:
            raise FieldError(f"{owner} {error}") from None
        return value

    def _plan(self, kind: Any) -> tuple[Any, Hook | None]:  # noqa: ANN401 - a type
        """Return the type for msgspec, and the function that makes the part from what msgspec returns."""
        if kind not in self._plans:
            self._plans[kind] = self._made_plan(kind)
        return self._plans[kind]

    def _made_plan(self, kind: Any) -> tuple[Any, Hook | None]:  # noqa: ANN401 - a type
        if kind in self._special:
            special: Any = self._special[kind]
            is_hook = callable(special) and not isinstance(special, type) and get_origin(special) is None
            return (_checked(special), None) if is_hook else self._plan(special)
        if isinstance(kind, type) and has(kind):
            return self._struct(kind)
        if isinstance(kind, str | ForwardRef):  # the recursive type `Json`
            return Any, None
        origin, args = get_origin(kind), get_args(kind)
        hook = _HOOKS.get(kind) or (_one_of(args) if origin is Literal else None)
        if hook is not None:
            return _checked(hook), None
        return self._plan_of_parts(kind, origin, args)

    def _plan_of_parts(self, kind: Any, origin: Any, args: tuple[Any, ...]) -> tuple[Any, Hook | None]:  # noqa: ANN401 - types
        """Return the plan of a list, a mapping, or a part that may be null; of any other type, itself."""
        if origin is tuple and args[-1] is Ellipsis:
            inner, make = self._plan(args[0])
            return GenericAlias(tuple, (inner, ...)), make and _each(make)
        if origin in (dict, Mapping):
            inner, make = self._plan(args[1])
            return GenericAlias(dict, (str, inner)), make and _by_name(make)
        if origin in (Union, UnionType) and NoneType in args:
            inner, make = self._plan(next(arg for arg in args if arg is not NoneType))
            return inner | None, make and _or_none(make)
        return kind, None

    def _struct(self, cls: type) -> tuple[Any, Hook | None]:
        hints = get_type_hints(cls)
        rows: list[tuple[str, Any, Any]] = []
        names: list[str] = []
        makers: list[tuple[int, Hook, object]] = []
        for attribute in fields(cls):
            where = (cls, attribute.name)
            if not attribute.init or self._special.get(where, cls) is None:
                continue
            kind = attribute.type if isinstance(attribute.type, str) else hints[attribute.name]
            kind, make = self._plan(where if where in self._special else kind)
            if make is not None:
                makers.append((len(names), make, attribute.default))
            names.append(attribute.name)
            rows.append((attribute.name, kind, _field(attribute)))
        struct = msgspec.defstruct(
            cls.__name__, rows, kw_only=True, gc=False, forbid_unknown_fields=not self._other_fields
        )
        # msgspec learns the fields of a struct when it is first used. A thread that uses the same struct
        # meanwhile ends the process, so they are learned here, where no other thread has it.
        msgspec.json.Decoder(struct, dec_hook=_call_hook)
        whole = len(names) == len(fields(cls)) and not any(attribute.kw_only for attribute in fields(cls))

        def make_object(row: Any) -> object:  # noqa: ANN401 - a struct
            parts = list(astuple(row))
            for place, make, default in makers:
                if parts[place] is not default:
                    parts[place] = make(parts[place])
            return cls(*parts) if whole else cls(**dict(zip(names, parts, strict=True)))

        return struct, make_object


def _field(attribute: "Attribute[Any]") -> Any:  # noqa: ANN401 - the field of a struct
    name, default = json_name(attribute), attribute.default
    if default is NOTHING:
        return msgspec.field(name=name)
    factory = getattr(default, "factory", None)
    return (
        msgspec.field(default=default, name=name)
        if factory is None
        else msgspec.field(default_factory=factory, name=name)
    )


_HOOKS: Final[Mapping[object, Hook]] = {bytes: octets, int | str | None: position}
"""The hooks of types whose JSON is not what msgspec takes them for."""


def _each(make: Hook) -> Hook:
    return lambda parts: tuple(map(make, parts))


def _by_name(make: Hook) -> Hook:
    return lambda parts: {name: make(part) for name, part in parts.items()}


def _or_none(make: Hook) -> Hook:
    return lambda part: None if part is None else make(part)


def _made(make: Hook | None, part: Any) -> Any:  # noqa: ANN401 - what msgspec returns, and the object
    return part if make is None else make(part)


STRICT: Final = Reader()
"""The reader of classes whose fields need no hooks of their own."""


def structure(tree: object, cls: type[T], owner: str) -> T:
    """Return the object of class `cls` that `tree` describes; raises `FieldError`."""
    return STRICT.read(tree, cls, owner)


# --- faults ---

_TYPES: Final = {
    "int": "a whole number", "float": "a number", "str": "a string", "bool": "true or false",
    "array": "a list", "object": "an object",
}  # fmt: skip
"""The words for the names of types in the texts of msgspec."""

_JSON_NAMES: Final[Mapping[type, str]] = {NoneType: "null", list: "array", tuple: "array", dict: "object"}

_AT: Final = re.compile(r"(?s)(.*) - at `\$(.*)`")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[([0-9]+)\]|(\[\.\.\.\])")
_EXPECTED: Final = re.compile(r"Expected `([a-z]+).*?`, got `([a-z]+)`")
_NAMED: Final = re.compile(r"Object (missing required|contains unknown) field `(.*)`")


def _line(text: str, tree: object, owner: str, begin: str = "") -> str:
    """Return the one line for an error of msgspec about `tree`."""
    found = _AT.fullmatch(text)
    fault, path = found.groups() if found else (text, "")
    steps: list[tuple[str, str, str]] = _STEP.findall(path)

    def located(fits: Callable[[Any], bool]) -> tuple[str, Any]:
        """Return name and value of the place; msgspec does not say at which key of a mapping it is."""
        return next(_places(tree, steps, begin, fits), (begin, tree))

    named, expected = _NAMED.fullmatch(fault), _EXPECTED.fullmatch(fault)
    if named:
        missing = named[1] == "missing required"
        at, _ = located(lambda part: isinstance(part, dict) and (named[2] in part) is not missing)
        if missing:
            return f"{at}.{named[2]} is missing" if at else f"{named[2]} is missing"
        return f"{at or owner} has no field {shorten_value(named[2])}"
    if expected:
        at, value = located(lambda part: _JSON_NAMES.get(type(part), type(part).__name__) == expected[2])
        return f"{at or owner} {wrong(_TYPES.get(expected[1], expected[1]), value)}"
    at, _ = located(lambda part: shorten_value(part) in fault)
    return f"{at or owner} {fault}"


def _places(
    tree: Any,  # noqa: ANN401 - JSON
    steps: list[tuple[str, str, str]],
    at: str,
    fits: Callable[[Any], bool],
) -> Iterator[tuple[str, Any]]:
    if not steps:
        if fits(tree):
            yield at, tree
        return
    (name, index, _), *rest = steps
    if name:
        yield from _places(tree[name], rest, f"{at}.{name}" if at else name, fits)
    elif index:
        yield from _places(tree[int(index)], rest, f"{at}[{index}]", fits)
    else:
        for key, part in tree.items():
            yield from _places(part, rest, f"{at}[{key!r}]", fits)


# --- objects to JSON ---


def to_tree(value: Any, *, without_defaults: bool = False) -> Any:  # noqa: ANN401 - objects, and JSON
    """Return the JSON of an object, which `Reader` reads back."""
    kind: Any = type(value)
    if kind in _LEAVES:
        return value
    if kind in (tuple, list):
        return [
            part if type(part) in _LEAVES else to_tree(part, without_defaults=without_defaults)
            for part in value
        ]
    fields_of = _fields_of(kind, without_defaults)
    if fields_of is not None:
        tree = fields_of(value)
        for key, part in tree.items():
            if type(part) not in _LEAVES:
                tree[key] = to_tree(part, without_defaults=without_defaults)
        return tree
    if isinstance(value, Mapping):
        return {key: to_tree(part, without_defaults=without_defaults) for key, part in value.items()}
    return value.hex() if isinstance(value, bytes) else value


_LEAVES: Final = frozenset({str, bool, int, float, NoneType})


@cache
def _fields_of(kind: type[Any], without_defaults: bool) -> Callable[[Any], dict[str, Any]] | None:
    """Return the function of an object that returns its fields by their names in JSON; None for other values.

    It is compiled from the names, as attrs compiles `__init__`: a run writes thousands of events.
    """
    if not has(kind):
        return None
    lines = ["def fields_of(value):", "    tree = {}"]
    names: dict[str, Any] = {}
    for one in fields(kind):
        row = f"tree[{json_name(one)!r}] = value.{one.name}"
        if without_defaults and one.default is not NOTHING:
            factory = getattr(one.default, "factory", None)
            names[f"{one.name}_default"] = one.default if factory is None else factory()
            row = f"if value.{one.name} != {one.name}_default: {row}"
        lines.append(f"    {row}")
    exec("\n".join([*lines, "    return tree"]), names)  # noqa: S102 - the names of a class of ours
    function: Callable[[Any], dict[str, Any]] = names["fields_of"]
    return function
