"""The engine against adapters that misbehave, as real processes (`faulty_adapter.py`)."""

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from folders import SUPPORT

from wireproof.adapters.errors import AdapterStartError
from wireproof.cases.case import Accept, Case, Chunks, Data, Limits, Value
from wireproof.cases.outcome import (
    Accepted,
    Crashed,
    Exhausted,
    Faulty,
    NotRun,
    TimedOut,
    Unsupported,
)
from wireproof.runner.engine import Engine
from wireproof.runner.failure_budget import MAX_CONSECUTIVE_TIMEOUTS, MAX_TIMEOUTS, FailureBudget
from wireproof.wire.json_values import json_digest

FAULTY = SUPPORT / "faulty_adapter.py"
GOOD = [b"a", b"bb", b"ccc"]

MUTE = (b"hang", b"half-a-frame")
SHORT, LONG = 700, 60_000
"""Milliseconds."""


def spec(fault: str = "obeys-bytes") -> str:
    return f"exec:{sys.executable} -S -E {FAULTY} {fault}"


def case(data: bytes, number: int = 0, **more: Any) -> Case:
    return Case(f"toy/v1/basic/c{number}", "toy", "v1", Data(data), Accept({"hex": data.hex()}), **more)


def cases(*parts: bytes, ms: int | None = None) -> list[Case]:
    """A case of each part; one that is never answered has a short time, the others all they may want."""
    limits = [Limits(ms=ms or (SHORT if part in MUTE else LONG)) for part in parts]
    return [
        case(part, number, limits=limit)
        for number, (part, limit) in enumerate(zip(parts, limits, strict=True))
    ]


def run(plan: list[Case], fault: str = "obeys-bytes", **options: Any) -> tuple[list[Any], Engine]:
    with Engine(spec(fault), **options) as engine:
        return [ran.outcome for ran in engine.run(plan)], engine


def good(data: bytes) -> Accepted:
    return Accepted({"hex": data.hex()}, len(data))


def around(fault: str, **options: Any) -> tuple[Any, Engine]:
    """The outcome of the faulty case, after a check that its neighbours kept their results."""
    outcomes, engine = run(cases(*GOOD, fault.encode(), *GOOD), **options)
    assert outcomes[:3] == outcomes[4:] == [good(data) for data in GOOD]
    return outcomes[3], engine


def test_a_sound_adapter_answers_in_plan_order() -> None:
    parts = [b"%d" % number for number in range(1500)]
    outcomes, engine = run(cases(*parts))
    assert outcomes == [good(part) for part in parts]
    assert engine.deaths.count == 0
    assert engine.hello.name == "faulty"


def test_one_seed_asks_in_one_order_and_another_in_another() -> None:
    plan = cases(*[b"count"] * 40)
    first, second, third = (run(plan, seed=seed)[0] for seed in (7, 7, 8))
    assert first == second
    assert first != third
    assert sorted(int(bytes.fromhex(one.value["hex"])) for one in first) == list(range(40))


def test_a_hang_is_timed_out_and_says_how_far_it_got() -> None:
    outcome, engine = around("hang")
    assert outcome == TimedOut(SHORT, "read 0 of 4 bytes of a frame's length")
    assert engine.deaths.count == 1


def test_half_an_answer_is_timed_out_and_says_how_far_it_got() -> None:
    outcome, _ = around("half-a-frame")
    assert isinstance(outcome, TimedOut)
    assert re.fullmatch(r"read 16 of \d+ bytes of a header", outcome.text)


def test_a_segfault_is_a_crash_of_the_guilty_case_alone() -> None:
    outcome, _ = around("segfault")
    assert outcome == Crashed("died with SIGSEGV; stderr ends: about to fall")


def test_an_exit_midway_is_a_crash_even_with_code_0() -> None:
    outcome, _ = around("exit-0")
    assert outcome == Crashed("died with exit code 0")


def test_noise_on_stdout_breaks_the_contract_and_is_shown() -> None:
    outcome, _ = around("noise")
    assert isinstance(outcome, Faulty)
    assert "64 65 62 75 67 3a 20" in outcome.text
    assert "|debug: got 5 bytes" in outcome.text


