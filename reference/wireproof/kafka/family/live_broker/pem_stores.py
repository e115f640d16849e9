"""The certificates of a properties file as a TLS context: PEM files, or PEM text in the file (KIP-651)."""

import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

PEM: Final = "PEM"


def context_of(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Return the TLS context for the properties that begin with `ssl.`; raise `ValueError`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = properties.get("ssl.endpoint.identification.algorithm", "https") != ""
    try:
        _trust(context, properties)
        _identify(context, properties)
    except UnicodeDecodeError as error:
        raise ValueError(f"a certificate or key is no PEM text: {error}") from None
    except (OSError, ssl.SSLError) as error:
        locked = ", or ssl.key.password is wrong" if "ssl.key.password" in properties else ""
        raise ValueError(f"a certificate or key cannot be read{locked}: {error}") from None
    return context


def _trust(context: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    """Trust the certificates of the truststore only; without one, those of the system."""
    inline, place = properties.get("ssl.truststore.certificates"), properties.get("ssl.truststore.location")
    if not inline and not place:
        context.load_default_certs()
        return
    _refuse_java(properties, "ssl.truststore")
    context.load_verify_locations(cadata=inline or Path(str(place)).read_text(encoding="ascii"))


def _identify(context: ssl.SSLContext, properties: Mapping[str, str]) -> None:
    """Load the client's own certificate and key, if there are any."""
    chain, key = properties.get("ssl.keystore.certificate.chain"), properties.get("ssl.keystore.key")
    place, password = (
        properties.get("ssl.keystore.location"),
        properties.get("ssl.key.password", _no_password),
    )
    if not (place or (chain and key)):
        return
    _refuse_java(properties, "ssl.keystore")
    if place:
        context.load_cert_chain(place, password=password)
        return
    with tempfile.TemporaryDirectory(prefix="wireproof-") as folder:  # `ssl` reads keys from files only
        file = Path(folder) / "client.pem"
        file.touch(mode=0o600)
        file.write_text(f"{key}\n{chain}\n", encoding="ascii")
        context.load_cert_chain(file, password=password)


def _no_password() -> str:
    """Raise `ValueError` for an encrypted key; without this, the library asks at the terminal."""
    raise ValueError("the key is encrypted: set ssl.key.password")


def _refuse_java(properties: Mapping[str, str], store: str) -> None:
    kind = properties.get(f"{store}.type", "JKS").upper()
    if kind != PEM:
        raise ValueError(
            f"{store}.type is {kind}: only PEM can be read; set {store}.type=PEM and convert the store"
        )
