"""Every peer with a baseline fails its known failures and nothing else, on the golden cases.

Kafka's own classes are built where they are not; of the others those that are ready are run, and the rest are
named with the command that brings them in. Of Kafka's peers in Go, Rust and JavaScript one each is run, and
kafka-python of those in Python: each takes a quarter of a minute and more. `.ci/full` builds all of them and
derives the families too.

A client program is checked against the cases of delivery: each starts the program anew.
"""

import sys
from pathlib import Path
from subprocess import run
from typing import Any

import found_faults
import pytest
from attrs import evolve
from found_faults import FOUND, gone
from machine import leave_out, needs

from wireproof.adapters.registry.peers import peers_folder
from wireproof.adapters.registry.readiness import ready
from wireproof.adapters.registry.registry import entries
from wireproof.run.exit_codes import Exit

BUILT_HERE = ("kafka-clients",)

PYTHON_CLIENTS = ("confluent-kafka-client", "kafka-python-client", "aiokafka-client")
"""Their build copies one file."""

DELIVERED = ("--run", "kafka.log/mixed/delivered/*")

QUICK = "protobuf-upb"

ELSEWHERE = {
    "aiokafka": "kio",
    "aiokafka-pure": "kio",
    "kafka-python": "kio",
    "kafka-clients": "kafka-clients-client",
    "librdkafka": "confluent-kafka-client",
    "sarama": "franz-go",
    "kafka-go": "franz-go",
    "kafka-go-reader": "franz-go",
    "rskafka": "kafka-protocol",
    "platformatic-kafka": "kafkajs",
    "platformatic-kafka-client": "kafkajs",
}
"""Whom `.ci/full` runs, and the peer in the same language, or of the same library, that is run here."""


def baselines() -> dict[str, Path]:
    """Return the file of each peer, which is in the folder of the peer's own name."""
    found = {path.parent.name: path for path in peers_folder().glob("*/*/baseline.toml")}
    return {name: found[name] for name in entries() if name in found}


BASELINES = baselines()


def test_each_folder_with_a_baseline_belongs_to_a_peer() -> None:
    assert {*ELSEWHERE, *ELSEWHERE.values()} <= set(BASELINES)
    assert set(peers_folder().glob("*/*/baseline.toml")) == set(BASELINES.values())


def asked(name: str) -> Any:
    """A peer with the marker of its lane; one that comes from PyPI and is asked in seconds runs without."""
    tools = [needs("java", "mvn")] if name in BUILT_HERE else []
    return name if name == QUICK else pytest.param(name, marks=[pytest.mark.peers, *tools])


@pytest.mark.parametrize("name", [asked(name) for name in BASELINES])
def test_a_peer_fails_its_known_failures_and_nothing_else(name: str) -> None:
    if name in ELSEWHERE:
        leave_out(f"{name} is left to .ci/full: {ELSEWHERE[name]} is run of those in its language")
    stands = ready(entries()[name])
    if stands.state != "ready" and name not in {*BUILT_HERE, *PYTHON_CLIENTS}:
        leave_out(f"{name} is left out: {stands.fix}")
    words = ["--timeout-scale", "3", "check", name, "--no-families", "--large", "--baseline", BASELINES[name]]
    words += ["--jobs", "1"]  # others of these tests run beside it
    words += DELIVERED if name.endswith("-client") else ()
    done = run([sys.executable, "-m", "wireproof", *words], capture_output=True, text=True, check=False)
    assert done.returncode == Exit.CONFORMS, done.stdout[-6000:] + done.stderr[-2000:]


QUICK_FAULTS = ("kafka-python", "aiokafka", "kio")
"""The codecs of the extra `peers` that have a row in found.md."""


@pytest.mark.peers
@needs("[peers]")
@pytest.mark.parametrize("name", QUICK_FAULTS)
def test_what_is_said_to_be_found_is_found_again(name: str) -> None:
    assert name in {row.name for row in FOUND}
    assert gone([name]) == []


@pytest.mark.peers
def test_what_is_found_no_more_is_named_and_what_is_not_here_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [evolve(FOUND[0], adapter=name) for name in ("reference", "iggy-node", "kfake")]
    monkeypatch.setattr(found_faults, "FOUND", rows)
    assert gone() == [f"no longer: {FOUND[0].case} reference: pass:canonical"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        "left out: iggy-node",
        "left out: kfake",
        "reference: 0 of 1 hold",
    ]
