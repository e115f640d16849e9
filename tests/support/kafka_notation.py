"""Examples of kafka.md §6 as the peers are asked for them: bytes by number, and the first one as a value."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hostile_kafka_bytes import STAMP

_FILE: Final = Path(__file__).parent / "examples" / "kafka.json"
HEX: Final[dict[str, str]] = {row["id"]: row["hex"] for row in json.loads(_FILE.read_text())}
LOG: Final = ("kafka.log", "mixed")
V2: Final = ("kafka.batch", "v2")


_RECORD: Final = {"attributes": "0", "timestampDelta": "0", "offsetDelta": "0", "key": "6b", "value": "76"}

E01: Final[Mapping[str, Any]] = {
    "baseOffset": "0",
    "partitionLeaderEpoch": "0",
    "magic": "2",
    "attributes": "0",
    "lastOffsetDelta": "0",
    "baseTimestamp": str(STAMP),
    "maxTimestamp": str(STAMP),
    "producerId": "-1",
    "producerEpoch": "-1",
    "baseSequence": "-1",
    "records": [{**_RECORD, "headers": []}],
}
"""The first example as a value."""
