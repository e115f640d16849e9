"""The properties file of a client of an Iggy server."""

from pathlib import Path

import pytest

from wireproof.adapters.errors import AdapterStartError
from wireproof.iggy.family.live_server.server import IggyClientProperties, read_properties


def test_without_a_file_the_user_is_that_of_a_new_server() -> None:
    assert read_properties("") == IggyClientProperties("iggy", "iggy", "iggy-server", "")


def test_a_file_names_the_user_the_server_and_its_revision(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_text(
        "# of a test\nusername = u\npassword=a%b=c\n"
        "wireproof.server.name = x\nwireproof.server.revision=0.7\n"
    )
    assert read_properties(str(path)) == IggyClientProperties("u", "a%b=c", "x", "0.7")


@pytest.mark.parametrize(
    "text",
    ["username", "pass word = x\n", "usernam = x\n", "username=a\nusername=b\n", f"password={256 * 'x'}"],
)
def test_a_file_that_means_nothing_is_refused_with_its_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(text)
    with pytest.raises(AdapterStartError, match=r"client\.properties"):
        read_properties(str(path))


def test_a_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(AdapterStartError, match="absent cannot be read"):
        read_properties(str(tmp_path / "absent"))
