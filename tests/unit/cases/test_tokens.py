"""Names of cases: patterns and replay tokens."""

import base64
import json
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from each import each
from goldens import load

from wireproof.cases import token
from wireproof.cases.case import Case, Data, Reject, Source, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.id_patterns import PatternError, compile_pattern, most_similar, select
from wireproof.cases.token import MAX_INLINE_TOKEN, PREFIX, TokenError, from_token, save_token, to_token
from wireproof.derive.derived import derived_cases

NAMES = ("a.b/v1/crc/one", "a.b/v1/crc/two", "a.b/v1/size/one", "a.b/v2/crc/one", "c.d/v1/crc/one")


def suite() -> Suite:
    cases = tuple(Case(name, *name.split("/")[:2], Data(b""), Reject("other")) for name in NAMES)
    return Suite(cases, {}, dict.fromkeys(NAMES, Path()), "")


@each(
    "pattern, numbers",
    [
        ("a.b/v1/crc/one", [0]),
        ("a.b/v1/crc/*", [0, 1]),
        ("a.b/*/crc/one", [0, 3]),
        ("*/v1/crc/*", [0, 1, 4]),
        ("a.*/v1/crc/t*o", [1]),
        ("**", [0, 1, 2, 3, 4]),
        ("a.b/**", [0, 1, 2, 3]),
        ("a.**", [0, 1, 2, 3]),
        ("a.b/v**/one", [0, 2, 3]),
        ("a.b/v1/s**", [2]),
        ("**/one", [0, 2, 3, 4]),
        ("a.b/**/one", [0, 2, 3]),
        ("**/v1/**", [0, 1, 2, 4]),
        ("a.b/v1/crc/one/**", [0]),
    ],
)
def test_one_star_is_one_component_and_two_are_any_number(pattern: str, numbers: list[int]) -> None:
    assert [case.id for case in select(suite(), [pattern])] == [NAMES[number] for number in numbers]


@each("pattern", ["a.b/*", "*", "axb/**", "a.b/v1/crc/on", "a.b/v1/crc/one+", "(", ""])
def test_a_pattern_that_nothing_matches_is_an_error_with_advice(pattern: str) -> None:
    with pytest.raises(
        PatternError, match=r"^no case matches .*: (did you mean|known|run `wireproof cases`)"
    ):
        select(suite(), [pattern])


@each(
    "pattern, advice",
    [
        ("kafka.batch/v2/crc/fliped-bit", "did you mean kafka.batch/v2/crc/flipped-bit?"),
        ("kafka.btch/**", "did you mean kafka.batch/**?"),
        ("kafka.batch/*/crcc/**", "did you mean kafka.batch/*/crc/**?"),
        ("kafka.batch/v9/**", "known after kafka.batch/: v0, v1, v2"),
        ("nosuch", "run `wireproof cases` for the list"),
    ],
)
def test_a_suggestion_is_made_only_of_what_is_close(pattern: str, advice: str) -> None:
    with pytest.raises(PatternError) as caught:
        select(load(), [pattern])
    assert str(caught.value) == f"no case matches {pattern}: {advice}"


def test_patterns_that_overlap_are_each_credited_and_give_each_case_once() -> None:
    assert [case.id for case in select(suite(), ["**/one", "a.b/**", NAMES[0]])] == list(NAMES)
    with pytest.raises(PatternError, match=r"no case matches a\.b/v9"):
        select(suite(), ["**", "a.b/v9/**"])


def test_the_order_is_that_of_the_suite_whatever_that_of_the_patterns() -> None:
    assert [case.id for case in select(suite(), [NAMES[4], NAMES[0]])] == [NAMES[0], NAMES[4]]


def test_many_stars_are_one_and_cost_no_more() -> None:
    assert compile_pattern("**/" * 30 + "x") == compile_pattern("**/x")
    assert not compile_pattern("**/x").fullmatch("a/" * 30)


# --- the nearest case, for `explain` ---


def test_a_case_of_the_same_refusal_is_nearer_than_one_of_like_bytes() -> None:
    def made(name: str, data: bytes, cls: str) -> Case:
        return Case(f"a.b/v/t/{name}", "a.b", "v", Data(data), Reject(cls))  # type: ignore[arg-type]

    cases = [made("like", b"abcd", "truncated"), made("same", b"zzzz", "bad-magic")]
    found = most_similar(b"abcd", "a.b/v", "bad-magic", cases)
    assert found.id == "a.b/v/t/same"


# --- tokens ---


CASE = Case("a.b/v1/t/n", "a.b", "v1", Data(b"\x00\xff"), Reject("other"), title="A title", rules=("a.rule",))


def encoded(packed: bytes) -> str:
    return PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def wrapped(page: Any) -> str:
    return encoded(zlib.compress(json.dumps(page).encode()))


def without_what_a_token_leaves_out(case: Case) -> Case:
    """Witnesses change no verdict."""
    return evolve(case, source=Source(case.source.origin, case.source.document))


def test_every_fixture_survives_the_round_trip(tmp_path: Path) -> None:
    for case in load().cases:
        assert from_token(save_token(case, tmp_path)) == without_what_a_token_leaves_out(case)


