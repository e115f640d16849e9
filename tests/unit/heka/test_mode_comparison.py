"""`compare_modes`: the bytes of a stream in three framings."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.generators.heka_streams import generate
from tests.generators.kafka_segments import MIB
from wireproof.cli import group
from wireproof.heka.scan import ModeCounts, ModeDifference, compare_modes
from wireproof.wire.options import ResyncMode

F = bytes.fromhex("1e0208141f0a10101112131415161718191a1b1c1d2e2f1001")
S17 = bytes.fromhex("1e0208141f0a101011121314151617") + F + F
S19 = bytes.fromhex("1e0522016108141f0a10101112131415161718191a1b1c1d2e2f1001") + F
S31 = bytes.fromhex("1e0208201f0a017810013219") + F + F

MODES: tuple[ResyncMode, ...] = ("strict", "go", "c")


def counted(data: bytes, size: int = 1 << 20) -> tuple[list[ModeCounts], list[ModeDifference]]:
    accounts = [ModeCounts() for _ in MODES]
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    return accounts, list(compare_modes(chunks, MODES, accounts))


@pytest.mark.parametrize(
    ("data", "at", "end", "go", "c"),
    [
        (S17, 0, 40, "frame 25 (length-past-end), garbage 15", "garbage 15 (length-past-end), frame 25"),
        (S19, 0, 28, "frame 28", "garbage 28 (missing-field)"),
        (S31, 0, 37, "frame 37 (bad-length)", "garbage 12 (bad-length), frame 25"),
    ],
)
def test_the_difference_of_go_and_c_is_the_one_that_heka_md_measured(
    data: bytes, at: int, end: int, go: str, c: str
) -> None:
    _, (found,) = counted(data)
    assert (found.at, found.end, str(found.left), str(found.right)) == (at, end, go, c)


def test_in_whatever_pieces_a_stream_comes_the_account_is_the_same() -> None:
    data = S17 + S19 + b"BOGUS" + S31 + F[:9]
    whole = counted(data)
    for size in (1, 7, 25, 64):
        assert counted(data, size) == whole


def test_a_generated_stream_has_the_account_of_its_manifest(tmp_path: Path) -> None:
    manifest = generate(tmp_path, MIB // 2, 3, every=10)
    data = (tmp_path / "00000.heka").read_bytes()
    (strict, _, _), _ = counted(data)
    wanted = {
        (one.kind, one.cls or None): (manifest.items[one], manifest.bytes[one]) for one in manifest.items
    }
    assert {row: (strict.items[row], strict.bytes[row]) for row in strict.items} == wanted
    assert len(wanted) > 6


def test_the_verb_ends_with_the_balance_and_with_what_parts_them(tmp_path: Path) -> None:
    file = tmp_path / "a.heka"
    file.write_bytes(S31)
    modes = [word for mode in MODES for word in ("--resync", mode)]
    done = CliRunner().invoke(group, ["explain", str(file), *modes], standalone_mode=False)
    assert "0 to 37: go frame 37 (bad-length); c garbage 12 (bad-length), frame 25" in done.output
    assert "strict: 2 items, 62 bytes, all there is" in done.output
    assert "go and c differ at 1 place, 37 bytes" in done.output
    assert done.return_value == 0
