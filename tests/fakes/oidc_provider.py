"""A small OpenID Connect provider over loopback HTTP: discovery, authorisation with PKCE, tokens, keys, user info.

It signs with a real RSA key. A test may have it lie: `faults` names what is wrong with the next sign-in.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT_ID, CLIENT_SECRET = "safehold", "only between the two"


@dataclass
class Provider:
    """What the provider knows.

    Attributes:
        person: Claims of who sits before its own sign-in page.
        faults: Of `cancelled`, `other key`, `other audience`, `other issuer`, `expired`, `no id token`, `no subject`,
            `down`.
    """

    person: dict[str, Any] = field(
        default_factory=lambda: {"sub": "42", "preferred_username": "ann"}
    )
    faults: set[str] = field(default_factory=set)
    url: str = ""
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    granted: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: list[dict[str, str]] = field(default_factory=list)

    def discovery(self) -> dict[str, Any]:
        """Return where everything is."""
        names = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "userinfo_endpoint": "userinfo",
            "jwks_uri": "keys",
        }
        return {
            "issuer": self.url,
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        } | {name: f"{self.url}/{path}" for name, path in names.items()}

    def authorize(self, asked: dict[str, str]) -> str:
        """Return where the browser is sent to: the person says yes at once."""
        self.seen.append(asked)
        if "cancelled" in self.faults:
            return f"{asked['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': asked['state']})}"
        code = secrets.token_urlsafe(16)
        self.granted[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, given: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Exchange a code, once, for tokens."""
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        asked = self.granted.pop(given.get("code", ""), None)
        if authorization != f"Basic {expected}" or asked is None:
            return 401, {"error": "invalid_client"}
        if given["redirect_uri"] != asked["redirect_uri"] or not _proves(
            given.get("code_verifier", ""), asked
        ):
            return 400, {"error": "invalid_grant"}
        access = secrets.token_urlsafe(16)
        self.tokens[access] = self.person
        answer = {
            "access_token": access,
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self._id_token(),
        }
        if "no id token" in self.faults:
            del answer["id_token"]
        return 200, answer

    def userinfo(self, authorization: str) -> tuple[int, dict[str, Any]]:
        """Return the claims of the person behind an access token."""
        person = self.tokens.get(authorization.removeprefix("Bearer "))
        if person is None:
            return 401, {"error": "invalid_token"}
        claims = dict(person)
        if "no subject" in self.faults:
            del claims["sub"]
        return 200, claims

    def keys(self) -> dict[str, Any]:
        """Return the public key."""
        public = json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": "one", "use": "sig", "alg": "RS256"}]}

    def _id_token(self) -> str:
        now = int(time.time())
        claims = self.person | {
            "iss": "https://elsewhere.example" if "other issuer" in self.faults else self.url,
            "aud": "another service" if "other audience" in self.faults else CLIENT_ID,
            "iat": now, "exp": now - 60 if "expired" in self.faults else now + 300, "jti": secrets.token_hex(8),
        }  # fmt: skip
        key = rsa.generate_private_key(65537, 2048) if "other key" in self.faults else self.key
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": "one"})


def _proves(verifier: str, asked: dict[str, str]) -> bool:
    """Check PKCE (RFC 7636), S256 only."""
    made = (
        base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    )
    return asked.get("code_challenge_method") == "S256" and made == asked.get("code_challenge")


@contextmanager
def running() -> Iterator[Provider]:
    """Run a provider on a free port of this machine."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, asked = urlsplit(self.path).path, dict(_flat(urlsplit(self.path).query))
            if "down" in provider.faults:
                self.send_error(503)
            elif path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(asked))
                self.end_headers()
            elif path == "/userinfo":
                self._answer(*provider.userinfo(self.headers.get("Authorization", "")))
            else:
                known = {
                    "/.well-known/openid-configuration": provider.discovery,
                    "/keys": provider.keys,
                }
                self._answer(200, known[path]())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer(*provider.token(dict(_flat(body)), self.headers.get("Authorization", "")))

        def log_message(self, *args: object) -> None:
            """Stay silent."""

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def _flat(query: str) -> Iterator[tuple[str, str]]:
    yield from ((name, values[0]) for name, values in parse_qs(query).items())