@pytest.mark.parametrize(("fault", "text"), [("wrong-id", "'no-such-id', which"), ("no-id", "None, which")])
def test_an_answer_to_nobody_breaks_the_contract(fault: str, text: str) -> None:
    outcome, _ = around(fault)
    assert isinstance(outcome, Faulty)
    assert text in outcome.text


@pytest.mark.parametrize("number", [0, 17, 40])
@pytest.mark.parametrize("fault", ["repeated-id", "noise-after"])
def test_a_breach_behind_the_answer_is_the_case_s_that_committed_it(fault: str, number: int) -> None:
    plan = [b"x"] * 41
    plan[number] = fault.encode()
    outcomes, engine = run(cases(*plan))
    assert [place for place, one in enumerate(outcomes) if isinstance(one, Faulty)] == [number]
    assert outcomes.count(good(b"x")) == 40
    assert engine.notes == []


@pytest.mark.parametrize("fault", ["repeated-id", "noise-after"])
def test_a_breach_behind_the_very_last_answer_is_seen(fault: str) -> None:
    outcomes, _ = run(cases(fault.encode()))
    assert isinstance(outcomes[0], Faulty)


def test_an_adapter_that_hangs_on_everything_uses_up_a_budget_over_all_families() -> None:
    outcomes, engine = run(cases(*[b"hang"] * 20, ms=50))
    assert [type(one) for one in outcomes].count(TimedOut) == MAX_CONSECUTIVE_TIMEOUTS
    rest = [one for one in outcomes if isinstance(one, NotRun)]
    assert len(rest) == 20 - MAX_CONSECUTIVE_TIMEOUTS
    assert f"{MAX_CONSECUTIVE_TIMEOUTS} cases in a row without an answer in time" in rest[0].text
    assert engine.deaths.count == MAX_CONSECUTIVE_TIMEOUTS


def test_an_adapter_that_hangs_now_and_then_is_asked_on() -> None:
    deaths = FailureBudget()
    for number, one in enumerate(cases(*[b"hang"] * 4 * MAX_CONSECUTIVE_TIMEOUTS)):
        deaths.add(one, TimedOut(100), "timeout")
        if number % (MAX_CONSECUTIVE_TIMEOUTS - 1) == MAX_CONSECUTIVE_TIMEOUTS - 2:
            deaths.answered()
        assert deaths.verdict(case(b"x", 1000)) is None


def test_timeouts_are_bounded_in_number_where_some_cases_are_answered() -> None:
    deaths = FailureBudget()
    for number, one in enumerate(cases(*[b"hang"] * MAX_TIMEOUTS)):
        assert deaths.verdict(one) is None
        deaths.add(one, TimedOut(100), "timeout")
        if number % 2:
            deaths.answered()
    left_out = deaths.verdict(case(b"x", 1000))
    assert left_out is not None
    assert f"{MAX_TIMEOUTS} cases without an answer in time" in left_out.text


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("unknown-class", "class is unknown: 'crc-mismtach'; did you mean crc-mismatch?"),
        ("float-value", "1.5 is a float"),
        ("unknown-outcome", "outcome must be one of accepted"),
        ("huge-frame", "its length would be 2147483647"),
    ],
)
def test_an_answer_that_breaks_the_contract_is_named(fault: str, text: str) -> None:
    outcome, _ = around(fault)
    assert isinstance(outcome, Faulty)
    assert text in outcome.text


def test_split_writes_are_put_together() -> None:
    outcome, engine = around("split-writes")
    assert outcome == good(b"split-writes")
    assert engine.deaths.count == 0


def test_a_flood_on_stderr_blocks_nobody() -> None:
    outcome, engine = around("floods-stderr")
    assert outcome == good(b"floods-stderr")
    assert engine.deaths.count == 0


@pytest.mark.parametrize("fault", ["eats-memory", "child-eats-memory"])
def test_memory_of_the_whole_tree_is_bounded(fault: str) -> None:
    outcomes, _ = run(cases(b"a", fault.encode()), memory=200 << 20)
    assert outcomes[0] == good(b"a")
    assert isinstance(outcomes[1], Exhausted)
    assert re.search(r"\d+ MiB resident, over the limit of 200 MiB", outcomes[1].text)


