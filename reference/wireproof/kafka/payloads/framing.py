"""What precedes the fields of a payload and shows which struct they are: kafka.md §15.1.

A keyed record has an int16 before the fields of its key, which is the type of the record, and an int16 before
those of its value, which is the version of the value. A framed record has no key, and three unsigned varints
before the fields of its value: the version of the frame, the type and the version.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.wire.struct_table import VersionedStruct

FRAME_VERSION: Final = 1
"""The only version of the frame; version 0 was that of a preview."""


@frozen
class KeyedRecord:
    """A record type whose number is in the key."""

    name: str
    key: VersionedStruct
    value: VersionedStruct


@frozen
class KeyedTopic:
    """A topic whose records have their type in the key; `records` has them by type."""

    records: Mapping[int, KeyedRecord]


@frozen
class FramedTopic:
    """A topic whose records have no key; `records` has the structs of their values by type."""

    records: Mapping[int, VersionedStruct]


InternalTopic: TypeAlias = KeyedTopic | FramedTopic
