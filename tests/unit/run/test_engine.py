"""Adapters that are real processes (`faulty_adapter.py`): their starts, answers, limits and ends."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from each import each
from faulty_runs import GOOD, LONG, SHORT, around, case, cases, good, run, spec
from folders import SUPPORT
from machine import needs

from wireproof.adapters.errors import AdapterBreachError, AdapterStartError
from wireproof.adapters.process import controller, stats
from wireproof.adapters.process.stats import seconds_without_core
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import resolve
from wireproof.adapters.requests import MAX_CONSECUTIVE_TIMEOUTS, MAX_TIMEOUTS, FailureBudget
from wireproof.cases.case import Accept, Case, Chunks, Data, Limits, Value
from wireproof.cases.outcome import Accepted, Crashed, Exhausted, Faulty, NotRun, TimedOut, Unsupported
from wireproof.run import engine
from wireproof.run.engine import Engine

# --- starts ---


@each(
    "fault, text",
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


def test_the_time_in_which_an_adapter_had_no_core_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine with twenty busy processes a start took ten seconds: the run ended with code 4."""
    with pytest.raises(AdapterStartError), Engine(spec(), hello_seconds=0.001):
        pass
    waited = iter((0.0, 60.0))
    monkeypatch.setattr(stats, "seconds_without_core", lambda _: next(waited, 60.0))
    monkeypatch.setattr(stats, "MOST_WITHOUT_CORE", 60_000)
    with Engine(spec(), hello_seconds=0.001):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how long a process waits for a core")
def test_what_shares_a_core_waits_for_it() -> None:
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for one in busy:
            os.sched_setaffinity(one.pid, {min(os.sched_getaffinity(0))})
        end = time.monotonic() + 60
        while time.monotonic() < end and seconds_without_core(busy[0].pid) < 0.1:
            time.sleep(0.05)
        assert seconds_without_core(busy[0].pid) >= 0.1
    finally:
        for one in busy:
            one.kill()
            one.wait()


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


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("other-name", "another name after it was started again (faulty 1 became another 1): "),
        ("other-version", "another version after it was started again (faulty 1 became faulty 2): "),
        ("other-claims", "other claims after it was started again (faulty 1 became faulty 1): "),
    ],
)
def test_an_adapter_that_is_another_one_after_a_restart_ends_the_run(
    fault: str, text: str, tmp_path: Path
) -> None:
    with pytest.raises(AdapterBreachError) as caught:
        run(cases(b"a", b"segfault", b"b"), f"{fault} {tmp_path / 'log'}")
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_answer_after_the_last_one_is_seen_when_the_process_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(controller, "EXIT_SECONDS", 60.0)  # it ends by itself, however slow this is
    with pytest.raises(AdapterBreachError, match=r"answered '.*' after the last request was answered"):
        run(cases(b"a", b"b"), "answers-late")


SHELL = r"""
while read -r line; do
  case $line in
    *hello*) echo '{"hello": {"name": "in a shell", "version": "1"}}' ;;
    *) id=${line#*'"id":"'}; id=${id%%'"'*}; hex=${line#*'"hex":"'}; hex=${hex%%'"'*}
       echo "{\"id\": \"$id\", \"outcome\": \"accepted\", \"value\": {\"hex\": \"$hex\"}}" ;;
  esac
done
"""


@needs("sh")
def test_a_few_lines_of_shell_are_an_adapter(tmp_path: Path) -> None:
    script = tmp_path / "adapter.sh"
    script.write_text(SHELL)
    with Engine(f"jsonl:sh {script}") as engine:
        outcomes = [ran.outcome for ran in engine.run(cases(*GOOD))]
        assert engine.hello.window == 1
    assert outcomes == [Accepted({"hex": data.hex()}) for data in GOOD]


# --- answers ---


def test_a_sound_adapter_answers_in_plan_order() -> None:
    parts = [b"%d" % number for number in range(1500)]
    outcomes, engine = run(cases(*parts))
    assert outcomes == [good(part) for part in parts]
    assert engine.deaths.count == 0
    assert engine.hello.name == "faulty"


def test_answers_may_come_in_any_order() -> None:
    parts = [b"%d" % number for number in range(8)]
    outcomes, _ = run(cases(*parts), "backwards")
    assert outcomes == [good(part) for part in parts]


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


