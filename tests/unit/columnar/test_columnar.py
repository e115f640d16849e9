"""The fast decoders: results for the bytes of the format documents, gzip, errors without numba."""

import mmap
import random
import re
import subprocess
import sys
import zlib
from pathlib import Path

import deflate
import numpy as np
import pytest
from deflate_bits import INVALID, VALID, answer, member
from each import each
from folders import SUPPORT, TOP
from goldens import load
from kafka_bytes import LOG

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.adapters.reference import Columnar
from wireproof.cases.outcome import Accepted, Unsupported
from wireproof.columnar import decompress
from wireproof.columnar.decompress import Arena, are_blocks_complete, decompress_region, ends_once
from wireproof.install_hint import install_command
from wireproof.kafka import columnar
from wireproof.kafka.columnar import decoders
from wireproof.kafka.columnar.columns import ALL_COLUMNS, header_columns
from wireproof.kafka.columnar.entry_scan import scan_steps, step_frames
from wireproof.wire.compression import gzip
from wireproof.wire.options import Options

EXAMPLE = re.compile(r"^### (E\d+) \(\w+\), \d+ bytes\n.*?^```\n(.*?)^```", re.MULTILINE | re.DOTALL)
BYTES = {
    name: bytes.fromhex(data)
    for name, data in EXAMPLE.findall((TOP / "reference/docs/kafka.md").read_text(encoding="utf-8"))
}
"""The worked examples of kafka.md §6 by number, as the document prints them."""


def test_a_segment_file_is_left_to_the_reference() -> None:
    log = BYTES["E29"]
    assert decoders.decode_log(log, Options()) is not None
    assert decoders.decode_log(log, Options(source="segment")) is None


