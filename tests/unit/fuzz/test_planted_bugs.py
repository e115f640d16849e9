"""Thirty planted bugs: drawn values show each of them, and the codecs without them are right."""

from copy import deepcopy

import pytest
from planted_bugs import CODECS, Planted

from wireproof.adapters import Request
from wireproof.derive.mutate.encodings import written
from wireproof.derive.strategies import seeded_drawer
from wireproof.formats import FORMATS, decode
from wireproof.strategies import values
from wireproof.wire.json_values import to_json


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
def test_drawn_values_show_each_bug(codec: type[Planted], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "none")
    row = FORMATS[codec.format_id]
    draw, right = seeded_drawer(values(row.name, row.revision)), codec()
    left = {bug.name: bug for bug in codec.bugs}
    assert len(left) == 10
    for number in range(1200):
        (value,) = draw(str(number))
        data = written(row, value)
        tree = to_json(decode(row, data).value)
        if number < 20:
            request = Request("1", "decode", row.name, row.revision, data)
            assert right.decode(request).value == tree
        for bug in [bug for bug in left.values() if bug.change(deepcopy(tree))]:
            del left[bug.name]
        if not left:
            return
    assert not left