@each(
    "fault, kind, text",
    [
        ("hang", TimedOut, "^read 0 of 4 bytes of a frame's length$"),
        ("half-a-frame", TimedOut, r"^read 16 of \d+ bytes of a header$"),
        ("segfault", Crashed, "^died with SIGSEGV; stderr ends: about to fall$"),
        ("exit-0", Crashed, "^died with exit code 0$"),
        ("closes-stdout", Faulty, "closed, though the process lives"),
        ("wrong-id", Faulty, "'no-such-id', which"),
        ("no-id", Faulty, "None, which"),
        ("unknown-class", Faulty, r"class is unknown: 'crc-mismtach'; did you mean crc-mismatch\?"),
        ("float-value", Faulty, r"1\.5 is a float"),
        ("unknown-outcome", Faulty, "outcome must be one of accepted"),
        ("huge-frame", Faulty, "its length would be 2147483647"),
        ("noise", Faulty, r"(?s)64 65 62 75 67 3a 20.*\|debug: got 5 bytes"),
    ],
)
def test_a_fault_in_a_case_is_its_own_and_says_what_was_wrong(fault: str, kind: type, text: str) -> None:
    outcome, ran = around(fault)
    assert isinstance(outcome, kind)
    assert re.search(text, outcome.text)
    assert fault != "hang" or (outcome.ms, ran.deaths.count) == (SHORT, 1)


@each("fault", ["split-writes", "floods-stderr"])
def test_what_is_only_odd_costs_nothing(fault: str) -> None:
    outcome, ran = around(fault)
    assert outcome == good(fault.encode())
    assert ran.deaths.count == 0


@pytest.mark.parametrize("fault", ["repeated-id", "noise-after"])
@each("size, number", [(41, 0), (41, 17), (41, 40), (1, 0)])
def test_a_breach_behind_the_answer_is_the_case_s_that_committed_it(
    size: int, number: int, fault: str
) -> None:
    plan = [b"x"] * size
    plan[number] = fault.encode()
    outcomes, engine = run(cases(*plan))
    assert [place for place, one in enumerate(outcomes) if isinstance(one, Faulty)] == [number]
    assert outcomes.count(good(b"x")) == size - 1
    assert engine.notes == []


# --- cases that are put ahead ---


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


# --- limits of memory and of deaths ---


def test_an_adapter_that_hangs_on_everything_uses_up_a_budget_over_all_families() -> None:
    outcomes, engine = run(cases(*[b"hang"] * 20, ms=50))
    assert [type(one) for one in outcomes].count(TimedOut) == MAX_CONSECUTIVE_TIMEOUTS
    rest = [one for one in outcomes if isinstance(one, NotRun)]
    assert len(rest) == 20 - MAX_CONSECUTIVE_TIMEOUTS
    assert f"{MAX_CONSECUTIVE_TIMEOUTS} cases in a row without an answer in time" in rest[0].text
    assert engine.deaths.count == MAX_CONSECUTIVE_TIMEOUTS


def test_timeouts_are_bounded_in_number_where_some_cases_are_answered() -> None:
    deaths = FailureBudget()
    for number, one in enumerate(cases(*[b"hang"] * MAX_TIMEOUTS)):
        assert deaths.verdict(one) is None
        deaths.add(one, TimedOut(100), "timeout")
        if number % 2:
            deaths.answered()
    left_out = deaths.verdict(case(b"x", 1000))
    assert f"{MAX_TIMEOUTS} cases without an answer in time" in left_out.text


def test_three_deaths_of_one_kind_end_a_family_but_not_its_neighbours() -> None:
    family = [case(b"segfault", n, parent="toy/v1/basic/mother") for n in range(9)]
    outcomes, engine = run([*family, *cases(b"ok")])
    crashed = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Crashed)]
    rest = [outcome for outcome in outcomes if isinstance(outcome, NotRun)]
    assert (len(crashed), len(rest), engine.deaths.count) == (3, 6, 3)
    assert rest[0].text in {f"same as toy/v1/basic/c{n}" for n in crashed}
    assert outcomes[-1] == good(b"ok")


def test_a_death_that_no_case_causes_alone_is_that_of_the_oldest_in_flight() -> None:
    outcomes, engine = run(cases(*[b"x"] * 5), "exits-after-three")
    (told,) = [outcome for outcome in outcomes if isinstance(outcome, Crashed)]
    assert "none of which does it alone" in told.text
    assert len(engine.notes) == 1


