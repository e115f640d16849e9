"""The stream of a run, and that a green one can be trusted. architecture.md#events."""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from attrs import evolve
from baselines import written
from command_line import Command
from each import each
from faulty_runs import spec
from folders import SUPPORT
from goldens import load
from small_runs import FAIL, PASS, RUN, SKIP, event, stream

import wireproof
from wireproof.cases.case import Case, Data, Reject
from wireproof.cases.observable_fields import not_compared, unknown_part
from wireproof.formats import FORMATS
from wireproof.report.terminal import uncompared_lines
from wireproof.run.baselines.baseline import apply
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.conclusion import conclusion_sentence, exit_code
from wireproof.run.events import (
    CaseEvent,
    EventError,
    EventStream,
    EventWriter,
    Footer,
    from_line,
    joined,
    merge_shards,
    parse_events,
    read_events,
    to_line,
)
from wireproof.run.exit_codes import Exit

SCHEMA = json.loads((Path(wireproof.__file__).parent / "schemas/events.schema.json").read_text())


def stream_text(*, footer: bool = True) -> str:
    out = io.StringIO()
    writer = EventWriter(out, RUN)
    for one in (PASS, FAIL, SKIP):
        writer.case(one)
    if footer:
        writer.footer()
    return out.getvalue()


@each(
    "one",
    [
        RUN,
        PASS,
        FAIL,
        evolve(FAIL, at="61>12"),
        evolve(FAIL, text="\x00\n\ud800"),
        SKIP,
        Footer({"pass": 1}),
        Footer({}, complete=False),
    ],
)
def test_an_event_survives_its_line_and_fits_the_schema(one: object) -> None:
    line = to_line(one)  # type: ignore[arg-type]
    assert from_line(line) == one
    jsonschema.validate(json.loads(line), SCHEMA)


def test_a_written_run_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text(stream_text() + stream_text())
    assert read_events(file) == (stream(PASS, FAIL, SKIP), stream(PASS, FAIL, SKIP))
    assert read_events(file)[0].complete


def test_a_run_without_its_footer_is_incomplete() -> None:
    text = stream_text(footer=False) + stream_text() + stream_text(footer=False)
    assert [run.complete for run in parse_events(io.StringIO(text))] == [False, True, False]


def test_a_line_cut_off_by_a_death_ends_an_incomplete_run() -> None:
    text = stream_text(footer=False)
    (run,) = parse_events(io.StringIO(text[: len(text) - 20]))
    assert (run.cases, run.complete) == ((PASS, FAIL), False)


@each(
    "line, says",
    [
        ("x\n", "is no JSON"),
        ("[1]\n", '"event"'),
        ('{"event":["a"]}\n', '"event"'),
        ('{"event":"case","seq":"1"}\n', "seq must be a whole number"),
        ('{"event":"footer","counts":{"pass":true}}\n', "counts"),
        (to_line(FAIL).replace('"at":4', '"at":4.5') + "\n", "at"),
        (to_line(FAIL).replace('"must"', '"most"') + "\n", "level"),
        (to_line(FAIL).replace('"sum"', '"sum","more":1') + "\n", "more"),
        (to_line(Footer({"pass": 2})) + "\n", "the footer counts {'pass': 2}, the cases are {}"),
    ],
)
def test_a_bad_line_is_named_in_one_line(line: str, says: str) -> None:
    with pytest.raises(EventError) as error:
        list(parse_events([to_line(RUN) + "\n", line], "run.jsonl"))
    assert str(error.value).startswith("run.jsonl:2: ")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_case_before_any_run_is_refused() -> None:
    with pytest.raises(EventError, match="before any run"):
        list(parse_events([to_line(PASS) + "\n"]))


def shard(name: str, *cases: object) -> EventStream:
    return stream(*cases, run=evolve(RUN, shard=name))  # type: ignore[arg-type]


def test_shards_merge_in_plan_order() -> None:
    whole = merge_shards([shard("2/2", FAIL), shard("1/2", PASS, SKIP)])
    assert whole == stream(PASS, FAIL, SKIP)
    assert whole.complete


