"""Cases of one entry asked of the stream: architecture.md#verdicts."""

from goldens import load

from wireproof.cases.case import (
    Accept,
    Behaviour,
    Case,
    Chunks,
    Data,
    Either,
    Expect,
    Input,
    Op,
    Reject,
    Value,
)
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.formats import FORMATS, Format


def _never(*_: object) -> None:
    raise AssertionError("lifting runs no codec")


ROW = Format("kafka.batch", "v2", object, _never, _never, wrapped_by=("kafka.log", "mixed", "batches"))
LEAF = Format("iggy.reply", "0.9", object, _never, _never)


def made(expect: Expect, given: Input = Data(b"0123456789"), op: Op = "decode") -> Case:  # noqa: B008 - frozen
    return Case("kafka.batch/v2/t/n", "kafka.batch", "v2", given, expect, op=op, twin="kafka.batch/v2/t/m")


def lifted(expect: Expect) -> Expect:
    return wrap_case(made(expect), ROW).expect


def test_a_value_is_inside_the_list_of_entries() -> None:
    case = wrap_case(made(Accept({"magic": "2"}, 10, ("some-remark",))), ROW)
    assert case.format_id == "kafka.log/mixed"
    assert case.id == "kafka.batch/v2/t/n"
    assert case.twin == "kafka.batch/v2/t/m"
    assert case.expect == Accept({"batches": [{"magic": "2"}], "nextOffset": None}, 10, ("some-remark",))


def test_bytes_after_the_entry_are_cut_off() -> None:
    assert wrap_case(made(Accept({}, 7)), ROW).input == Data(b"0123456")
    assert wrap_case(made(Accept({})), ROW).input == Data(b"0123456789")


def test_a_truncation_is_an_empty_prefix_and_a_tail() -> None:
    assert lifted(Reject("truncated", at=3)) == Accept({"batches": [], "nextOffset": None}, 0)


def test_entries_before_a_refusal_are_in_the_list_too() -> None:
    before = {"magic": "1"}
    assert lifted(Reject("truncated", before=before)) == Accept({"batches": [before], "nextOffset": None}, 0)
    refusal = Reject("crc-mismatch", at=17, before=before)
    assert lifted(refusal) == Reject("crc-mismatch", at=17, before={"batches": [before], "nextOffset": None})
    assert lifted(Reject("crc-mismatch", at=17)) == Reject("crc-mismatch", at=17)


def test_a_truncation_that_may_bear_another_class_leaves_both_answers() -> None:
    tail = Behaviour("tail", Accept({"batches": [], "nextOffset": None}, 0))
    both = Either((tail, Behaviour("refused", Reject("length-past-end"))))
    assert lifted(Reject("truncated", ("length-past-end",))) == both


def test_open_behaviours_are_wrapped_one_by_one() -> None:
    expect = Either(
        (
            Behaviour("first", Accept({"magic": "2"}, 4)),
            Behaviour("second", Reject("truncated", ("bad-length",))),
        )
    )
    assert lifted(expect) == Either(
        (
            Behaviour("first", Accept({"batches": [{"magic": "2"}], "nextOffset": None}, 4)),
            Behaviour("second-tail", Accept({"batches": [], "nextOffset": None}, 0)),
            Behaviour("second-refused", Reject("bad-length")),
        )
    )


def test_a_case_that_cannot_be_wrapped_stays_unchanged() -> None:
    encode = made(Accept({}), Value({}), "encode")
    scan = made(Accept({}), Chunks((b"",)), "scan")
    decode = made(Accept({}))
    assert wrap_case(encode, ROW) is encode
    assert wrap_case(scan, ROW) is scan
    assert wrap_case(decode, LEAF) is decode


def test_an_entry_of_another_revision_is_a_stream_s_own() -> None:
    """In a stream the magic is each entry's own: what v0 refuses as v2 the stream reads."""
    case = load().by_id["kafka.batch/v0/magic/v2-for-v0"]
    lifted = wrap_case(case, FORMATS["kafka.batch/v0"])
    assert isinstance(case.expect, Reject)
    assert isinstance(lifted.expect, Accept)
    assert lifted.format_id == "kafka.log/mixed"


def test_an_entry_of_a_revision_that_a_reader_does_not_know_stays_foreign() -> None:
    case = load().by_id["kafka.batch/v2/magic/v0-for-v2"]
    row = FORMATS["kafka.batch/v2"]
    assert isinstance(wrap_case(case, row).expect, Accept)
    assert wrap_case(case, row, {"kafka.batch/v1"}).expect == wrap_case(case, row).expect
    assert wrap_case(case, row, {"kafka.batch/v0", "kafka.batch/v1"}).expect == case.expect
