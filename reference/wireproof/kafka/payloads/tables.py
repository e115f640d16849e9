"""The tables of `records.txt`: Kafka's internal topics and the structs of their records. kafka.md §15.

Something precedes the fields of a record and shows which struct they are. A keyed record has an int16 before
the fields of its key, which is the type of the record, and an int16 before those of its value, which is the
version of the value. A framed record has no key, and three unsigned varints before the fields of its value:
the version of the frame, the type and the version.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from wireproof.wire.struct_table import WIDTHS, ListOf, StructField, VersionedStruct

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


@frozen
class Tables:
    """What `records.txt` declares.

    Attributes:
        topics: the topics whose keys and values have a layout, by name.
        structs: the last struct of each name.
        codes: the names of the numbers of each class of Kafka.
    """

    topics: dict[str, InternalTopic] = field(factory=dict)
    structs: dict[str, VersionedStruct] = field(factory=dict)
    codes: dict[str, dict[int, str]] = field(factory=dict)


def read_tables(text: str) -> Tables:
    """Return the tables of a text in the language of `records.txt`, whose header describes it."""
    tables = Tables()
    records: dict[int, Any] = {}
    is_keyed = False
    for head, rows in _blocks(text):
        match head.split():
            case "topic", "keyed" | "framed" as kind, name:
                records, is_keyed = {}, kind == "keyed"
                tables.topics[name] = KeyedTopic(records) if is_keyed else FramedTopic(records)
            case "codes", name:
                words = " ".join(rows).split()
                tables.codes[name] = dict(zip(map(int, words[::2]), words[1::2], strict=True))
            case name, *words:
                number = int(words.pop(0)) if words and words[0].isdigit() else None
                fields = tuple(_field(row, tables) for row in rows)
                tables.structs[name] = struct = VersionedStruct(name, fields, **_options(words))
                record = name.removesuffix("Value")
                if number is None or (is_keyed and record == name):
                    continue
                key = tables.structs[f"{record}Key"] if is_keyed else None
                records[number] = KeyedRecord(record, key, struct) if key else struct
    return tables


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each line without indentation and the lines below it that have one; comments are left out."""
    head, rows = "", list[str]()
    for line in text.splitlines():
        row = line.partition("#")[0].rstrip()
        if row[:1].isspace():
            rows.append(row)
        elif row:
            if head:
                yield head, rows
            head, rows = row, []
    yield head, rows


def _options(words: list[str]) -> dict[str, Any]:
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def _field(row: str, tables: Tables) -> StructField:
    name, kind, *words = row.split()
    versions = [words.pop(0)] if words and "=" not in words[0] else []
    options = _options(words)
    if "tag" in options:
        options["tag"] = int(options["tag"])
    if "default" in options:
        options["default"] = None if options["default"] == "null" else int(options["default"])
    if "codes" in options:
        options["codes"] = tables.codes[options["codes"]]
    if "holds" in options:
        options["holds"] = tables.structs[options["holds"]]
    if "if" in options:
        options["holds_if"] = tuple(options.pop("if").split("="))
    element = kind.removeprefix("[]")
    of = tables.structs.get(element, element)
    if isinstance(of, str) and of not in (*WIDTHS, "string", "bytes"):
        raise ValueError(f"{row.strip()}: {of} is no type")
    return StructField(name, ListOf(of) if kind != element else of, *versions, **options)


TABLES: Final = read_tables((files("wireproof.kafka.payloads") / "records.txt").read_text("utf-8"))

INTERNAL_TOPICS: Final[Mapping[str, InternalTopic]] = TABLES.topics
"""The topics whose keys and values have a layout, by name."""