def test_the_memory_limit_of_a_case_is_held_against_its_own_peak() -> None:
    limits = Limits(ms=LONG, rss_mb=32)
    plan = [case(b"needs-memory", 0, limits=limits), case(b"small", 1, limits=limits)]
    outcomes, _ = run(plan)
    assert isinstance(outcomes[0], Exhausted)
    # 64 MiB of bytes, and as many in the bytearray that they are copied to: if nobody looks before the end.
    assert re.match(r"used \d+ MiB; the limit is 32 MiB", outcomes[0].text)
    assert outcomes[1] == good(b"small")


def test_a_case_over_its_memory_is_ended_by_that_and_not_by_its_time() -> None:
    outcomes, engine = run([case(b"eats-memory", 0, limits=Limits(ms=LONG, rss_mb=32)), *cases(b"b")])
    assert isinstance(outcomes[0], Exhausted)
    assert re.match(r"used \d+ MiB; the limit is 32 MiB", outcomes[0].text)
    assert outcomes[1] == good(b"b")
    assert engine.deaths.count == 1


def test_a_child_left_behind_holds_up_nobody_and_is_ended() -> None:
    outcome, _ = around("leaves-a-child")
    assert isinstance(outcome, Crashed)
    found = re.search(r"exit code 3; stderr ends: child (\d+)", outcome.text)
    assert found
    pid = int(found[1])
    deadline = time.monotonic() + 60
    while _lives(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(pid)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_closed_stdout_breaks_the_contract() -> None:
    outcome, _ = around("closes-stdout")
    assert isinstance(outcome, Faulty)
    assert "closed, though the process lives" in outcome.text


def test_three_deaths_of_one_kind_end_a_family_but_not_its_neighbours() -> None:
    family = [case(b"segfault", n, parent="toy/v1/basic/mother") for n in range(9)]
    outcomes, engine = run([*family, *cases(b"ok")])
    crashed = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Crashed)]
    rest = [outcome for outcome in outcomes if isinstance(outcome, NotRun)]
    assert (len(crashed), len(rest), engine.deaths.count) == (3, 6, 3)
    assert rest[0].text in {f"same as toy/v1/basic/c{n}" for n in crashed}
    assert outcomes[-1] == good(b"ok")


@pytest.mark.sweeps
def test_deaths_that_no_case_causes_alone_are_reported_and_bounded() -> None:
    outcomes, engine = run(cases(*[b"x"] * 200), "exits-after-three")
    told = [outcome for outcome in outcomes if isinstance(outcome, Crashed)]
    assert len(told) == 10
    assert all("none of which does it alone" in outcome.text for outcome in told)
    assert set(map(type, outcomes)) == {Accepted, Crashed, NotRun}
    assert len(engine.notes) == 10


def test_answers_may_come_in_any_order() -> None:
    parts = [b"%d" % number for number in range(8)]
    outcomes, _ = run(cases(*parts), "backwards")
    assert outcomes == [good(part) for part in parts]


def test_an_adapter_that_stops_reading_blocks_nobody() -> None:
    outcomes, _ = run([case(b"x" * 400_000, limits=Limits(ms=300))], "deaf")
    assert isinstance(outcomes[0], TimedOut)


def test_what_is_not_claimed_is_not_asked_and_what_is_claimed_is() -> None:
    plan = [
        case(b"a", 0),
        case(b"b", 1, needs=("codec:lz4",)),
        case(b"c", 2, needs=("codec:zstd",)),
        Case("toy/v1/x/e", "toy", "v1", Value(None), Accept(), op="encode"),
        Case("toy/v2/x/e", "toy", "v2", Data(b""), Accept()),
        Case("toy/v1/x/s", "toy", "v1", Chunks((b"",)), Accept(), op="scan"),
    ]
    outcomes, engine = run(plan, "claims-wrongly")
    assert outcomes == [
        Unsupported("not built in"),
        Unsupported("not built in"),
        Unsupported("claims no codec:zstd for toy/v1"),
        Unsupported("claims no encode of toy/v1"),
        Unsupported("claims no decode of toy/v2"),
        Unsupported("claims no scan of toy/v1"),
    ]
    assert engine.hello.revisions["toy/v1"].observes == ("hex",)


