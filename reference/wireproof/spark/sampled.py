"""Load a sample of a scan or a campaign as a case, for `promote`.

A sample is named `DIR#FINDING`: the folder of the tables, and the name of a finding, the beginning of the
name, or a part of its signature as it is printed. The smallest sample of the finding is loaded.
"""

from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Chunks, Source
from wireproof.cases.needs import needs_of
from wireproof.cases.token import parse
from wireproof.spark import job_files, settings, vectors
from wireproof.spark.errors import SourceError
from wireproof.spark.judging import REFERENCE, seen
from wireproof.trial.reference import expectation
from wireproof.trial.signature import Signature
from wireproof.wire.scan_items import Item

TOLD: Final = 4
"""Findings that are listed if none, or more than one, matches."""


@frozen
class Sampled:
    """A sample: its case, its signature, and the adapter of the finding; empty for the reference."""

    case: Case
    signature: Signature
    adapter: str


def sampled(name: str) -> Sampled:
    """Return the sample `DIR#FINDING`; raises `SourceError` if no finding, or more than one, matches."""
    text, _, word = name.rpartition("#")
    folder = Path(text)
    if not (folder / "samples.parquet").exists():
        raise SourceError(
            f"{folder} contains no table of samples; give the --out folder of a completed scan or campaign"
        )
    row = _chosen(pq.read_table(folder / "samples.parquet").to_pylist(), word, folder)
    signature = _signature(row)
    adapter = "" if signature.implementation == REFERENCE else signature.implementation
    return Sampled(case_of(row, folder), signature, adapter)


def case_of(row: dict[str, Any], folder: Path) -> Case:
    """Return the case of a row of the table `samples` in `folder`."""
    return _of_campaign(row, folder) if "token" in row else _of_scan(row, folder)


def _chosen(rows: list[dict[str, Any]], word: str, folder: Path) -> dict[str, Any]:
    """Return the first sample, which is the smallest, of the one finding that matches `word`."""
    matching = [row for row in rows if row["finding"].startswith(word) or word in str(_signature(row))]
    findings = {row["finding"]: row for row in reversed(matching)}
    if word and len(findings) == 1:
        return next(iter(findings.values()))
    shown = {row["finding"]: f"{row['finding']} ({_signature(row)})" for row in matching or rows}
    names = "; ".join(list(shown.values())[:TOLD]) + ("; …" if len(shown) > TOLD else "")
    many = "no finding" if not findings else f"{len(findings)} findings"
    raise SourceError(f"{folder}: {word!r} matches {many}: {names or 'there are none'}")


def _signature(row: dict[str, Any]) -> Signature:
    return Signature(*(row[name] for name in vectors.PARTS))


def _of_campaign(row: dict[str, Any], folder: Path) -> Case:
    """Return the case of a token; a long token is a file in the folder."""
    token = row["token"]
    return parse(f"@{folder / token[1:]}" if token.startswith("@") else token)


def _of_scan(row: dict[str, Any], folder: Path) -> Case:
    """Return the case of the item, or the scan of its bytes if they are not an entry."""
    inputs = job_files.load_json(folder / "plan.json")["asked"]
    source = settings.parse(inputs["source"], inputs["options"])
    item = Item("garbage", 0, row["length"], cls=row["class"] or None)
    case = seen(source.framing, item, row["raw"], source.options).case if row["codec_format"] else None
    if case is None:
        fmt = source.framing.fmt
        case = Case(
            f"{fmt.joined}/scan/item", fmt.name, fmt.revision, Chunks((row["raw"],)), Accept(),
            op="scan", options=source.options, source=Source("corpus"),
        )  # fmt: skip
    case = evolve(case, expect=expectation(case))
    return evolve(case, needs=needs_of(case))
