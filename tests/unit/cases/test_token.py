"""Replay tokens: architecture.md#cases."""

import base64
import json
import os
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from each import each
from goldens import load

from wireproof.cases import token
from wireproof.cases.case import Case, Data, Reject, Value
from wireproof.cases.token import MAX_INLINE_TOKEN, PREFIX, TokenError, from_token, save_token, to_token
from wireproof.derive.derived import derived_cases

CASE = Case("a.b/v1/t/n", "a.b", "v1", Data(b"\x00\xff"), Reject("other"), title="A title", rules=("a.rule",))


def wrapped(page: Any) -> str:
    packed = zlib.compress(json.dumps(page).encode())
    return PREFIX + base64.urlsafe_b64encode(packed).decode().rstrip("=")


def page_of(case: Case) -> Any:
    packed = base64.urlsafe_b64decode(to_token(case).removeprefix(PREFIX) + "===")
    return json.loads(zlib.decompress(packed))


def without_what_a_token_leaves_out(case: Case) -> Case:
    """Witnesses change no verdict."""
    return evolve(case, source=case.source.plain())


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
    ],
)
def test_what_is_no_token_is_one_line(word: str, said: str) -> None:
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


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token, "MAX_INFLATED", 1 << 20)
    packed = zlib.compress(b" " * (4 << 20))
    with pytest.raises(TokenError, match="unpacks to more than 1 MiB"):
        from_token(PREFIX + base64.urlsafe_b64encode(packed).decode())


@each(
    "page",
    [
        None,
        [],
        {},
        {"case": []},
        {"case": {"id": "x"}, "format": "a", "revision": "b"},
        {**page_of(CASE), "family": 7},
        {**page_of(CASE), "case": {**page_of(CASE)["case"], "id": 7}},
        {**page_of(CASE), "case": {**page_of(CASE)["case"], "input": {"hex": 7}}},
        {**page_of(CASE), "case": {**page_of(CASE)["case"], "input": 7}},
        {**page_of(CASE), "case": {**page_of(CASE)["case"], "options": {"max_message": "9"}}},
        {**page_of(CASE), "case": {**page_of(CASE)["case"], "options": {"keys": 9}}},
        {**page_of(CASE), "case": {**page_of(CASE)["case"], "level": ["must"]}},
    ],
    ids=lambda page: json.dumps(page)[:60],
)
def test_a_token_without_a_case_in_it_is_one_line(page: Any) -> None:
    with pytest.raises(TokenError, match="the token holds no case"):
        from_token(wrapped(page))


def test_a_token_of_a_stranger_opens_no_file_here() -> None:
    page = page_of(CASE)
    page["case"]["input"] = {"file": "pyproject.toml", "sha256": "0" * 64}
    with pytest.raises(TokenError, match="cannot refer to a local file"):
        from_token(wrapped(page))


def test_a_token_nested_without_end_is_one_line() -> None:
    packed = zlib.compress(b"[" * 200_000)
    with pytest.raises(TokenError, match="holds no case"):
        from_token(PREFIX + base64.urlsafe_b64encode(packed).decode())


def test_a_token_file_whose_sha256_is_not_its_name_was_changed(tmp_path: Path) -> None:
    noise = b"".join(number.to_bytes(4) + bytes([number * 7 % 256]) for number in range(0, 90_000, 31))
    word = save_token(evolve(CASE, input=Data(noise)), tmp_path)
    Path(word[1:]).write_text(to_token(CASE))
    with pytest.raises(TokenError, match="its sha256 is not its name"):
        from_token(word)
    mine = tmp_path / "mine.txt"
    mine.write_text(to_token(CASE) + "\n")
    assert from_token(f"@{mine}") == CASE


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"]
)
def test_a_token_file_that_never_ends_is_not_waited_for(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "token")
    with pytest.raises(TokenError, match="not a regular file"):
        from_token(f"@{tmp_path}/token")


def test_a_token_file_of_any_size_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token, "MAX_TOKEN_FILE", 1 << 16)
    (tmp_path / "token").write_bytes(b"A" * (1 << 16) + b"A")
    with pytest.raises(TokenError, match="larger than 65,536 bytes"):
        from_token(f"@{tmp_path}/token")


def test_a_token_of_many_small_values_is_refused_before_they_are_made() -> None:
    value = "[" + "[]," * 2_000_000 + "[]]"
    text = json.dumps(page_of(evolve(CASE, op="encode", input=Value("here")))).replace('"here"', value)
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")
    tracemalloc.start()
    with pytest.raises(TokenError, match="more than 250,000 values"):
        from_token(PREFIX + packed)
    assert tracemalloc.get_traced_memory()[1] < 4 * len(text)
    tracemalloc.stop()


@each("stray", ["!", "\n", " ", "%", "\u00e9"])
def test_a_character_that_no_token_has_is_damage_and_not_skipped(stray: str) -> None:
    whole = to_token(CASE)
    with pytest.raises(TokenError, match="no token has"):
        from_token(whole[:20] + stray + whole[20:])


def test_bytes_behind_the_end_are_damage() -> None:
    packed = base64.urlsafe_b64decode(to_token(CASE).removeprefix(PREFIX) + "===")
    with pytest.raises(TokenError, match="follows its end"):
        from_token(PREFIX + base64.urlsafe_b64encode(packed + bytes(3)).decode())
