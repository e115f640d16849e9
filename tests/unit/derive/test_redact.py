"""Redaction: nothing that was written by an owner is left, and the bytes still fail in the same way."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cramjam
import kafka_bytes
import logs
import pytest
import xxhash
from attrs import evolve
from command_line import Command
from each import each
from goldens import load
from kafka_bytes import LOG, V0, V1, V2
from spark_scans import planned, table

from tests.mutants.registry import spec_of
from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Value
from wireproof.cases.reference_answers import reference_expectation
from wireproof.derive.mutate.decode_trace import trace_of
from wireproof.formats import Format
from wireproof.fuzz.redaction_check import RedactionError, redact_case, redactions
from wireproof.judge.judge import judge
from wireproof.run.engine import Engine
from wireproof.spark.batches import write_small
from wireproof.spark.job_state import STATE
from wireproof.spark.scan_job import add_bytes
from wireproof.spark.table_columns import TABLES
from wireproof.spark.verdict_rows import span_rows
from wireproof.wire.rejection import Rejected

MUTANT = spec_of("mutant:crc-skip")

SECRET = b"SECRET"
KEY, VALUE, HEADER = SECRET + b"-key", SECRET * 40, SECRET + b"-header"


def record(at: int) -> bytes:
    body = b"\0\0" + bytes([2 * at]) + logs.varint(len(KEY)) + KEY + logs.varint(len(VALUE)) + VALUE
    body += logs.varint(1) + logs.varint(4) + b"name" + logs.varint(len(HEADER)) + HEADER
    return logs.varint(len(body)) + body


RECORDS = record(0) + record(1)


def lz4_frame(data: bytes) -> bytes:
    """One block that depends on no other: kafka.md §3."""
    block = bytes(cramjam.lz4.compress_block(data, store_size=False))
    seal = bytes([xxhash.xxh32_intdigest(b"\x60\x40") >> 8 & 0xFF])
    return b"\x04\x22\x4d\x18\x60\x40" + seal + struct.pack("<I", len(block)) + block + bytes(4)


PACKED: dict[int, Callable[[bytes], bytes]] = {
    0: lambda data: data,
    1: lambda data: gzip.compress(data, mtime=0),
    3: lz4_frame,
    4: lambda data: bytes(cramjam.zstd.compress(data)),
}


def batch(codec: int = 0, count: int = 2, **fields: int) -> bytes:
    return kafka_bytes.batch(PACKED[codec](RECORDS), count, last=1, attributes=codec, **fields)


def messages(magic: int) -> bytes:
    return b"".join(kafka_bytes.message(magic, KEY, VALUE, offset=at) for at in (0, 1))


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


ROWS: list[tuple[str, Format, bytes]] = [
    *((f"v2 codec {codec}", V2, batch(codec)) for codec in PACKED),
    *((f"v2 codec {codec}, crc", V2, batch(codec, crc=7)) for codec in PACKED),
    *((f"v2 codec {codec}, count", V2, batch(codec, 3)) for codec in PACKED),
    ("v2 negative count", V2, batch(0, -5)),
    ("v2 unknown codec", V2, kafka_bytes.batch(RECORDS, 2, attributes=7)),
    ("v2 packed, torn", V2, kafka_bytes.batch(PACKED[1](RECORDS)[:-9], 2, attributes=1)),
    ("v2 cut", V2, batch()[:-30]),
    ("v2 size", V2, batch(length=20)),
    ("v2 magic", V2, batch(magic=9)),
    ("v2, something behind it", V2, batch() + SECRET * 3),
    ("v0", V0, kafka_bytes.message(0, KEY, VALUE)),
    ("v1 crc", V1, kafka_bytes.message(1, KEY, VALUE, crc=1)),
    ("v0 wrapper", V0, kafka_bytes.wrapper(0, messages(0), offset=1)),
    ("v1 wrapper, crc", V1, kafka_bytes.wrapper(1, messages(1), offset=1, crc=1)),
    ("v1 wrapper, inner crc", V1, kafka_bytes.wrapper(1, flipped(messages(1)), offset=1)),
    ("v1 key past the end", V1, kafka_bytes.message(1, raw=struct.pack(">i", 4000) + VALUE)),
    ("log", LOG, batch() + kafka_bytes.message(1, KEY, VALUE) + batch(1)),
    ("heka payload", formats.get("heka.message", "0.10"), logs.heka_frame(SECRET * 3)[5:]),
    ("heka cut", formats.get("heka.message", "0.10"), logs.heka_frame(SECRET * 3)[5:-4]),
    (
        "iggy log",
        formats.get("iggy.log", "0.0.30"),
        logs.stored_30(1, SECRET) + logs.stored_30(2, VALUE),
    ),
    ("iggy log, cut", formats.get("iggy.log", "0.0.30"), logs.stored_30(1, VALUE)[:-7]),
]


def asked(row: Format, data: bytes) -> Case:
    case = Case("x", row.name, row.revision, Data(data), Accept())
    return evolve(case, expect=reference_expectation(case))


def data_of(case: Case) -> bytes:
    assert isinstance(case.input, Data)
    return case.input.data


def told(row: Format, data: bytes) -> tuple[str, str]:
    try:
        formats.decode(row, data)
    except Rejected as rejected:
        return rejected.cls, rejected.path
    return "accepted", ""


@each("row, data", [row[1:] for row in ROWS])
def test_nothing_of_the_payload_is_left_and_the_refusal_is_the_same(row: Format, data: bytes) -> None:
    less = data_of(redact_case(asked(row, data)))
    assert told(row, less) == told(row, data)
    before, after = trace_of(row, data), trace_of(row, less)
    assert SECRET not in b"\0".join((less, *after.spaces.values()))
    plain = [len(some) for space, some in before.spaces.items() if space]
    if told(row, data)[0] != "decompress-failed":
        assert [len(some) for space, some in after.spaces.items() if space] == plain, "as long as it was"
    if SECRET * 2 in data and row is not LOG:
        assert len(less) == len(data), "what is not packed"


def test_a_gzip_batch_with_a_wrong_checksum_keeps_its_fields_behind_the_checksum() -> None:
    less = data_of(redact_case(asked(V2, batch(1, crc=7))))
    inner = gzip.decompress(less[61:])
    assert len(inner) == len(RECORDS)
    assert inner == RECORDS.replace(KEY, b"x" * len(KEY)).replace(VALUE, b"x" * len(VALUE)).replace(
        HEADER, b"x" * len(HEADER)
    )
    assert less[17:21] == data_of(asked(V2, batch(1, crc=7)))[17:21]


def test_an_adapter_that_looks_past_the_fault_must_still_do_so() -> None:
    case = asked(V2, batch(4, crc=7))
    less = redact_case(case, MUTANT)
    with Engine(MUTANT) as engine:
        [ran] = engine.run([less])
        assert judge(ran.case, ran.outcome, hello=engine.hello).label == "fail:wrong-accept"


@pytest.mark.sweeps
def test_no_fixture_that_is_redacted_shows_something_else() -> None:
    proven, refused = 0, list[str]()
    for case in load().cases:
        if case.format == "kafka.batch" and case.op == "decode" and isinstance(case.input, Data):
            try:
                less = redact_case(case)
            except RedactionError as error:
                refused.append(str(error))
                continue
            proven += 1
            assert type(less.expect) is type(reference_expectation(case))
    assert proven > 300
    assert len(refused) < 0.08 * proven, "damage that lies in the payload itself, or in how it is packed"
    assert all("redaction changes the result" in text for text in refused)


def test_a_scan_keeps_its_items() -> None:
    data = batch() + batch(1, crc=7)
    case = Case("x", "kafka.log", "mixed", Chunks((data[:9], data[9:])), Accept(), op="scan")
    less = redact_case(evolve(case, expect=reference_expectation(case)))
    assert isinstance(less.input, Chunks)
    assert len(less.input.chunks[0]) == 9
    assert SECRET not in b"".join(less.input.chunks)


def test_what_cannot_be_redacted_is_said_in_one_line() -> None:
    with pytest.raises(RedactionError, match="a value to encode"):
        redact_case(Case("x", "kafka.batch", "v2", Value({}), Accept(), op="encode"))
    with pytest.raises(RedactionError, match="JSON that is refused"):
        list(redactions(formats.get("iggy.json.send", "0.0.30"), b'{"messages": ["SECRET'))
    inner = kafka_bytes.batch(logs.varint(70) + b"\0\0\0" + b"\xff" * 9 + b"\x7f" + VALUE[:60], 1)
    assert told(V2, inner)[0] == "bad-varint"
    with pytest.raises(RedactionError, match=r"redaction changes the result: .*; run again without --redact"):
        redact_case(asked(V2, inner))


# --- from a scan to a fixture ---


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of a scan in which an adapter takes what it should not."""
    room = tmp_path_factory.mktemp("scanned")
    folder = logs.write(room / "in", a=batch() + batch(1, crc=7) + b"\xff" * 40 + batch())
    job = planned(folder, room / "out", MUTANT)
    [span] = job.ranges
    batches = span_rows(job.settings.source, [MUTANT], span)
    samples = list[dict[str, Any]]()
    for row in (row for batch in batches for row in batch.to_pylist()):
        ours = {"implementation": "reference", "op": "scan", "verdict": row["kind"], "class": row["fault"]}
        for answer in (ours | {"field": "", "finding": row["finding"]}, *row["verdicts"]):
            if answer["finding"]:
                samples.append({**row, **answer})
    write_samples(
        room / "out", add_bytes(job.settings, {place.display_name: place for place in job.places}, samples)
    )
    return room / "out"


