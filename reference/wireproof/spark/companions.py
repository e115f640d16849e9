"""The companions of the scanned logs: the table `companions`, a row of each finding.

Logs on the local file system alone have theirs looked at: an index has megabytes, and each is read whole.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from wireproof.spark import tables
from wireproof.spark.places import Place
from wireproof.trial.companions import Checked, companions, of_kafka

NAME: Final = "companions.parquet"

COMPANIONS: Final = pa.schema(
    [
        ("object", pa.string()),
        ("at", pa.int64()),
        ("wrong", pa.bool_()),
        ("what", pa.string()),
        ("next", pa.string()),
    ]
)


def beside(places: Sequence[Place], out: Path) -> tuple[Checked, ...]:
    """The companions of those logs that are Kafka's, checked, their findings written to `out`.

    Raises:
        CompanionError: a file is too large to be one.
    """
    local = (Path(place.path) for place in places if not place.store)
    found = tuple(one for path in local if of_kafka(path) for one in companions(path))
    tables.write_table(out / NAME, list(_rows(found)), COMPANIONS)
    return found


def _rows(found: Sequence[Checked]) -> Iterator[dict[str, Any]]:
    for one in found:
        for finding in one.findings:
            yield {
                "object": str(one.name.path),
                "at": finding.at,
                "wrong": finding.wrong,
                "what": finding.what,
                "next": finding.then,
            }
