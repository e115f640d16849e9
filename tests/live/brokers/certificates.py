"""Certificates for a broker and its clients, made for one run: an authority, and what it signs.

All is PEM, in the form that Kafka reads (KIP-651): keys are PKCS#8, and a store has the key first.
"""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
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
