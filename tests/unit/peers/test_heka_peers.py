"""The peers of Heka on the bytes of heka.md: what heka.md §4 measured, and what newer versions do."""

from collections.abc import Iterator

import pytest
from built_peers import prepared

from wireproof.adapters.contract import Request
from wireproof.adapters.controller import Broken, Controller
from wireproof.cases.outcome import Accepted, Outcome, Refused, Unsupported
from wireproof.wire.options import Options

pytestmark = pytest.mark.peers

M = bytes.fromhex("0a10101112131415161718191a1b1c1d2e2f1001")
NAMES = ("protobuf-java", "protobuf-go", "protobufjs", "heka-node", "heka-py", "heka-go")


@pytest.fixture(scope="module", params=NAMES)
def peer(request: pytest.FixtureRequest) -> Iterator[Controller]:
    controller = prepared(request.param)
    yield controller
    controller.close()


def ask(controller: Controller, question: Request) -> Outcome:
    controller.send([question])
    ((_, outcome),) = controller.receive(60.0)
    return outcome


def decode(controller: Controller, more: str) -> Outcome:
    return ask(controller, Request("1", "decode", "heka.message", "0.10", data=M + bytes.fromhex(more)))


def frame(signer: str | None) -> dict[str, object]:
    header = {
        "hmac_hash_function": None,
        "hmac_signer": signer and signer.encode().hex(),
        "hmac_key_version": signer and "1",
        "hmac": None,
    }
    names = ("type", "logger", "severity", "payload", "env_version", "pid", "hostname")
    body = {"uuid": M[2:18].hex(), "timestamp": "1", **dict.fromkeys(names), "fields": []}
    return {"frames": [{"header": header, "message": body}]}


def encode(controller: Controller, signer: str | None, keys: dict[str, bytes] | None = None) -> Outcome:
    options = Options(keys=keys)
    question = Request("1", "encode", "heka.stream", "0.10", value=frame(signer), options=options)
    return ask(controller, question)


def test_every_peer_reads_a_message_and_says_so_of_a_cut_one(peer: Controller) -> None:
    """heka.md §4, M01 and M43."""
    found = decode(peer, "")
    assert isinstance(found, Accepted)
    assert isinstance(found.value, dict)
    assert (found.value["uuid"], found.value["timestamp"], found.value["pid"]) == (M[2:18].hex(), "1", None)
    assert isinstance(decode(peer, "320561"), Refused)


def test_a_length_over_32_bits_is_cut_by_java_and_by_the_old_parser_for_node(peer: Controller) -> None:
    """heka.md §4, M46."""
    found = decode(peer, "32818080801061")
    cut = peer.hello.name in ("protobuf-java", "heka-node")
    assert isinstance(found, Accepted if cut else Refused)


@pytest.mark.parametrize("name", ["heka-node", "heka-py", "heka-go"])
def test_the_clients_of_heka_frame_and_sign_as_the_rule_book_has_it(name: str) -> None:
    """heka.md §3, A01: the digest; §1: but for Go each writes the hash function, MD5 too."""
    controller = prepared(name)
    try:
        plain = encode(controller, None)
        assert isinstance(plain, Accepted)
        assert plain.data is not None
        assert plain.data.endswith(b"\x1f" + M)
        signed = encode(controller, "test", {"test_1": b"testkey"})
        assert isinstance(signed, Accepted)
        assert signed.data is not None
        assert bytes.fromhex("3210308b197f2dce6e987155ee80b807d3721f") + M in signed.data
        assert isinstance(encode(controller, "nobody", {"test_1": b"testkey"}), Unsupported)
    finally:
        controller.close()


def test_heka_py_cannot_frame_a_header_of_128_bytes_and_more() -> None:
    """heka.md §7, bug 58: the length is packed as a signed byte."""
    controller = prepared("heka-py")
    try:
        found = encode(controller, "s" * 110, {"s" * 110 + "_1": b"k"})
        assert isinstance(found, Refused)
        assert "byte format requires -128 <= number <= 127" in found.text
        assert found.untyped
    finally:
        controller.close()


F = b"\x1e\x02\x08\x14\x1f" + M
SIGNERS = {"test_1": b"testkey", "test_0": b"zero"}


@pytest.fixture(scope="module")
def hekad() -> Iterator[Controller]:
    controller = prepared("heka-go")
    yield controller
    controller.close()


def stream(controller: Controller, head: str) -> Outcome:
    """Return the results for the minimal message after a header, with signers."""
    data = b"\x1e" + bytes([len(head) // 2]) + bytes.fromhex(head) + b"\x1f" + M
    return ask(
        controller, Request("1", "decode", "heka.stream", "0.10", data=data, options=Options(keys=SIGNERS))
    )


def signer_of(outcome: Outcome) -> str | None:
    assert isinstance(outcome, Accepted)
    assert isinstance(outcome.value, dict)
    (delivered,) = outcome.value["frames"]
    return None if delivered["signer"] is None else bytes.fromhex(delivered["signer"]).decode()


SIGNED, DIGEST = "08142204746573742801", "3210308b197f2dce6e987155ee80b807d372"


def test_hekad_verifies_a_signature_and_drops_a_message_whose_digest_is_wrong(hekad: Controller) -> None:
    """heka.md §3, A01 and A04."""
    assert signer_of(stream(hekad, SIGNED + DIGEST)) == "test"
    wrong = stream(hekad, SIGNED + DIGEST[:-2] + "73")
    assert isinstance(wrong, Refused)
    assert wrong.cls == "auth-failed"


def test_hekad_takes_who_is_claimed_for_the_signer_and_authenticates_no_short_header(
    hekad: Controller,
) -> None:
    """heka.md §3, A11 and A13: two ways around its authentication."""
    assert signer_of(stream(hekad, "0814220e747275737465645f7369676e65722801")) == "trusted_signer"
    assert signer_of(stream(hekad, "0814220261622801320100")) is None


def test_hekad_panics_at_a_hash_function_that_is_not_defined() -> None:
    """heka.md §3, A14: nothing recovers between the bytes of an input and the router."""
    controller = prepared("heka-go")
    try:
        with pytest.raises(Broken, match="nil pointer dereference"):
            stream(controller, "08141802" + SIGNED[4:] + DIGEST)
    finally:
        controller.close()


def test_hekad_panics_at_a_length_of_64_bits() -> None:
    """heka.md §4, M44."""
    controller = prepared("heka-go")
    try:
        with pytest.raises(Broken, match="slice bounds out of range"):
            decode(controller, "32ffffffffffffffffff01")
    finally:
        controller.close()


def test_hekad_waits_for_what_a_false_separator_claims(hekad: Controller) -> None:
    """heka.md §2.4, S15 and S04: garbage is passed over, and a frame behind 1E FF is lost at the end."""
    chunks = (b"BOGUS" + F, b"\x1e\xff" + F)
    found = ask(hekad, Request("1", "scan", "heka.stream", "0.10", chunks=chunks))
    assert isinstance(found, Accepted)
    assert isinstance(found.value, dict)
    items = [(item["kind"], item["at"], item["length"]) for item in found.value["items"]]
    assert items == [("garbage", 0, 5), ("frame", 5, 25), ("tail", 30, 27)]
