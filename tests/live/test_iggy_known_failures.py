"""The known failures of Iggy's servers work as `--baseline`: mock servers take the place of the real ones."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.live.judging import Judged, judged
from tests.live.mock_iggy import http, server

pytestmark = pytest.mark.live

FOLDER = Path(__file__).parent / "iggy_servers" / "known"
KNOWN = {path.stem.rpartition("-")[2]: path for path in sorted(FOLDER.glob("*.toml"))}
"""The files by the version of a server."""

FAULTS = {"stalled": "waits-for-more", "undocumented": "out-of-step", "lenient": "accepts-refused"}
"""A fault of a mock server for a kind of failure: it shows in every case that must be refused."""

KNOWN_ONLY, STALE_ONLY = 0, 3


def entries(version: str) -> Sequence[Mapping[str, str]]:
    page = tomllib.loads(KNOWN[version].read_text(encoding="utf-8"))
    rows: Sequence[Mapping[str, str]] = page["known-failure"]
    return rows


def ids(version: str, *kinds: str, by_http: bool = False) -> list[str]:
    """Return the cases of a file, over TCP or over HTTP; without kinds those of all."""
    rows = entries(version)
    wanted = kinds or {row["kind"] for row in rows}
    found = [row["id"] for row in rows if row["kind"] in wanted]
    return [case for case in found if case.startswith("iggy.json") is by_http]


def over_tcp(version: str, fault: str, cases: Sequence[str], folder: Path) -> Judged:
    options = ("--baseline", str(KNOWN[version]))
    with server.running(fault, version) as one:
        return judged([one.address], folder, *options, cases=cases, kind="iggy-server")


def named(run: Judged, word: str) -> list[str]:
    """Return the cases that the lines of a baseline name as stale, changed, and so on."""
    lines = (line.split() for line in run.output.splitlines() if line.startswith("baseline:"))
    return sorted(words[2] for words in lines if words[1] == word)


@pytest.mark.parametrize("version", KNOWN)
def test_an_entry_that_is_no_longer_needed_is_named(version: str, tmp_path: Path) -> None:
    cases = ids(version)
    run = over_tcp(version, "", cases, tmp_path)
    assert (run.code, named(run, "stale")) == (STALE_ONLY, sorted(cases)), run.output


@pytest.mark.parametrize("version", KNOWN)
def test_an_entry_of_http_that_is_no_longer_needed_is_named(version: str, tmp_path: Path) -> None:
    cases = ids(version, by_http=True)
    with http.running(version=version) as one:
        options = ("--baseline", str(KNOWN[version]))
        run = judged([f"http://{one.address}"], tmp_path, *options, cases=cases, kind="iggy-server")
    assert (run.code, named(run, "stale")) == (STALE_ONLY, sorted(cases)), run.output


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("version", KNOWN)
def test_a_server_that_fails_as_it_is_known_to_is_green(version: str, kind: str, tmp_path: Path) -> None:
    cases = [case for case in ids(version, kind) if case not in of_other_code(version)]
    run = over_tcp(version, FAULTS[kind], cases, tmp_path)
    assert run.code == KNOWN_ONLY, run.output
    assert f"{len(cases)} known failure" in run.output


def of_other_code(version: str) -> list[str]:
    """Return the cases that the server refuses with another code than a mock server does."""
    rows = [row for row in entries(version) if row["kind"] == "undocumented"]
    return sorted(row["id"] for row in rows if row["class"] != "other")
