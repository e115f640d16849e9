"""The case: input, expectation and the rules it tests. Everything that is judged is a case.

Golden, derived, property, fuzz, interop and Spark runs all make them. See architecture.md#cases.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias

from attrs import evolve, field, frozen

from wireproof.cases.generated_bytes import Recipe
from wireproof.strict_parsing import JSON_NAME, Hook, count, decimal, to_tree, whole_number, wrong
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Position, RejectClass


class LazyFields:
    """A base of frozen classes of attrs.

    An object is made as usual, or by `unread`; it then reads its missing fields once, and is equal to one
    that was made with all of them. A copy, such as one of `evolve`, has all fields.
    """

    __slots__ = ("_read_field",)

    @classmethod
    def unread(cls, known: Mapping[str, Any], read: Callable[[Any, str], Mapping[str, Any]]) -> Self:
        """Return an object; `read` gets it and a missing field's name, and returns it or all missing."""
        instance = object.__new__(cls)
        for name, value in known.items():
            object.__setattr__(instance, name, value)
        object.__setattr__(instance, "_read_field", read)
        return instance

    if not TYPE_CHECKING:  # a type checker would allow every name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the value of any field
            """Read a field that the object does not have yet."""
            if name == "_read_field" or name not in type(self).__slots__:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            read = self._read_field(self, name)
            for found, value in read.items():
                object.__setattr__(self, found, value)
            if len(read) > 1:  # nothing is missing any more
                object.__delattr__(self, "_read_field")
            return object.__getattribute__(self, name)


ORIGIN_RELATION: Final = "derived"
ORIGIN_REFERENCE: Final = "reference"
ORIGIN_CORPUS: Final = "corpus"
"""The origins of cases that nobody wrote: the relation of a family, or the reference, gives the expectation;
the bytes of the last come from an archive."""

PROPERTY: Final = "property"
"""The topic, and the family, of the cases of `--property`: `kafka.batch/v2/property/decode~s0:7`."""

MADE_ORIGINS: Final = frozenset({ORIGIN_RELATION, ORIGIN_REFERENCE, ORIGIN_CORPUS})

Op = Literal["decode", "encode", "scan", "sequence"]
Level = Literal["must", "should", "may", "info"]

ROBUSTNESS: Final = "robustness"
"""The flag of a case whose bytes no server and no writer gives."""


@frozen
class Accept:
    """The input must be accepted: writing-a-case.md explains the fields.

    For an encode, `data` has every acceptable encoding; without any, the bytes must decode to `value`.
    """

    value: Json = None
    consumed: int | None = None
    remarks: tuple[str, ...] = ()
    data: tuple[bytes, ...] = field(default=(), metadata={JSON_NAME: "bytes"})
    digest: str = ""


@frozen
class Reject:
    """The input must be rejected as `cls`, or as one of `also`, after delivering `before`."""

    cls: RejectClass = field(metadata={JSON_NAME: "class"})
    also: tuple[RejectClass, ...] = ()
    at: Position | None = None
    before: Json = None


@frozen
class Behaviour:
    """One of several permitted answers, with its id."""

    id: str
    expect: Accept | Reject


@frozen
class Either:
    """The format leaves the answer open among `behaviours`."""

    behaviours: tuple[Behaviour, ...]


Expect: TypeAlias = Accept | Reject | Either


@frozen
class Data:
    """Bytes to decode."""

    data: bytes = field(metadata={JSON_NAME: "hex"})


@frozen
class Value:
    """A value to encode, in JSON form."""

    value: Json


@frozen
class Chunks:
    """Bytes to scan, in the pieces in which they arrive."""

    chunks: tuple[bytes, ...]


@frozen
class Generated:
    """A rule from which bytes to decode, or a value to encode, are made, of this size and sha256.

    The value is an element in the list `list_name` of a stream, if that is not empty.
    """

    recipe: Recipe = field(metadata={JSON_NAME: "generate"})
    size: int
    sha256: str
    list_name: str = ""


