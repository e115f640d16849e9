"""The properties file of a client in the form of Kafka's own tools, as settings of kafka-python.

Keys and values: Kafka documentation, "Security" and "Client configs"; PEM stores: KIP-651. Stores of Java
(JKS, PKCS12) need Java's tools and are refused.
"""

import base64
import json
import re
import ssl
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen
from kafka.net.sasl.oauth import AbstractTokenProvider

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.python_object import line_of
from wireproof.live.kafka_broker.requests import FETCH, PRODUCE, VERSIONS

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PASSWORD_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MECHANISMS: Final = (*PASSWORD_MECHANISMS, "OAUTHBEARER")

NAME_KEY: Final = "wireproof.broker.name"
VERSION_KEY: Final = "wireproof.broker.version"
RESTART_KEY: Final = "wireproof.broker.restart"
"""A command that starts the broker again, and ends when it was started."""

API_KEYS: Final = {"wireproof.produce.version": PRODUCE, "wireproof.fetch.version": FETCH}
"""Our own keys, which Kafka's tools ignore; the latter are the versions of the two requests."""

WAIT_KEY: Final = "fetch.max.wait.ms"
"""A key of Kafka's consumer. Its default there is 500; here 0, because no case waits for records."""

LONGEST_WAIT_MS: Final = 1_000

_JAAS_OPTION: Final = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]+))")
_LINE: Final = re.compile(r"((?:[^=:\s\\]|\\.)+)\s*[=:\s]\s*(.*)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}


@frozen
class ClientProperties:
    """What a properties file says.

    Attributes:
        settings: of kafka-python's connections.
        name, version: of the broker, for reports and known failures: no request asks a broker for them.
        api_versions: the version of a request, by the key of its API; without one, the newest that both know.
        fetch_wait_ms: how long a fetch lets the broker wait for records; it asks for none.
        restart: the command that starts the broker again; empty without one.
    """

    settings: dict[str, Any]
    name: str = "kafka-broker"
    version: str = ""
    api_versions: Mapping[int, int] = field(factory=dict)
    fetch_wait_ms: int = 0
    restart: str = ""


def read_properties(path: str) -> ClientProperties:
    """Return the content of a properties file, or the default without one; raise `AdapterStartError`."""
    if not path:
        return ClientProperties({})
    try:
        properties = parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise AdapterStartError(f"the properties file {path} cannot be read: {error}") from None
    name = properties.get(NAME_KEY, "kafka-broker")
    try:
        return ClientProperties(
            _settings(properties),
            name,
            properties.get(VERSION_KEY, ""),
            _api_versions(properties),
            _fetch_wait_ms(properties),
            properties.get(RESTART_KEY, ""),
        )
    except ValueError as error:
        raise AdapterStartError(f"{path}: {error}") from None


def parse(text: str) -> dict[str, str]:
    """Return the properties of a file: `#` and `!` begin comments, a backslash continues a line."""
    joined = re.sub(r"\\\r?\n[ \t]*", "", text)
    lines = (line.strip() for line in joined.splitlines())
    pairs = (_LINE.fullmatch(line) for line in lines if line and line[0] not in "#!")
    return {_unescaped(pair[1]): _unescaped(pair[2]) for pair in pairs if pair is not None}


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), text)


def _settings(properties: Mapping[str, str]) -> dict[str, Any]:
    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise ValueError(f"security.protocol is {protocol}; it is one of {', '.join(PROTOCOLS)}")
    settings: dict[str, Any] = {"security_protocol": protocol}
    if protocol.endswith("SSL"):
        settings["ssl_context"] = context_of(properties)
    if protocol.startswith("SASL"):
        settings |= _sasl(properties)
    return settings


def _api_versions(properties: Mapping[str, str]) -> dict[int, int]:
    wished = {key: properties[key] for key in API_KEYS.keys() & properties.keys()}
    for key, text in wished.items():
        least, most = VERSIONS[API_KEYS[key]]
        if not text.isdecimal() or not least <= int(text) <= most:
            raise ValueError(f"{key} is {text}; it is a number from {least} to {most}")
    return {API_KEYS[key]: int(text) for key, text in wished.items()}


def _fetch_wait_ms(properties: Mapping[str, str]) -> int:
    text = properties.get(WAIT_KEY, "0")
    if not text.isdecimal() or int(text) > LONGEST_WAIT_MS:
        raise ValueError(f"{WAIT_KEY} is {text}; it is a number from 0 to {LONGEST_WAIT_MS}")
    return int(text)


def _sasl(properties: Mapping[str, str]) -> dict[str, Any]:
    mechanism = properties.get("sasl.mechanism", "GSSAPI").upper()
    if mechanism not in MECHANISMS:
        raise ValueError(f"sasl.mechanism is {mechanism}; it is one of {', '.join(MECHANISMS)}")
    jaas = jaas_options(properties.get("sasl.jaas.config", ""))
    if mechanism == "OAUTHBEARER":
        provider = provider_of(properties, jaas)
        return {"sasl_mechanism": mechanism, "sasl_oauth_token_provider": provider}
    if not {"username", "password"} <= jaas.keys():
        raise ValueError(f"sasl.jaas.config needs username and password for {mechanism}")
    return {
        "sasl_mechanism": mechanism,
        "sasl_plain_username": jaas["username"],
        "sasl_plain_password": jaas["password"],
    }


