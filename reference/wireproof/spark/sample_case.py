"""Load a sample of a scan or a campaign as a case, for `promote`.

A sample is named `DIR#FINDING`: the folder of the tables, and the name of a finding, the beginning of the
name, or a part of its signature as it is printed. The smallest sample of the finding is loaded.
"""

from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from wireproof.cases.case import ORIGIN_CORPUS, Accept, Case, Chunks, Source
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.token import from_token
from wireproof.derive.examples import capabilities_of_case
from wireproof.judge.signature import Signature
from wireproof.spark.errors import SourceError
from wireproof.spark.item_cases import REFERENCE, make_item_case
from wireproof.spark.job_state import load_inputs
from wireproof.spark.logs import sources
from wireproof.spark.stored_tables import latest_table, stored_rows
from wireproof.spark.table_columns import SIGNATURE_PARTS
from wireproof.wire.scan_items import Item


@frozen
class SampleCase:
    """A sample: its case, its signature, and the adapter of the finding; empty for the reference."""

    case: Case
    signature: Signature
    adapter: str


def load_sample(name: str) -> SampleCase:
    """Return the sample `DIR#FINDING`; raises `SourceError` if no finding, or more than one, matches."""
    text, _, word = name.rpartition("#")
    folder = Path(text)
    if not (rows := stored_rows(latest_table(folder, "samples"))):
        raise SourceError(
            f"{folder} contains no table of samples; give the --out folder of a completed scan or campaign"
        )
    matching = [row for row in rows if row["finding"].startswith(word) or word in str(_signature(row))]
    findings = {row["finding"]: row for row in reversed(matching)}
    if not word or len(findings) != 1:
        shown = {row["finding"]: f"{row['finding']} ({_signature(row)})" for row in matching or rows}
        names = "; ".join([*list(shown.values())[:4], *["…"] * (len(shown) > 4)])
        many = "no finding" if not findings else f"{len(findings)} findings"
        raise SourceError(f"{folder}: {word!r} matches {many}: {names or 'there are none'}")
    [row] = findings.values()  # the first of its samples, which is the smallest
    signature = _signature(row)
    adapter = "" if signature.implementation == REFERENCE else signature.implementation
    return SampleCase(case_of_row(row, folder), signature, adapter)


def case_of_row(row: dict[str, Any], folder: Path) -> Case:
    """Return the case of a row of the table `samples` in `folder`.

    Of a campaign it is that of the token, of which a long one is a file in the folder. Of a scan it is the
    case of the item, or the scan of its bytes if they are not an entry.
    """
    if token := row.get("token"):
        return from_token(f"@{folder / token[1:]}" if token.startswith("@") else token)
    inputs = load_inputs(folder)
    source = sources.parse(inputs["source"], inputs["options"])
    item = Item("garbage", 0, row["length"], cls=row["class"] or None)
    case = (
        make_item_case(source.framing, item, row["raw"], source.options).case if row["codec_format"] else None
    )
    if case is None:
        fmt = source.framing.fmt
        case = Case(
            f"{fmt.format_id}/scan/item", fmt.name, fmt.revision, Chunks((row["raw"],)), Accept(),
            op="scan", options=source.options, source=Source(ORIGIN_CORPUS),
        )  # fmt: skip
    case = evolve(case, expect=reference_expectation(case))
    return evolve(case, needs=capabilities_of_case(case))


def _signature(row: dict[str, Any]) -> Signature:
    return Signature(*(row[name] for name in SIGNATURE_PARTS))
