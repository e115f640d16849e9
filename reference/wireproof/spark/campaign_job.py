"""Run a campaign: generated cases by number, adapters judged, findings grouped by signature.

Case n is a function of the seed and n, and a block is a range of numbers. So the tables do not depend on the
number of tasks, or on work that was done before the campaign was interrupted. Adapters start anew for each
block, because state that an adapter collects over a million cases must not influence the tables.
"""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from attrs import define, frozen
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from wireproof import __version__
from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.requests import blocks
from wireproof.cases import token
from wireproof.cases.case import Chunks, Op
from wireproof.cases.fixtures import load
from wireproof.cases.made_case import input_bytes
from wireproof.derive.seeded_examples import SeededCases
from wireproof.formats import FORMATS
from wireproof.spark import batches, job_state, verdict_tables
from wireproof.spark.batches import Progress, as_uri, no_progress, parallelism
from wireproof.spark.errors import SourceError
from wireproof.spark.item_cases import adapter_session
from wireproof.spark.session import start_adapters
from wireproof.spark.stored_tables import stored_rows
from wireproof.spark.table_columns import CAMPAIGN_TABLES, SIGNATURE_PARTS, schema_of, spark_schema
from wireproof.spark.verdict_rows import verdict_rows

BLOCK: Final = 500
"""Cases of a block: adapters start once for each."""

SAMPLES: Final = 3
"""Samples that are kept of a finding, if no other number is given."""


@frozen
class CampaignSettings:
    """What a task must know beside its blocks: the source of the cases, and the adapters."""

    numbered: SeededCases
    adapters: tuple[str, ...]


