"""The page scan-tables.md, from the columns: `python -m tests.support.scan_tables_page` writes it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from wireproof.spark.table_columns import CAMPAIGN_TABLES, TABLES, TableColumn

PAGE = Path(__file__).parents[2] / "reference" / "docs" / "scan-tables.md"

HEAD = """# The tables of a scan

[scanning.md](scanning.md) makes these tables. A folder of `scan --out` has a folder for each, and each table
two further columns by which Spark partitions it: `scan_date`, the day in UTC on which the scan began, and
`scan_id`, its name, which sorts by time. Positions and lengths are bytes. `verdicts` and `answers` are lists
of structures with the columns of `failures` from `implementation` on.
"""

CAMPAIGNS = """
## Campaigns

The tables of `fuzz --spark` are of one campaign, and have no date and no id.
"""


def name_of(kind: pa.DataType) -> str:
    """The name of a type, short for lists of structures."""
    if pa.types.is_list(kind):
        return f"list of {name_of(kind.value_type)}"
    if pa.types.is_struct(kind):
        return "structures"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    return {"string": "text", "int64": "long", "int32": "int", "bool": "boolean"}.get(str(kind), str(kind))


def _lines(tables: Mapping[str, tuple[TableColumn, ...]], level: str) -> Iterator[str]:
    for name, columns in tables.items():
        yield f"\n{level} `{name}`\n\n| column | type | what it holds | example |\n|---|---|---|---|\n"
        for column in columns:
            example = column.example.replace("|", "\\|")
            yield f"| `{column.name}` | {name_of(column.type)} | {column.text} | `{example}` |\n"


def page() -> str:
    return "".join((HEAD, *_lines(TABLES, "##"), CAMPAIGNS, *_lines(CAMPAIGN_TABLES, "###")))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
