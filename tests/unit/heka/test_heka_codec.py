"""Heka's codecs: signatures, budgets, content of both kinds, and values that do not fit."""

import hashlib
import hmac

import pytest
from each import each

from wireproof import formats
from wireproof.formats import FORMATS
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected

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
