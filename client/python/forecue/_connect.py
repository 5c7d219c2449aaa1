from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from typing import Any, Dict, Mapping, NamedTuple, Tuple

from ._client import AsyncForecue
from ._errors import ForecueError
from ._generated import shapes
from ._sync import Forecue


class Attempt(NamedTuple):
    """Redirect the person to `authorize_url`, and keep `secret` in their session until they come back."""

    authorize_url: str
    secret: str


class Connector:
    """Connects an app's users to their accounts. Takes care of PKCE (RFC 7636), state and issuer (RFC 9207)."""

    def __init__(self, forecue: Forecue, redirect_uri: str) -> None:
        self._forecue = forecue
        self._redirect_uri = redirect_uri

    def start(self, user_id: str) -> Attempt:
        """Begins an attempt of a user who is logged in to the app."""
        request, verifier = _begin(user_id, self._redirect_uri)
        return _attempt(self._forecue.start_connection(**request), request, verifier)

    def finish(self, user_id: str, secret: str, query: Mapping[str, str]) -> shapes.ConnectionExchangeResponse:
        """Takes the parameters with which the person came back. Raises `ForecueError`: `access_denied` if they refused,
        `invalid_state` if they came back with another attempt than the one they left with."""
        return self._forecue.exchange_connection(**_exchange(user_id, secret, query, self._redirect_uri))


class AsyncConnector:
    """Connects an app's users to their accounts, like `Connector`."""

    def __init__(self, forecue: AsyncForecue, redirect_uri: str) -> None:
        self._forecue = forecue
        self._redirect_uri = redirect_uri

    async def start(self, user_id: str) -> Attempt:
        """Begins an attempt of a user who is logged in to the app."""
        request, verifier = _begin(user_id, self._redirect_uri)
        return _attempt(await self._forecue.start_connection(**request), request, verifier)

    async def finish(self, user_id: str, secret: str, query: Mapping[str, str]) -> shapes.ConnectionExchangeResponse:
        """Takes the parameters with which the person came back, and raises like `Connector.finish`."""
        return await self._forecue.exchange_connection(**_exchange(user_id, secret, query, self._redirect_uri))


def _begin(user_id: str, redirect_uri: str) -> Tuple[Dict[str, Any], str]:
    verifier = secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    request = {
        "user_id": user_id,
        "redirect_uri": redirect_uri,
        "state": secrets.token_urlsafe(32),
        "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode("ascii"),
    }
    return request, verifier


def _attempt(answer: shapes.ConnectionStartResponse, request: Dict[str, Any], verifier: str) -> Attempt:
    issuer, _, _ = answer["authorize_url"].partition("/connect/")
    attempt = {"id": answer["request_id"], "state": request["state"], "verifier": verifier, "issuer": issuer}
    return Attempt(answer["authorize_url"], json.dumps(attempt))


def _exchange(user_id: str, secret: str, query: Mapping[str, str], redirect_uri: str) -> Dict[str, Any]:
    try:
        attempt = json.loads(secret)
        is_own = query.get("state") == attempt["state"] and query.get("iss") == attempt["issuer"]
    except (ValueError, TypeError, KeyError):
        is_own = False
    if not is_own:
        raise ForecueError("invalid_state")
    code = query.get("code")
    if code is None:
        raise ForecueError("access_denied")
    return {
        "request_id": attempt["id"],
        "user_id": user_id,
        "code": code,
        "code_verifier": attempt["verifier"],
        "redirect_uri": redirect_uri,
    }
