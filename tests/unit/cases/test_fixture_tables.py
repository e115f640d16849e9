"""What stands behind the cases: vectors and layouts of the documents, known bugs, reasons for no witness."""

from attrs import evolve
from goldens import load

from tests.fixture_tables import vectors
from tests.fixture_tables.checks import table_problems
from tests.fixture_tables.history import known_bugs
from tests.fixture_tables.vectors import count_lines
from tests.fixture_tables.witness_reasons import reasons_of, without_witness
from wireproof.cases.id_patterns import compile_pattern


def test_what_stands_behind_the_cases_of_the_package_has_no_problem() -> None:
    suite = load()
    assert [str(problem) for problem in table_problems(suite)] == []
    assert len(known_bugs(suite)) == 205
    assert [line.partition(" with cases")[0] for line in count_lines(suite)] == [
        "kafka.md: 472 ids, 469", "heka.md: 236 ids, 232", "iggy.md: 139 ids, 124",
    ]  # fmt: skip
    printed = {one.layout for one in vectors.documented_layouts(suite)}
    assert printed >= {"RecordBatch", "Record", "RecordHeader"}


def test_what_no_case_stands_behind_is_a_problem() -> None:
    suite = load()
    bare = tuple(case for case in suite.cases if not (case.source.vectors or case.source.bugs))
    found = {str(problem).partition(": ")[2] for problem in table_problems(evolve(suite, cases=bare))}
    assert "needs a case that names it, or a row with the reason in the table of ids without a case" in found
    assert "needs cases that catch it, or the reason in `missed`" in found
    assert any("matches no must case without a witness" in text for text in found)


def test_each_special_case_of_the_package_without_a_witness_has_a_reason() -> None:
    suite = load()
    special = [
        case
        for case in without_witness(suite)
        if case.profile == "produce" or case.topic == "delivered" or case.op == "scan"
    ]
    patterns = [compile_pattern(pattern) for row in reasons_of(suite) for pattern in row.cases]
    assert all(any(one.fullmatch(case.id) for one in patterns) for case in special)