@pytest.mark.parametrize(
    ("parts", "lacks"),
    [
        ([shard("1/3", PASS), shard("3/3", SKIP)], "shard 2/3 is missing"),
        (
            [stream(PASS, run=evolve(RUN, shard="1/2"), complete=False), shard("2/2", SKIP)],
            "shard 1/2 was broken off",
        ),
    ],
)
def test_a_merge_of_less_than_a_whole_run_is_incomplete_and_says_why(
    parts: list[EventStream], lacks: str
) -> None:
    merged = merge_shards(parts)
    assert not merged.complete
    assert merged.lacks == (lacks,)
    assert exit_code(merged) == Exit.ADAPTER
    assert conclusion_sentence(merged) == f"incomplete: {lacks}"


def test_shards_are_joined_in_the_order_in_which_they_began() -> None:
    """Whoever names the files of two nights may sort them by shard."""
    runs = [begun(f"{n}/2", case, day) for n, case in ((1, PASS), (2, FAIL)) for day in ("01", "02")]
    assert [(one.run.started[:10], one.complete) for one in joined(runs)] == [
        ("2026-11-01", True),
        ("2026-11-02", True),
    ]


def begun(name: str, case: CaseEvent, day: str) -> EventStream:
    return evolve(shard(name, case), run=evolve(RUN, shard=name, started=f"2026-11-{day}T02:00:00Z"))


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([shard("1/2", PASS), shard("2/2", PASS)], "the same place in the plan"),
        ([shard("1/2", PASS), stream(FAIL, run=evolve(RUN, seed=8, shard="2/2"))], "differ in seed"),
        ([shard("1/99999999999", PASS)], "is no shard"),
        ([begun("1/2", PASS, "01"), begun("2/2", FAIL, "03")], "these are of two runs"),
    ],
)
def test_shards_of_different_runs_do_not_merge(parts: list[EventStream], says: str) -> None:
    with pytest.raises(EventError, match=says):
        joined(parts)


# --- a run that is killed keeps each verdict ---


FORMAT = "iggy.identifier/0.0.30"
ANSWERS = 9
SECONDS = 60.0
"""For anything to happen: no measure, but the end of the wait for what never comes."""


def killed(folder: Path, *words: str) -> tuple[list[str], Path]:
    """Kill `check` once the adapter has stopped to answer; what it was asked before, and the events."""
    answered, events = folder / "answered", folder / "run.jsonl"
    environment = os.environ | {"ANSWERS": str(ANSWERS), "ANSWERED": str(answered)}
    command = [
        *(sys.executable, "-m", "wireproof", "check", "py:tests.support.hanging_codecs:AnswersSome"),
        *("--jobs", "1", "--out", str(events), *words),
    ]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as run:
        deadline, lines = time.monotonic() + SECONDS, 0
        while lines < ANSWERS and time.monotonic() < deadline and run.poll() is None:
            time.sleep(0.05)
            lines = len(answered.read_text().splitlines()) if answered.exists() else 0
        before, quiet = -1, 0
        while quiet < 20:  # what was answered is judged in far less than a second
            now = events.stat().st_size
            before, quiet = now, quiet + 1 if now == before else 0
            time.sleep(0.05)
        run.kill()
    return answered.read_text().splitlines(), events


