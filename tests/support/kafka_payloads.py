"""Payloads of Kafka's internal topics that Kafka's own classes wrote, and the program that asks them."""

import json
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from wireproof.adapters.registry.driver_build import built
from wireproof.adapters.registry.registered import Build
from wireproof.kafka.payloads.tables import INTERNAL_TOPICS, KeyedTopic
from wireproof.schema.layout import attribute_of
from wireproof.schema.tables import Row, Table, default_of
from wireproof.schema.tagged import Held

EXAMPLES: Final = Path(__file__).parent / "examples" / "kafka_payloads.json"

PROGRAM: Final = Build(
    Path(__file__).parents[1] / "broker" / "payloads", (("mvn", "-q", "-B", "-C", "package"),)
)  # fmt: skip

SECONDS: Final = 300


@frozen
class KafkaPayload:
    """A payload as Kafka wrote it and read it again, in Kafka's own JSON."""

    topic: str
    name: str
    version: int
    key: bytes | None
    value: bytes | None
    key_json: Any
    value_json: Any

    @property
    def label(self) -> str:
        return f"{self.topic}-{self.name}-{self.version}"


@cache
def kafka_payloads() -> tuple[KafkaPayload, ...]:
    """Return the examples of `EXAMPLES`, which `python -m tests.broker.payload_bytes` writes."""
    found = []
    for row in map(json.loads, EXAMPLES.read_text(encoding="utf-8").splitlines()):
        key, value = (None if row[part] is None else bytes.fromhex(row[part]) for part in ("key", "value"))
        forms = row.get("keyJson"), row.get("valueJson")
        found.append(KafkaPayload(row["topic"], row["name"], row["version"], key, value, *forms))
    return tuple(found)


def program_folder() -> Path:
    """Return the folder of the program, which Maven builds if needed."""
    return built("payloads", PROGRAM) / "target"


def jars() -> list[Path]:
    return sorted((program_folder() / "lib").glob("kafka-*.jar"))


def ask_kafka(requests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers of Kafka's classes, one for each request."""
    target = program_folder()
    command = [
        "java",
        "-Xmx256m",
        "-cp",
        f"{target / 'payloads.jar'}:{target / 'lib'}/*",
        "wireproof.broker.Payloads",
    ]
    lines = "".join(json.dumps(one) + "\n" for one in requests)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=SECONDS, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def structs_of(topic: str) -> list[tuple[str, Table | None, Table]]:
    """Return the record types of a topic: the name, the struct of the key and that of the value."""
    table = INTERNAL_TOPICS[topic]
    if isinstance(table, KeyedTopic):
        return [(one.name, one.key, one.value) for one in table.records.values()]
    return [(one.name, None, one) for one in table.records.values()]


def kafka_json(struct: Table, version: int, value: Any, outer: Table | None = None) -> dict[str, Any]:
    """Return the fields in Kafka's own JSON, which leaves out tagged fields that have their default."""
    outer = outer or struct
    pairs = [(row, getattr(value, attribute_of(row.name))) for row in struct.rows_in(version)]
    return {
        row.name: _kafka_json(row, version, own, outer)
        for row, own in pairs
        if row.tag is None or own != default_of(row, version, outer)
    }


def _kafka_json(row: Row, version: int, value: Any, outer: Table) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return [_kafka_json(row, version, element, outer) for element in value]
    if isinstance(row.type, Table):
        return kafka_json(row.type, version, value, outer)
    return _FORMS.get(row.type, lambda one: one)(value)


_FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "bytes": lambda value: b64encode(value.data if isinstance(value, Held) else value).decode(),
    "string": lambda value: value.encode(errors="surrogateescape").decode(errors="replace"),
    "float64": lambda value: value if isfinite(value) else NOT_FINITE[str(value)],
}

NOT_FINITE: Final = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
