"""The codec and the clients of one version of a library give one verdict for each case but those of writing.

A codec is given the bytes of a case once; its client program fetches them from a broker of the suite. Where
the two differ, `pairs.toml` has the reason, and a reason that no case needs any more fails the test.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from pathlib import Path
from subprocess import run
from typing import Final

import pytest
from attrs import frozen
from goldens import load
from machine import leave_out

from wireproof.adapters.registry.peers import peers_folder
from wireproof.adapters.registry.readiness import ready
from wireproof.adapters.registry.registry import open_adapter, resolve
from wireproof.cases.id_patterns import compile_pattern
from wireproof.judge.verdicts import PASSING
from wireproof.run.events import CaseEvent, read_events
from wireproof.strict_parsing import parse_toml, structure

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
"""The codecs whose clients `.ci/run` asks, about delivery and headers: their programs start in a moment."""

SHARDS: Final = 4
"""The runs that share the cases of an adapter: a client that stalls does nothing in half of its time."""


@frozen
class Library:
    """A codec and the client programs of one library; `shards` runs share the cases of each."""

    codec: str
    clients: tuple[str, ...]
    shards: int = SHARDS


@frozen
class Difference:
    """The patterns of cases on which clients may differ from their codec; without `effects` by any.

    By `chance` they may also agree: what the library gives depends on what its process did before.
    """

    clients: tuple[str, ...]
    cases: tuple[str, ...]
    reason: str
    effects: tuple[str, ...] = ()
    chance: bool = False


@frozen
class Pairs:
    """What `pairs.toml` has; of the clients apart from any codec the reason."""

    library: tuple[Library, ...]
    difference: tuple[Difference, ...]
    apart: Mapping[str, str]


PAGE: Final = structure(
    parse_toml((Path(__file__).parent / "pairs.toml").read_text("utf-8")), Pairs, "pairs.toml"
)
LIBRARIES: Final = PAGE.library


def matches(pattern: str, case: str) -> bool:
    """Return True if a pattern selects a case."""
    return compile_pattern(pattern).fullmatch(case) is not None


def effect(event: CaseEvent) -> str:
    """Return what a verdict says of the library; the machine decides which limit stops one that runs away."""
    if event.verdict in RUNAWAY:
        return "runs away"
    return "passes" if event.verdict in PASSING else event.label


def effects(name: str, patterns: tuple[str, ...], folder: Path, shards: int) -> Mapping[str, str]:
    """Return the effect of each case that an adapter claims."""
    stands = ready(resolve(name))
    if stands.state != "ready":
        leave_out(f"{name} is left out: {stands.fix}")
    open_adapter(name).close()
    chosen = [word for pattern in patterns for word in ("--run", pattern)]
    left = [word for pattern in WRITING for word in ("--skip", pattern)]
    words = ["--timeout-scale", "3", "check", name, "--no-families", "--large", "--jobs", "1", *chosen, *left]

    def cases(shard: int) -> Sequence[CaseEvent]:
        events = folder / f"{name}-{shard}.jsonl"
        part = ["--shard", f"{shard}/{shards}", "--out", str(events)]
        done = run(
            [sys.executable, "-m", "wireproof", *words, *part], capture_output=True, text=True, check=False
        )
        assert events.exists(), done.stderr
        (stream,) = read_events(events)
        assert stream.complete, f"{name} ended early: {done.stderr}"
        return stream.cases

    with ThreadPoolExecutor(shards) as pool:
        found = [one for part in pool.map(cases, range(1, shards + 1)) for one in part]
    return {one.id: effect(one) for one in found if one.verdict not in NOT_JUDGED}


def compare(library: Library, patterns: tuple[str, ...], folder: Path) -> None:
    """Fail where a client differs from the codec without a reason, or agrees though there is one."""
    codec = effects(library.codec, patterns, folder, library.shards)
    faults: list[str] = []
    for client in library.clients:
        faults += differences(client, codec, effects(client, patterns, folder, library.shards))
    assert not faults, "\n".join(faults)


def differences(client: str, codec: Mapping[str, str], effect: Mapping[str, str]) -> Iterator[str]:
    """Yield each case on which a client differs without a reason, and each pattern without a case."""
    common = codec.keys() & effect.keys()
    assert common
    differing = {case for case in common if codec[case] != effect[case]}
    allowed = [one for one in PAGE.difference if client in one.clients]
    for case in sorted(differing):
        reasons = (one for one in allowed if not one.effects or effect[case] in one.effects)
        if not any(matches(pattern, case) for one in reasons for pattern in one.cases):
            yield f"{client}: {case}: {codec[case]} by the codec, {effect[case]} by the client"
    for pattern in (pattern for one in allowed if not one.chance for pattern in one.cases):
        if any(matches(pattern, case) for case in common - differing) and not any(
            matches(pattern, case) for case in differing
        ):
            yield f"{client}: {pattern}: no case needs the reason"


def test_each_client_of_a_library_with_another_adapter_is_in_a_pair_or_says_why_not() -> None:
    names = {path.parent.name for path in peers_folder().glob("kafka/*/adapter.toml")}
    clients = {name for name in names if name.endswith("-client")}
    assert clients <= {client for one in LIBRARIES for client in one.clients} | set(PAGE.apart)
    codecs = {name.removesuffix("-client") for name in clients} & names
    assert codecs <= {one.codec for one in LIBRARIES} | set(PAGE.apart)
    assert all(PAGE.apart.values())
    assert all(one.reason for one in PAGE.difference)


def test_no_case_of_writing_is_compared() -> None:
    written = [one.id for one in load().cases if one.format.startswith("kafka") and one.op == "encode"]
    assert [case for case in written if not any(matches(pattern, case) for pattern in WRITING)] == []


@pytest.mark.peers
@pytest.mark.parametrize("library", [one for one in LIBRARIES if one.codec in QUICK], ids=attrgetter("codec"))
def test_the_adapters_of_a_library_agree_on_delivery(library: Library, tmp_path: Path) -> None:
    compare(library, DELIVERY, tmp_path)


@pytest.mark.builds
@pytest.mark.parametrize("library", LIBRARIES, ids=attrgetter("codec"))
def test_the_adapters_of_a_library_agree(library: Library, tmp_path: Path) -> None:
    compare(library, ("kafka.**",), tmp_path)