@pytest.mark.parametrize("name", ["gzip", "snappy", "lz4-kip57", "lz4-right-byte"])
def test_wrappers_of_v0_need_the_reference_only_for_a_remark(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All went through its frame reader once, though only LZ4 has a header byte of its own there (§2.3)."""
    asked: list[int] = []
    monkeypatch.setattr(decompress, "_by_reference", lambda _, codec, *__, **___: asked.append(codec))
    case = load().by_id[f"kafka.batch/v0/wrapper/{name}"]
    found = columnar.scan(case.input.data)
    remarked = name == "lz4-right-byte"
    assert (asked, found.by_reference.tolist()) == ([3] if remarked else [], [remarked])
    assert (found.kind.tolist(), found.records.tolist()) == ([columnar.FRAME], [2])


def header_rows(data: bytes) -> list[dict[str, object]]:
    step = next(scan_steps(data, keep=False))
    return header_columns(step_frames(step), step.block.entry_headers, ALL_COLUMNS).to_pylist()


def test_the_fixed_fields_stand_in_the_row_of_their_frame() -> None:
    batch, message = header_rows(BYTES["E11"] + BYTES["E20"] + b"\0")
    assert batch == {
        "position": 0,
        "length": 85,
        "kind": "frame",
        "fault": None,
        "remarks": [],
        "by_reference": False,
        "records": 3,
        "magic": 2,
        "offset": 0,
        "last_offset": 2,
        "codec": "none",
        "attributes": 0,
        "base_timestamp": 1_700_000_000_000,
        "max_timestamp": 1_700_000_000_000,
        "leader_epoch": 0,
        "producer_id": 1000,
        "producer_epoch": 0,
        "base_sequence": 2_147_483_646,
    }
    assert (message["position"], message["magic"], message["max_timestamp"]) == (85, 1, 1_700_000_000_000)
    assert message["producer_id"] is None


def test_the_remarks_of_a_frame_stand_in_its_row() -> None:
    rows = header_rows(BYTES["E01"] + BYTES["E07"])
    assert [row["remarks"] for row in rows] == [[], ["max-timestamp"]]


def test_a_mapped_file_and_a_part_of_one_are_buffers(tmp_path: Path) -> None:
    path = tmp_path / "00.log"
    path.write_bytes(BYTES["E01"] * 3)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        view = memoryview(mapped)
        part = view[70:]
        frames = columnar.scan(part)
        assert frames.position.tolist() == [0, 70]
        part.release()
        view.release()


def test_the_adapter_counts_what_it_answers_and_what_it_hands_over() -> None:
    adapter = Columnar()
    asked = [Request("1", "decode", "kafka.batch", "v2", data=BYTES[name]) for name in ("E01", "E05", "E33")]
    outcomes = [adapter.decode(request) for request in asked]
    assert [isinstance(outcome, Accepted) for outcome in outcomes] == [True] * 3
    assert [outcome.remarks for outcome in outcomes if isinstance(outcome, Accepted)][2] == ()
    assert (adapter.answered, adapter.by_reference) == (3, 0)


def test_the_adapter_scans_and_counts_the_items() -> None:
    adapter, data = Columnar(), BYTES["E01"] + b"\xff" * 20 + BYTES["E22"]
    outcome = adapter.scan(Request("1", "scan", "kafka.log", "mixed", chunks=(data[:50], data[50:])))
    assert isinstance(outcome, Accepted)
    assert outcome.value == formats.items_json(formats.scan(LOG, [data]))
    assert (adapter.answered, adapter.by_reference) == (2, 1)


def test_the_adapter_says_what_it_does_not_do() -> None:
    assert isinstance(Columnar().decode(Request("1", "decode", "iggy.log", "0.0.30")), Unsupported)
    assert isinstance(Columnar().scan(Request("1", "scan", "kafka.batch", "v2")), Unsupported)


@pytest.mark.parametrize("module", ["numba", "pyarrow"])
def test_without_the_extra_one_line_names_it(module: str) -> None:
    code = f"import sys; sys.modules['{module}'] = None\nimport wireproof.kafka.columnar"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        f"ImportError: wireproof.columnar needs the packages of its extra: {install_command('columnar')}"
    )


COMPILED = """
import sys
from functools import partial
from wireproof.cases.fixtures import load
from numba.core.registry import CPUDispatcher
from wireproof.adapters.reference import Columnar
from wireproof.adapters.contract import Request
from wireproof.cases.case import Chunks, Data

def kernels():
    ours = [module for name, module in sys.modules.items() if ".columnar." in f"{name}."]
    each = {name: kernel for module in ours for name, kernel in vars(module).items()}
    return {(name, *kernel.signatures) for name, kernel in each.items() if isinstance(kernel, CPUDispatcher)}

adapter = Columnar()
warm = kernels()
for case in load().cases:
    claim = adapter.revisions.get(f"{case.format}/{case.revision}")
    if claim and case.op in claim.ops and case.limits.rss_mb is None:
        ask = partial(Request, "1", case.op, case.format, case.revision, options=case.options)
        match case.input:
            case Data(data):
                adapter.decode(ask(data))
            case Chunks(chunks):
                adapter.scan(ask(chunks=chunks))
print(sorted(kernels() - warm))
"""


@pytest.mark.sweeps
def test_no_kernel_is_compiled_while_a_case_waits() -> None:
    """Where nothing was compiled before that takes half a minute: each case ended as a timeout."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILED],
        capture_output=True, text=True, check=False, timeout=300, cwd=SUPPORT,
    )  # fmt: skip
    assert done.stdout == "[]\n", done.stdout + done.stderr


# --- gzip, as strict as zlib, whichever library inflates ---


MOST = 1 << 20


def fast(data: bytes) -> bytes | None:
    found = decompress_region(data, 1, MOST, Arena.of(0))
    return None if found is None else bytes(found)


def by_zlib(data: bytes) -> bytes | None:
    return answer(lambda data: zlib.decompress(data, 31), data)


@each("name", VALID)
def test_a_valid_stream_gives_its_data(name: str) -> None:
    stream, data = VALID[name]
    assert (fast(member(stream, data)), by_zlib(member(stream, data))) == (data, data)


@each("name", INVALID)
def test_a_stream_that_zlib_refuses_is_refused(name: str) -> None:
    whole = member(*INVALID[name])
    assert (fast(whole), by_zlib(whole)) == (None, None)