def test_derived_cases_survive_it_with_family_and_parent() -> None:
    suite = load()
    parent = suite.by_id["kafka.batch/v2/crc/leader-epoch-outside"]
    for number, case in enumerate(derived_cases(parent)):
        if number % 16 == 0 and not to_token(case).startswith("@"):
            again = from_token(to_token(case))
            assert again == without_what_a_token_leaves_out(case)
            assert (again.parent, again.family) == (parent.id, case.family)


def test_a_long_case_is_a_file_named_by_its_digest(tmp_path: Path) -> None:
    noise = b"".join(number.to_bytes(4) + bytes([number * 7 % 256]) for number in range(0, 90_000, 31))
    case = evolve(CASE, input=Data(noise))
    word = save_token(case, tmp_path / "new")
    assert word.startswith("@")
    assert (tmp_path / "new" / to_token(case)[1:]).exists()
    assert from_token(word).input == Data(noise)
    assert len(to_token(CASE)) <= MAX_INLINE_TOKEN


def unpacked(case: Case) -> bytes:
    return base64.urlsafe_b64decode(to_token(case).removeprefix(PREFIX) + "===")


WHOLE = to_token(CASE)
PAGE = json.loads(zlib.decompress(unpacked(CASE)))


def with_case(**changes: Any) -> dict[str, Any]:
    return {**PAGE, "case": {**PAGE["case"], **changes}}


@each(
    "word, said",
    [
        ("", "a token begins with wp1:"),
        ("wp2:abc", "a token begins with wp1:"),
        ("wp1:", "cut off|damaged"),
        ("wp1:!!!!", "damaged|cut off"),
        ("wp1:é", "damaged"),
        ("wp1:AAAA", "damaged"),
        ("@/no/such/file.wp1", "cannot be read"),
        ("@", "cannot be read"),
        *((WHOLE[:20] + stray + WHOLE[20:], "no token has") for stray in ("!", "\n", " ", "%", "\u00e9")),
        (encoded(unpacked(CASE) + bytes(3)), "follows its end"),
        (encoded(zlib.compress(b" " * (4 << 20))), "unpacks to more than 1 MiB"),
        (encoded(zlib.compress(b"[" * 200_000)), "holds no case"),
        (
            wrapped(with_case(input={"file": "pyproject.toml", "sha256": "0" * 64})),
            "cannot refer to a local file",
        ),
    ],
)
def test_what_is_no_token_is_one_line(monkeypatch: pytest.MonkeyPatch, word: str, said: str) -> None:
    monkeypatch.setattr(token, "MAX_INFLATED", 1 << 20)
    with pytest.raises(TokenError, match=said):
        from_token(word)


def test_a_token_is_cut_off_or_damaged_at_any_character() -> None:
    whole = to_token(CASE)
    for stop in range(len(whole) - 1):
        with pytest.raises(TokenError):
            from_token(whole[:stop])
    for at in range(len(PREFIX), len(whole), 3):
        other = "A" if whole[at] != "A" else "Q"
        try:
            assert from_token(whole[:at] + other + whole[at + 1 :]) == CASE
        except TokenError:
            continue


@each(
    "page",
    [
        None,
        [],
        {},
        {"case": []},
        {"case": {"id": "x"}, "format": "a", "revision": "b"},
        {**PAGE, "family": 7},
        with_case(id=7),
        with_case(input={"hex": 7}),
        with_case(input=7),
        with_case(options={"max_message": "9"}),
        with_case(options={"keys": 9}),
        with_case(level=["must"]),
    ],
    ids=lambda page: json.dumps(page)[:60],
)
def test_a_token_without_a_case_in_it_is_one_line(page: Any) -> None:
    with pytest.raises(TokenError, match="the token holds no case"):
        from_token(wrapped(page))


def test_a_token_file_whose_sha256_is_not_its_name_was_changed(tmp_path: Path) -> None:
    noise = b"".join(number.to_bytes(4) + bytes([number * 7 % 256]) for number in range(0, 90_000, 31))
    word = save_token(evolve(CASE, input=Data(noise)), tmp_path)
    Path(word[1:]).write_text(to_token(CASE))
    with pytest.raises(TokenError, match="its sha256 is not its name"):
        from_token(word)
    mine = tmp_path / "mine.txt"
    mine.write_text(to_token(CASE) + "\n")
    assert from_token(f"@{mine}") == CASE


def test_a_token_file_of_any_size_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token, "MAX_TOKEN_FILE", 1 << 16)
    (tmp_path / "token").write_bytes(b"A" * (1 << 16) + b"A")
    with pytest.raises(TokenError, match="larger than 65,536 bytes"):
        from_token(f"@{tmp_path}/token")


def test_a_token_of_many_small_values_is_refused_before_they_are_made() -> None:
    value = "[" + "[]," * 2_000_000 + "[]]"
    text = (
        zlib.decompress(unpacked(evolve(CASE, op="encode", input=Value("here"))))
        .decode()
        .replace('"here"', value)
    )
    packed = encoded(zlib.compress(text.encode()))
    tracemalloc.start()
    with pytest.raises(TokenError, match="more than 250,000 values"):
        from_token(packed)
    assert tracemalloc.get_traced_memory()[1] < 4 * len(text)
    tracemalloc.stop()
