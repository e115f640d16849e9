"""Values that the strategies draw can be written, and are read back as the same values."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from one_of_a_kind import each_format
from property_profile import given

from wireproof import formats
from wireproof.formats import FORMATS
from wireproof.strategies import values


@pytest.mark.parametrize("format_id", each_format(name for name in FORMATS if name.startswith("iggy.")))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_value_survives_the_round_trip(format_id: str, data: st.DataObject) -> None:
    row = FORMATS[format_id]
    value = data.draw(values(row.name, row.revision))
    written = formats.encode(row, formats.to_json(value))
    decoded = formats.decode(row, written)
    assert decoded.value == value
    assert decoded.consumed == len(written)