def written(rng: random.Random, size: int, words: int) -> bytes:
    """Text of a few words, so that matches of many distances occur."""
    known = [rng.randbytes(rng.randrange(1, 9)) for _ in range(words)]
    return b"".join(rng.choices(known, k=size))


def test_a_member_of_one_block_or_of_stored_ones_goes_through_libdeflate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = written(random.Random(1), 2000, 200)
    noise = random.Random(2).randbytes(200_000)
    monkeypatch.setattr(decompress, "zlib_ng", None)
    assert fast(gzip.compress(data)) == data
    assert fast(gzip.compress(noise)) == noise


@each("seed", range(4))
def test_damage_in_the_header_of_a_block_is_answered_as_by_the_reference(seed: int) -> None:
    """The trailer fits what libdeflate reads, so that no checksum hides a difference."""
    rng, accepted, lenient = random.Random(seed), 0, 0
    for _ in range(1500):
        data = written(rng, rng.randrange(1, 60), rng.randrange(1, 20))
        engine = zlib.compressobj(rng.choice((0, 1, 6, 9)), zlib.DEFLATED, -15, 8, rng.choice((0, 0, 2)))
        stream = bytearray(engine.compress(data) + engine.flush())
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(min(len(stream), 70) * 8)
            stream[at >> 3] ^= 1 << (at & 7)
        try:
            read = bytes(deflate.deflate_decompress(bytes(stream), 4 * len(data) + 300))
        except deflate.DeflateError:
            read = data
        else:
            lenient += 1
        whole = member(bytes(stream), read)
        assert fast(whole) == by_reference(whole), whole.hex()
        accepted += by_zlib(whole) is not None
    assert lenient > accepted > 50


def by_reference(whole: bytes) -> bytes | None:
    """The reference, which uses zlib; it also reads several members, and remarks on bytes after them."""
    found = decompress._by_reference(whole, 1, MOST, kip57=False)
    return None if found is None else bytes(found)


@each("name", VALID)
def test_a_checked_block_is_one_that_zlib_accepts_to_its_end(name: str) -> None:
    stream, _ = VALID[name]
    octets = np.frombuffer(stream, np.uint8)
    complete = {
        "a complete distance code", "lengths with repeats", "a repeat from one code into the other",
        "a small code of code lengths", "286 length codes", "30 distance codes",
        "a stored block", "stored blocks before a complete one", "empty blocks before the last one",
    }  # fmt: skip
    assert are_blocks_complete(octets, np.uint64(0)) == (name in complete)


@each("name", INVALID)
def test_a_checked_block_has_no_defect_that_libdeflate_reads(name: str) -> None:
    stream, data = INVALID[name]
    if are_blocks_complete(np.frombuffer(stream, np.uint8), np.uint64(0)):
        with pytest.raises(deflate.DeflateError):
            deflate.gzip_decompress(member(stream, data), len(data))


def test_four_bytes_that_occur_before_are_found_at_every_place() -> None:
    for size in (4, 5, 7, 40, 300):
        data = bytes(range(1, 100)) * 4
        data = data[: size - 4] + b"\0\0\1\0"
        assert ends_once(np.frombuffer(data, np.uint8))
        for at in range(size - 4):
            twice = data[:at] + b"\0\0\1\0" + data[at + 4 :]
            assert ends_once(np.frombuffer(twice, np.uint8)) == (twice.find(twice[-4:]) == size - 4)


@each("after", [b"x", bytes(4), b"\x1f\x8b\x08\0", gzip.compress(b"second")])
def test_bytes_after_a_member_are_seen_although_libdeflate_ignores_them(after: bytes) -> None:
    whole = gzip.compress(written(random.Random(3), 500, 90)) + after
    assert fast(whole) == by_reference(whole)
    assert fast(whole + whole[-4:]) == by_reference(whole + whole[-4:])


def test_a_size_that_no_deflated_data_can_have_takes_no_memory() -> None:
    stream, data = VALID["a complete distance code"]
    whole = member(stream, data)[:-4] + (512 << 20).to_bytes(4, "little")
    assert decompress_region(whole, 1, 1 << 30, Arena.of(0)) is None
