"""A campaign: cases by number dealt out to tasks, adapters judged, findings merged by signature.

    OUT/plan.json            what was asked; written first
    OUT/spans/<span>.json    the groups of a span of case numbers; commits it
    OUT/tokens/*.wp1         the tokens that are too long for a word
    OUT/{signatures,samples,matrix,positions,run}.parquet    at the end, from the spans alone

Case n is a function of seed and n alone, and a span is one of numbers: neither the number of tasks nor what
was done before a campaign was killed can be seen in the tables. Adapters start anew for each span: what
one of them has become after a million cases must not be seen there either.
"""

import hashlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from attrs import frozen

from wireproof import __version__
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases import token
from wireproof.cases.case import Case, Chunks, Data, Op, Value
from wireproof.cases.fixtures import load
from wireproof.formats import FORMATS
from wireproof.fuzz.numbered import Numbered
from wireproof.spark import spanwise, tables, vectors
from wireproof.spark.bench import Bench
from wireproof.spark.errors import SourceError
from wireproof.spark.merging import Gathered, Shown, gathered
from wireproof.spark.shipping import Where
from wireproof.spark.vectors import Sum, Vectors
from wireproof.trial.plan import blocks
from wireproof.wire.values import canonical

GRAIN: Final = 10_000
"""Cases of a span: what is lost when a campaign is killed, for each core; adapters start once for it."""

LEAST: Final = 500
SPREAD: Final = 32
"""A short campaign has so many spans, but none of fewer cases than `LEAST`."""

ASKED: Final = 512
"""Cases that are asked and judged together."""

SAMPLES: Final = 3

SIGNATURES: Final = pa.schema([*vectors.SIGNATURE, ("count", pa.int64()), ("first", pa.int64())])
"""`first`: the number of the first case."""

SAMPLE: Final = pa.schema(
    [
        *vectors.SIGNATURE,
        ("number", pa.int64()),
        ("length", pa.int64()),
        ("codec_format", pa.string()),
        ("token", pa.string()),
        ("raw", pa.binary()),
    ]
)
"""The smallest cases of each signature that is a finding. `token` replays it; `@` is a file in the folder."""

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
"""The manifest, in one row: nothing in it depends on when, how often or in how many tasks it was run."""


