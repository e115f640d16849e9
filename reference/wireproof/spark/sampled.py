"""A sample of a scan or a campaign, as the case that it was: what `promote` takes.

A sample is named `DIR#FINDING`: the folder of the tables, and the name of a finding or its beginning, or a
part of its signature as it is printed. The smallest sample of the finding is taken.
"""

from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Chunks, Source
from wireproof.cases.needs import needs_of
from wireproof.cases.token import parse
from wireproof.spark import settings, tables, vectors
from wireproof.spark.errors import SourceError
from wireproof.spark.judging import REFERENCE, seen
from wireproof.trial.reference import expectation
from wireproof.trial.signature import Signature
from wireproof.wire.items import Item

TOLD: Final = 4
"""Findings that are named where none, or more than one, is meant."""


@frozen
class Sampled:
    """A sample: its case, its signature, and the adapter whose finding it is; empty for the reference."""

    case: Case
    signature: Signature
    adapter: str


def sampled(name: str) -> Sampled:
    """The sample of `DIR#FINDING`; raises `SourceError` where none or more than one finding is meant."""
    text, _, word = name.rpartition("#")
    folder = Path(text)
    if not (folder / "samples.parquet").exists():
        raise SourceError(
            f"{folder} holds no table of samples: it is the --out of a scan or a campaign that ended"
        )
    row = _chosen(pq.read_table(folder / "samples.parquet").to_pylist(), word, folder)
    said = _signature(row)
    adapter = "" if said.implementation == REFERENCE else said.implementation
    return Sampled(case_of(row, folder), said, adapter)


def case_of(row: dict[str, Any], folder: Path) -> Case:
    """The case of a row of the table `samples` in `folder`."""
    return _of_campaign(row, folder) if "token" in row else _of_scan(row, folder)


def _chosen(rows: list[dict[str, Any]], word: str, folder: Path) -> dict[str, Any]:
    """The first sample, which is the smallest, of the one finding that `word` means."""
    fitting = [row for row in rows if row["finding"].startswith(word) or word in str(_signature(row))]
    found = {row["finding"]: row for row in reversed(fitting)}
    if word and len(found) == 1:
        return next(iter(found.values()))
    shown = {row["finding"]: f"{row['finding']} ({_signature(row)})" for row in fitting or rows}
    names = "; ".join(list(shown.values())[:TOLD]) + ("; …" if len(shown) > TOLD else "")
    many = "no finding" if not found else f"{len(found)} findings"
    raise SourceError(f"{folder}: {word or 'nothing'} names {many}: {names or 'there is none'}")


def _signature(row: dict[str, Any]) -> Signature:
    return Signature(*(row[name] for name in vectors.PARTS))


def _of_campaign(row: dict[str, Any], folder: Path) -> Case:
    """The token says it all; a long one lies in the folder."""
    token = row["token"]
    return parse(f"@{folder / token[1:]}" if token.startswith("@") else token)


def _of_scan(row: dict[str, Any], folder: Path) -> Case:
    """The item as adapters were asked about it, or, where it is no entry, the scan of its bytes."""
    asked = tables.load(folder / "plan.json")["asked"]
    source = settings.parse(asked["source"], asked["options"])
    item = Item("garbage", 0, row["length"], cls=row["class"] or None)
    case = seen(source.framing, item, row["raw"], source.options).case if row["codec_format"] else None
    if case is None:
        form = source.framing.row
        case = Case(
            f"{form.joined}/scan/item", form.name, form.revision, Chunks((row["raw"],)), Accept(),
            op="scan", options=source.options, source=Source("corpus"),
        )  # fmt: skip
    case = evolve(case, expect=expectation(case))
    return evolve(case, needs=needs_of(case))
