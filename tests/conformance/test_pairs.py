"""Two adapters of one version of one library give one verdict for each case but writing that both claim.

A codec is given the bytes of a case once; its client program fetches them from a broker of the suite. Where
the two differ, `pairs.toml` has the reason, and a reason that no case needs any more fails the test.
"""

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import run
from typing import Final

import pytest
from attrs import frozen
from built_peers import prepared
from goldens import load

from wireproof.adapters.packaged_folders import peers_folder
from wireproof.cases.id_patterns import compile_pattern
from wireproof.runner.events import CaseEvent, read_events
from wireproof.runner.verdicts import PASSING
from wireproof.strict_parsing import parse_toml

PAGE: Final = parse_toml((Path(__file__).parent / "pairs.toml").read_text("utf-8"))

DELIVERY: Final = (
    *(f"kafka.log/mixed/{topic}/*" for topic in ("delivered", "entries", "tail", "transactions", "damaged")),
    "kafka.batch/v2/headers/*",
)
WRITING: Final = (
    *("kafka.batch/*/encode/**", "kafka.batch/*/size-encode/**"),
    *("kafka.batch/*/*/write-*", "kafka.log/mixed/encode/**"),
    *("kafka.batch/*/produce/**", "kafka.log/mixed/append/**"),
)

RUNAWAY: Final = ("crash", "timeout", "resource")
NOT_JUDGED: Final = ("unsupported", "not-run")

QUICK: Final = ("librdkafka",)
"""The codecs whose pairs `.ci/run` asks, about delivery and headers: their programs start in a moment."""


@frozen
class Pair:
    """A codec and a client program of one library, or two client programs; `shards` runs share its cases."""

    first: str
    second: str
    shards: int
    differences: tuple[tuple[str, tuple[str, ...]], ...]

    def has_reason(self, case: str, effect: str) -> bool:
        """Return whether they may differ on a case, where this is the effect of the second."""
        return any(
            matches(pattern, case) and (not only or effect in only) for pattern, only in self.differences
        )


APART: Final = PAGE["apart"]

PAIRS: Final = [
    Pair(
        row["adapters"][0],
        row["adapters"][1],
        row.get("shards", 1),
        tuple(
            (pattern, tuple(one.get("effects", ())))
            for one in PAGE["difference"]
            if row["adapters"][1] in one["clients"]
            for pattern in one["cases"]
        ),
    )
    for row in PAGE["pair"]
]


def matches(pattern: str, case: str) -> bool:
    """Return True if a pattern selects a case."""
    return compile_pattern(pattern).fullmatch(case) is not None


def effect(event: CaseEvent) -> str:
    """Return what a verdict says of the library; the machine decides which limit stops one that runs away."""
    if event.verdict in RUNAWAY:
        return "runs away"
    return "passes" if event.verdict in PASSING else event.label


def effects(name: str, patterns: tuple[str, ...], folder: Path, shards: int = 1) -> Mapping[str, str]:
    """Return the effect of each case that an adapter claims."""
    prepared(name).close()
    chosen = [word for pattern in patterns for word in ("--run", pattern)]
    left = [word for pattern in WRITING for word in ("--skip", pattern)]
    words = ["--timeout-scale", "3", "check", name, "--no-families", "--large", *chosen, *left]

    def cases(shard: int) -> Sequence[CaseEvent]:
        events = folder / f"{name}-{shard}.jsonl"
        part = ["--shard", f"{shard}/{shards}", "--out", str(events)]
        done = run(
            [sys.executable, "-m", "wireproof", *words, *part], capture_output=True, text=True, check=False
        )
        assert events.exists(), done.stderr
        (stream,) = read_events(events)
        return stream.cases

    with ThreadPoolExecutor(shards) as pool:
        found = [one for part in pool.map(cases, range(1, shards + 1)) for one in part]
    return {one.id: effect(one) for one in found if one.verdict not in NOT_JUDGED}


def compare(pair: Pair, patterns: tuple[str, ...], folder: Path) -> None:
    """Fail where they differ without a reason, or agree though there is one."""
    first = effects(pair.first, patterns, folder)
    second = effects(pair.second, patterns, folder, pair.shards)
    common = first.keys() & second.keys()
    assert common
    differing = {case for case in common if first[case] != second[case]}
    without = {
        f"{case}: {first[case]}, {second[case]}"
        for case in differing
        if not pair.has_reason(case, second[case])
    }
    assert not without
    unused = {
        pattern
        for pattern, _ in pair.differences
        if any(matches(pattern, case) for case in common)
        and not any(matches(pattern, case) for case in differing)
    }
    assert not unused


def test_each_client_of_a_library_with_another_adapter_is_in_a_pair_or_says_why_not() -> None:
    names = {path.parent.name for path in peers_folder().glob("kafka/*/adapter.toml")}
    assert {name for name in names if name.endswith("-client")} <= {one.second for one in PAIRS} | set(APART)
    firsts = {name.removesuffix("-client") for name in names if name.endswith("-client")} & names
    assert firsts <= {one.first for one in PAIRS} | set(APART)
    assert all(APART.values())
    assert all(one["reason"] for one in PAGE["difference"])


def test_no_case_of_writing_is_compared() -> None:
    written = [one.id for one in load().cases if one.format.startswith("kafka") and one.op == "encode"]
    assert [case for case in written if not any(matches(pattern, case) for pattern in WRITING)] == []


@pytest.mark.peers
@pytest.mark.parametrize(
    "pair", [one for one in PAIRS if one.first in QUICK], ids=lambda one: f"{one.first}-{one.second}"
)
def test_two_adapters_of_a_library_agree_on_delivery(pair: Pair, tmp_path: Path) -> None:
    compare(pair, DELIVERY, tmp_path)


@pytest.mark.builds
@pytest.mark.parametrize("pair", PAIRS, ids=lambda one: f"{one.first}-{one.second}")
def test_two_adapters_of_a_library_agree(pair: Pair, tmp_path: Path) -> None:
    compare(pair, ("kafka.**",), tmp_path)