def write_samples(out: Path, rows: list[dict[str, Any]]) -> None:
    write_small("samples", rows, TABLES["samples"], out / "samples")


@pytest.mark.sweeps
def test_a_sample_of_a_scan_becomes_a_fixture_without_its_payload(
    wireproof: Command, tables: Path, tmp_path: Path
) -> None:
    words = ("promote", f"{tables}#wrong-accept", "--redact", "--to", tmp_path / "fixtures")
    assert "add --adapter" in wireproof(*words).one_line()  # tables may come from somebody else
    done = wireproof(*words, "--adapter", MUTANT)
    assert done.code == 0, done.err
    assert "refuse crc-mismatch" in done.out
    [file] = (tmp_path / "fixtures").rglob("*.json")
    text = file.read_text()
    assert SECRET.hex() not in text
    [found, _] = load((tmp_path / "fixtures",)).by_id.get(done.out.split(":")[0]), None
    assert found is not None
    assert SECRET not in gzip.decompress(data_of(found)[61:])


@pytest.mark.sweeps
def test_without_redact_the_bytes_are_those_of_the_sample(
    wireproof: Command, tables: Path, tmp_path: Path
) -> None:
    name = next(
        row["finding"]
        for row in table(tables, "samples")
        if row["implementation"] == "reference" and row["class"] == "crc-mismatch"
    )
    done = wireproof("promote", f"{tables}#{name[:9]}", "--to", tmp_path / "fixtures")
    assert done.code == 0, done.err
    case = load((tmp_path / "fixtures",)).by_id.get(done.out.split(":")[0])
    assert case is not None
    assert data_of(case) == batch(1, crc=7)


