"""Libraries of compression are witnesses of the frames of cases, and of nothing else."""

import pytest
from goldens import load

from wireproof.cases.case import Accept, Reject

pytest.importorskip("lz4")
libraries = pytest.importorskip("tests.authoring.frames.libraries")
from tests.authoring.frames import witnesses  # noqa: E402 - they need the libraries


def test_every_codec_has_witnessed_cases_of_both_kinds() -> None:
    by_id = load().by_id
    for (name, _), ids in witnesses.agreeing(load().cases).items():
        kinds = {type(by_id[one].expect) for one in ids}
        assert kinds == {Accept, Reject}, name
