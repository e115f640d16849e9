"""A live server of Iggy: its address, the properties of its client, and the bodies around a case."""

from pathlib import Path

import pytest
from each import each

from wireproof.adapters.errors import AdapterStartError, UnknownAdapter
from wireproof.adapters.registry.registry import open_adapter, resolve
from wireproof.live.iggy_server import requests
from wireproof.live.iggy_server.requests import BY_REVISION
from wireproof.live.iggy_server.server import IggyClientProperties, read_properties

# --- The name of a live server of Iggy: `iggy-server:[http://]HOST:PORT[:FILE]` ---


@each("rest", ["", "h", "h:0", "::1:8090", "quic://h:80"])
def test_another_name_is_refused_with_the_forms(rest: str) -> None:
    form = r"is written iggy-server:HOST:PORT, .* or iggy-server:http://HOST:PORT$"
    with pytest.raises(UnknownAdapter, match=form):
        resolve(f"iggy-server:{rest}")


@pytest.mark.parametrize("scheme", ["", "http://"])
def test_a_port_without_a_listener_is_one_line(scheme: str) -> None:
    with pytest.raises(AdapterStartError, match=r"^nothing answers at 127\.0\.0\.1:1: "):
        open_adapter(f"iggy-server:{scheme}127.0.0.1:1")


def test_each_run_has_names_of_its_own() -> None:
    tokens = {resolve("iggy-server:h:1").command[-1] for _ in range(3)}
    assert len(tokens) == 3


# --- The properties file of a client of an Iggy server ---


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


# --- The bodies around a case, against requests and answers that server 0.5.0 takes and gives ---


NUMBERS = bytes(108)


def text(value: str) -> bytes:
    return len(value).to_bytes(4, "little") + value.encode()


def test_the_version_is_the_fifth_text_of_the_statistics() -> None:
    texts = [text(part) for part in ("host", "Linux", "12", "6.1", "0.5.0")]
    assert requests.version_in(NUMBERS + b"".join(texts) + b"\x88\x13\0\0\0\0\0\0") == "0.5.0"


def test_statistics_that_end_before_the_version_have_none() -> None:
    assert requests.version_in(NUMBERS + text("host")) == ""
    assert requests.version_in(b"") == ""


def test_the_list_of_streams_has_numbers_and_names() -> None:
    facts = bytes(28)
    body = b"\x05\0\0\0" + facts + b"\x06orders" + b"\x07\0\0\0" + facts + b"\x02ab"
    assert list(requests.streams_in(body)) == [(5, "orders"), (7, "ab")]


def test_a_topic_is_created_by_number_and_name() -> None:
    body = requests.create_topic(BY_REVISION["0.7"], 3, 7, b"sample", 2)
    assert body.hex(" ") == (
        "01 04 03 00 00 00 07 00 00 00 02 00 00 00 01 ff ff ff ff ff ff ff ff "
        "00 00 00 00 00 00 00 00 01 06 73 61 6d 70 6c 65"
    )


def test_from_0_6_on_a_creation_has_no_number() -> None:
    protocol = BY_REVISION["0.8"]
    assert requests.create_stream(protocol, "ab") == b"\x02ab"
    assert requests.create_topic(protocol, 3, 7, b"sample", 2).hex(" ") == (
        "01 04 03 00 00 00 02 00 00 00 01 ff ff ff ff ff ff ff ff "
        "00 00 00 00 00 00 00 00 01 06 73 61 6d 70 6c 65"
    )


def test_a_login_names_no_version_and_no_context() -> None:
    assert requests.login("iggy", "pw") == b"\x04iggy\x02pw" + bytes(8)