@pytest.mark.sweeps
def test_bytes_that_are_no_entry_become_a_scan(wireproof: Command, tables: Path, tmp_path: Path) -> None:
    done = wireproof("promote", f"{tables}#bad-length", "--redact", "--to", tmp_path / "fixtures")
    assert done.code == 0, done.err
    case = load((tmp_path / "fixtures",)).by_id.get(done.out.split(":")[0])
    assert case is not None
    assert (case.op, case.format_id) == ("scan", "kafka.log/mixed")


@pytest.mark.sweeps
@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("crc-mismatch", "'crc-mismatch' matches 2 findings: "),
        ("ffffnothing", "'ffffnothing' matches no finding: "),
        ("", "'' matches "),
    ],
)
def test_a_name_that_means_no_finding_or_many_lists_them(
    wireproof: Command, tables: Path, word: str, text: str
) -> None:
    done = wireproof("promote", f"{tables}#{word}", "--redact")
    assert done.code == 2
    assert text in done.one_line()
    assert f"{MUTANT} · kafka.batch/v2 · decode · fail:wrong-accept" in done.one_line()


@pytest.mark.sweeps
def test_a_finding_that_was_fixed_meanwhile_is_not_promoted(
    wireproof: Command, tables: Path, tmp_path: Path
) -> None:
    """The table says that another adapter failed so, which does not."""
    copy = tmp_path / "tables"
    copy.mkdir()
    (copy / STATE).write_text((tables / STATE).read_text())
    rows = [row for row in table(tables, "samples") if row["implementation"] == MUTANT]
    right = spec_of("mutant:crc-range-from-magic")
    rows = [{**row, "implementation": right} for row in rows]
    write_samples(copy, rows)
    words = ("promote", f"{copy}#wrong-accept", "--redact", "--to", tmp_path / "fixtures")
    done = wireproof(*words, "--adapter", right)
    assert done.code == 2
    assert "no longer reproduces the finding" in done.one_line()
    assert not list((tmp_path / "fixtures").rglob("*.json"))


def test_a_folder_without_samples_is_said_in_one_line(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof("promote", f"{tmp_path}#x", "--redact")
    assert done.code == 2
    assert "contains no table of samples" in done.one_line()
