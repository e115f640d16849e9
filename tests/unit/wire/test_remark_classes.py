import pytest

from wireproof import formats
from wireproof.wire.remark_classes import COMMON_REMARKS, REMARK_CLASSES, RemarkClass, register

ONE = RemarkClass("document, section 1", "a byte is unusual", rejectable=True)


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.wire.remark_classes.REMARK_CLASSES", dict(REMARK_CLASSES))


def test_the_classes_of_a_package_can_be_registered_again() -> None:
    register({"spam": ONE})
    register({"spam": ONE})


def test_two_packages_cannot_use_one_name_for_different_classes() -> None:
    register({"spam": ONE})
    with pytest.raises(ValueError, match="there is another class of remarks spam already"):
        register({"spam": RemarkClass("document, section 1", "a byte is unusual", rejectable=False)})


def test_the_classes_are_the_common_ones_and_those_of_the_families() -> None:
    assert formats.remark_classes() == REMARK_CLASSES
    assert list(formats.remark_classes())[: len(COMMON_REMARKS)] == list(COMMON_REMARKS)
    assert sum(len(family.remarks) for family in formats.FAMILIES.values()) == len(REMARK_CLASSES) - len(
        COMMON_REMARKS
    )
