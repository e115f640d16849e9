"""The vocabulary of versioned structs: the records that Kafka declares as fields with ranges of versions.

A declaration is a table: one row for each field, in the order of the wire, with its type and the versions
that have it. `struct_codec` reads and writes the values of a table, `struct_json` shows them.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from wireproof.wire.reader import FIXED_WIDTH

WIDTHS: Final[Mapping[str, int]] = {
    **{name: FIXED_WIDTH[name].size for name in ("int8", "int16", "uint16", "int32", "uint32", "int64")},
    "bool": 1, "float64": 8, "uuid": 16,
}  # fmt: skip
"""The size in bytes of each type of fixed size."""

_ZEROS: Final[Mapping[str, Any]] = {
    "bool": False,
    "float64": 0.0,
    "uuid": bytes(16),
    "string": "",
    "bytes": b"",
}
"""The default of each type but the integers, whose default is 0."""


OF_TYPE: Final = object()
"""The default of a field that declares none: that of its type."""


@frozen
class Versions:
    """A range of versions, both ends included; `last` is None if it has no end."""

    first: int
    last: int | None

    def __contains__(self, version: int) -> bool:
        """Return whether the range has a version."""
        return self.first <= version and (self.last is None or version <= self.last)


ALL_VERSIONS: Final = Versions(0, None)

NO_VERSION: Final = Versions(0, -1)


def versions_of(text: str | Versions) -> Versions:
    """Return the range that a text means: `0-4`, `1+`, `2` or `none`; a range is returned unchanged."""
    if isinstance(text, Versions):
        return text
    if text == "none":
        return NO_VERSION
    if text.endswith("+"):
        return Versions(int(text[:-1]), None)
    first, _, last = text.partition("-")
    return Versions(int(first), int(last or first))


@frozen
class ListOf:
    """A list: a count, then as many elements."""

    of: "str | VersionedStruct"


Kind: TypeAlias = "str | VersionedStruct | ListOf"
"""The type of a field: a key of `WIDTHS`, `string`, `bytes`, a struct, or a list of one of these."""


@frozen(kw_only=True, eq=False)
class StructField:
    """A field.

    Attributes:
        name: as Kafka's schema writes it, with a small first letter.
        kind: its type.
        versions: the versions that have it.
        nullable: the versions in which it may be null.
        tag: its number in the versions in which it is a tagged field; None if there are none.
        default: the value of a tagged field that is absent; `OF_TYPE` for that of its type.
        codes: the names of its numbers, if it is a code.
        holds: the struct that its bytes are, after an int16 version, unless they are something else.
        holds_if: a string field of the outermost struct and the value of it with which the bytes are `holds`;
            None for any.
    """

    name: str = field(kw_only=False)
    kind: Kind = field(kw_only=False)
    versions: Versions = field(default=ALL_VERSIONS, converter=versions_of, kw_only=False)
    nullable: Versions = field(default=NO_VERSION, converter=versions_of)
    tag: int | None = None
    default: Any = OF_TYPE
    codes: Mapping[int, str] | None = None
    holds: "VersionedStruct | None" = None
    holds_if: tuple[str, str] | None = None

    def default_in(self, version: int) -> Any:  # noqa: ANN401 - a value of any type
        """Return the value of the field where it is absent."""
        return default_of(self.kind, version) if self.default is OF_TYPE else self.default


@frozen(kw_only=True, eq=False)
class VersionedStruct:
    """A struct: its fields in the order of the wire.

    Attributes:
        name: as Kafka's schema writes it.
        fields: in the order of the wire; tagged fields are at the end of the bytes, by their tags.
        versions: the versions that are declared; of a struct inside another, those of the outer one.
        flexible: the versions with compact lengths and tagged fields (KIP-482); that of the outermost counts.
    """

    name: str = field(kw_only=False)
    fields: tuple[StructField, ...] = field(kw_only=False)
    versions: Versions = field(default=ALL_VERSIONS, converter=versions_of)
    flexible: Versions = field(default=NO_VERSION, converter=versions_of)

    @property
    def newest(self) -> int:
        """Return the newest version that is declared."""
        return self.versions.first if self.versions.last is None else self.versions.last


@cache
def untagged_fields(struct: VersionedStruct, version: int) -> tuple[StructField, ...]:
    """Return the fields of a version that are not tagged, in the order of the wire."""
    return tuple(one for one in struct.fields if one.tag is None and version in one.versions)


@cache
def tagged_fields(struct: VersionedStruct, version: int) -> Mapping[int, StructField]:
    """Return the tagged fields of a version by tag, in the order in which they are written."""
    found = [one for one in struct.fields if one.tag is not None and version in one.versions]
    return {one.tag: one for one in sorted(found, key=lambda one: one.tag or 0) if one.tag is not None}


@cache
def every_tag(struct: VersionedStruct) -> frozenset[int]:
    """Return the tags of all versions."""
    return frozenset(one.tag for one in struct.fields if one.tag is not None)


def fields_in(struct: VersionedStruct, version: int) -> Iterator[StructField]:
    """Yield all fields of a version, in the order of the table."""
    return (one for one in struct.fields if version in one.versions)


def default_of(kind: Kind, version: int) -> Any:  # noqa: ANN401 - a value of any type
    """Return the default of a type."""
    match kind:
        case ListOf():
            return []
        case VersionedStruct():
            return {one.name: one.default_in(version) for one in fields_in(kind, version)}
    return _ZEROS.get(kind, 0)


@cache
def least_size(kind: Kind, version: int, *, flexible: bool) -> int:
    """Return the size of the smallest value of a type, in bytes."""
    match kind:
        case VersionedStruct():
            sizes = (_least_of(one, version, flexible=flexible) for one in untagged_fields(kind, version))
            return sum(sizes) + flexible
        case ListOf() | "bytes":
            return 1 if flexible else 4
        case "string":
            return 1 if flexible else 2
    return WIDTHS[kind]


def _least_of(one: StructField, version: int, *, flexible: bool) -> int:
    if isinstance(one.kind, VersionedStruct) and version in one.nullable:
        return 1
    return least_size(one.kind, version, flexible=flexible)
