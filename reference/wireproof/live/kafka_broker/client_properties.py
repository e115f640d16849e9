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

PASSWORD_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")

# Our own keys, which Kafka's tools ignore.
NAME_KEY: Final = "wireproof.broker.name"
VERSION_KEY: Final = "wireproof.broker.version"
RESTART_KEY: Final = "wireproof.broker.restart"
API_KEYS: Final = {"wireproof.produce.version": PRODUCE, "wireproof.fetch.version": FETCH}

WAIT_KEY: Final = "fetch.max.wait.ms"
"""A key of Kafka's consumer. Its default there is 500; here 0, because no case waits for records."""


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
    numbers = {key: VERSIONS[api] for key, api in API_KEYS.items()} | {WAIT_KEY: (0, 1_000)}
    try:
        settings = _settings(properties)
        for key, (least, most) in numbers.items():
            text = properties.get(key, str(least))
            known = text.isdecimal() and least <= int(text) <= most
            _check(known, f"{key} is {text}; it is a number from {least} to {most}")
        return ClientProperties(
            settings,
            properties.get(NAME_KEY, "kafka-broker"),
            properties.get(VERSION_KEY, ""),
            {api: int(properties[key]) for key, api in API_KEYS.items() if key in properties},
            int(properties.get(WAIT_KEY, "0")),
            properties.get(RESTART_KEY, ""),
        )
    except ValueError as error:
        raise AdapterStartError(f"{path}: {error}") from None


def _check(condition: bool, text: str) -> None:
    if not condition:
        raise ValueError(text)


def parse(text: str) -> dict[str, str]:
    """Return the properties of a file: `#` and `!` begin comments, a backslash continues a line."""
    joined = re.sub(r"\\\r?\n[ \t]*", "", text)
    lines = (line.strip() for line in joined.splitlines())
    pair = re.compile(r"((?:[^=:\s\\]|\\.)+)\s*[=:\s]\s*(.*)", re.DOTALL)
    pairs = (pair.fullmatch(line) for line in lines if line and line[0] not in "#!")
    return {_unescaped(found[1]): _unescaped(found[2]) for found in pairs if found is not None}


def _unescaped(text: str) -> str:
    escaped = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda found: escaped.get(found[1], found[1]), text)


def _choice(properties: Mapping[str, str], key: str, default: str, choices: tuple[str, ...]) -> str:
    value = properties.get(key, default).upper()
    _check(value in choices, f"{key} is {value}; it is one of {', '.join(choices)}")
    return value


def _settings(properties: Mapping[str, str]) -> dict[str, Any]:
    protocols = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    protocol = _choice(properties, "security.protocol", "PLAINTEXT", protocols)
    settings: dict[str, Any] = {"security_protocol": protocol}
    if protocol.endswith("SSL"):
        settings["ssl_context"] = context_of(properties)
    if not protocol.startswith("SASL"):
        return settings
    mechanism = _choice(properties, "sasl.mechanism", "GSSAPI", (*PASSWORD_MECHANISMS, "OAUTHBEARER"))
    settings["sasl_mechanism"] = mechanism
    jaas = jaas_options(properties.get("sasl.jaas.config", ""))
    if mechanism == "OAUTHBEARER":
        return settings | {"sasl_oauth_token_provider": provider_of(properties, jaas)}
    known = {"username", "password"} <= jaas.keys()
    _check(known, f"sasl.jaas.config needs username and password for {mechanism}")
    return settings | {
        "sasl_plain_username": jaas["username"],
        "sasl_plain_password": jaas["password"],
    }


def jaas_options(text: str) -> dict[str, str]:
    """Return the options of a login module, such as `… required username="u" password="p";`."""
    option = re.compile(r"(\w+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]+))")
    return {
        found[1]: re.sub(r"\\(.)", r"\1", found[2]) if found[2] is not None else found[3]
        for found in option.finditer(text)
    }


# --- tokens for SASL OAUTHBEARER ---
#
# Three ways: a token in a file (`sasl.oauthbearer.token.endpoint.url=file:…`), a token endpoint with the
# credentials of a client (KIP-768), and the unsecured token of KIP-255, which only test brokers accept.

URL: Final = "sasl.oauthbearer.token.endpoint.url"


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
        known = url.startswith(("https:", "http:")) and {"clientId", "clientSecret"} <= jaas.keys()
        needs = "the latter needs clientId and clientSecret in sasl.jaas.config"
        _check(known, f"{URL} is a file: or https: URL; {needs}")
        form = {"grant_type": "client_credentials"} | ({"scope": jaas["scope"]} if "scope" in jaas else {})
        basic = base64.b64encode(f"{jaas['clientId']}:{jaas['clientSecret']}".encode()).decode()
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            url, urllib.parse.urlencode(form).encode(), {"Authorization": f"Basic {basic}"}
        )
        return TokenProvider(lambda: str(json.loads(_fetched(request))["access_token"]), extensions)
    subject = jaas.get("unsecuredLoginStringClaim_sub", "")
    named = "unsecuredLoginStringClaim_sub" in jaas
    _check(named, f"OAUTHBEARER needs {URL}, or unsecuredLoginStringClaim_sub in sasl.jaas.config")
    return TokenProvider(lambda: unsecured_token(subject, time.time()), extensions)


def _fetched(request: urllib.request.Request) -> str:
    with urllib.request.urlopen(request, timeout=10.0) as reply:  # noqa: S310 - as above
        text: str = reply.read().decode()
        return text


def unsecured_token(subject: str, now: float) -> str:
    """Return an unsecured JSON Web Signature: RFC 7515, appendix A.5."""
    parts = {"alg": "none"}, {"sub": subject, "iat": int(now), "exp": int(now) + 3600}  # as KIP-255 has it
    encoded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return f"{'.'.join(encoded)}."


# --- certificates as a TLS context: PEM files, or PEM text in the file (KIP-651) ---


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
    place = properties.get("ssl.keystore.location")
    password = properties.get("ssl.key.password", _no_password)
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
    text = f"{store}.type is {kind}: only PEM can be read; set {store}.type=PEM and convert the store"
    _check(kind == "PEM", text)