def judge_blocks(
    settings: CampaignSettings, parts: Sequence[range], numbers: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield a row for each case of the blocks whose numbers are in some Arrow batches, for `mapInArrow`."""
    schema = schema_of(CAMPAIGN_TABLES["cases"])
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            rows = list(case_rows(settings, parts[number]))
            yield pa.RecordBatch.from_pylist(rows, schema=schema)


def case_rows(settings: CampaignSettings, block: range) -> Iterator[dict[str, Any]]:
    """Generate, ask and judge the cases of one block."""
    with ExitStack() as stack:
        sessions = [stack.enter_context(adapter_session(spec)) for spec in settings.adapters]
        for chunk in blocks(block, 512):  # sent and judged together
            cases = [settings.numbered.case(number) for number in chunk]
            answers = [session.judge(cases) for session in sessions]
            for number, case, *verdicts in zip(chunk, cases, *answers, strict=True):
                data = input_bytes(case)
                lengths = list(map(len, case.input.chunks)) if isinstance(case.input, Chunks) else []
                asked = f"{case.format_id} {case.op} {case.options!r} {lengths} ".encode() + data
                yield {
                    "case_number": number,
                    "length": len(data),
                    "question": hashlib.blake2b(asked, digest_size=8).hexdigest(),
                    "verdicts": verdict_rows(verdicts),
                }


# --- tables ---


@define(slots=False)
class CampaignTables:
    """The tables of a campaign as DataFrames; `table_columns.CAMPAIGN_TABLES` says what each column is.

    Attributes:
        cases: one row for each case.
        settings: the source of the cases, and the adapters.
        samples_of_each: how many samples of a finding there are.
        tokens: the folder for tokens that are too long for a command line; None keeps them in the table.
    """

    cases: DataFrame
    settings: CampaignSettings
    samples_of_each: int = SAMPLES
    tokens: Path | None = None

    @cached_property
    def counts(self) -> verdict_tables.Counts:
        """Return the counts of cases by their answers, of which two tables are made."""
        return verdict_tables.count_cases(self.cases)

    def small(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of `signatures` or `matrix`."""
        return (verdict_tables.signatures if name == "signatures" else verdict_tables.matrix)(self.counts)

    def _frame(self, name: str) -> DataFrame:
        session = self.cases.sparkSession
        return verdict_tables.small_frame(session, self.small(name), CAMPAIGN_TABLES[name])

    signatures = cached_property(partial(_frame, name="signatures"))
    """A row for each kind of verdict, with counts and the first case."""
    matrix = cached_property(partial(_frame, name="matrix"))
    """A row for each combination of answers."""

    @cached_property
    def samples(self) -> DataFrame:
        """Return the smallest cases of each finding, generated again from their numbers."""
        each = self.cases.select("case_number", "length", "question", sql.explode("verdicts").alias("one"))
        rows = each.filter("one.finding is not null").select("one.*", "case_number", "length", "question")
        of_question = ["finding", "length", "question"]
        first = rows.groupBy(*of_question, *SIGNATURE_PARTS).agg(sql.min("case_number").alias("case_number"))
        chosen = verdict_tables.smallest(first, self.samples_of_each, "length", "question", "case_number")
        add = partial(_with_bytes, self.settings.numbered, self.tokens)
        return chosen.coalesce(1).mapInArrow(add, spark_schema(CAMPAIGN_TABLES["samples"]))


def _with_bytes(
    numbered: SeededCases, tokens: Path | None, rows: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add token and bytes to samples, for `mapInArrow`."""
    for batch in rows:
        found = list[dict[str, Any]]()
        for row in batch.to_pylist():
            case = numbered.case(row["case_number"])
            text = token.save_token(case, tokens) if tokens else token.to_token(case)
            text = f"@tokens/{Path(text[1:]).name}" if text.startswith("@") else text
            found.append(row | {"codec_format": case.format_id, "token": text, "raw": input_bytes(case)})
        yield pa.RecordBatch.from_pylist(found, schema=schema_of(CAMPAIGN_TABLES["samples"]))


def campaign(
    spark: SparkSession,
    adapters: Sequence[str],
    *,
    cases: int,
    seed: int = 0,
    formats: Collection[str] = FORMATS,
    samples: int = SAMPLES,
) -> CampaignTables:
    """Check adapters against generated cases, and return the tables as DataFrames.

    Args:
        spark: a session, classic or of Spark Connect; nothing in it is changed.
        adapters: the codecs, as `wireproof check` names them.
        cases: the number of cases.
        seed: of the cases.
        formats: the formats of the cases, as far as an adapter claims them.
        samples: how many samples of a finding to keep.

    Raises:
        SourceError: no adapter claims any of the formats.
    """
    settings = campaign_settings(start_adapters(adapters), adapters, formats, seed)
    rows = cases_of(spark, settings, block_list(0, cases)).persist()
    return CampaignTables(rows, settings, samples)


def campaign_settings(
    hellos: Sequence[Hello], adapters: Sequence[str], formats: Collection[str], seed: int
) -> CampaignSettings:
    """Return the settings for what some adapters claim; raises `SourceError` if that is nothing."""
    return CampaignSettings(
        SeededCases(claimed_formats(hellos, formats), claimed_ops(hellos), seed), tuple(adapters)
    )


def block_list(start: int, cases: int) -> list[range]:
    """Return the blocks of the cases from `start` on; both are multiples of a block, but for the last."""
    return [range(at, min(at + BLOCK, cases)) for at in range(start, cases, BLOCK)]


def cases_of(spark: SparkSession, settings: CampaignSettings, parts: Sequence[range]) -> DataFrame:
    """Return the rows of some blocks, each in a task of its own."""
    rows = spark.range(0, len(parts), 1, len(parts))
    return rows.mapInArrow(partial(judge_blocks, settings, parts), spark_schema(CAMPAIGN_TABLES["cases"]))


# --- a campaign in a folder ---


@frozen
class CampaignSummary:
    """The result of a campaign: tables in memory, the seconds of this run, and the cases that it judged."""

    signatures: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    seconds: float
    cases: int


@define
class FolderCampaign:
    """A campaign whose tables are in a folder.

    Attributes:
        settings: the source of the cases, and the adapters.
        cases: the number of cases.
        out: the folder, which every worker can write to at this path.
        started: the time of its begin.
        state: what the folder knows, as JSON.
    """

    settings: CampaignSettings
    cases: int
    out: Path
    started: datetime
    state: dict[str, Any]

    @property
    def done(self) -> int:
        """Return the number of cases that are judged."""
        return int(self.state.get("done", 0))

    def commit(self, parts: Sequence[range], folder: Path) -> None:
        """Store that blocks are written to a folder."""
        self.state["done"] = parts[-1].stop
        self.state.setdefault("batches", []).append(str(folder.relative_to(self.out / "cases")))
        job_state.save_state(self.out, self.state)

    def run(self, spark: SparkSession, progress: Progress = no_progress) -> CampaignSummary:
        """Judge the cases that are not judged yet, and write the tables of all.

        Args:
            spark: the session.
            progress: receives the cases done, their number and the tasks, a few times a second.
        """
        began, before, out = time.monotonic(), self.done, self.out
        if before < self.cases:
            first = parallelism(spark) * BLOCK
            parts = [(len(block), block) for block in block_list(before, self.cases)]
            rows_of, table = partial(cases_of, spark, self.settings), out / "cases" / f"from={before}"
            batches.run_batches(spark, parts, first, rows_of, self.commit, table, progress)
        columns = CAMPAIGN_TABLES["cases"]
        stored = spark.read.schema(spark_schema(columns)).parquet(as_uri(out / "cases"))
        rows = stored.select(*schema_of(columns).names)
        tables = CampaignTables(rows, self.settings, tokens=out.absolute() / "tokens")
        held = sum(row["count"] for row in tables.counts)
        if held != self.cases:
            text = f"{out}: the table cases holds {held} of {self.cases} cases"
            raise SourceError(f"{text}: rows are missing or there twice; choose another folder")
        for name in ("signatures", "matrix"):
            batches.write_small(name, tables.small(name), CAMPAIGN_TABLES[name], out / name)
        batches.write_small("samples", tables.samples, CAMPAIGN_TABLES["samples"], out / "samples")
        seconds = time.monotonic() - began
        numbered = self.settings.numbered
        job = {
            "version": __version__, "started": self.started, "seconds": seconds,
            "adapters": list(self.settings.adapters), "formats": list(numbered.formats),
            "ops": list(numbered.ops), "seed": numbered.seed, "cases": self.cases,
        }  # fmt: skip
        batches.write_small("run", [job], CAMPAIGN_TABLES["run"], out / "run")
        signatures, samples = stored_rows(out / "signatures"), stored_rows(out / "samples")
        return CampaignSummary(signatures, samples, seconds, self.cases - before)


def open_campaign(settings: CampaignSettings, cases: int, out: Path) -> FolderCampaign:
    """Return a new campaign, or the one in `out`; raises `SourceError` if that contains something else."""
    numbered = settings.numbered
    inputs = {
        "seed": numbered.seed, "cases": cases, "adapters": list(settings.adapters),
        "formats": list(numbered.formats), "ops": list(numbered.ops),
        "version": __version__, "hypothesis": version("hypothesis"), "fixtures": load().hash,
    }  # fmt: skip
    state = job_state.load_state(out, "campaign", inputs)
    out.mkdir(parents=True, exist_ok=True)
    job_state.save_state(out, state)
    job_state.remove_uncommitted(out / "cases", state.get("batches", []))
    return FolderCampaign(settings, cases, out, datetime.now(UTC), state)


def claimed_ops(hellos: Iterable[Hello]) -> tuple[Op, ...]:
    """Return the ops that an adapter claims; all of them if an adapter claims no particular ones."""
    claims = [claim for hello in hellos for claim in hello.revisions.values() or (Claim(),)]
    ops: tuple[Op, ...] = ("decode", "encode", "scan")
    return tuple(op for op in ops if any(claim.ops is None or op in claim.ops for claim in claims))


def claimed_formats(hellos: Iterable[Hello], wanted: Collection[str]) -> tuple[str, ...]:
    """Return the formats in `wanted` that an adapter claims, perhaps only as entries of a stream.

    Raises:
        SourceError: there is none.
    """

    def claimed(format_id: str, claims: Mapping[str, Claim]) -> bool:
        lift = FORMATS[format_id].wrapped_by
        stream = f"{lift[0]}/{lift[1]}" if lift else format_id
        return not claims or format_id in claims or stream in claims

    formats = tuple(
        fmt for fmt in FORMATS if fmt in wanted and any(claimed(fmt, hello.revisions) for hello in hellos)
    )
    if not formats:
        raise SourceError("no adapter claims any of these formats: run `wireproof adapters probe`")
    return formats
