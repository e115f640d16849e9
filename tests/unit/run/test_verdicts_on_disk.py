"""Verdicts are written when a case is judged, not in its turn: a file may have two of one place."""

import json

from wireproof.run.events import parse_events


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
