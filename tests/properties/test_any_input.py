"""A codec raises nothing but `Rejected`, for any input."""

import contextlib
from typing import Any

from hypothesis import strategies as st
from subjects import each_drawn, nearly, read, valued

from wireproof import formats
from wireproof.formats import Format
from wireproof.wire.json_values import to_json
from wireproof.wire.rejection import REJECT_CLASSES, Rejected
from wireproof.wire.remark_classes import REMARK_CLASSES

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["", "0", "-1", "256", "00", "zz", "1" * 64, str(1 << 63), str(-(1 << 63) - 1)])
    | st.text(max_size=6)
)
TREES = st.recursive(LEAVES, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=6)


@each_drawn(lambda row: [st.one_of(st.binary(max_size=200), nearly(row))])
def test_any_bytes_are_answered_or_refused(row: Format, data: bytes) -> None:
    seen = read(row, data)
    if isinstance(seen, Rejected):
        assert seen.cls in REJECT_CLASSES
    else:
        assert 0 <= seen.consumed <= len(data)
        assert {remark.cls for remark in seen.remarks} <= REMARK_CLASSES.keys()


@each_drawn(lambda row: [st.one_of(st.binary(max_size=200), nearly(row))])
def test_a_trace_changes_no_answer(row: Format, data: bytes) -> None:
    seen, layout = read(row, data), formats.decode_with_trace(row, data)
    if isinstance(seen, Rejected):
        assert layout.rejected is not None
        assert (layout.rejected.cls, layout.rejected.at, layout.rejected.path) == (
            seen.cls,
            seen.at,
            seen.path,
        )
    else:
        assert layout.decoded == seen


@st.composite
def _spoiled(draw: st.DrawFn, row: Format) -> Any:
    """The JSON form of a value with one part of it replaced by anything."""
    tree = to_json(draw(valued(row)))
    spoilt = draw(TREES)
    here: Any = tree
    while isinstance(here, dict | list) and here:
        key = draw(st.sampled_from(sorted(here) if isinstance(here, dict) else list(range(len(here)))))
        if not isinstance(here[key], dict | list) or not here[key] or draw(st.booleans()):
            here[key] = spoilt
            break
        here = here[key]
    return tree


@each_drawn(lambda row: [st.one_of(TREES, _spoiled(row))])
def test_any_tree_is_written_or_refused(row: Format, tree: Any) -> None:
    with contextlib.suppress(Rejected):
        assert isinstance(formats.encode(row, tree), bytes)
