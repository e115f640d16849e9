"""Mutations of protobuf, of signatures, and of options."""

from functools import cache
from random import Random

import pytest
from goldens import load

from wireproof import formats
from wireproof.adapters.contract import Claim, Hello
from wireproof.derive.examples import Examples, fit_options, option_variants
from wireproof.derive.mutate import mutate, seed
from wireproof.derive.mutate.decode_trace import cached_trace
from wireproof.derive.mutate.draws import pick
from wireproof.derive.mutate.encodings import sample, written
from wireproof.derive.mutate.field_mutations import FIELD_VARIANTS
from wireproof.derive.mutate.splice import Splice, apply_splices
from wireproof.formats import FORMATS
from wireproof.fuzz.worker import supported_variants
from wireproof.heka.stream import FrameStream
from wireproof.heka.suite.mutation import damage_signature, name_signer, sign_again
from wireproof.kafka.suite.mutation import EDITS as LOG_EDITS
from wireproof.kafka.values import Log
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Rejected

MESSAGE, STREAM, LOG = (
    FORMATS[name] for name in ("heka.message/0.10", "heka.stream/0.10", "kafka.log/mixed")
)
KEYS = {"test_1": b"testkey", "test_0": b"zero", "_1": b"noname"}


@cache
def spellings() -> list[formats.TracedDecode]:
    """Four thousand respellings of one field of the fullest message."""
    parent, rng = cached_trace(MESSAGE, sample(MESSAGE)), Random(3)
    made = []
    for field in (rng.choice(parent.fields) for _ in range(4000)):
        new = pick(rng, FIELD_VARIANTS[field.wire])(field, rng)
        data = apply_splices(parent, [Splice(field.space, field.start, field.end, new)])
        made.append(formats.decode_with_trace(MESSAGE, data))
    return made


@pytest.mark.sweeps
@pytest.mark.parametrize("number", [6, 7, 8])
def test_numbers_stand_unpacked_and_packed_and_in_two_chunks(number: int) -> None:
    wires = {
        tuple(
            span.value & 7
            for span in made.spans
            if span.path.startswith("fields[") and span.path.endswith(".key") and span.value >> 3 == number
        )
        for made in spellings()
        if made.decoded is not None
    }
    single = 1 if number == 7 else 0
    assert {(2,), (single, single), (2, 2), (2, single)} <= wires


def test_a_field_without_an_end_or_of_fixed_32_bits_is_no_field_to_respell() -> None:
    data = seed(MESSAGE)
    assert len(cached_trace(MESSAGE, data).fields) == 2
    assert len(cached_trace(MESSAGE, data + b"\x4d\0\0\0\0").fields) == 2
    assert len(cached_trace(MESSAGE, data + b"\x32\x7f").fields) == 2


@pytest.mark.parametrize(
    "remark",
    [pytest.param("int32-five-byte-negative", marks=pytest.mark.sweeps), "varint-nonminimal", "bool-not-01"],
)
def test_numbers_are_spelled_wider_than_an_encoder_does(remark: str) -> None:
    assert any(made.decoded and remark in {one.cls for one in made.decoded.remarks} for made in spellings())


def test_a_bool_of_2_to_the_32_is_among_them() -> None:
    values = {
        span.value
        for made in spellings()
        for span in made.spans
        if span.path.endswith(".value_bool") and span.type == "uvarint"
    }
    assert any(value and not value & 0xFFFF_FFFF for value in values)


# --- signatures ---


def test_an_unsigned_frame_is_signed_by_a_signer_who_has_a_key() -> None:
    signers = set()
    for number in range(40):
        named = name_signer(cached_trace(STREAM, seed(STREAM)), KEYS, Random(number))
        signed = sign_again(cached_trace(STREAM, named), KEYS)
        seen = formats.decode_with_trace(STREAM, signed, Options(keys=KEYS))
        if seen.decoded is None:
            signers.add((seen.rejected and seen.rejected.detail, None))
            continue
        frame = seen.decoded.value.frames[0]
        signers.add((frame.signer, frame.header.hmac_hash_function))
    signed_by = {(b"test", function) for function in (None, "MD5", "SHA1")}
    assert signers == {*signed_by, ("auth_unnamed_signer", None)}


def test_a_signature_that_is_nearly_right_is_refused() -> None:
    signed = sign_again(
        cached_trace(STREAM, name_signer(cached_trace(STREAM, seed(STREAM)), KEYS, Random(1))), KEYS
    )
    made = {damage_signature(cached_trace(STREAM, signed), Random(number)) for number in range(60)} - {signed}
    details = set()
    for data in made:
        with pytest.raises(Rejected) as caught:
            formats.decode(STREAM, data, Options(keys=KEYS))
        details.add(caught.value.detail)
    assert len(made) > 15
    assert "auth_bad_digest" in details


