"""Suggestions for a misspelled name: only a close name is suggested."""

from command_line import Command
from each import each

from wireproof.run.exit_codes import Exit
from wireproof.suggestions import closest, suggestion


@each(
    "words, message",
    [
        (("chekc",), "there is no verb chekc: did you mean check?"),
        (("nosuch",), "there is no verb nosuch: run `wireproof --help` for the list"),
        (("check", "kafka-pyhton"), "unknown adapter kafka-pyhton: did you mean kafka-python?"),
        (("check", "nosuch"), "unknown adapter nosuch: run `wireproof adapters` for the list"),
        (("cases", "kafka.btch/**"), "no case matches kafka.btch/**: did you mean kafka.batch/**?"),
        (("explain", "00", "--format", "kafka.batch/v3"), "did you mean kafka.batch/v"),
    ],
)
def test_a_misspelled_name_is_one_line_with_a_suggestion_if_a_name_is_close(
    wireproof: Command, words: tuple[str, ...], message: str
) -> None:
    done = wireproof(*words)
    assert (done.code, message in done.one_line()) == (Exit.USAGE, True)


def test_a_name_that_resembles_nothing_has_no_closest_name() -> None:
    assert closest("check", ["check", "cases"]) == "check"
    assert closest("nosuch", ["check", "cases"]) == ""


def test_few_known_names_are_listed_and_many_are_counted() -> None:
    assert suggestion("x", ["one", "two"]) == "known names: one, two"
    assert suggestion("x", [f"n{n}" for n in range(12)]).endswith("n9 and 2 more")
    assert suggestion("x", [], "look there") == "look there"
    assert suggestion("x", []) == "there is none"
