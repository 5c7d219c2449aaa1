from __future__ import annotations

import asyncio
import re
import time
from typing import Awaitable, Callable, Dict, NamedTuple, Optional, Union

from ._errors import ForecueError

_RENEW_AFTER = 50 * 60.0


class Tokens(NamedTuple):
    """What a log-in returns: `access` is valid for an hour, `refresh` for 30 days."""

    access: str
    refresh: str


class Session:
    """The credential of an account. Renews tokens after 50 minutes and after a 401, once for all calls."""

    def __init__(
        self,
        credential: Union[str, Tokens, None],
        on_tokens: Optional[Callable[[Optional[Tokens]], None]],
        exchange: Callable[[str], Awaitable[str]],
    ) -> None:
        """Raises `ValueError` for a credential that no header can carry."""
        for one in credential if isinstance(credential, tuple) else ["-" if credential is None else credential]:
            check_credential("credential", one)
        self._credential = credential
        self._arrived_at = time.monotonic()
        self._on_tokens = on_tokens
        self._exchange = exchange
        self._renewal: Optional[asyncio.Task[bool]] = None

    @property
    def tokens(self) -> Optional[Tokens]:
        return self._credential if isinstance(self._credential, tuple) else None

    async def headers(self) -> Dict[str, str]:
        headers = self._headers()
        if self.tokens is None or time.monotonic() - self._arrived_at < _RENEW_AFTER:
            return headers
        try:
            await self.renew(headers)
        except ForecueError:
            pass  # The old token may still work.
        return self._headers()

    async def renew(self, refused: Dict[str, str]) -> bool:
        """Renews the tokens, unless they were replaced meanwhile. Returns whether to repeat the refused call."""
        if self.tokens is None:
            return False
        if self._renewal is None or self._renewal.get_loop() is not asyncio.get_running_loop():
            self._renewal = asyncio.ensure_future(self._renew(refused))
            self._renewal.add_done_callback(self._forget_renewal)
        # A caller that is cancelled, or whose time is up, leaves the renewal to the others.
        return await asyncio.shield(self._renewal)

    def adopt(self, tokens: Optional[Tokens]) -> None:
        """Takes over the tokens of a log-in, or forgets them."""
        self._credential = tokens
        self._arrived_at = time.monotonic()
        if self._on_tokens is not None:
            self._on_tokens(tokens)

    def _headers(self) -> Dict[str, str]:
        if self._credential is None:
            return {}
        if isinstance(self._credential, tuple):
            return {"authorization": f"Bearer {self._credential.access}"}
        if self._credential.startswith("service_"):
            return {"x-service-api-key": self._credential}
        return {"authorization": f"Bearer {self._credential}"}

    async def _renew(self, refused: Dict[str, str]) -> bool:
        tokens = self.tokens
        if tokens is None or self._headers() != refused:
            return tokens is not None
        access: Optional[str]
        try:
            access = await self._exchange(tokens.refresh)
        except ForecueError as error:
            if error.status != 401:
                raise
            access = None
        # Other tokens mean that the person logged out, or logged in again, during the renewal.
        if self.tokens != tokens:
            return False
        self.adopt(None if access is None else Tokens(access, tokens.refresh))
        return access is not None

    def _forget_renewal(self, renewal: "asyncio.Task[bool]") -> None:
        if not renewal.cancelled():
            renewal.exception()
        if self._renewal is renewal:
            self._renewal = None


def check_credential(name: str, credential: str) -> None:
    """Raises a `ValueError` that does not contain the credential."""
    if not re.fullmatch(r"[\x21-\x7e]+", credential):
        raise ValueError(f"{name}: it is empty, or has spaces or line breaks in it")
