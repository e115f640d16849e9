"""Programs that are started as adapters, by the engine: those that start, late or never, and start again."""

from pathlib import Path

import pytest
from each import each
from faulty_runs import GOOD, cases, good, run, spec
from machine import needs

from wireproof.adapters.errors import AdapterBreachError, AdapterStartError
from wireproof.adapters.process import controller
from wireproof.cases.outcome import (
    Accepted,
    Crashed,
    NotRun,
)
from wireproof.run.engine import Engine


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
