"""The knowledge of a family about mutations that does not follow from its value classes and layouts.

Tables by class are merged over all families, because a class belongs to one. They are read when the first
value is mutated: the modules of the families import the mutators.
"""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, frozen

from wireproof.family import object_at
from wireproof.formats import FAMILIES, Format, family_of

if TYPE_CHECKING:
    from wireproof.derive.mutate.decode_trace import DecodeTrace

Key = TypeVar("Key")
Row = TypeVar("Row")

Keys = Mapping[str, bytes]
"""HMAC keys by `<signer>_<version>`, as in `Options.keys`."""

Edit = Callable[[Any, Random], Any]
"""Returns a changed value."""


@frozen
class Signing:
    """The signatures of a family.

    Attributes:
        sign_again: returns the bytes with a valid signature wherever the signer has a key.
        name_signer: returns the bytes with a signer that has a key; the signature is not computed.
        damage_signature: returns the bytes with one signature damaged.
    """

    sign_again: "Callable[[DecodeTrace, Keys], bytes]"
    name_signer: "Callable[[DecodeTrace, Keys, Random], bytes]"
    damage_signature: "Callable[[DecodeTrace, Random], bytes]"


@frozen
class MutationRules:
    """The rules of a family.

    Attributes:
        computed: fields that the encoder computes, so that an edit has no effect, by class; those of classes
            with a layout follow from it.
        unsigned_bits: the widths of numbers, by class and field; the same holds for them.
        least: minimal values of classes in which zeros are not valid.
        named: bytes of fields that must not be empty, by name.
        full: returns maximal values of classes whose parts depend on one another.
        elements: returns the elements of a list, by the type of an element, for types whose instances differ.
        for_format: changes a minimal or maximal value so that it is one of the format.
        normalise: functions that change an edited value of a class so that the encoder accepts it.
        whole: classes whose parts are not normalised one by one.
        codes: numbers that have a meaning, by class and field.
        enumerations: the words of enumerations in JSON.
        edits: the names and functions of special edits, by class.
        compress: functions that compress a value, by class.
        recompress: returns the name of another compression, chosen by a number, and the value with it; None
            for a value without compression.
        entries: the field that has the entries of a stream, by class.
        empty_frames: empty frames of streams, by the name of the format.
        compress_bytes: functions that compress an encoding as a whole, by the name of the format.
        favour_fields: True if most edits of bytes break a length that cannot be fixed up.
        signing: the signatures; None if there are none.
    """

    computed: Mapping[type, tuple[str, ...]] = field(factory=dict)
    unsigned_bits: Mapping[type, Mapping[str, int]] = field(factory=dict)
    least: Mapping[Any, Any] = field(factory=dict)
    named: Mapping[str, bytes] = field(factory=dict)
    full: Callable[[], Mapping[Any, Any]] = dict
    elements: Callable[[], Mapping[Any, tuple[Any, ...]]] = dict
    for_format: Callable[[Format, Any], Any] = lambda _, value: value
    normalise: Mapping[type, Callable[[Any], Any]] = field(factory=dict)
    whole: tuple[type, ...] = ()
    codes: Mapping[tuple[type, str], tuple[int, ...]] = field(factory=dict)
    enumerations: tuple[tuple[str, ...], ...] = ()
    edits: Mapping[type, tuple[tuple[str, Edit], ...]] = field(factory=dict)
    compress: Mapping[type, Edit] = field(factory=dict)
    recompress: Callable[[Format, Any, int], tuple[str, Any] | None] = lambda *_: None
    entries: Mapping[type, str] = field(factory=dict)
    empty_frames: Mapping[str, bytes] = field(factory=dict)
    compress_bytes: Mapping[str, Callable[[bytes], bytes]] = field(factory=dict)
    favour_fields: bool = False
    signing: Signing | None = None


@cache
def _rules_at(place: str) -> MutationRules:
    rules: MutationRules = object_at(place) if place else MutationRules()
    return rules


def rules_of(fmt: Format) -> MutationRules:
    """Return the rules of the family of a format; none if it names none."""
    return _rules_at(family_of(fmt).mutation)


def all_rules() -> tuple[MutationRules, ...]:
    return tuple(_rules_at(family.mutation) for family in FAMILIES.values() if family.mutation)


def merged(read: Callable[[MutationRules], Mapping[Key, Row]]) -> dict[Key, Row]:
    """Return one table of all families."""
    return {key: row for rules in all_rules() for key, row in read(rules).items()}


@cache
def common_rules() -> MutationRules:
    """Return the tables of all families as one; what is of one family alone is missing."""
    names = "computed", "unsigned_bits", "least", "named", "normalise", "codes", "edits"
    tables: Any = {name: merged(attrgetter(name)) for name in (*names, "compress", "entries")}
    return MutationRules(
        **tables,
        whole=tuple(cls for rules in all_rules() for cls in rules.whole),
        enumerations=tuple(words for rules in all_rules() for words in rules.enumerations),
    )
