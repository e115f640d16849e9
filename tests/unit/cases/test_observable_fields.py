"""Derived fields are compared where an adapter names them, and only there: adapter-contract.md#observes."""

from typing import Any

from each import each
from goldens import load

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Case
from wireproof.cases.observable_fields import observed_tree
from wireproof.cases.outcome import Accepted
from wireproof.judge.judge import judge
from wireproof.wire.observed_fields import project

BATCH = "kafka.batch/v2"
VALUE: Any = {
    "baseOffset": "3",
    "records": [{"offset": "3", "key": None, "sequence": "9", "timestampType": "create"}],
    "nextOffset": "4",
}
BARE: Any = {"baseOffset": "3", "records": [{"offset": "3", "key": None}]}


@each(
    "patterns, seen",
    [
        ((), BARE),
        (("*",), VALUE),
        (("records",), {"records": BARE["records"]}),
        (("records[]",), {"records": BARE["records"]}),
        (("nextOffset",), {"nextOffset": "4"}),
        (("records[].sequence",), {"records": [{"sequence": "9"}]}),
        (
            ("records[]", "records[].sequence"),
            {"records": [{"offset": "3", "key": None, "sequence": "9"}]},
        ),
        (("records[].*",), {"records": VALUE["records"]}),
    ],
)
def test_a_pattern_selects_the_fields_below_it_but_derived_ones_only_by_name(
    patterns: tuple[str, ...], seen: Any
) -> None:
    assert project(VALUE, observed_tree(BATCH, patterns)) == seen


def test_a_derived_field_of_one_kind_of_entry_is_compared_there() -> None:
    tree = observed_tree("kafka.log/mixed", ("batches[].magic", "batches[magic=2].nextOffset"))
    value: Any = {"batches": [{"magic": magic, "nextOffset": "4"} for magic in ("1", "2")], "nextOffset": "4"}
    assert project(value, tree) == {"batches": [{"magic": "1"}, {"magic": "2", "nextOffset": "4"}]}


def case_and_value() -> tuple[Case, Any]:
    case = load().by_id["kafka.batch/v2/batch/compacted-gaps"]
    assert isinstance(case.expect, Accept)
    return case, case.expect.value


def label(observes: tuple[str, ...], value: Any) -> str:
    case, _ = case_and_value()
    hello = Hello("mine", "1", {BATCH: Claim(observes=observes)})
    return judge(case, Accepted(value), hello=hello).label


def test_who_names_a_derived_field_must_return_it_and_others_need_not() -> None:
    _, value = case_and_value()
    bare = {name: part for name, part in value.items() if name != "nextOffset"}
    assert label((), bare) == "pass:canonical"
    assert label(("nextOffset",), bare) == "fail:wrong-value"