def test_without_a_signature_nothing_is_nearly_signed() -> None:
    assert damage_signature(cached_trace(STREAM, b"garbage"), Random(1)) == b"garbage"
    assert name_signer(cached_trace(MESSAGE, sample(MESSAGE)), KEYS, Random(1)) == sample(MESSAGE)


def test_children_are_signed_where_keys_are_known() -> None:
    made = [mutate(STREAM, seed(STREAM), Random(number), 4096, keys=KEYS) for number in range(300)]
    verified = 0
    for one in made:
        try:
            value = formats.decode(STREAM, one, Options(keys=KEYS)).value
        except Rejected:
            continue
        verified += isinstance(value, FrameStream) and any(frame.signer for frame in value.frames)
    assert verified > 5


# --- a transaction ---


def test_a_log_gets_a_transaction_with_its_marker() -> None:
    change = dict(LOG_EDITS[Log])["transaction"]
    markers = set()
    for number in range(60):
        log = change(Log(()), Random(number))
        seen = formats.decode_with_trace(LOG, written(LOG, log))
        if seen.decoded is None:
            assert seen.rejected is not None
            assert seen.rejected.cls == "bad-control"
            continue
        value = seen.decoded.value
        control = value.batches[2].records[0].control
        markers.add((control.type, value.batches[2].producer_id == value.batches[0].producer_id))
        assert [batch.base_offset for batch in value.batches] == list(range(1, len(value.batches) + 1))
    assert {(0, True), (0, False), (1, True)} <= markers


# --- what is asked beside the bytes ---


def test_the_first_asking_is_the_plain_one_and_scans_have_their_own() -> None:
    suite = load()
    decodes, scans = option_variants(STREAM, suite), option_variants(STREAM, suite, "scan")
    assert decodes[0].options == scans[0].options == DEFAULT_OPTIONS
    assert {way.options.resync for way in decodes} == {"strict"}
    assert {way.options.resync for way in scans} == {"strict", "go", "c"}
    assert Examples(STREAM, decodes, ()).keys["test_1"] == b"testkey"


def test_an_adapter_is_asked_in_the_ways_that_it_claims() -> None:
    batch = FORMATS["kafka.batch/v2"]
    ways = option_variants(batch, load())
    bare = Examples(batch, (), ()).without_expectation(b"")
    reader = Hello("x", "1", revisions={batch.format_id: Claim(profiles=("reader",))})
    assert [way.profile for way in supported_variants(ways, bare, reader)] == ["reader"]
    every = Claim(profiles=("reader", "produce"))
    assert supported_variants(ways, bare, Hello("x", "1", revisions={batch.format_id: every})) == ways
    nothing = Hello("x", "1", revisions={batch.format_id: Claim()})
    assert [way.profile for way in supported_variants(ways, bare, nothing)] == ["reader"], (
        "who claims none is a reader"
    )
    assert (
        supported_variants(ways, bare, Hello("x", "1", revisions={batch.format_id: Claim(ops=("encode",))}))
        == ()
    )


def test_a_limit_is_drawn_beside_the_length_of_a_message() -> None:
    data = sample(STREAM)
    sizes = [frame.header.message_length for frame in formats.decode(STREAM, data).value.frames]
    limits = {
        fit_options(STREAM, Options(max_message=70000), data, number).max_message for number in range(120)
    }
    assert limits == {70000, *(size + step for size in sizes for step in (-1, 0, 1))}


def test_offsets_and_producers_are_those_of_the_log() -> None:
    log = dict(LOG_EDITS[Log])["transaction"](Log(()), Random(2))
    data = written(LOG, log)
    wanted = Options(fetch_offset=70, isolation="read_committed", aborted=((5, 5),))
    found = [fit_options(LOG, wanted, data, number) for number in range(80)]
    assert {one.fetch_offset for one in found} <= {70, *range(1, 9)}
    producers = {batch.producer_id for batch in log.batches}
    assert {pair[0] for one in found for pair in one.aborted} == {5, *producers}


def test_where_the_bytes_say_nothing_the_options_stay() -> None:
    wanted = Options(max_message=9, fetch_offset=70, isolation="read_committed", aborted=((5, 5),))
    assert all(fit_options(LOG, wanted, b"", number) == wanted for number in range(20))
    assert fit_options(LOG, DEFAULT_OPTIONS, sample(LOG), 1) is DEFAULT_OPTIONS
