"""Properties files in the form of Kafka's own tools."""

import base64
import json
from pathlib import Path

import pytest

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from tests.live.brokers.secured import Authority
from wireproof.adapters.errors import AdapterStartError
from wireproof.live.kafka_broker.client_properties import (
    jaas_options,
    parse,
    read_properties,
    unsecured_token,
)

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def write(folder: Path, text: str) -> str:
    file = folder / "client.properties"
    file.write_text(text)
    return str(file)


def test_no_file_means_no_security() -> None:
    assert read_properties("").settings == {}


def test_comments_continued_lines_and_escapes_are_read_as_by_java() -> None:
    text = "# c\n! c\na=1\nb : two\\\n   words\nc\\=d = \\u0065\n  e\t f\n"
    assert parse(text.replace("\\u0065", "x\\ty")) == {"a": "1", "b": "twowords", "c=d": "x\ty", "e": "f"}


def test_a_password_may_have_quotes_and_spaces() -> None:
    text = f'{SCRAM} required username="u" password="a \\"b\\" c" tokenauth=true;'
    assert jaas_options(text) == {"username": "u", "password": 'a "b" c', "tokenauth": "true"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_user_and_password_come_from_the_login_module(tmp_path: Path, mechanism: str) -> None:
    file = write(
        tmp_path,
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\n"
        f'sasl.jaas.config={SCRAM} required \\\n  username="u" \\\n  password="p";\n',
    )
    assert read_properties(file).settings == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "u",
        "sasl_plain_password": "p",
    }


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("security.protocol=TLS", "security.protocol is TLS; it is one of PLAINTEXT"),
        ("security.protocol=SASL_PLAINTEXT", "sasl.mechanism is GSSAPI; it is one of PLAIN"),
        ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN", "needs username and password"),
        ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER", "OAUTHBEARER needs"),
        (
            "security.protocol=SSL\nssl.truststore.location=x.jks",
            "ssl.truststore.type is JKS: only PEM can be read",
        ),
        (
            "security.protocol=SSL\nssl.keystore.location=x\nssl.keystore.type=PKCS12",
            "ssl.keystore.type is PKCS12: only PEM",
        ),
        ("security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location=/none", "cannot be read"),
        ("wireproof.produce.version=2", "wireproof.produce.version is 2; it is a number from 3 to "),
        ("wireproof.fetch.version=18", "wireproof.fetch.version is 18; it is a number from 4 to 17"),
        ("fetch.max.wait.ms=1001", "fetch.max.wait.ms is 1001; it is a number from 0 to 1000"),
        ("wireproof.fetch.version=newest", "wireproof.fetch.version is newest; it is a number"),
    ],
)
def test_what_cannot_be_used_is_one_line(tmp_path: Path, lines: str, text: str) -> None:
    with pytest.raises(AdapterStartError) as error:
        read_properties(write(tmp_path, lines))
    assert text in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_one_line() -> None:
    with pytest.raises(AdapterStartError, match=r"properties file /none cannot be read"):
        read_properties("/none")


def test_the_broker_can_have_a_name_for_the_reports(tmp_path: Path) -> None:
    found = read_properties(
        write(tmp_path, "wireproof.broker.name=apache-kafka\nwireproof.broker.version=4.4.0")
    )
    assert (found.name, found.version, found.restart) == ("apache-kafka", "4.4.0", "")


def test_the_broker_can_be_started_again_by_a_command(tmp_path: Path) -> None:
    found = read_properties(write(tmp_path, "wireproof.broker.restart=docker restart 'my kafka'"))
    assert found.restart == "docker restart 'my kafka'"


def test_the_versions_of_the_requests_can_be_chosen(tmp_path: Path) -> None:
    assert read_properties("").api_versions == {}
    found = read_properties(write(tmp_path, "wireproof.produce.version=7\nwireproof.fetch.version=12"))
    assert found.api_versions == {0: 7, 1: 12}


def test_the_host_name_is_verified_unless_the_property_is_empty(tmp_path: Path) -> None:
    on = read_properties(write(tmp_path, "security.protocol=SSL")).settings["ssl_context"]
    assert on.check_hostname
    off = read_properties(write(tmp_path, "security.protocol=SSL\nssl.endpoint.identification.algorithm="))
    assert not off.settings["ssl_context"].check_hostname


def test_a_token_can_come_from_a_file(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("abc\n")
    lines = (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        f"sasl.oauthbearer.token.endpoint.url={token.as_uri()}\n"
        'sasl.jaas.config=x required extension_traceId="7";'
    )
    provider = read_properties(write(tmp_path, lines)).settings["sasl_oauth_token_provider"]
    assert provider.token() == "abc"
    assert provider.extensions() == {"traceId": "7"}


def test_an_unsecured_token_names_its_subject_and_an_end() -> None:
    head, claims, signature = unsecured_token("alice", 1000.9).split(".")
    assert json.loads(base64.urlsafe_b64decode(head + "==")) == {"alg": "none"}
    assert json.loads(base64.urlsafe_b64decode(claims + "==")) == {"sub": "alice", "iat": 1000, "exp": 4600}
    assert signature == ""


def test_a_key_that_is_encrypted_needs_its_password(tmp_path: Path) -> None:
    store = tmp_path / "store.pem"
    store.write_text(Authority.new().signed("client").store("secret"))
    lines = f"security.protocol=SSL\nssl.keystore.type=PEM\nssl.keystore.location={store}\n"
    read_properties(write(tmp_path, f"{lines}ssl.key.password=secret"))
    for given, text in (
        ("", "the key is encrypted: set"),
        ("ssl.key.password=no", "ssl.key.password is wrong"),
    ):
        with pytest.raises(AdapterStartError, match=text):
            read_properties(write(tmp_path, lines + given))


def test_a_store_of_java_under_the_name_pem_is_one_line(tmp_path: Path) -> None:
    store = tmp_path / "store.jks"
    store.write_bytes(bytes.fromhex("feedfeed00000002"))
    lines = f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={store}"
    with pytest.raises(AdapterStartError, match="a certificate or key is no PEM text"):
        read_properties(write(tmp_path, lines))


def test_a_token_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    lines = (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        f"sasl.oauthbearer.token.endpoint.url={(tmp_path / 'none').as_uri()}"
    )
    provider = read_properties(write(tmp_path, lines)).settings["sasl_oauth_token_provider"]
    with pytest.raises(AdapterStartError, match="no token for OAUTHBEARER"):
        provider.token()
