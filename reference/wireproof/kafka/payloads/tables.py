"""The tables of `records.txt`: Kafka's internal topics and the structs of their records. kafka.md §15.

Something precedes the fields of a record and shows which struct they are. A keyed record has an int16 before
the fields of its key, which is the type of the record, and an int16 before those of its value, which is the
version of the value. A framed record has no key, and three unsigned varints before the fields of its value:
the version of the frame, the type and the version.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, TypeAlias

from attrs import frozen

from wireproof.schema.tables import Table, Tables, blocks

FRAME_VERSION: Final = 1
"""The only version of the frame; version 0 was that of a preview."""


@frozen
class KeyedRecord:
    """A record type whose number is in the key."""

    name: str
    key: Table
    value: Table


@frozen
class KeyedTopic:
    """A topic whose records have their type in the key; `records` has them by type."""

    records: Mapping[int, KeyedRecord]


@frozen
class FramedTopic:
    """A topic whose records have no key; `records` has the structs of their values by type."""

    records: Mapping[int, Table]


InternalTopic: TypeAlias = KeyedTopic | FramedTopic


def _read(text: str) -> tuple[Tables, dict[str, InternalTopic]]:
    """Return the tables of a text, and the topics whose records they are."""
    tables, topics = Tables("kafka.md §15"), dict[str, InternalTopic]()
    records: dict[int, Any] = {}
    for block in blocks(text):
        if block.words[0] == "topic":
            _, kind, topic = block.words
            records = {}
            topics[topic] = KeyedTopic(records) if kind == "keyed" else FramedTopic(records)
        elif (struct := tables.add(block)) is not None and block.words[1:2] and block.words[1].isdigit():
            name = struct.name.removesuffix("Value")
            if isinstance(topics[topic], FramedTopic):
                records[int(block.words[1])] = struct
            elif name != struct.name:
                records[int(block.words[1])] = KeyedRecord(name, tables.structs[f"{name}Key"], struct)
    return tables, topics


TABLES, _TOPICS = _read((files("wireproof.kafka.payloads") / "records.txt").read_text("utf-8"))

INTERNAL_TOPICS: Final[Mapping[str, InternalTopic]] = _TOPICS
"""The topics whose keys and values have a layout, by name."""
