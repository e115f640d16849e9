"""Run a campaign: generated cases by number, adapters judged, findings grouped by signature.

    OUT/plan.json            the arguments; written first
    OUT/spans/<span>.json    the groups of a span of case numbers; commits it
    OUT/tokens/*.wp1         the tokens that are too long for a command line
    OUT/{signatures,samples,matrix,positions,run}.parquet    at the end, from the spans alone

Case n is a function of the seed and n, and a span is a range of numbers. So the tables do not depend on the
number of tasks, or on work that was done before the campaign was interrupted. Adapters start anew for each
span, because state that an adapter collects over a million cases must not influence the tables.
"""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from attrs import astuple, define, field, frozen

from wireproof import __version__
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases import token
from wireproof.cases.case import Case, Chunks, Op
from wireproof.cases.fixtures import load
from wireproof.cases.made_case import input_bytes
from wireproof.cases.seeded_examples import SeededCases
from wireproof.formats import FORMATS
from wireproof.runner.requests import blocks
from wireproof.runner.signature import Signature
from wireproof.spark import jobs, verdict_tables
from wireproof.spark.errors import SourceError
from wireproof.spark.item_cases import AdapterSession
from wireproof.spark.jobs import ClusterEnv
from wireproof.spark.verdict_tables import VectorTotal, VerdictVectors

# --- cases by signature ---
#
# Merging is associative and commutative, and an empty group changes nothing. So the groups of any spans,
# merged in any order, are the groups of the whole.


@frozen(order=True)
class SampleKey:
    """A case that has a signature; the smallest come first.

    Attributes:
        size: bytes of its input.
        question: a digest of its question, so that equal questions are stored once.
        number: of the case.
    """

    size: int
    question: str
    number: int


@frozen
class SignatureGroup:
    """The cases of one signature: how many, the number of the first, and the smallest."""

    count: int
    first: int
    smallest: tuple[SampleKey, ...]

    def merged(self, other: "SignatureGroup", most: int) -> "SignatureGroup":
        """Return both together, with at most `most` smallest cases; of equal questions the first is kept."""
        samples = (*self.smallest, *other.smallest)
        by_question: dict[tuple[int, str], SampleKey] = {}
        for sample in sorted(samples):
            by_question.setdefault((sample.size, sample.question), sample)
        smallest = tuple(by_question.values())[:most]
        return SignatureGroup(self.count + other.count, min(self.first, other.first), smallest)


@define
class SignatureGroups:
    """Groups of cases.

    Attributes:
        most: the number of smallest cases that are stored for a group.
        groups: by signature.
    """

    most: int
    groups: dict[Signature, SignatureGroup] = field(factory=dict)

    def add(self, signature: Signature, case: SampleKey, *, sample: bool) -> None:
        """Count a case; `sample` means that it is stored if it is small."""
        self._merge(signature, SignatureGroup(1, case.number, (case,) if sample and self.most else ()))

    def merge(self, other: "SignatureGroups") -> None:
        """Add the groups of another object."""
        for signature, group in other.groups.items():
            self._merge(signature, group)

    def _merge(self, signature: Signature, group: SignatureGroup) -> None:
        before = self.groups.get(signature)
        self.groups[signature] = group if before is None else before.merged(group, self.most)

    def dump(self) -> list[list[Any]]:
        """Return the JSON form, sorted."""
        return [
            [*astuple(signature), group.count, group.first,
             [[case.size, case.question, case.number] for case in group.smallest]]
            for signature, group in sorted(self.groups.items(), key=lambda pair: pair[0])
        ]  # fmt: skip


def load_groups(rows: Iterable[list[Any]], most: int) -> SignatureGroups:
    """Return the object that `dump` was called on."""
    groups = SignatureGroups(most)
    for *parts, count, first, smallest in rows:
        smallest_cases = tuple(SampleKey(*parts_of_case) for parts_of_case in smallest)
        groups.groups[Signature(*parts)] = SignatureGroup(count, first, smallest_cases)
    return groups


# --- the campaign ---

CASES_PER_SPAN: Final = 10_000
"""Cases of a span. An interruption loses up to that many for each core; adapters start once for a span."""

MIN_CASES_PER_SPAN: Final = 500
SPANS_OF_SHORT_JOB: Final = 32
"""A short campaign has that many spans, but none with fewer cases than `MIN_CASES_PER_SPAN`."""

MAX_CASES_TOGETHER: Final = 512
"""Cases that are sent and judged together."""

SAMPLES: Final = 3

SIGNATURES: Final = pa.schema([*verdict_tables.SIGNATURE, ("count", pa.int64()), ("first_case", pa.int64())])
"""`first_case` is the number of the first case."""

