"""Apache Kafka 4.4 with a listener of each security protocol, users, and access rules; clients of it.

Users of SASL have the password `NAME-secret`. Who is not in `SUPER_USERS` has only what the rules allow.
"""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Final, Self

from attrs import frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    KafkaAdminClient,
    ResourcePattern,
    ResourceType,
)

from tests.broker import ground
from wireproof.live.kafka_broker.client_properties import unsecured_token

# --- certificates: an authority, and what it signs, as PEM in the form of Kafka (KIP-651) ---


DAY: Final = timedelta(days=1)
LOOPBACK: Final = IPv4Address("127.0.0.1")


@frozen
class Signed:
    """A certificate as PEM text, and its key."""

    certificate: str
    _key: ec.EllipticCurvePrivateKey

    def key(self, password: str = "") -> str:
        """Return the key as PEM text, encrypted if there is a password."""
        lock: KeySerializationEncryption = NoEncryption()
        if password:
            lock = BestAvailableEncryption(password.encode())
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock).decode()

    def store(self, password: str = "") -> str:
        """Return key and certificate as the text of one file."""
        return self.key(password) + self.certificate


@frozen
class Authority:
    """An authority that signs certificates.

    Attributes:
        certificate: its own, as PEM text.
    """

    certificate: str
    _name: x509.Name
    _key: ec.EllipticCurvePrivateKey

    @classmethod
    def new(cls) -> Self:
        """Return a new authority, which nobody else trusts."""
        key, name = ec.generate_private_key(ec.SECP256R1()), _name("wireproof test authority")
        rules = x509.BasicConstraints(ca=True, path_length=0)
        made = _builder(name, name, key).add_extension(rules, critical=True).sign(key, hashes.SHA256())
        return cls(_pem(made), name, key)

    def signed(self, name: str) -> Signed:
        """Return a certificate with this common name, for 127.0.0.1."""
        key = ec.generate_private_key(ec.SECP256R1())
        places = x509.SubjectAlternativeName([x509.IPAddress(LOOPBACK)])
        builder = _builder(_name(name), self._name, key).add_extension(places, critical=False)
        return Signed(_pem(builder.sign(self._key, hashes.SHA256())), key)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


# --- the broker ---


PLAIN, TLS, MUTUAL, SASL, SASL_TLS = "PLAIN", "TLS", "MUTUAL", "SASL", "SASLTLS"
PROTOCOLS: Final = {
    PLAIN: "PLAINTEXT",
    TLS: "SSL",
    MUTUAL: "SSL",
    SASL: "SASL_PLAINTEXT",
    SASL_TLS: "SASL_SSL",
}
"""The listeners, and the security protocol of each; MUTUAL wants a certificate of the client."""

MODULES: Final = {
    "PLAIN": "plain.PlainLoginModule",
    "SCRAM-SHA-256": "scram.ScramLoginModule",
    "SCRAM-SHA-512": "scram.ScramLoginModule",
    "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule",
}
"""The login module of each mechanism."""

ALICE: Final = "alice"
DENIED: Final = {
    "no-create": ACLOperation.CREATE,
    "no-describe": ACLOperation.DESCRIBE,
    "no-write": ACLOperation.WRITE,
    "no-read": ACLOperation.READ,
    "no-delete": ACLOperation.DELETE,
}
"""Users who may do all with topics of our prefix but one operation."""

CLIENT: Final = "client"
"""The common name of the certificate of a client."""

SUPER_USERS: Final = ("ANONYMOUS", ALICE, CLIENT)

SETTINGS: Final = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller}
listeners={listeners},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={listeners}
listener.security.protocol.map={protocols},CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAIN
controller.listener.names=CONTROLLER
log.dirs={folder}/logs
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
log.retention.ms=-1
broker.session.timeout.ms=600000
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users={super_users}
ssl.keystore.type=PEM
ssl.keystore.location={folder}/server.pem
ssl.truststore.type=PEM
ssl.truststore.location={folder}/ca.pem
ssl.principal.mapping.rules=RULE:^CN=([^,]+)$/$1/
listener.name.mutual.ssl.client.auth=required
sasl.enabled.mechanisms={mechanisms}
"""


@frozen
class SecuredBroker:
    """A running broker.

    Attributes:
        addresses: of its listeners, by their names.
        authority: which signed its certificate, and that of the client.
        client: the certificate of a client.
    """

    addresses: Mapping[str, str]
    authority: Authority
    client: Signed


def secret(user: str) -> str:
    """Return the password of a user."""
    return f"{user}-secret"


def login(mechanism: str, **options: str) -> str:
    """Return the value of `sasl.jaas.config`."""
    listed = "".join(f' {name}="{value}"' for name, value in options.items())
    return f"org.apache.kafka.common.security.{MODULES[mechanism]} required{listed};"


@contextmanager
def running(folder: Path) -> Iterator[SecuredBroker]:
    """Start the broker with its files in `folder`, and stop it at the end."""
    authority = Authority.new()
    ports = {name: ground.free_port() for name in PROTOCOLS}
    (folder / "ca.pem").write_text(authority.certificate)
    (folder / "server.pem").write_text(authority.signed("127.0.0.1").store())
    settings = folder / "server.properties"
    settings.write_text(_settings(folder, ports))
    scram = (
        f"{name}=[name={ALICE},password={secret(ALICE)}]" for name in MODULES if name.startswith("SCRAM")
    )
    users = [part for user in scram for part in ("--add-scram", user)]
    form = ground.java(*ground.FORMAT, str(settings), "--standalone", *users)
    subprocess.run(form, check=True, stdout=subprocess.DEVNULL)
    with ground.listening(
        ground.java("kafka.Kafka", str(settings), heap=512), ports[PLAIN], folder / "broker.out"
    ) as address:
        _write_rules(address)
        addresses = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
        yield SecuredBroker(addresses, authority, authority.signed(CLIENT))


def _settings(folder: Path, ports: Mapping[str, int]) -> str:
    text = SETTINGS.format(
        controller=ground.free_port(),
        listeners=",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()),
        protocols=",".join(f"{name}:{protocol}" for name, protocol in PROTOCOLS.items()),
        folder=folder,
        super_users=";".join(f"User:{user}" for user in SUPER_USERS),
        mechanisms=",".join(MODULES),
    )
    users = {f"user_{user}": secret(user) for user in (ALICE, *DENIED)}
    options = {"PLAIN": users, "OAUTHBEARER": {"unsecuredLoginStringClaim_sub": "broker"}}
    lines = (
        f"listener.name.{name.lower()}.{mechanism.lower()}.sasl.jaas.config="
        + login(mechanism, **options.get(mechanism, {}))
        for name in (SASL, SASL_TLS)
        for mechanism in MODULES
    )
    return text + "\n".join(lines) + "\n"


def _write_rules(address: str) -> None:
    """Allow the users of `DENIED` all but one operation with topics of our prefix."""
    topics = ResourcePattern(ResourceType.TOPIC, "wireproof-", ACLResourcePatternType.PREFIXED)
    admin = KafkaAdminClient(bootstrap_servers=address)
    try:
        admin.create_acls(
            [
                ACL(f"User:{user}", "*", operation, permission, topics)
                for user, denied in DENIED.items()
                for operation, permission in (
                    (ACLOperation.ALL, ACLPermissionType.ALLOW),
                    (denied, ACLPermissionType.DENY),
                )
            ]
        )
    finally:
        admin.close()


# --- properties files of clients, in the form of Kafka's own tools ---


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
        for mechanism in MODULES:
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
