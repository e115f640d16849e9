"""Texts of strangers made safe to show."""

from each import each

from wireproof.wire.text import escape_unsafe, one_line

STEERS = [
    ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
    ("\x9b2J\x85", r"\x9b2J"),
    ("a\u202egnp.exe", r"a\x202egnp.exe"),
    ("one\ntwo\r\nthree\tfour", "one two three four"),
    ("a\u2028b", "a b"),
    ("\u200bzero width", r"\x200bzero width"),
    ("::error file=x::y", r"\x3a:error file=x::y"),
    ("ok ::set-output name=a::b", r"ok \x3a:set-output name=a::b"),
    ("##[command]", r"\x23#[command]"),
    ("##vso[task]", r"\x23#vso[task]"),
]


@each("text, shown", STEERS)
def test_what_steers_a_terminal_or_a_build_is_spelled_out(text: str, shown: str) -> None:
    assert one_line(text, 100) == shown


@each("text", ["", "plain", "std::vector<int>", "été 日本", "iggy::errors::x ## title"])
def test_honest_texts_stay_as_they_are(text: str) -> None:
    assert one_line(text, 100) == escape_unsafe(text) == text


@each("text", ["x" * 1000, "\x1b" * 1000, "a b " * 1000, " " * 1000 + "x"])
def test_a_long_text_is_cut_and_says_so(text: str) -> None:
    shown = one_line(text, 50)
    assert len(shown) <= 50
    assert shown.endswith("…")


def test_a_report_of_a_stranger_s_stream_commands_nothing() -> None:
    assert escape_unsafe("a\x1b[2J\n  ::error::pwned\u202e") == "a\\x1b[2J\n  \\x3a:error::pwned\\x202e"
