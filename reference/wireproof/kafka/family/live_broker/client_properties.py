"""The properties file of a client in the form of Kafka's own tools, as settings of kafka-python.

Keys and values: Kafka documentation, "Security" and "Client configs"; PEM stores: KIP-651. Stores of Java
(JKS, PKCS12) need Java's tools and are refused.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from wireproof.adapters.errors import AdapterStartError
from wireproof.kafka.family.live_broker import oauth_tokens, pem_stores
from wireproof.kafka.family.live_broker.requests import FETCH, PRODUCE, VERSIONS

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
        settings["ssl_context"] = pem_stores.context_of(properties)
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
        provider = oauth_tokens.provider_of(properties, jaas)
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
