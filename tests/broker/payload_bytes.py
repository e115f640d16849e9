"""Write the payloads of the tests with Kafka's own classes: `python -m tests.broker.payload_bytes`.

The tables of wireproof only select the values: for each record type in each version small ones, extreme
ones, and as many nulls and empty lists as possible. Kafka writes the bytes and reads them again, and its
answers are stored. A field that a table lacks makes Kafka refuse the value.
"""

import json
from base64 import b64encode
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from attrs import define, field

from tests.support.kafka_payloads import EXAMPLES, ask_kafka, structs_of
from wireproof.kafka.payloads.tables import INTERNAL_TOPICS, TABLES
from wireproof.schema.tables import Row, Table
from wireproof.schema.tagged import uuid_text

RANGES: Final = {
    "int8": (-128, 127), "int16": (-(1 << 15), (1 << 15) - 1), "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1), "uint32": (0, (1 << 32) - 1), "int64": (-(1 << 63), (1 << 63) - 1),
}  # fmt: skip
STYLES: Final = ("small", "extreme", "empty")
MANY: Final = 130
"""More elements than a varint of one byte can count: in one text, one list and one field of bytes."""

TEXT: Final = "äöü€😀 "


@define
class Values:
    """Selects values; `small` ones all differ, so that two exchanged fields are noticed."""

    style: str
    numbers: Iterator[int] = field(factory=lambda: count(1))
    long: set[str] = field(factory=set)

    def struct(self, struct: Table, version: int) -> dict[str, Any]:
        return {row.name: self.of_row(row, version) for row in struct.rows_in(version)}

    def of_row(self, row: Row, version: int) -> Any:
        if self.style == "empty" and version in row.nullable:
            return None
        if row.many:
            return [self.of_type(row.type, version) for _ in range(self._length(row.type))]
        bare = self.style == "empty" and row.tag is not None and isinstance(row.type, str)
        return self.of_type(row.type, version, row.scalar_default if bare else None)

    def of_type(self, kind: str | Table, version: int, default: Any = None) -> Any:
        match kind:
            case Table():
                return self.struct(kind, version)
            case "string" | "bytes" | "uuid" | "float64":
                return getattr(self, f"_{kind}")()
            case "bool":
                return default if default is not None else next(self.numbers) % 2 == 0
        return self._integer(kind, default)

    def _string(self) -> str:
        number = next(self.numbers)
        long = TEXT * self._many("string", 1, 9)
        return {"small": f"text-{number}", "extreme": long, "empty": ""}[self.style]

    def _uuid(self) -> str:
        return uuid_text(bytes(16) if self.style == "empty" else next(self.numbers).to_bytes(16))

    def _float64(self) -> float:
        return {"small": 0.5 + next(self.numbers), "extreme": 1.7976931348623157e308, "empty": 0.0}[
            self.style
        ]

    def _length(self, of: str | Table) -> int:
        if self.style == "extreme" and isinstance(of, str):
            return self._many("list", 2, MANY)
        return 0 if self.style == "empty" else 2

    def _many(self, kind: str, few: int, many: int) -> int:
        """Return `many` once."""
        first = self.style == "extreme" and kind not in self.long
        self.long.add(kind)
        return many if first else few

    def _bytes(self) -> str:
        small = bytes([next(self.numbers) % 256]) * 3
        extreme = bytes(range(self._many("bytes", 3, MANY)))
        return b64encode({"small": small, "extreme": extreme, "empty": b""}[self.style]).decode()

    def _integer(self, kind: str, default: int | None) -> int:
        number, (least, most) = next(self.numbers), RANGES[kind]
        match self.style:
            case "empty":
                return 0 if default is None else default
            case "extreme":
                return (least, most)[number % 2]
        return number if number <= most else number % 100


def requests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of a record type and the request to write it."""
    for topic in INTERNAL_TOPICS:
        for name, key, value in structs_of(topic):
            for version in value.versions:
                for style in STYLES:
                    yield name, _request(topic, key, value, version, Values(style))
            if key is not None:
                yield name, {"topic": topic, "key": _part(key, key.newest, Values("small")), "value": None}


def _request(topic: str, key: Table | None, value: Table, version: int, values: Values) -> dict[str, Any]:
    first = None if key is None else _part(key, key.newest, values)
    return {"topic": topic, "key": first, "value": _part(value, version, values)}


def _part(struct: Table, version: int, values: Values) -> dict[str, Any]:
    return {"class": struct.name, "version": version, "json": values.struct(struct, version)}


def classic_groups() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield requests of groups whose members have the bytes of the consumer protocol, in every version."""
    structs = [TABLES.structs[f"ConsumerProtocol{part}"] for part in ("Subscription", "Assignment")]
    parts = [
        {"protocol": _part(struct, version, Values(style))}
        for version in range(structs[0].newest + 1)
        for style in STYLES
        for struct in structs
    ]
    sent = [b64encode(bytes.fromhex(one["bytes"])).decode() for one in ask_kafka(parts)]
    pairs = list(zip(sent[::2], sent[1::2], strict=True))
    _, key, value = next(row for row in structs_of("__consumer_offsets") if row[0] == "GroupMetadata")
    for version in range(value.newest + 1):
        request = _request("__consumer_offsets", key, value, version, Values("small"))
        tree = request["value"]["json"]
        tree["protocolType"] = "consumer"
        (member, *_) = tree["members"]
        tree["members"] = [{**member, "subscription": first, "assignment": second} for first, second in pairs]
        yield "GroupMetadata", request


def main() -> None:
    named = [*requests(), *classic_groups()]
    rows = []
    for (name, request), answer in zip(named, ask_kafka(one for _, one in named), strict=True):
        if "error" in answer:
            raise SystemExit(f"{name}: {answer['error']}: {json.dumps(request)}")
        version = -1 if request["value"] is None else request["value"]["version"]
        row = {"topic": request["topic"], "name": name, "version": version}
        rows.append({**row, **{part: answer.get(part) for part in ("key", "value", "keyJson", "valueJson")}})
    EXAMPLES.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} payloads: {EXAMPLES}")  # noqa: T201 - the script reports what it wrote


if __name__ == "__main__":
    main()
