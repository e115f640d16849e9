"""The stream of a run: architecture.md#events."""

import io
import json
from pathlib import Path

import jsonschema
import pytest
from attrs import evolve
from each import each
from small_runs import FAIL, PASS, RUN, SKIP, stream

import wireproof
from wireproof.run.conclusion import conclusion_sentence, exit_code
from wireproof.run.events import (
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


def written(*, footer: bool = True) -> str:
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
    file.write_text(written() + written())
    assert read_events(file) == (stream(PASS, FAIL, SKIP), stream(PASS, FAIL, SKIP))
    assert read_events(file)[0].complete


def test_a_run_without_its_footer_is_incomplete() -> None:
    assert [run.complete for run in parse_events(io.StringIO(written(footer=False)))] == [False]
    assert [run.complete for run in parse_events(io.StringIO(written(footer=False) + written()))] == [
        False,
        True,
    ]


def test_a_line_cut_off_by_a_death_ends_an_incomplete_run() -> None:
    text = written(footer=False)
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
    ],
)
def test_a_bad_line_is_named_in_one_line(line: str, says: str) -> None:
    with pytest.raises(EventError) as error:
        list(parse_events([to_line(RUN) + "\n", line], "run.jsonl"))
    assert str(error.value).startswith("run.jsonl:2: ")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_footer_that_miscounts_is_refused() -> None:
    lines = written().replace('"pass":1', '"pass":2')
    with pytest.raises(EventError, match="the footer counts"):
        list(parse_events(io.StringIO(lines)))


def test_a_case_before_any_run_is_refused() -> None:
    with pytest.raises(EventError, match="before any run"):
        list(parse_events([to_line(PASS) + "\n"]))


def shard(name: str, *cases: object) -> EventStream:
    return stream(*cases, run=evolve(RUN, shard=name))  # type: ignore[arg-type]


def test_shards_merge_in_plan_order() -> None:
    whole = merge_shards([shard("2/2", FAIL), shard("1/2", PASS, SKIP)])
    assert whole == stream(PASS, FAIL, SKIP)
    assert whole.complete


def test_a_merge_that_misses_a_shard_is_incomplete_and_names_it() -> None:
    merged = merge_shards([shard("1/3", PASS), shard("3/3", SKIP)])
    assert not merged.complete
    assert merged.lacks == ("shard 2/3 is missing",)
    assert exit_code(merged) == Exit.ADAPTER
    assert conclusion_sentence(merged) == "incomplete: shard 2/3 is missing"


def test_a_shard_that_was_broken_off_makes_the_whole_incomplete() -> None:
    cut = stream(PASS, run=evolve(RUN, shard="1/2"), complete=False)
    merged = merge_shards([cut, shard("2/2", SKIP)])
    assert exit_code(merged) == Exit.ADAPTER
    assert conclusion_sentence(merged) == "incomplete: shard 1/2 was broken off"


def test_shards_are_joined_in_the_order_in_which_they_began() -> None:
    """Whoever names the files of two nights may sort them by shard."""
    runs = [
        evolve(
            shard(f"{number}/2", case),
            run=evolve(RUN, shard=f"{number}/2", started=f"2026-11-0{day}T02:00:00Z"),
        )
        for number, case in ((1, PASS), (2, FAIL))
        for day in (1, 2)
    ]
    assert [(one.run.started[:10], one.complete) for one in joined(runs)] == [
        ("2026-11-01", True),
        ("2026-11-02", True),
    ]


def test_shards_of_two_nights_that_each_lost_one_are_not_one_run() -> None:
    first, second = (
        evolve(shard(name, case), run=evolve(RUN, shard=name, started=started))
        for name, case, started in (
            ("1/2", PASS, "2026-11-01T02:00:00Z"),
            ("2/2", FAIL, "2026-11-02T02:00:01Z"),
        )
    )
    with pytest.raises(EventError, match="these are of two runs"):
        joined([first, second])


def test_a_shard_of_a_file_is_not_trusted() -> None:
    with pytest.raises(EventError, match="is no shard"):
        joined([shard("1/99999999999", PASS)])


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (shard("2/2", PASS), "the same place in the plan"),
        (stream(FAIL, run=evolve(RUN, seed=8)), "differ in seed"),
    ],
)
def test_shards_of_different_runs_do_not_merge(other: EventStream, says: str) -> None:
    with pytest.raises(EventError, match=says):
        merge_shards([shard("1/2", PASS), other])