def judged_by(answers: Sequence[str], cases: Sequence[Case]) -> set[str]:
    """Return the cases that can be judged by answers: a refusal counts once the twin is answered too."""
    data = {case.id: case.input.data.hex() for case in cases if isinstance(case.input, Data)}
    answered = {name for name, one in data.items() if one in answers}
    return {
        case.id
        for case in cases
        if case.id in answered and not (isinstance(case.expect, Reject) and case.twin not in answered)
    }


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")
def test_a_killed_run_keeps_each_golden_case_that_was_judged(tmp_path: Path) -> None:
    cases = [case for case in load().cases if case.id.startswith(f"{FORMAT}/")]
    answers, events = killed(tmp_path, "--run", f"{FORMAT}/**", "--no-families")
    (stream,) = read_events(events)
    decoded = {event.id for event in stream.cases if event.op == "decode"}
    assert decoded == judged_by(answers, cases)
    assert len(decoded) > 2
    places = [event.seq for event in stream.cases]
    assert places == sorted(places)
    assert {case.id: place for place, case in enumerate(cases)}.items() >= {
        event.id: event.seq for event in stream.cases
    }.items()


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")
def test_a_killed_run_keeps_each_derived_case_that_was_judged(tmp_path: Path) -> None:
    answers, events = killed(tmp_path, "--run", f"{FORMAT}/identifier/numeric")
    (stream,) = read_events(events)
    golden, *derived = stream.cases
    assert (golden.seq, golden.id) == (0, f"{FORMAT}/identifier/numeric")
    assert len(derived) == len(answers) - 2  # the golden case is asked once more at the end of its block
    assert all("~" in event.id for event in derived)


@pytest.mark.skipif(sys.platform == "win32", reason="a process is killed by a signal")
def test_of_two_events_in_one_place_the_later_one_counts() -> None:
    lines = [
        {"event": "run", "suite": "1", "fixtures": "", "spec": "x", "adapter": "x", "schema": 1},
        *(case_line(*row) for row in ((1, "b", "pass"), (0, "a", "pass"), (1, "b", "crash"))),
        {"event": "footer", "counts": {"pass": 1, "crash": 1}, "complete": True},
    ]
    (stream,) = parse_events(f"{json.dumps(line)}\n" for line in lines)
    assert [(event.id, event.verdict) for event in stream.cases] == [("a", "pass"), ("b", "crash")]


def case_line(seq: int, name: str, verdict: str) -> dict[str, object]:
    head = {"event": "case", "seq": seq, "id": name, "format": "f", "revision": "1", "op": "decode"}
    return {**head, "level": "must", "verdict": verdict}


# --- what was not judged or compared shows in the exit code and in each view ---


TODAY = date(2026, 11, 21)
CASES = ("--run", "kafka.batch/v2/batch/*", "--run", "kafka.batch/v2/crc/*")


