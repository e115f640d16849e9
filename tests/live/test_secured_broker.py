"""Connections to the listeners of a real broker: TLS, SASL, certificates, and missing permissions."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from kafka.admin import KafkaAdminClient
from machine import needs

from tests.live.brokers import secured
from tests.live.brokers.secured import ALICE, DENIED, PLAIN, SASL, TOKEN_URL, Client, Clients, login, sasl
from tests.live.judging import judged
from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.registry.registry import open_adapter
from wireproof.live.kafka_broker.client_properties import unsecured_token

pytestmark = [pytest.mark.brokers, needs("java", "mvn", "[peers]")]

CASES = [f"kafka.log/mixed/append/{name}" for name in ("crc-value", "stamped-gzip", "two-none")]

START_ERRORS = {
    "no-create": "creating the topic wireproof-.* is not permitted",
    "no-describe": "describing the topic wireproof-.* is not permitted; left: wireproof-.*: deleting",
    "no-write": "writing to the topic wireproof-.* is not permitted",
    "no-read": "reading from the topic wireproof-.* is not permitted",
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[secured.SecuredBroker]:
    with secured.running(tmp_path_factory.mktemp("secured")) as found:
        yield found


@pytest.fixture(scope="module")
def clients(broker: secured.SecuredBroker, tmp_path_factory: pytest.TempPathFactory) -> Clients:
    return Clients(broker, tmp_path_factory.mktemp("clients"))


@contextmanager
def token_endpoint() -> Iterator[str]:
    """Serve tokens to the client `wireproof` with the secret `s`, as KIP-768 has it; yield the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            allowed = self.headers["Authorization"] == "Basic d2lyZXByb29mOnM="
            self.send_response(200 if allowed else 401)
            self.end_headers()
            token = {"access_token": unsecured_token(ALICE, time.time()), "token_type": "Bearer"}
            self.wfile.write(json.dumps(token if allowed else {}).encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/token"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def of_endpoint(url: str, password: str) -> Client:
    options = login("OAUTHBEARER", clientId="wireproof", clientSecret=password)
    return Client(SASL, {**sasl("OAUTHBEARER"), TOKEN_URL: url, "sasl.jaas.config": options})


def topics_left(broker: secured.SecuredBroker) -> list[str]:
    """Return the topics of our prefix, and delete them."""
    admin = KafkaAdminClient(bootstrap_servers=broker.addresses[PLAIN])
    found = [topic for topic in admin.list_topics() if topic.startswith("wireproof-")]
    if found:
        admin.delete_topics(found)
    admin.close()
    return found


def test_every_listener_and_login_gives_the_same_verdicts(
    broker: secured.SecuredBroker, clients: Clients
) -> None:
    with token_endpoint() as url:
        accepted = {**clients.accepted(time.time()), "endpoint": of_endpoint(url, "s")}
        specs = {name: clients.spec(name, client) for name, client in accepted.items()}
        run = judged(list(specs.values()), clients.folder, cases=CASES)
    assert run.code == 0, run.output
    passed = dict.fromkeys(CASES, "pass")
    assert {name: run.verdicts[spec] for name, spec in specs.items()} == dict.fromkeys(specs, passed)
    assert topics_left(broker) == []


def test_who_is_not_let_in_gets_one_line(broker: secured.SecuredBroker, clients: Clients) -> None:
    for name, (client, text) in clients.refused(time.time()).items():
        with pytest.raises(AdapterStartError, match=text) as error:
            open_adapter(f"kafka-broker:{clients.spec(name, client)}")
        assert "\n" not in str(error.value), name
    assert topics_left(broker) == []


def test_a_token_endpoint_that_refuses_the_client_is_named(clients: Clients) -> None:
    with token_endpoint() as url, pytest.raises(AdapterStartError, match=r"no token for OAUTHBEARER.*401"):
        open_adapter(f"kafka-broker:{clients.spec('endpoint', of_endpoint(url, 'wrong'))}")


def test_another_host_name_than_that_of_the_certificate_is_named(clients: Clients) -> None:
    spec = clients.spec("name", Client(secured.TLS, clients.tls())).replace("127.0.0.1", "localhost", 1)
    with pytest.raises(AdapterStartError, match="not trusted: Hostname mismatch"):
        open_adapter(f"kafka-broker:{spec}")


@pytest.mark.parametrize("user", START_ERRORS)
def test_a_missing_permission_is_one_line(user: str, broker: secured.SecuredBroker, clients: Clients) -> None:
    with pytest.raises(AdapterStartError, match=START_ERRORS[user]) as error:
        open_adapter(f"kafka-broker:{clients.spec(user, Client(SASL, sasl('PLAIN', user)))}")
    assert "\n" not in str(error.value)
    left = topics_left(broker)
    assert all(topic in str(error.value) for topic in left)
    assert len(left) == (1 if user == "no-describe" else 0)


def test_topics_that_must_not_be_deleted_are_named(broker: secured.SecuredBroker, clients: Clients) -> None:
    assert "no-delete" in DENIED
    run = judged(
        [clients.spec("no-delete", Client(SASL, sasl("PLAIN", "no-delete")))], clients.folder, cases=CASES
    )
    left = topics_left(broker)
    assert run.code == 0, run.output
    (line,) = (line for line in run.output.splitlines() if "topics left: " in line)
    assert left
    what = left[0] if len(left) == 1 else f"{len(left)} named {left[0].rpartition('-')[0]}-…"
    assert line.endswith(f"topics left: {what} (deleting it is not permitted)")
