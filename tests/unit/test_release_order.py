"""Versions in the order of releases, and which of them are no pre-releases."""

import random

from each import each

from wireproof.adapters.registry.registered import age, is_final


def test_versions_go_by_their_numbers_and_a_candidate_comes_before_its_release() -> None:
    ordered = ["1.0-beta1", "1.0rc1", "1.0", "1.0.post1", "1.0.1", "1.2", "1.10"]
    assert sorted(random.sample(ordered, len(ordered)), key=age) == ordered
    assert age("v1.2.3") == age("1.2.3")


@each(
    "version, final",
    [
        ("1.2.3", True),
        ("v0.4.28", True),
        ("2.0.post1", True),
        ("1.0.0-beta.1", False),
        ("2.1rc1", False),
        ("0.11.1-edge", False),
    ],
)
def test_a_release_without_a_word_in_its_version_is_no_pre_release(version: str, final: bool) -> None:
    assert is_final(version) is final
