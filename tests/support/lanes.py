"""The markers of tests that take long or want more than Python, and what a run says it left out."""

from collections import Counter
from typing import Final

import pytest

LANES: Final = {
    "peers": "codecs of others beside their baselines, and those built with the tools of other languages",
    "tools": "templates and fuzzers of others, with compilers and interpreters of other languages",
    "browser": "pages in a headless Chromium",
    "documents": "the commands of the README, of the documents and of the action",
    "campaigns": "fuzzing that takes seconds: libFuzzer in processes of its own",
    "sweeps": "every mutant, every state and every derived case, where one of a kind runs without a marker",
    "spark": "sources, scans and campaigns in a session of Spark; a few of them run without the marker",
    "cluster": "Spark sessions and clusters of their own, which take minutes",
    "live": "mock brokers on the loopback, most of them with a fault, judged by the suite",
    "brokers": "real brokers that are started on the loopback, judged by the suite: in `.ci/full`",
    "revisions": "states of the revisions between the first and the newest of a format: in `.ci/full`",
    "releases": "old releases of libraries, built with the bugs that others reported: in `.ci/full`",
    "builds": "libraries in Rust and jars that take minutes to build or to fetch: in `.ci/full`",
    "benchmarks": "ratios of two speeds in one run, each with its bar: in a workflow of their own",
    "largest": "cases of tens of MiB or very many records on reference and planted bugs: in `.ci/full`",
}
"""Markers whose tests the README's test command leaves out; `.ci/run` runs after it all but `FULL`."""

FULL: Final = ("largest", "brokers", "revisions", "releases", "builds", "benchmarks")
"""The markers that only `.ci/full` runs: they need servers or take long, and repeat what others show."""

UNMARKED: Final = ""


def lane(item: pytest.Item) -> str:
    """Return the marker of a test, the first of the table if it has several, else `UNMARKED`."""
    return next((name for name in LANES if item.get_closest_marker(name)), UNMARKED)


def left_out(counts: Counter[str]) -> str:
    """Return the line for tests that were left out, by marker."""
    how = f"`pytest -m NAME` runs those of a marker, `.ci/run` all but {', '.join(FULL)}"
    return f"left out: {counts.total():,} tests ({_by_marker(counts)}); {how}"


def passed(counts: Counter[str]) -> str:
    """Return the line for tests that passed, by marker: `.ci/run` reads it."""
    return f"passed by marker: {_by_marker(counts)}"


def _by_marker(counts: Counter[str]) -> str:
    parts = [f"{name} {counts[name]:,}" for name in LANES if counts[name]]
    return ", ".join([*parts, *[f"unmarked {counts[UNMARKED]:,}"] * bool(counts[UNMARKED])])
