"""Servers of Iggy that cannot be judged, in one line each, what a run leaves on them, and known failures."""

import re
import signal
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.live.judging import Judged, judged, started
from tests.live.mock_iggy import http, server
from tests.live.mock_iggy.log import Refused
from tests.live.mock_iggy.server import MockServer, Stream, running
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry import live_servers
from wireproof.adapters.registry.registry import open_adapter

pytestmark = pytest.mark.live

TOKEN = "0123456789abcdef"
UNAUTHORIZED = 41


def properties(folder: Path, text: str) -> str:
    path = folder / "client.properties"
    path.write_text(text)
    return str(path)


def test_a_wrong_password_is_one_line(tmp_path: Path) -> None:
    file = properties(tmp_path, "username = iggy\npassword = wrong\n")
    with running() as server, pytest.raises(AdapterStartError) as error:
        open_adapter(f"iggy-server:{server.address}:{file}")
    line = r"127\.0\.0\.1:\d+: the login of iggy is refused with InvalidCredentials \(42\)"
    assert re.fullmatch(line, str(error.value))


def test_a_user_who_may_not_create_streams_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise Refused(UNAUTHORIZED)

    monkeypatch.setattr(MockServer, "_create_stream", refuse)
    with running() as server, pytest.raises(AdapterStartError) as error:
        open_adapter(f"iggy-server:{server.address}")
    line = r"127\.0\.0\.1:\d+: creating the stream wireproof-[0-9a-f-]+ is refused with .*\(41\)"
    assert re.fullmatch(line, str(error.value))


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("0.9.0", r"server 0\.9\.0: its revision is not known, and iggy-server speaks 0\.7, 0\.8, 0\.9"),
        ("later", r"server later: its revision is not known"),
    ],
)
def test_another_revision_is_one_line(version: str, reason: str) -> None:
    with running(version=version) as server, pytest.raises(AdapterStartError, match=reason):
        open_adapter(f"iggy-server:{server.address}")


def test_a_property_names_the_revision_of_a_server_with_another_version(tmp_path: Path) -> None:
    file = properties(tmp_path, "wireproof.server.revision = 0.7\nwireproof.server.name = mine\n")
    with running(version="later") as server:
        adapter = open_adapter(f"iggy-server:{server.address}:{file}")
        adapter.close()
        assert (adapter.hello.name, adapter.hello.version) == ("mine", "later")
        assert list(adapter.hello.revisions) == ["iggy.send/0.7", "iggy.poll/0.7"]


def test_ctrl_c_leaves_no_stream_of_ours() -> None:
    with running("waits-for-more") as server:
        with started(f"iggy-server:{server.address}", ["iggy.send/0.7/torn/**"]) as check:
            while not server.streams and check.poll() is None:
                time.sleep(0.01)
            time.sleep(0.5)  # the run is in the middle of a case that is not answered
            assert [stream.name for stream in server.streams.values()]
            check.send_signal(signal.SIGINT)
            _, errors = check.communicate(timeout=60)
        assert server.streams == {}
        assert "left" not in errors


def test_the_streams_of_others_stay() -> None:
    names = ["orders", "wireproof-", f"wireproof-{TOKEN}-1"]
    with running() as server:
        server.streams.update({number: Stream(name) for number, name in enumerate(names, 5)})
        with started(f"iggy-server:{server.address}", ["iggy.send/0.7/messages/*"]) as check:
            _, errors = check.communicate(timeout=60)
        assert check.returncode == 0, errors
        assert [stream.name for stream in server.streams.values()] == names


def test_a_stream_that_cannot_be_deleted_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live_servers.secrets, "token_hex", lambda _: TOKEN)
    with running() as server:
        adapter = open_adapter(f"iggy-server:{server.address}")
        server.end()
        adapter.close()
    line = capfd.readouterr().err
    assert re.search(rf"streams named wireproof-{TOKEN}-… may be left: nothing answers at", line)


def test_a_slow_server_does_not_stall() -> None:
    """The case has a limit of 1000 ms, half of which passes before each answer."""
    with running() as server:
        server.delay = 0.6
        with started(f"iggy-server:{server.address}", ["iggy.send/0.7/torn/headers-length-huge"]) as check:
            _, errors = check.communicate(timeout=60)
    assert check.returncode == 0, errors


# --- known failures work as `--baseline`: mock servers take the place of the real ones ---


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
    cases, most = ids(version), 20  # a run names so many, and counts the others
    for some in filter(None, (cases[:most], cases[most:])):
        run = over_tcp(version, "", some, tmp_path)
        assert (run.code, named(run, "stale")) == (STALE_ONLY, sorted(some)), run.output


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
