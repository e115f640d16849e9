"""`check --shard`: the shards of a run have its cases once each, and merged they are the run."""

from pathlib import Path

import pytest
from command_line import Command
from each import each

from wireproof.run.events import Shard, joined, read_events

SELECTED = ("--run", "iggy.identifier/0.8/**")


@each("text", ["", "1", "0/3", "4/3", "1/0", "1/1001", "-1/3", "1/3 ", "٣/٣"])
def test_a_shard_is_a_number_of_a_count(text: str, wireproof: Command) -> None:
    with pytest.raises(ValueError, match="write 2/5 for the second of five"):
        Shard.of(text)
    done = wireproof("check", "reference", *SELECTED, "--shard", text)
    assert (done.code, "is no shard: write 2/5" in done.err) == (2, True)


def test_shards_take_every_item_once_and_keep_its_place() -> None:
    plan = list("abcdefgh")
    found: dict[int, str] = {}
    for number in (1, 2, 3):
        shard = Shard(number, 3)
        found |= {shard.place(seq): item for seq, item in enumerate(shard.part(plan))}
    assert [found[place] for place in sorted(found)] == plan


def test_merged_shards_are_the_whole_run(wireproof: Command, tmp_path: Path) -> None:
    whole, *parts = (tmp_path / name for name in ("whole", "one", "two", "three"))
    wireproof("check", "reference", *SELECTED, "--in-process", "--out", whole)
    for number, part in enumerate(parts, 1):
        shard = ("--shard", f"{number}/3")
        assert wireproof("check", "reference", *SELECTED, "--in-process", *shard, "--out", part).code == 0
    (run,) = read_events(whole)
    (merged,) = joined([stream for part in reversed(parts) for stream in read_events(part)])
    assert merged.complete
    assert {one.id: one.label for one in merged.cases} == {one.id: one.label for one in run.cases}
    golden = [one.id for one in run.cases if "~" not in one.id]
    assert [one.id for one in merged.cases][: len(golden)] == golden
    (two,) = joined([stream for part in parts[:2] for stream in read_events(part)])
    assert not two.complete
    assert "10 of 10" not in wireproof("report", *parts[:2]).out


def test_examples_are_not_divided(wireproof: Command) -> None:
    done = wireproof("check", "reference", *SELECTED, "--shard", "1/2", "--property", "3")
    assert (done.code, "leave one of them out" in done.err) == (2, True)
