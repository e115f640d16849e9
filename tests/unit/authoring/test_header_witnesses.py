"""Protobuf is a witness of the headers and messages of Heka's frames, and of nothing else."""

from typing import Any

import pytest

from tests.authoring.heka.frame_bytes import F
from tests.authoring.heka.frame_bytes import value as message_value
from wireproof.cases.case import Accept, Case, Data
from wireproof.wire.options import Options

pytest.importorskip("google.protobuf")
from tests.authoring.heka import header_witnesses

HEADER = {
    "message_length": "20",
    "hmac_hash_function": None,
    "hmac_signer": None,
    "hmac_key_version": None,
    "hmac": None,
}
MESSAGE = message_value()


def case_of(data: bytes, expect: Any, **options: Any) -> Case:
    return Case("heka.stream/0.10/x/y", "heka.stream", "0.10", Data(data), expect, options=Options(**options))


def value(*headers: Any, message: Any = MESSAGE) -> Any:
    return {"frames": [{"header": header, "message": message, "signer": None} for header in headers]}


def witnesses(data: bytes, expect: Any, **options: Any) -> list[str]:
    """Return the parsers that agree with the expectation."""
    found = header_witnesses.agreeing([case_of(data, expect, **options)])
    return sorted(name for (name, _), ids in found.items() if ids)


BOTH = ["protobuf-python-header", "protobuf-upb-header"]


def test_both_parsers_read_the_headers_of_all_frames() -> None:
    assert witnesses(F + F, Accept(value=value(HEADER, HEADER))) == BOTH


def test_another_header_is_no_agreement() -> None:
    assert witnesses(F, Accept(value=value({**HEADER, "hmac_hash_function": "MD5"}))) == []