SAMPLE: Final = pa.schema(
    [
        *verdict_tables.SIGNATURE,
        ("case_number", pa.int64()),
        ("length", pa.int64()),
        ("codec_format", pa.string()),
        ("token", pa.string()),
        ("raw", pa.binary()),
    ]
)
"""The smallest cases of each signature that is a finding.

`token` replays the case; if it begins with `@` it names a file in the folder.
"""

RUN: Final = pa.schema(
    [
        ("version", pa.string()),
        ("adapters", pa.list_(pa.string())),
        ("formats", pa.list_(pa.string())),
        ("ops", pa.list_(pa.string())),
        ("seed", pa.int64()),
        ("cases", pa.int64()),
        ("spans", pa.int64()),
    ]
)
"""The arguments, in one row; it does not depend on when, how often or in how many tasks the job was run."""


@frozen
class CampaignPlan:
    """The plan of a campaign: `grain` cases are a span, of which the last may have fewer."""

    numbered: SeededCases
    adapters: tuple[str, ...]
    cases: int
    most: int
    grain: int
    out: Path

    @property
    def weights(self) -> dict[int, int]:
        """Return the number of cases of each span."""
        return {span: len(self.numbers(span)) for span in range(-(-self.cases // self.grain))}

    def numbers(self, span: int) -> range:
        """Return the numbers of the cases of a span."""
        return range(span * self.grain, min(self.cases, (span + 1) * self.grain))

    def tasks(self, count: int) -> list[list[int]]:
        """Distribute the remaining spans over at most `count` tasks."""
        spans = jobs.remaining_spans(self)
        return [spans[start::count] for start in range(min(count, len(spans)))]

    def run_span(self, number: int) -> None:
        """Generate, ask, judge and commit one span."""
        groups, combined = judge_cases(self, self.numbers(number))
        jobs.save_json(jobs.commit_file(self.out, number), {"groups": groups.dump(), **combined.dump()})


# --- the plan ---


def plan_campaign(
    numbered: SeededCases, adapters: Sequence[str], cases: int, out: Path, most: int = SAMPLES, grain: int = 0
) -> CampaignPlan:
    """Return the plan of a new campaign, or of the one in `out`.

    Args:
        numbered: makes the cases.
        adapters: as the registry reads them.
        cases: the number of cases.
        out: the folder, which every worker can write to at this path.
        most: the number of samples of a signature.
        grain: cases of a span; 0 derives it from the number of cases.

    Raises:
        SourceError: `out` contains something else.
    """
    grain = grain or min(CASES_PER_SPAN, max(MIN_CASES_PER_SPAN, -(-cases // SPANS_OF_SHORT_JOB)))
    inputs = {
        "seed": numbered.seed, "cases": cases, "adapters": list(adapters), "formats": list(numbered.formats),
        "ops": list(numbered.ops), "samples": most, "grain": grain, "version": __version__,
        "hypothesis": version("hypothesis"), "fixtures": load().hash,
    }  # fmt: skip
    jobs.update_plan(out, "campaign", inputs, lambda _: {})
    return CampaignPlan(numbered, tuple(adapters), cases, most, grain, out)


# --- one span ---


def judge_cases(plan: CampaignPlan, numbers: range) -> tuple[SignatureGroups, VerdictVectors]:
    """Return the groups of the cases of a span, and the combined verdicts of the adapters."""
    groups, combined = SignatureGroups(plan.most), VerdictVectors(plan.grain)
    with ExitStack() as stack:
        sessions = [stack.enter_context(AdapterSession(spec)) for spec in plan.adapters]
        for chunk in blocks(numbers, MAX_CASES_TOGETHER):
            cases = [plan.numbered.case(number) for number in chunk]
            keys = [_sample_key(case, number) for case, number in zip(cases, chunk, strict=True)]
            answers = [session.judge(cases) for session in sessions]
            for key, *verdicts in zip(keys, *answers, strict=True):
                for verdict in verdicts:
                    groups.add(verdict.signature, key, sample=verdict.finding)
                    combined.put(key.number, verdict.signature)
                vector = tuple(verdict.signature for verdict in verdicts)
                combined.add(vector, VectorTotal(1, key.size, ("", key.number)))
    return groups, combined


def _sample_key(case: Case, number: int) -> SampleKey:
    data = input_bytes(case)
    question = f"{case.format_id} {case.op} {case.options!r} {chunk_lengths(case)} ".encode() + data
    return SampleKey(len(data), hashlib.blake2b(question, digest_size=8).hexdigest(), number)


def chunk_lengths(case: Case) -> list[int]:
    """Return the lengths of the chunks of an input; none if it is one piece."""
    return list(map(len, case.input.chunks)) if isinstance(case.input, Chunks) else []


# --- all of them ---


@frozen
class CampaignSummary:
    """The result of a campaign: tables in memory, the seconds of this run, and the cases that it judged."""

    signatures: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    seconds: float
    cases: int


def run_campaign(
    plan: CampaignPlan,
    cluster: ClusterEnv | str | None,
    progress: jobs.Progress,
    tasks: int | None = None,
) -> CampaignSummary:
    """Run the remaining spans and merge the tables; arguments and errors as for `run_on_spark`."""
    start, spans = time.monotonic(), jobs.remaining_spans(plan)
    weights = plan.weights
    if spans:
        jobs.run_on_spark(plan, plan.run_span, cluster, progress, tasks)
    signatures, samples = merge_campaign(plan)
    return CampaignSummary(
        signatures, samples, time.monotonic() - start, sum(weights[span] for span in spans)
    )


def merge_campaign(plan: CampaignPlan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the tables from the committed spans; return `signatures` and `samples`."""
    jobs.remove_partial_files(plan.out)
    merged = SignatureGroups(plan.most)
    parts = [jobs.load_json(jobs.commit_file(plan.out, span)) for span in plan.weights]
    for part in parts:
        merged.merge(load_groups(part["groups"], plan.most))
    groups = sorted(merged.groups.items(), key=lambda pair: pair[0])
    signatures = [
        {**verdict_tables.signature_columns(signature), "count": group.count, "first_case": group.first}
        for signature, group in groups
    ]
    samples = [
        {**verdict_tables.signature_columns(signature), **row}
        for signature, group in groups
        for row in _samples(plan, group.smallest)
    ]
    jobs.write_table(plan.out / "signatures.parquet", signatures, SIGNATURES)
    jobs.write_table(plan.out / "samples.parquet", samples, SAMPLE)
    jobs.write_table(plan.out / "matrix.parquet", verdict_tables.matrix_rows(parts), verdict_tables.MATRIX)
    places = verdict_tables.position_rows([("", part) for part in parts])
    jobs.write_table(plan.out / "positions.parquet", places, verdict_tables.POSITIONS)
    jobs.write_table(plan.out / "run.parquet", [_manifest(plan)], RUN)
    return signatures, samples


def _samples(plan: CampaignPlan, keys: Iterable[SampleKey]) -> Iterator[dict[str, Any]]:
    """Generate the cases again from their numbers, so that no span has to store them."""
    for key in keys:
        case = plan.numbered.case(key.number)
        assert _sample_key(case, key.number) == key, f"case {key.number} differs from the judged case"
        yield {
            "case_number": key.number, "length": key.size, "codec_format": case.format_id,
            "token": _token(case, plan.out), "raw": input_bytes(case),
        }  # fmt: skip


def _token(case: Case, out: Path) -> str:
    text = token.save_token(case, out / "tokens")
    return f"@tokens/{Path(text[1:]).name}" if text.startswith("@") else text


def _manifest(plan: CampaignPlan) -> dict[str, Any]:
    numbered = plan.numbered
    return {
        "version": __version__, "adapters": list(plan.adapters), "formats": list(numbered.formats),
        "ops": list(numbered.ops), "seed": numbered.seed, "cases": plan.cases, "spans": len(plan.weights),
    }  # fmt: skip


# --- formats and ops of the adapters ---

OPS: Final[tuple[Op, ...]] = ("decode", "encode", "scan")


def claimed_ops(hellos: Iterable[Hello]) -> tuple[Op, ...]:
    """Return the ops that an adapter claims; all of them if an adapter claims no particular ones."""
    claims = [claim for hello in hellos for claim in hello.revisions.values() or (Claim(),)]
    return tuple(op for op in OPS if any(claim.ops is None or op in claim.ops for claim in claims))


def claimed_formats(hellos: Iterable[Hello], wanted: Collection[str]) -> tuple[str, ...]:
    """Return the formats in `wanted` that an adapter claims, perhaps only as entries of a stream.

    Raises:
        SourceError: there is none.
    """
    claims = [hello.revisions for hello in hellos]
    formats = tuple(
        fmt for fmt in FORMATS if fmt in wanted and any(not claim or _claimed(fmt, claim) for claim in claims)
    )
    if not formats:
        raise SourceError("no adapter claims any of these formats: run `wireproof adapters probe`")
    return formats


def _claimed(format_id: str, claims: Mapping[str, Claim]) -> bool:
    lift = FORMATS[format_id].wrapped_by
    return format_id in claims or (lift is not None and f"{lift[0]}/{lift[1]}" in claims)