@pytest.fixture
def check(wireproof: Command, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Judge an object of `claiming` by a few cases."""
    monkeypatch.syspath_prepend(str(SUPPORT))

    def run(name: str, *words: Any) -> Any:
        return wireproof("check", f"py:wrong_claims:{name}", *CASES, "--no-families", "--in-process", *words)

    return run


@each(
    "name, word, nearest",
    [
        ("revision", "kafka.batch/V2", "kafka.batch/v2"),
        ("codec", "zlib", "known names: none, gzip"),
        ("profile", "consumer", "known names: reader"),
        ("feature", "header", "headers"),
        ("observes", "records[].valeu", "value"),
        ("selector", "batches[magc=2].baseOffset", "magic"),
    ],
)
def test_a_typo_in_a_claim_is_an_error_that_names_the_nearest_name(
    check: Any, name: str, word: str, nearest: str
) -> None:
    done = check(name)
    assert done.code == 4
    assert word in done.err
    assert nearest in done.err
    assert len(done.err.splitlines()) == 1


def test_a_run_in_which_every_case_is_outside_the_claims_is_a_usage_error(check: Any) -> None:
    done = check("nothing")
    assert done.code == 2
    assert "no case was judged" in done.err
    assert "claims no profile reader" in done.err


def test_unjudged_cases_do_not_count_for_the_least_number(check: Any) -> None:
    enough = check("reader", "--min-cases", 10)
    assert enough.code == 0
    done = check("reader", "--min-cases", 1000)
    assert done.code == 2
    assert "cases were judged, fewer than the 1000 of --min-cases" in done.err


def test_every_view_lists_what_was_not_compared(check: Any, tmp_path: Path) -> None:
    names = ("junit", "markdown", "html")
    views = [word for name in names for word in (f"--{name}", tmp_path / name)]
    out = tmp_path / "run.jsonl"
    done = check("offsets", *views, "--out", out)
    assert done.code == 0
    assert "kafka.log/mixed: not compared, the adapter does not show them: batches[]." in done.out
    rows = [json.loads(text) for text in out.read_text().splitlines()]
    assert "batches[].records" in rows[0]["not_compared"]["kafka.log/mixed"]
    for name in names:
        assert "partitionLeaderEpoch" in (tmp_path / name).read_text()


def test_only_judged_formats_are_listed_as_not_compared() -> None:
    hidden = {"toy.frame/v1": ("sum",), "toy.frame/v2": ("sum",), "kafka.log/mixed": ("batches",)}
    run = evolve(RUN, not_compared=hidden)
    lines = list(uncompared_lines(stream(PASS, SKIP, run=run)))
    assert lines == ["toy.frame/v1: not compared, the adapter does not show them: sum"]
    skipped = event(0, "codec/lz4", "unsupported", revision="v2")
    assert list(uncompared_lines(stream(skipped, run=run))) == []
    of_stream = event(0, "basic/good", format="kafka.batch", revision="v2")
    assert [line.partition(":")[0] for line in uncompared_lines(stream(of_stream, run=run))] == [
        "kafka.log/mixed"
    ]


def test_the_case_that_killed_an_adapter_keeps_its_crash_and_the_run_is_no_verdict(
    wireproof: Command, tmp_path: Path
) -> None:
    spec = f"jsonl:{sys.executable} -S -E {SUPPORT / 'dying_adapter.py'} {tmp_path / 'starts'}"
    out = tmp_path / "run.jsonl"
    done = wireproof(
        "check", spec, "--run", "iggy.identifier/0.0.30/identifier/*", "--no-families", "--out", out
    )
    rows = [json.loads(text) for text in out.read_text().splitlines()]
    verdicts = [row["verdict"] for row in rows if row["event"] == "case"]
    assert done.code == 4
    assert verdicts.count("crash") == 1
    assert set(verdicts) == {"crash", "not-run"}
    assert "cases were not run" in done.out


def test_a_baseline_that_a_run_wrote_makes_it_conform_and_says_so() -> None:
    family = [evolve(FAIL, id=f"{FAIL.id}~flip:{n}", seq=n) for n in range(2, 9)]
    other = [evolve(FAIL, id=f"toy.frame/v1/sum/other~flip:{n}", seq=n, kind="wrong-value") for n in (9, 10)]
    seen = stream(
        PASS, FAIL, *family, *other, evolve(other[0], kind="wrong-accept", seq=11, id=f"{other[0].id}1")
    )
    text = written(seen, "somebody", "not looked into", TODAY)
    applied = apply(seen, parse_baseline(text), TODAY)
    assert exit_code(seen, applied) == 0
    assert conclusion_sentence(seen, applied) == "conforms, but for 11 known failures"
    assert len(parse_baseline(text)) == 3, (
        "one of the golden case, and one for each way in which a family fails"
    )


# --- fields ---


def test_the_fields_that_no_adapter_can_observe_are_none() -> None:
    for row in FORMATS.values():
        for pattern in not_compared(row, ("no-such-field",)):
            assert unknown_part(row, pattern) is None, f"{row.format_id} {pattern}"


def test_who_shows_everything_leaves_nothing_out() -> None:
    assert all(not_compared(row, ("*",)) == () for row in FORMATS.values())
    assert not_compared(FORMATS["heka.message/0.10"], ()) == ()


def test_an_answer_after_the_last_one_ends_a_check_with_exit_code_4_and_one_line(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.adapters.process.controller.EXIT_SECONDS", 60.0)
    out = tmp_path / "run.jsonl"
    selection = ("--run", "iggy.identifier/0.0.30/identifier/string", "--no-families", "--out", str(out))
    (line,) = wireproof("check", spec("answers-late"), *selection, code=4).err.splitlines()
    assert "after the last request was answered: each request has one answer" in line
    assert wireproof("report", str(out)).code == 4
