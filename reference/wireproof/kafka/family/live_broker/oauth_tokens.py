"""Tokens for SASL OAUTHBEARER, from the properties that Kafka's clients have for it.

Three ways: a token in a file (`sasl.oauthbearer.token.endpoint.url=file:…`), a token endpoint with the
credentials of a client (KIP-768), and the unsecured token of KIP-255, which only test brokers accept.
"""

import base64
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any, Final

from kafka.net.sasl.oauth import AbstractTokenProvider

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.python_object import line_of

URL: Final = "sasl.oauthbearer.token.endpoint.url"
LIFETIME: Final = 3600
"""Seconds for which an unsecured token is valid: the default of KIP-255."""

SECONDS: Final = 10.0
"""Time limit of a request to a token endpoint."""


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc] # the library has no types
    """Provider of a token that is made anew for each connection."""

    def __init__(self, make: Callable[[], str], extensions: Mapping[str, str]) -> None:
        """Store how a token is made."""
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