@pytest.mark.parametrize("fault", ["eats-memory", "child-eats-memory"])
def test_memory_of_the_whole_tree_is_bounded(fault: str) -> None:
    outcomes, _ = run(cases(b"a", fault.encode()), memory=200 << 20)
    assert outcomes[0] == good(b"a")
    assert isinstance(outcomes[1], Exhausted)
    assert re.search(r"\d+ MiB resident, over the limit of 200 MiB", outcomes[1].text)


@pytest.mark.parametrize(("fault", "deaths"), [("needs-memory", 0), ("eats-memory", 1)])
def test_the_memory_limit_of_a_case_is_held_against_its_own_peak(fault: str, deaths: int) -> None:
    """Memory that grows ends the case before its time; a peak that is over is seen with the answer."""
    limits = Limits(ms=LONG, rss_mb=32)
    outcomes, engine = run([case(fault.encode(), 0, limits=limits), case(b"small", 1, limits=limits)])
    assert isinstance(outcomes[0], Exhausted)
    assert re.match(r"used \d+ MiB; the limit is 32 MiB", outcomes[0].text)
    assert outcomes[1] == good(b"small")
    assert fault != "eats-memory" or engine.deaths.count == deaths


def test_a_case_too_large_for_a_message_is_not_run_and_holds_up_nobody() -> None:
    outcomes, _ = run(cases(b"a", bytes(33 << 20), b"b"))
    assert outcomes[::2] == [good(b"a"), good(b"b")]
    assert isinstance(outcomes[1], NotRun)
    assert "over the limit" in outcomes[1].text


# --- ends ---


def test_an_adapter_that_starts_a_program_for_each_case_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolved(name: str) -> Entry:
        return evolve(resolve(name), case_seconds=1.5)

    monkeypatch.setattr(engine, "resolve", resolved)
    outcome, _ = around("hang")
    assert isinstance(outcome, TimedOut)
    assert outcome.ms == 1500 > SHORT


def test_a_child_left_behind_holds_up_nobody_and_is_ended() -> None:
    outcome, _ = around("leaves-a-child")
    assert isinstance(outcome, Crashed)
    found = re.search(r"exit code 3; stderr ends: child (\d+)", outcome.text)
    assert found
    pid = int(found[1])
    wait(lambda: not lives(pid))


def test_inputs_and_answers_that_no_pipe_holds_go_both_ways_at_once() -> None:
    many = [bytes([number]) * (1 << 20) for number in range(4)]
    assert run(cases(*many))[0] == [good(data) for data in many]


def test_an_adapter_that_stops_reading_blocks_nobody() -> None:
    outcomes, _ = run([case(b"x" * 400_000, limits=Limits(ms=300))], "deaf")
    assert isinstance(outcomes[0], TimedOut)


def test_a_slow_adapter_shows_its_results_as_it_goes() -> None:
    seen: list[bytes] = []

    def asked() -> Iterator[Case]:
        for number in range(100):
            seen.append(b"%d" % number)
            yield case(seen[-1], number)

    with Engine(spec("slow-and-steady")) as engine:
        next(engine.run(asked()))
    assert len(seen) < 100


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


# --- a worker ends with the process that asked it ---


ASK = """
import sys
from wireproof.adapters.contract import Request
from wireproof.cases.case import Accept, Case, Data, Limits
from wireproof.run.engine import Engine
with Engine("py:hanging_codecs:Hangs") as engine:
    print(*(child for child in open(f"/proc/self/task/{__import__('os').getpid()}/children").read().split()))
    sys.stdout.flush()
    data = bytes.fromhex(sys.argv[1])
    hour = Limits(ms=3_600_000)
    case = Case("kafka.batch/v2/unit/hang", "kafka.batch", "v2", Data(data), Accept(), limits=hour)
    list(engine.run([case]))
"""
HANGS = "7f" * 80
SECONDS = 60.0
"""After which a test that waits for something gives up."""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has such a signal")
def test_a_worker_in_the_midst_of_a_hang_ends_with_who_asked(tmp_path: Path) -> None:
    hangs = tmp_path / "hangs"
    here = os.pathsep.join((str(SUPPORT), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": here, "HANGS": str(hangs)}
    with subprocess.Popen(
        [sys.executable, "-c", ASK, HANGS], stdout=subprocess.PIPE, env=environment
    ) as asker:
        workers = [int(child) for child in asker.stdout.readline().split()]
        assert workers
        wait(hangs.exists)
        assert all(map(lives, workers))
        asker.kill()
    wait(lambda: not any(map(lives, workers)))


def wait(until: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lives(process: int) -> bool:
    """Return True if a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
