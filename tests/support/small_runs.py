"""Small runs for the tests of streams, baselines and reports."""

from pathlib import Path

from wireproof.run.events import CaseEvent, EventStream, EventWriter, Run, footer_of

RUN = Run("0.1.0", "ab12", "py:some:thing", "some", "1.2", seed=7, platform="test", python="3.11")


def event(seq: int, name: str, verdict: str = "pass", kind: str = "", **more: object) -> CaseEvent:
    base = {"format": "toy.frame", "revision": "v1", "op": "decode", "level": "must"}
    return CaseEvent(seq=seq, id=f"toy.frame/v1/{name}", verdict=verdict, kind=kind, **{**base, **more})


def stream(*cases: CaseEvent, run: Run = RUN, complete: bool = True) -> EventStream:
    return EventStream(run, cases, footer_of(cases) if complete else None)


PASS = event(0, "basic/good", "pass", "canonical", ns=1000)
FAIL = event(
    1,
    "sum/wrong",
    "fail",
    "wrong-accept",
    cls="crc-mismatch",
    path="sum",
    at=4,
    title="The sum is wrong by one",
    rules=("toy.sum",),
    want="refuse crc-mismatch at 4",
    got="accept, 5 bytes consumed",
    twin="toy.frame/v1/basic/good",
    ns=2000,
)
SKIP = event(2, "codec/lz4", "unsupported", text="claims no codec:lz4")


def stored(path: Path, *streams: EventStream) -> Path:
    """Write runs to a file, as `check --out` does."""
    with path.open("w", encoding="utf-8") as out:
        for one in streams:
            writer = EventWriter(out, one.run)
            for case in one.cases:
                writer.case(case)
            if one.footer is not None:
                writer.footer()
    return path
