"""Heka: its codecs, scans of its streams, garbage full of separators, streams in three framings."""

import hashlib
import hmac
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from each import each
from work_counter import growth, steps

from tests.generators.heka_streams import generate
from tests.generators.kafka_segments import MIB
from wireproof import formats
from wireproof.cli import group
from wireproof.formats import FORMATS
from wireproof.heka.scan import ModeCounts, ModeDifference, Scanner, compare_modes
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import DEFAULT_OPTIONS, Options, ResyncMode
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

MESSAGE = FORMATS["heka.message/0.10"]
STREAM = FORMATS["heka.stream/0.10"]
MINIMAL = bytes.fromhex("0a10101112131415161718191a1b1c1d2e2f1001")
F = bytes.fromhex("1e0208141f") + MINIMAL


FIELD = {"name": "61", "value_type": None, "representation": None}
ARRAYS: dict[str, list[Json]] = {
    f"value_{name}": [] for name in ("string", "bytes", "integer", "double", "bool")
}


@each(
    "path, unfit",
    [
        ("uuid", ("00" * 15, "00" * 17, "", None, "0g" * 16, 5)),
        ("timestamp", (str(2**63), str(-(2**63) - 1), str(2**64 + 1), "", "1.0", " 1", "0x1", None, 1, True)),
        *((name, ("abc", "AB", "zz", 5, True)) for name in ("type", "logger", "payload", "hostname")),
        *(
            (name, (str(2**31), str(-(2**31) - 1), str(2**64), "1e3", 1.5, False))
            for name in ("severity", "pid")
        ),
        ("fields[0].name", (None, "a", 5)),
        ("fields[0].representation", ("a", 5)),
        ("fields[0].value_type", ("FLOAT", "2", 2)),
        ("fields[0].value_string[0]", (None, "a", 5)),
        ("fields[0].value_bytes[0]", (None, "a", 5)),
        ("fields[0].value_integer[0]", (str(2**63), str(-(2**63) - 1), str(2**64 + 5), "1.0", None, 5, True)),
        ("fields[0].value_double[0]", ("", "00" * 7, "00" * 9, "1.5", None, 1.5)),
        ("fields[0].value_bool[0]", ("true", "1", 1, None)),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_path(path: str, unfit: tuple[Json, ...]) -> None:
    for given_value in unfit:
        with pytest.raises(Rejected) as caught:
            formats.encode(MESSAGE, _message_with(path, given_value))
        assert (caught.value.cls, caught.value.path) == ("invalid-value", path)


def _message_with(path: str, part: Json) -> Json:
    name = path.removeprefix("fields[0].")
    message: dict[str, Json] = dict(to_json(formats.decode(MESSAGE, MINIMAL).value))
    if name == path:
        return message | {path: part}
    array = name.removesuffix("[0]")
    named = (
        {"value_type": array.removeprefix("value_").upper(), array: [part]} if array != name else {name: part}
    )
    return message | {"fields": [FIELD | ARRAYS | named]}


@pytest.mark.parametrize(
    ("function", "made"), [(None, hashlib.md5), ("MD5", hashlib.md5), ("SHA1", hashlib.sha1)]
)
def test_a_frame_is_signed_over_its_message_bytes(function: str | None, made: type) -> None:
    tree = to_json(formats.decode(STREAM, F).value)
    tree["frames"][0]["header"] |= {
        "hmac_signer": b"test".hex(),
        "hmac_key_version": "1",
        "hmac_hash_function": function,
    }
    keys = Options(keys={"test_1": b"testkey"})
    data = formats.encode(STREAM, tree, keys)
    digest = hmac.new(b"testkey", MINIMAL, made).digest()
    frame = formats.decode(STREAM, data, keys).value.frames[0]
    assert (frame.signer, frame.header.hmac) == (b"test", digest)
    with pytest.raises(Rejected, match="auth-failed"):
        formats.decode(STREAM, data, Options(keys={"test_1": b"other"}))
    assert formats.decode(STREAM, data).value.frames[0].signer is None


def test_a_signer_whose_name_is_no_text_has_no_key_and_is_refused() -> None:
    tree = to_json(formats.decode(STREAM, F).value)
    tree["frames"][0]["header"] |= {"hmac_signer": "ff", "hmac": "00"}
    data = formats.encode(STREAM, tree)
    with pytest.raises(Rejected) as caught:
        formats.decode(STREAM, data, Options(keys={"test_1": b"k"}))
    assert caught.value.detail == "auth_unknown_key"


def test_a_block_that_claims_more_than_the_budget_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(Rejected, match="limit-exceeded"):
        formats.decode(MESSAGE, bytes.fromhex("144c") + MINIMAL, Options(compression="snappy", max_output=19))


# --- opaque content ---

NO_SIGNER: Json = dict.fromkeys(("hmac_hash_function", "hmac_signer", "hmac_key_version", "hmac"))


@pytest.mark.parametrize(
    ("content", "message", "text"),
    [
        ("message", "68656c6c6f", "bytes, but the option content is message"),
        (
            "opaque",
            to_json(formats.decode(MESSAGE, MINIMAL).value),
            "a message, but the option content is opaque",
        ),
    ],
)
def test_content_that_the_option_does_not_name_is_not_written(content: str, message: Json, text: str) -> None:
    value = {"frames": [{"header": NO_SIGNER, "message": message}]}
    with pytest.raises(Rejected, match="invalid-value") as caught:
        formats.encode(STREAM, value, Options(content=content))  # type: ignore[arg-type]
    assert (caught.value.path, caught.value.text) == ("frames[0].message", text)


# --- scans ---


IN_ALL_MODES = [Options(resync="strict"), Options(resync="go"), Options(resync="c")]


def scan(data: bytes, options: Options = DEFAULT_OPTIONS, size: int | None = None) -> list[Item]:
    step = size or max(len(data), 1)
    return list(formats.scan(STREAM, (data[at : at + step] for at in range(0, len(data), step)), options))


NESTED = bytes.fromhex("32071e0408ffff031f")
"""A payload that holds the header of a message of 65535 bytes, whose own first field is this again."""

FLOODS = {
    "bug 38: 1e 00 00": b"\x1e\0\0",
    "separators": b"\x1e",
    "headers of unknown fields": bytes.fromhex("3a031eff1f"),
    "empty headers": b"\x1e\0\x1f",
    "messages inside one another": NESTED,
}


@each(
    "options, flood",
    product(IN_ALL_MODES, FLOODS.values()),
    ids=lambda row: f"{row[0].resync} {row[1][:8]!r}",
)
def test_the_work_for_hostile_bytes_grows_with_their_length_and_no_faster(
    flood: bytes, options: Options
) -> None:
    # The nested ones are cut off by a bound of 16 longest messages; a smaller one shows it sooner.
    bound = Options(resync=options.resync, max_message=2048)
    some = flood.replace(b"\xff\xff\x03", b"\x80\x10")

    def scanning(size: int) -> Callable[[], object]:
        data = some * (size // len(some))
        chunks = [data[at : at + 4096] for at in range(0, len(data), 4096)]
        return lambda: list(formats.scan(STREAM, chunks, bound))

    assert growth(scanning, 20_000 if flood == NESTED else 5000, times=4) < 1.1


def test_messages_inside_one_another_stop_being_searched_and_are_still_accounted_for() -> None:
    data = (
        b"\x1e\x04\x08\x80\x10\x1f" + bytes.fromhex("32061e0308801f").replace(b"\x80", b"\x80\x10") * 8000 + F
    )
    items = scan(data, Options(max_message=2048))
    assert sum(item.length for item in items) == len(data)


def test_the_buffer_holds_one_frame_and_one_chunk_at_most() -> None:
    longest = 3 + 255 + 65536
    claims = b"\x1e\x04\x08\x80\x80\x04\x1f"
    generator = Random(7)
    scanner, most = Scanner(DEFAULT_OPTIONS), 0
    for _ in range(400):
        chunk = generator.choice([claims, F, b"x" * 4096, b"\x1e" * 512, generator.randbytes(2048)])
        for _ in scanner.feed(chunk):
            pass
        most = max(most, len(scanner.buffer))
    assert most <= longest + 4096


# --- garbage full of separators ---


FRAME = bytes.fromhex("1e02 0802 1f 0a00".replace(" ", ""))
ALPHABET = bytes.fromhex("1e 1f 00 02 08 0a 1e 1f ff 1d")


@pytest.mark.parametrize("seed", range(30))
def test_many_separators_are_skipped_as_one_at_a_time(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    parts = [
        rng.choice([
            bytes(rng.choices(ALPHABET, k=rng.randrange(80))),
            b"\x1e" * rng.randrange(700),
            rng.randbytes(rng.randrange(600)),
            b"\x1e\xff" * rng.randrange(300),
            FRAME,
        ])
        for _ in range(12)
    ]  # fmt: skip
    data = b"".join(parts)
    size = rng.choice([1, 7, 64, 300, len(data) or 1])
    found = scan(data, size=size)
    monkeypatch.setattr(Scanner, "_skip_false_separators", lambda _: False)
    assert found == scan(data, size=size)


def test_a_million_separators_take_few_steps() -> None:
    def work(count: int) -> int:
        return steps(lambda: scan(b"\x1e" * count, size=1 << 16))

    assert work(1 << 20) < (1 << 20) // 20
    (item,) = scan(b"\x1e" * 400_000 + b"x" * 300, size=1 << 16)
    assert (item.kind, item.length, item.cls) == ("garbage", 400_300, "bad-separator")


# --- `compare_modes` ---


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