def test_an_encode_answered_with_a_value_breaks_the_contract() -> None:
    outcomes, _ = run([Case("toy/v1/x/e", "toy", "v1", Value({"a": "1"}), Accept(), op="encode")])
    assert outcomes == [Faulty("encode was answered with a value or digest")]


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("dies-at-hello", "died with exit code 1; stderr ends: cannot find libfoo.so, before its hello"),
        ("slow-hello", "sent no hello in 0.7 s: read 0 of 4 bytes of a frame's length"),
        ("noisy-hello", "|Welcome!."),
        ("bad-hello", "its hello version is missing"),
        ("future", "uses protocol 2; this suite uses 1"),
    ],
)
def test_a_start_that_fails_is_one_line(fault: str, text: str) -> None:
    seconds = 0.7 if fault == "slow-hello" else 60
    with pytest.raises(AdapterStartError) as caught, Engine(spec(fault), hello_seconds=seconds):
        pass
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_restart_that_fails_once_costs_nothing(tmp_path: Path) -> None:
    outcomes, engine = run(cases(b"a", b"segfault", b"b"), f"fails-to-start {tmp_path / 'log'} 2")
    assert isinstance(outcomes[1], Crashed)
    assert outcomes[::2] == [good(b"a"), good(b"b")]
    assert len(engine.notes) == 1
    assert "port in use" in engine.notes[0]


def test_a_restart_that_fails_twice_ends_the_run_and_keeps_its_results(tmp_path: Path) -> None:
    plan = cases(*[b"x"] * 600, b"segfault", *[b"y"] * 600)
    outcomes, _ = run(plan, f"fails-to-start {tmp_path / 'log'} 3 4")
    assert outcomes[:512] == [good(b"x")] * 512
    assert isinstance(outcomes[600], Crashed)
    assert isinstance(outcomes[-1], NotRun)
    assert "it did not start again" in outcomes[-1].text
    assert "port in use" in outcomes[-1].text


def test_an_adapter_that_does_not_start_again_is_not_started_for_each_further_block(tmp_path: Path) -> None:
    plan = cases(b"segfault", *[b"y"] * 2000)
    outcomes, engine = run(plan, f"fails-to-start {tmp_path / 'log'} 2 3 4 5 6 7 8 9")
    assert isinstance(outcomes[-1], NotRun)
    assert len(engine.notes) == 1, engine.notes


def test_a_program_that_is_not_there_is_one_line() -> None:
    with (
        pytest.raises(AdapterStartError, match=r"cannot be started: .*no-such-program"),
        Engine("exec:no-such-program"),
    ):
        pass


SHELL = r"""
while read -r line; do
  case $line in
    *hello*) echo '{"hello": {"name": "in a shell", "version": "1"}}' ;;
    *) id=${line#*'"id":"'}; id=${id%%'"'*}; hex=${line#*'"hex":"'}; hex=${hex%%'"'*}
       echo "{\"id\": \"$id\", \"outcome\": \"accepted\", \"value\": {\"hex\": \"$hex\"}}" ;;
  esac
done
"""


def test_a_few_lines_of_shell_are_an_adapter(tmp_path: Path) -> None:
    script = tmp_path / "adapter.sh"
    script.write_text(SHELL)
    with Engine(f"jsonl:sh {script}") as engine:
        outcomes = [ran.outcome for ran in engine.run(cases(*GOOD))]
        assert engine.hello.window == 1
    assert outcomes == [Accepted({"hex": data.hex()}) for data in GOOD]


def test_a_run_may_ask_for_digests() -> None:
    plan = [Case("toy/v1/t/c", "toy", "v1", Data(b"value"), Accept())]
    for in_process in (False, True):
        with Engine("py:toy_codecs:Toy", digest=True, in_process=in_process) as engine:
            (ran,) = engine.run(plan)
        assert ran.outcome == Accepted(None, 5, digest=json_digest({"a": "1", "list": [{"x": "3"}]}))


def test_a_slow_adapter_shows_its_results_as_it_goes() -> None:
    seen: list[bytes] = []

    def asked() -> Iterator[Case]:
        for number in range(100):
            seen.append(b"%d" % number)
            yield case(seen[-1], number)

    with Engine(spec("slow-and-steady")) as engine:
        next(engine.run(asked()))
    assert len(seen) < 100


