"""lua_sandbox is a witness of refusals, if it takes the accepted neighbour."""

import sys

from tests.authoring.heka import lua_sandbox
from wireproof.cases.case import Accept, Case, Data, Reject
from wireproof.wire.options import Options

REFUSED = Reject("bad-length")


def case_of(name: str, expect: Accept | Reject, *, data: bytes = b"", twin: str | None = None) -> Case:
    return Case(name, "heka.message", "0.10", Data(data), expect, twin=twin)


def test_a_refusal_is_witnessed_if_its_twin_is_taken() -> None:
    cases = [case_of("good", Accept()), case_of("bad", REFUSED, twin="good")]
    assert lua_sandbox.refused_alike(cases, {"good": True, "bad": False}) == ("bad",)


def test_a_reader_that_refuses_the_twin_too_is_no_witness() -> None:
    cases = [case_of("good", Accept()), case_of("bad", REFUSED, twin="good")]
    assert lua_sandbox.refused_alike(cases, {"good": False, "bad": False}) == ()


def test_neither_what_it_takes_nor_what_it_was_not_asked_is_witnessed() -> None:
    cases = [case_of("good", Accept()), case_of("bad", REFUSED, twin="good")]
    assert lua_sandbox.refused_alike(cases, {"good": True, "bad": True}) == ()
    assert lua_sandbox.refused_alike(cases, {"good": True}) == ()


def test_an_accepted_case_is_not_witnessed() -> None:
    assert lua_sandbox.refused_alike([case_of("good", Accept(), twin="good")], {"good": True}) == ()


def test_the_reader_is_asked_for_plain_messages_alone() -> None:
    program = [sys.executable, "-c", "import sys\nfor line in sys.stdin: print(int(line != '00\\n'))"]
    packed = Case(
        "packed", "heka.message", "0.10", Data(b"\0"), REFUSED, options=Options(compression="snappy")
    )
    stream = Case("stream", "heka.stream", "0.10", Data(b"\0"), REFUSED)
    cases = [case_of("a", REFUSED, data=b"\0"), packed, stream, case_of("b", Accept(), data=b"\1")]
    assert lua_sandbox.taken(program, cases) == {"a": False, "b": True}
