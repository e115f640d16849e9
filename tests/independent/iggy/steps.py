"""Check the answers of Iggy's cases with steps: what is polled is what was sent before, in its order."""

from collections.abc import Mapping
from typing import Any

from tests.independent.iggy.formats import read

Json = Any


def problem_of(row: Mapping[str, Any]) -> str | None:
    """Return the first answer that does not follow from the requests before it: iggy.md §3.4."""
    revision = row["id"].split("/")[1]
    logs: dict[str, list[str]] = {}
    for number, step in enumerate(row["steps"]):
        expect = step["expect"]
        for answer in expect["either"].values() if "either" in expect else (expect,):
            if step["op"] == "send" and answer.get("sent"):
                value, _ = read("iggy.send", revision, bytes.fromhex(step["hex"]))
                partition = int.from_bytes(bytes.fromhex(value["partitioning"]["value"]), "little")
                logs.setdefault(str(partition), []).extend(one["payload"] for one in value["messages"])
            if problem := _polled_problem(logs, answer):
                return f".steps[{number}]: {problem}"
    return None


def _polled_problem(logs: Mapping[str, list[str]], answer: Json) -> str | None:
    log = logs.get(answer.get("partition", ""), [])
    if "currentOffset" in answer and int(answer["currentOffset"]) != max(len(log) - 1, 0):
        return f"{len(log)} messages were sent, and currentOffset is {answer['currentOffset']}"
    for offset, payload in answer.get("messages", {}).items():
        sent = log[int(offset)] if int(offset) < len(log) else None
        if sent != payload:
            return f"offset {offset}: {sent} was sent, and {payload} is polled"
    return None
