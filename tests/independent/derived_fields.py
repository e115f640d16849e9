"""The derived fields of expected values: offsets, sequences and timestamp types of Kafka, numbers of Iggy.

Nothing here comes from the codec under test. `completed` adds the fields to every expectation of a case when
its file is written, so that no module needs to state them.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.independent.iggy.header_numbers import with_numbers
from tests.independent.kafka.next_offset import log_end, with_offsets

NAMES = frozenset(("nextOffset", "sequence", "timestampType", "typed"))

_BY_SYSTEM: Mapping[str, Callable[[Any], Any]] = {"kafka": with_offsets, "iggy": with_numbers}


def completed(case: Mapping[str, Any], folder: Path) -> Any:
    """Return the expectation of a case with the derived fields; `folder` has its input if that is a file."""
    add = _BY_SYSTEM.get(case["id"].partition(".")[0])
    if add is None:
        return case["expect"]
    if (case.get("options") or {}).get("topic") is not None:
        return _with_stored_end(_added(case["expect"], add))
    if case["id"].startswith("kafka.log/") and case["op"] == "decode":
        return _with_log_end(_added(case["expect"], add), _data(case["input"], folder))
    if case["id"].startswith("kafka.log/") and case["op"] == "encode":
        return _with_last_end(_added(case["expect"], add))
    return _added(case["expect"], add)


def bare(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: bare(part) for name, part in tree.items() if name not in NAMES}
    return [bare(part) for part in tree] if isinstance(tree, list) else tree


def _added(expect: Any, add: Callable[[Any], Any]) -> Any:
    match expect:
        case {"accept": accept} if "value" in accept:
            return {**expect, "accept": {**accept, "value": add(accept["value"])}}
        case {"reject": {"before": before} as reject}:
            return {**expect, "reject": {**reject, "before": add(before)}}
        case {"either": {"behaviours": rows}}:
            return {
                **expect,
                "either": {**expect["either"], "behaviours": [_added(row, add) for row in rows]},
            }
    return expect


def _data(source: Mapping[str, Any], folder: Path) -> bytes:
    return bytes.fromhex(source["hex"]) if "hex" in source else (folder / source["file"]).read_bytes()


def _with_last_end(expect: Any) -> Any:
    """Add where a consumer goes on after a log that is written: after its last entry."""
    match expect:
        case {"accept": {"value": {"batches": batches} as value} as accept}:
            end = batches[-1]["nextOffset"] if batches else None
            return {**expect, "accept": {**accept, "value": {**value, "nextOffset": end}}}
    return expect


def _with_stored_end(expect: Any) -> Any:
    """Add the end of a log that a broker stored; a refused append leaves none."""
    match expect:
        case {"reject": {"before": before} as reject}:
            return {**expect, "reject": {**reject, "before": {**before, "nextOffset": None}}}
        case {"either": {"behaviours": rows}}:
            return {**expect, "either": {"behaviours": [_with_stored_end(row) for row in rows]}}
    return _with_last_end(expect)


def _with_log_end(expect: Any, data: bytes) -> Any:
    """Add where a consumer goes on after a log: after its last whole entry, delivered or not."""
    match expect:
        case {"accept": {"value": value} as accept}:
            end = log_end(data[: accept.get("consumed", len(data))])
            return {**expect, "accept": {**accept, "value": {**value, "nextOffset": end}}}
        case {"reject": {"before": before} as reject}:
            return {**expect, "reject": {**reject, "before": {**before, "nextOffset": None}}}
        case {"either": {"behaviours": rows}}:
            return {**expect, "either": {"behaviours": [_with_log_end(row, data) for row in rows]}}
    return expect
