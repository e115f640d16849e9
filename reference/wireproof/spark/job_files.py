"""Write and read the files of a job: small tables and JSON, each completely or not at all."""

import json
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from wireproof.files import replace_file, replace_text

COMPRESSION: Final = "zstd"
"""The compression of the tables."""


def write_table(path: Path, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
    """Write a small table."""
    table = pa.Table.from_pylist(rows, schema=schema)
    replace_file(path, lambda new: pq.write_table(table, new, compression=COMPRESSION), durable=False)


def load_json(path: Path) -> dict[str, Any]:
    """Read a JSON file that `save_json` wrote."""
    page: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return page


def save_json(path: Path, page: dict[str, Any]) -> None:
    """Write a JSON file."""
    text = json.dumps(page, indent=None, sort_keys=True) + "\n"
    replace_text(path, text, durable=False)