@frozen
class Step:
    """One request of a sequence to a live server; the family has the table of its ops.

    It expects an answer, or `either` with several by name, of which each is right.
    """

    op: str
    fields: Mapping[str, Json]
    data: bytes | None
    expect: Mapping[str, Json]


@frozen
class Steps:
    """Requests to a live server, one after another: see `steps`."""

    steps: tuple[Step, ...]


PlainInput: TypeAlias = Data | Value | Chunks | Steps
"""An input that is there, and not a rule from which it is made."""

Input: TypeAlias = PlainInput | Generated


@frozen
class Limits:
    """Limits of one case: milliseconds, MiB of resident memory, bytes out per byte in."""

    ms: int = 2000
    rss_mb: int | None = None
    ratio: int | None = None


@frozen
class Witness:
    """An independent implementation that was run on the bytes and agrees."""

    name: str
    version: str


@frozen
class Source:
    """What stands behind a case: writing-a-case.md#what-stands-behind-a-case explains its fields."""

    origin: str
    document: str = ""
    vectors: tuple[str, ...] = ()
    bugs: tuple[str, ...] = ()
    differs: str = ""
    witnesses: tuple[Witness, ...] = ()


@frozen
class Case(LazyFields):
    """One case; the fields are the keys of a fixture file.

    A derived case has the id `<id>~<family>:<n>`, its parent's id in `parent` and its family's name in
    `family`; a golden case has neither.
    """

    id: str
    format: str
    revision: str
    input: Input
    expect: Expect
    title: str = ""
    why: str = ""
    op: Op = "decode"
    profile: Literal["reader", "produce"] = "reader"
    options: Options = DEFAULT_OPTIONS
    level: Level = "must"
    rules: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    twin: str | None = None
    needs: tuple[str, ...] = ()
    source: Source = field(default=Source("hand"))
    limits: Limits = field(default=Limits())
    parent: str | None = None
    family: str | None = None

    @property
    def golden(self) -> bool:
        """Return True if a person wrote the expectation; it decides alone, whatever the reference remarks."""
        return self.family is None and self.source.origin not in MADE_ORIGINS

    @property
    def topic(self) -> str:
        return self.id.split("/")[2]

    @property
    def format_id(self) -> str:
        return f"{self.format}/{self.revision}"

    @property
    def effective_options(self) -> Options:
        options = self.options  # most cases need no copy, and a run has 300,000
        return options if options.profile == self.profile else evolve(options, profile=self.profile)


# --- options as JSON ---

_ELSEWHERE: Final = frozenset({"profile", "max_output"})
"""Not in the object: a request has them among its own fields and its limits, a case has its profile."""


def options_to_json(options: Options) -> dict[str, Any]:
    """Return the JSON for a fixture or a token, where the numbers of `aborted` are decimal texts."""
    tree = options_to_request(options)
    if options.aborted:
        tree["aborted"] = [[str(number) for number in pair] for pair in options.aborted]
    return tree


def options_to_request(options: Options) -> dict[str, Any]:
    """Return the JSON for a request, without the options that have their default."""
    tree: dict[str, Any] = to_tree(options, without_defaults=True)
    return {name: part for name, part in tree.items() if name not in _ELSEWHERE}


def _fields(number: Hook) -> Mapping[object, object]:
    """Return the fields of options for a `Reader`; `number` reads a number of `aborted`."""

    def aborted(pairs: object) -> tuple[tuple[int, int], ...]:
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise wrong("a list of [producerId, firstOffset]", pairs)
        return tuple((number(producer), number(first)) for producer, first in pairs)

    special = {
        **dict.fromkeys(_ELSEWHERE),
        "max_message": count,
        "keys": Mapping[str, bytes],
        "fetch_offset": count,
        "aborted": aborted,
        "topic": Mapping[str, str],
    }
    return {(Options, name): how for name, how in special.items()}


OPTIONS_IN_CASES: Final = _fields(decimal)
"""How the options of a fixture or a token are read."""

OPTIONS_IN_REQUESTS: Final = _fields(whole_number)
"""How the options of a request are read."""