@frozen
class Plan:
    """What is asked of whom; `grain` cases are a span, the last one may have fewer."""

    numbered: Numbered
    adapters: tuple[str, ...]
    cases: int
    most: int
    grain: int
    out: Path

    @property
    def weights(self) -> list[int]:
        """The cases of each span."""
        return [len(self.numbers(span)) for span in range(-(-self.cases // self.grain))]

    def numbers(self, span: int) -> range:
        """The numbers of a span's cases."""
        return range(span * self.grain, min(self.cases, (span + 1) * self.grain))

    def tasks(self, count: int) -> list[list[int]]:
        """The spans that are left, dealt out to at most `count` tasks."""
        left = spanwise.left(self)
        return [left[start::count] for start in range(min(count, len(left)))]

    def do(self, number: int) -> None:
        """Generate, ask, judge and commit one span."""
        found, together = judged(self, self.numbers(number))
        tables.save(spanwise.committed(self.out, number), {"groups": found.dump(), **together.dump()})


# --- the plan ---


def planned(
    numbered: Numbered, adapters: Sequence[str], cases: int, out: Path, most: int = SAMPLES, grain: int = 0
) -> Plan:
    """The plan of a new campaign, or of the one in `out`.

    Args:
        numbered: where the cases come from.
        adapters: as the registry reads them.
        cases: how many.
        out: the folder, which every worker can write to under this name.
        most: samples of a signature.
        grain: cases of a span; 0 chooses by the number of cases.

    Raises:
        SourceError: `out` holds something else.
    """
    grain = grain or min(GRAIN, max(LEAST, -(-cases // SPREAD)))
    asked = {
        "seed": numbered.seed, "cases": cases, "adapters": list(adapters), "formats": list(numbered.formats),
        "ops": list(numbered.ops), "samples": most, "grain": grain, "version": __version__,
        "hypothesis": version("hypothesis"), "fixtures": load().hash,
    }  # fmt: skip
    spanwise.kept(out, "campaign", asked, dict)
    return Plan(numbered, tuple(adapters), cases, most, grain, out)


# --- one span ---


def judged(plan: Plan, numbers: range) -> tuple[Gathered, Vectors]:
    """The groups of the cases of a span, and what the adapters say together."""
    found, together = Gathered(plan.most), Vectors(plan.grain)
    with ExitStack() as stack:
        benches = [stack.enter_context(Bench(spec)) for spec in plan.adapters]
        for some in blocks(numbers, ASKED):
            cases = [plan.numbered.case(number) for number in some]
            shown = [_shown(case, number) for case, number in zip(cases, some, strict=True)]
            answers = [bench.judge(cases) for bench in benches]
            for one, *said in zip(shown, *answers, strict=True):
                for judge in said:
                    found.add(judge.signature, one, sample=judge.finding)
                    together.put(one.number, judge.signature)
                vector = tuple(judge.signature for judge in said)
                together.add(vector, Sum(1, one.size, ("", one.number)))
    return found, together


def _shown(case: Case, number: int) -> Shown:
    data = raw(case)
    question = f"{case.joined} {case.op} {case.options!r} {pieces(case)} ".encode() + data
    return Shown(len(data), hashlib.blake2b(question, digest_size=8).hexdigest(), number)


def raw(case: Case) -> bytes:
    """The bytes of an input; of a value, its canonical JSON."""
    match case.input:
        case Data(data):
            return data
        case Chunks(chunks):
            return b"".join(chunks)
        case Value(value):
            return canonical(value)


def pieces(case: Case) -> list[int]:
    """The lengths of the pieces in which bytes arrive; none where they come as one."""
    return list(map(len, case.input.chunks)) if isinstance(case.input, Chunks) else []


# --- all of them ---


@frozen
class Summary:
    """How a campaign went: the tables in memory, the seconds of this run and the cases that it judged."""

    signatures: list[dict[str, Any]]
    samples: list[dict[str, Any]]
    seconds: float
    cases: int


def run(
    plan: Plan, where: Where | str | None, progress: spanwise.Progress, tasks: int | None = None
) -> Summary:
    """Do what is left, then put the tables together; arguments and errors as `spanwise.on_spark` has them."""
    began, left = time.monotonic(), spanwise.left(plan)
    weights = plan.weights
    if left:
        spanwise.on_spark(plan, where, progress, tasks)
    signatures, samples = merge(plan)
    return Summary(signatures, samples, time.monotonic() - began, sum(weights[span] for span in left))


def merge(plan: Plan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Write the tables from the spans, which are committed; gives `signatures` and `samples`."""
    spanwise.tidy(plan.out)
    whole = Gathered(plan.most)
    parts = [tables.load(spanwise.committed(plan.out, span)) for span in range(len(plan.weights))]
    for part in parts:
        whole.merge(gathered(part["groups"], plan.most))
    groups = sorted(whole.groups.items(), key=lambda pair: pair[0])
    signatures = [{**vectors.named(key), "count": one.count, "first": one.first} for key, one in groups]
    samples = [{**vectors.named(key), **row} for key, one in groups for row in _samples(plan, one.smallest)]
    tables.write_table(plan.out / "signatures.parquet", signatures, SIGNATURES)
    tables.write_table(plan.out / "samples.parquet", samples, SAMPLE)
    tables.write_table(plan.out / "matrix.parquet", vectors.matrix(parts), vectors.MATRIX)
    places = vectors.positions([("", part) for part in parts])
    tables.write_table(plan.out / "positions.parquet", places, vectors.POSITIONS)
    tables.write_table(plan.out / "run.parquet", [_manifest(plan)], RUN)
    return signatures, samples


def _samples(plan: Plan, shown: Iterable[Shown]) -> Iterator[dict[str, Any]]:
    """Cases are made again from their numbers: no span has to keep them."""
    for one in shown:
        case = plan.numbered.case(one.number)
        assert _shown(case, one.number) == one, f"case {one.number} is not the one that was judged"
        yield {
            "number": one.number, "length": one.size, "codec_format": case.joined,
            "token": _token(case, plan.out), "raw": raw(case),
        }  # fmt: skip


def _token(case: Case, out: Path) -> str:
    kept = token.keep(case, out / "tokens")
    return f"@tokens/{Path(kept[1:]).name}" if kept.startswith("@") else kept


def _manifest(plan: Plan) -> dict[str, Any]:
    numbered = plan.numbered
    return {
        "version": __version__, "adapters": list(plan.adapters), "formats": list(numbered.formats),
        "ops": list(numbered.ops), "seed": numbered.seed, "cases": plan.cases, "spans": len(plan.weights),
    }  # fmt: skip


# --- what there is to ask ---

OPS: Final[tuple[Op, ...]] = ("decode", "encode", "scan")


def ops_of(hellos: Iterable[Hello]) -> tuple[Op, ...]:
    """The ops that any of the adapters claims; all where one does not say."""
    claims = [claim for hello in hellos for claim in hello.revisions.values() or (Claim(),)]
    return tuple(op for op in OPS if any(claim.ops is None or op in claim.ops for claim in claims))


def formats_of(hellos: Iterable[Hello], wanted: Collection[str]) -> tuple[str, ...]:
    """Of the formats that are wanted, those that any of the adapters claims, if only as entries of a stream.

    Raises:
        SourceError: there is none.
    """
    claims = [hello.revisions for hello in hellos]
    found = tuple(one for one in FORMATS if one in wanted and any(not c or _claimed(one, c) for c in claims))
    if not found:
        raise SourceError("no adapter claims any of these formats: look at `wireproof adapters probe`")
    return found


def _claimed(joined: str, claims: Mapping[str, Claim]) -> bool:
    lift = FORMATS[joined].lifts_to
    return joined in claims or (lift is not None and f"{lift[0]}/{lift[1]}" in claims)
