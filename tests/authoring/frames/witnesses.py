"""Compare what the libraries make of the frames of Kafka's cases with what the cases expect.

A library answers for frames alone. It is a witness of an accepted case if the keys and values that it unpacks are
the expected ones, and of a refused one of class `decompress-failed` if it refuses the frame too. Cases of a broker's
checks on producers are about more than the frame.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.authoring.frames.entries import LayoutError, Region, keys_and_values, region_of
from tests.authoring.frames.libraries import NAMES, UNPACK, RefusedError, UnjudgedError
from wireproof.cases.case import Accept, Case, Data, Reject

FAILED = "decompress-failed"


def agreeing(cases: Sequence[Case]) -> dict[tuple[str, str], list[str]]:
    """Return, for the name and version of each library, the ids of the cases that it agrees with."""
    found: dict[tuple[str, str], list[str]] = {NAMES[codec]: [] for codec in UNPACK}
    for case, region in _compressed(cases):
        if agrees(case, region):
            found[NAMES[region.codec]].append(case.id)
    return found


def _compressed(cases: Sequence[Case]) -> Iterator[tuple[Case, Region]]:
    for case in cases:
        if case.format != "kafka.batch" or case.op != "decode" or case.profile != "reader":
            continue
        region = region_of(case.input.data) if isinstance(case.input, Data) else None
        if region and (region.magic < 2 or region.records):  # a count of 0 says that nothing has to be read
            yield case, region


def agrees(case: Case, region: Region) -> bool | None:
    """Return whether the library does what the case expects of the frame; None if the case is not about that."""
    try:
        records = keys_and_values(region, UNPACK[region.codec](region.data))
    except RefusedError:
        return _as_refused(case)
    except (UnjudgedError, LayoutError):
        return None  # a frame that is read, around what is no plain list of records: the case is about that
    match case.expect:
        case Accept(value=value):
            return records == _expected(value)
        case Reject(cls):
            return False if cls == FAILED else None
    return None


def _as_refused(case: Case) -> bool | None:
    match case.expect:
        case Accept():
            return False
        case Reject(cls):
            return True if cls == FAILED else None
    return None


def _expected(value: Any) -> list[Any]:
    rows = value["records"] if value["magic"] == "2" else value["messages"]
    return [[row["key"], row["value"]] for row in rows]
