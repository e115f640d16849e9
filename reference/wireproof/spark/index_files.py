"""Check the index files of the scanned logs, for the table `check_index_files`.

Only logs on the local file system are checked, because an index file has megabytes and is read whole.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from wireproof.runner.data_directory import check_index_files
from wireproof.segment_files import CheckedIndex
from wireproof.spark import job_files
from wireproof.spark.object_places import ObjectPlace

FILE_NAME: Final = "index_files.parquet"

INDEX_FILES: Final = pa.schema(
    [
        ("path", pa.string()),
        ("position", pa.int64()),
        ("is_error", pa.bool_()),
        ("message", pa.string()),
        ("next_step", pa.string()),
    ]
)


def check_local_logs(places: Sequence[ObjectPlace], out: Path) -> tuple[CheckedIndex, ...]:
    """Check the index files of the local logs; write their findings to `out`.

    Raises:
        IndexFileError: a file is too large to be an index file.
    """
    local = (Path(place.path) for place in places if not place.store)
    results = tuple(checked for path in local for checked in check_index_files(path))
    job_files.write_table(out / FILE_NAME, list(_rows(results)), INDEX_FILES)
    return results


def _rows(results: Sequence[CheckedIndex]) -> Iterator[dict[str, Any]]:
    for checked in results:
        for finding in checked.findings:
            yield {
                "path": str(checked.name.path),
                "position": finding.at,
                "is_error": finding.is_error,
                "message": finding.message,
                "next_step": finding.next_step,
            }
