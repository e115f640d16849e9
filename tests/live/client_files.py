"""Properties files of clients for the listeners of a secured broker, in the form of Kafka's own tools."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from tests.live.brokers import secured
from tests.live.brokers.secured import ALICE, MUTUAL, PLAIN, SASL, SASL_TLS, TLS, SecuredBroker, login, secret
from wireproof.live.kafka_broker.client_properties import unsecured_token

PASSWORD: Final = "key-secret"
SCRAM: Final = ("SCRAM-SHA-256", "SCRAM-SHA-512")
TOKEN_URL: Final = "sasl.oauthbearer.token.endpoint.url"

Lines = Mapping[str, str]


@frozen
class Client:
    """A client: the listener that it connects to, and its properties."""

    listener: str
    lines: Lines


class Clients:
    """Properties of clients of one broker.

    Attributes:
        folder: where their files are.
    """

    def __init__(self, broker: SecuredBroker, folder: Path) -> None:
        """Write certificates and tokens into the folder."""
        self._broker = broker
        self.folder = folder
        self.ca = self.file("ca.pem", broker.authority.certificate)
        self.store = self.file("client.pem", broker.client.store())
        self.locked_store = self.file("locked.pem", broker.client.store(PASSWORD))

    def file(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def spec(self, name: str, client: Client) -> str:
        """Return HOST:PORT:FILE."""
        text = "".join(f"{key}={_escaped(value)}\n" for key, value in client.lines.items())
        return f"{self._broker.addresses[client.listener]}:{self.file(f'{name}.properties', text)}"

    def tls(self, protocol: str = "SSL") -> Lines:
        return {
            "security.protocol": protocol,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.ca,
        }

    def accepted(self, now: float) -> Mapping[str, Client]:
        """Return clients that the broker lets in."""
        inline = {**self.tls(), "ssl.truststore.certificates": self._broker.authority.certificate}
        del inline["ssl.truststore.location"]
        store = {**self.tls(), "ssl.keystore.type": "PEM"}
        chain = {**store, "ssl.keystore.certificate.chain": self._broker.client.certificate}
        token = Path(self.file("token", unsecured_token(ALICE, now))).as_uri()
        return {
            "plaintext": Client(PLAIN, {}),
            "ca-file": Client(TLS, self.tls()),
            "ca-inline": Client(TLS, inline),
            "store": Client(MUTUAL, {**store, "ssl.keystore.location": self.store}),
            "locked-store": Client(
                MUTUAL, {**store, "ssl.keystore.location": self.locked_store, "ssl.key.password": PASSWORD}
            ),
            "key-inline": Client(MUTUAL, {**chain, "ssl.keystore.key": self._broker.client.key()}),
            "locked-key-inline": Client(
                MUTUAL,
                {
                    **chain,
                    "ssl.keystore.key": self._broker.client.key(PASSWORD),
                    "ssl.key.password": PASSWORD,
                },
            ),
            **dict(self._logins()),
            "token-file": Client(SASL, {**sasl("OAUTHBEARER"), TOKEN_URL: token}),
        }

    def _logins(self) -> Iterator[tuple[str, Client]]:
        for mechanism in secured.MODULES:
            yield mechanism.lower(), Client(SASL, sasl(mechanism))
            tls = {**sasl(mechanism), **self.tls("SASL_SSL")}
            yield f"{mechanism.lower()}-tls", Client(SASL_TLS, tls)

    def refused(self, now: float) -> Mapping[str, tuple[Client, str]]:
        """Return clients that the broker does not let in, or that cannot be, and the line for each."""
        store = {**self.tls(), "ssl.keystore.type": "PEM", "ssl.keystore.location": self.locked_store}
        late = Path(self.file("late", unsecured_token(ALICE, now - 86_400))).as_uri()
        missing = (Path(self.ca).parent / "none").as_uri()
        java = {**self.tls(), "ssl.truststore.type": "JKS"}
        binary = {**self.tls(), "ssl.truststore.location": self.store_of_java()}
        wrong = "refuses the credentials: .*Authentication failed"
        return {
            "tls-to-plaintext": (Client(PLAIN, self.tls()), "no TLS at"),
            "plaintext-to-tls": (Client(TLS, {}), "does not answer as Kafka does.*set security.protocol"),
            "plaintext-to-sasl": (Client(SASL, {}), "does not answer as Kafka does.*set security.protocol"),
            "sasl-to-plaintext": (Client(PLAIN, sasl("PLAIN")), "has no SASL on this listener"),
            "sasl-to-tls": (
                Client(TLS, {**sasl("PLAIN"), **self.tls("SASL_SSL")}),
                "has no SASL on this listener",
            ),
            "unknown-authority": (Client(TLS, {"security.protocol": "SSL"}), "is not trusted"),
            "no-certificate": (Client(MUTUAL, self.tls()), "refuses the certificate of this client"),
            "no-key-password": (Client(MUTUAL, store), "the key is encrypted: set ssl.key.password"),
            "wrong-key-password": (
                Client(MUTUAL, {**store, "ssl.key.password": "no"}),
                "cannot be read, or ssl.key.password is wrong",
            ),
            "jks": (Client(TLS, java), "ssl.truststore.type is JKS: only PEM can be read"),
            "no-pem": (Client(TLS, binary), "a certificate or key is no PEM text"),
            **{
                f"wrong-password-{name.lower()}": (Client(SASL, sasl(name, password="no")), wrong)
                for name in ("PLAIN", *SCRAM)
            },
            "unknown-user": (Client(SASL, sasl(SCRAM[0], "eve")), wrong),
            "late-token": (Client(SASL, {**sasl("OAUTHBEARER"), TOKEN_URL: late}), "refuses the credentials"),
            "no-token": (
                Client(SASL, {**sasl("OAUTHBEARER"), TOKEN_URL: missing}),
                "no token for OAUTHBEARER",
            ),
        }

    def store_of_java(self) -> str:
        """Return a file that begins as a JKS store does."""
        path = self.folder / "store.jks"
        path.write_bytes(bytes.fromhex("feedfeed00000002"))
        return str(path)


def sasl(mechanism: str, user: str = ALICE, password: str = "") -> Lines:
    """Return the properties of a login."""
    options = {"username": user, "password": password or secret(user)}
    if mechanism == "OAUTHBEARER":
        options = {"unsecuredLoginStringClaim_sub": user}
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": login(mechanism, **options),
    }


def _escaped(text: str) -> str:
    """Return a value of a properties file: the lines of a PEM text are joined by an escaped line end."""
    return text.replace("\n", "\\n")
