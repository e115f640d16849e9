"""Apache Kafka 4.4 with a listener of each security protocol, users, and access rules.

Users of SASL have the password `NAME-secret`. Who is not in `SUPER_USERS` has only what the rules allow.
"""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from attrs import frozen
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
from tests.live.brokers.certificates import Authority, Signed

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