def jaas_options(text: str) -> dict[str, str]:
    """Return the options of a login module, such as `… required username="u" password="p";`."""
    return {
        found[1]: re.sub(r"\\(.)", r"\1", found[2]) if found[2] is not None else found[3]
        for found in _JAAS_OPTION.finditer(text)
    }


# --- oauth tokens ---
#
# Tokens for SASL OAUTHBEARER, from the properties that Kafka's clients have for it.
#
# Three ways: a token in a file (`sasl.oauthbearer.token.endpoint.url=file:…`), a token endpoint with the
# credentials of a client (KIP-768), and the unsecured token of KIP-255, which only test brokers accept.


URL: Final = "sasl.oauthbearer.token.endpoint.url"
LIFETIME: Final = 3600
"""Seconds for which an unsecured token is valid: the default of KIP-255."""

SECONDS: Final = 10.0
"""Time limit of a request to a token endpoint."""


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc] # the library has no types
    """Provider of a token that is made anew for each connection."""

    def __init__(self, make: Callable[[], str], extensions: Mapping[str, str]) -> None:
        super().__init__()
        self._make = make
        self._extensions = dict(extensions)

    def token(self) -> str:
        """Return a token; raise `AdapterStartError` if there is none."""
        try:
            return self._make()
        except (OSError, ValueError, KeyError) as error:
            raise AdapterStartError(f"no token for OAUTHBEARER: {line_of(error)}") from None

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions of the login module (KIP-342)."""
        return self._extensions


def provider_of(properties: Mapping[str, str], jaas: Mapping[str, str]) -> TokenProvider:
    """Return the provider for the properties and the options of the login module; raise `ValueError`."""
    extensions = {
        name.removeprefix("extension_"): value
        for name, value in jaas.items()
        if name.startswith("extension_")
    }
    url = properties.get(URL, "")
    if url.startswith("file:"):
        return TokenProvider(lambda: _fetched(urllib.request.Request(url)).strip(), extensions)  # noqa: S310 - the user's own file
    if url:
        request = _request(url, jaas)
        return TokenProvider(lambda: str(json.loads(_fetched(request))["access_token"]), extensions)
    subject = jaas.get("unsecuredLoginStringClaim_sub")
    if subject is None:
        raise ValueError(f"OAUTHBEARER needs {URL}, or unsecuredLoginStringClaim_sub in sasl.jaas.config")
    return TokenProvider(lambda: unsecured_token(subject, time.time()), extensions)


def _request(url: str, jaas: Mapping[str, str]) -> urllib.request.Request:
    if not url.startswith(("https:", "http:")) or not {"clientId", "clientSecret"} <= jaas.keys():
        raise ValueError(
            f"{URL} is a file: or https: URL; the latter needs clientId and clientSecret in sasl.jaas.config"
        )
    form = {"grant_type": "client_credentials"} | ({"scope": jaas["scope"]} if "scope" in jaas else {})
    basic = base64.b64encode(f"{jaas['clientId']}:{jaas['clientSecret']}".encode()).decode()
    return urllib.request.Request(  # noqa: S310 - the scheme is checked above
        url, urllib.parse.urlencode(form).encode(), {"Authorization": f"Basic {basic}"}
    )


def _fetched(request: urllib.request.Request) -> str:
    with urllib.request.urlopen(request, timeout=SECONDS) as reply:  # noqa: S310 - as above
        text: str = reply.read().decode()
        return text


def unsecured_token(subject: str, now: float) -> str:
    """Return an unsecured JSON Web Signature: RFC 7515, appendix A.5."""
    claims: dict[str, Any] = {"sub": subject, "iat": int(now), "exp": int(now) + LIFETIME}
    return f"{_part({'alg': 'none'})}.{_part(claims)}."


def _part(tree: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(tree).encode()).decode().rstrip("=")


# --- pem stores ---
#
# The certificates of a properties file as a TLS context: PEM files, or PEM text in the file (KIP-651).


PEM: Final = "PEM"


def context_of(properties: Mapping[str, str]) -> ssl.SSLContext:
    """Return the TLS context for the properties that begin with `ssl.`; raise `ValueError`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = properties.get("ssl.endpoint.identification.algorithm", "https") != ""
    try:
        inline, place = (properties.get(f"ssl.truststore.{name}") for name in ("certificates", "location"))
        if inline or place:
            _refuse_java(properties, "ssl.truststore")
            context.load_verify_locations(cadata=inline or Path(str(place)).read_text(encoding="ascii"))
        else:
            context.load_default_certs()
        _identify(context, properties)
    except UnicodeDecodeError as error:
        raise ValueError(f"a certificate or key is no PEM text: {error}") from None
    except (OSError, ssl.SSLError) as error:
        locked = ", or ssl.key.password is wrong" if "ssl.key.password" in properties else ""
        raise ValueError(f"a certificate or key cannot be read{locked}: {error}") from None
    return context


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