def test_a_case_too_large_for_a_message_is_not_run_and_holds_up_nobody() -> None:
    outcomes, _ = run(cases(b"a", bytes(33 << 20), b"b"))
    assert outcomes[::2] == [good(b"a"), good(b"b")]
    assert isinstance(outcomes[1], NotRun)
    assert "over the limit" in outcomes[1].text


# --- asked ahead ---


def taken(*puts: list[bytes], ms: int = LONG) -> list[list[Any]]:
    """The outcomes of several puts, all of them sent before the first is taken."""
    with Engine(spec()) as engine:
        for parts in puts:
            engine.put(cases(*parts, ms=ms))
        return [[ran.outcome for ran in engine.take()] for _ in puts]


def test_what_is_put_ahead_is_taken_in_the_order_of_the_plan() -> None:
    puts = [[b"%d" % (number * 1000 + n) for n in range(700)] for number in range(3)]
    assert taken(*puts) == [[good(part) for part in parts] for parts in puts]


@pytest.mark.parametrize(
    ("fault", "kind"), [("segfault", Crashed), ("exit-0", Crashed), ("hang", TimedOut), ("noise", Faulty)]
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_of_many_in_flight_that_ends_the_adapter_costs_one_verdict(
    fault: str, kind: type, place: int
) -> None:
    """Return True if the case was queued together with the awaited one, before or after it."""
    puts = [[b"%d" % n for n in range(40)] for _ in range(3)]
    puts[place][17] = fault.encode()
    ms = 2 * SHORT if fault == "hang" else LONG  # what waits for its turn behind the silent one waits as long
    for number, outcomes in enumerate(taken(*puts, ms=ms)):
        bad = [
            n for n, (one, data) in enumerate(zip(outcomes, puts[number], strict=True)) if one != good(data)
        ]
        assert bad == ([17] if number == place else [])
        assert number != place or isinstance(outcomes[17], kind)


def test_each_of_many_that_end_the_adapter_costs_its_own_verdict() -> None:
    puts = [
        [b"segfault" if n == 5 else b"exit-0" if n == 6 else b"%d" % n for n in range(9)] for _ in range(3)
    ]
    found = taken(*puts)
    assert [[type(one) for one in outcomes[5:7]] for outcomes in found] == [[Crashed, Crashed]] * 3
    assert [outcomes[:5] + outcomes[7:] for outcomes in found] == [
        [good(b"%d" % n) for n in (0, 1, 2, 3, 4, 7, 8)]
    ] * 3


def test_a_case_measured_by_itself_waits_for_what_was_put_ahead() -> None:
    with Engine(spec()) as engine:
        engine.put([*cases(b"a"), case(b"needs-memory", limits=Limits(rss_mb=16))])
        engine.put(cases(b"b", b"c"))
        first, second = engine.take(), engine.take()
    assert first[0].outcome == good(b"a")
    assert isinstance(first[1].outcome, Exhausted)
    assert [ran.outcome for ran in second] == [good(b"b"), good(b"c")]


def test_an_adapter_that_does_not_start_again_leaves_no_put_waiting(tmp_path: Path) -> None:
    log = tmp_path / "starts"
    with Engine(spec(f"fails-to-start {log} 2 3 4 5 6 7")) as engine:
        engine.put(cases(b"a", b"segfault"))
        engine.put(cases(b"b"))
        engine.put(cases(b"c"))
        outcomes = [[ran.outcome for ran in engine.take()] for _ in range(3)]
    seen = [one for some in outcomes for one in some]
    assert sum(isinstance(one, Crashed) for one in seen) == 1, "the case that killed it keeps that"
    assert {type(one) for one in seen} <= {Accepted, NotRun, Crashed}
    assert isinstance(outcomes[2][0], NotRun)
    assert "did not start again" in outcomes[2][0].text


def test_no_process_is_left_behind() -> None:
    before = _processes()
    run(cases(b"hang"))
    assert [name for name in _processes() - before if _is_ours(name)] == []


def _processes() -> set[str]:
    return {path.name for path in Path("/proc").iterdir() if path.name.isdigit()}


def _is_ours(name: str) -> bool:
    try:
        return f"PPid:\t{os.getpid()}\n" in Path(f"/proc/{name}/status").read_text()
    except FileNotFoundError:
        return False
