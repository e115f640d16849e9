"""A broker gets the same verdicts whatever the versions of Produce and Fetch."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.live.judging import Judged, judged
from tests.live.kill_table import APPEND
from tests.live.mock_broker.server import running
from wireproof.live.loopback_broker import replies, server

pytestmark = pytest.mark.live

PRODUCE, FETCH = 0, 1
"""The keys of the two APIs."""

NEWEST_PRODUCE, NEWEST_FETCH = 13, 17
PAIRS: Final = [
    *((produce, NEWEST_FETCH) for produce in range(3, NEWEST_PRODUCE)),
    *((NEWEST_PRODUCE, fetch) for fetch in range(4, NEWEST_FETCH + 1)),
]
"""Each version of one request beside the newest of the other."""

ZSTD: Final = f"{APPEND}/two-zstd"
NAMES: Final = (
    *("after-none", "compact-no-key-second-none", "crc-value", "empty", "mixed-none", "producer-1000-none"),
    *("size-none-1-above", "stamped-none", "to-gzip-from-none", "two-zstd"),
)
CASES: Final = [f"{APPEND}/{name}" for name in NAMES]


def without_zstd(produce: int, fetch: int) -> bool:
    """KIP-110: zstd is for Produce from version 7 and Fetch from version 10 on."""
    return produce < 7 or fetch < 10


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[int, int], Mapping[str, str]]:
    folder = tmp_path_factory.mktemp("versions")
    with running() as address:
        specs = {pair: f"{address}:{written(folder, *pair)}" for pair in PAIRS}
        found: Judged = judged(list(specs.values()), folder, cases=CASES)
    assert found.code == 0, found.output
    return {pair: found.verdicts[spec] for pair, spec in specs.items()}


def written(folder: Path, produce: int, fetch: int) -> Path:
    file = folder / f"{produce}-{fetch}.properties"
    file.write_text(f"wireproof.produce.version={produce}\nwireproof.fetch.version={fetch}\n")
    return file


@pytest.mark.parametrize("pair", PAIRS, ids="produce-{0[0]}-fetch-{0[1]}".format)
def test_all_versions_give_the_same_verdicts(
    pair: tuple[int, int], run: Mapping[tuple[int, int], Mapping[str, str]]
) -> None:
    expected = dict.fromkeys(CASES, "pass") | ({ZSTD: "unsupported"} if without_zstd(*pair) else {})
    assert run[pair] == expected


@pytest.mark.parametrize("pair", [(5, 9), (NEWEST_PRODUCE, NEWEST_FETCH)])
def test_the_chosen_versions_are_sent(
    pair: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()

    def seeing(api: int) -> Callable[[Any, Any], Any]:
        answer = server.ANSWERS[api]

        def answered(cluster: Any, request: Any) -> Any:
            seen.add((api, request.version))
            return answer(cluster, request)

        return answered

    for api in (PRODUCE, FETCH):
        monkeypatch.setitem(server.ANSWERS, api, seeing(api))  # type: ignore[arg-type] # a dict
    with running() as address:
        judged([f"{address}:{written(tmp_path, *pair)}"], tmp_path, cases=CASES[:2])
    assert seen == {(PRODUCE, pair[0]), (FETCH, pair[1])}


def test_a_version_that_the_broker_does_not_have_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(replies.VERSIONS, replies.ProduceRequest, (3, 9))
    with running() as address:
        run = judged([f"{address}:{written(tmp_path, 10, 17)}"], tmp_path, cases=CASES[:2])
    assert f"the broker at {address} has versions 3 to 9 of Produce, not 10" in run.output
