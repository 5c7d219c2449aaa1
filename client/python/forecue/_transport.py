from __future__ import annotations

import asyncio
import json
import ssl
import time
from typing import Any, Awaitable, Callable, Dict, NamedTuple, Optional, Protocol, TypeVar

from ._errors import ForecueError, error_of
from ._http import NETWORK_FAULTS, Http, Response
from ._operations import CallOptions, json_bytes
from ._retry import Retries
from ._within import within

T = TypeVar("T")

_TIMEOUT = 30.0
_RETRIES = 3


class Request(NamedTuple):
    method: str
    path: str
    body: Any
    headers: Dict[str, str]
    #: True if the server recognises the request when it is sent again.
    repeatable: bool
    timeout: float = _TIMEOUT


class Credentials(Protocol):
    async def headers(self) -> Dict[str, str]: ...

    async def renew(self, refused: Dict[str, str]) -> bool:
        """Called with the headers of a request that got a 401. Returns True if there is a new credential."""


class Transport:
    """Sends requests with their retries."""

    def __init__(
        self, base_url: str, timeout: Optional[float], retries: Optional[int], ssl_context: Optional[ssl.SSLContext]
    ) -> None:
        self._http = Http(base_url, ssl_context)
        self._timeout = timeout
        self._max_retries = _RETRIES if retries is None else retries
        self._retries = Retries()

    async def send(
        self,
        request: Request,
        credentials: Credentials,
        options: CallOptions,
        read: Callable[[Response], Awaitable[T]],
    ) -> T:
        """Returns the result of `read` for a 2xx response. Raises `ForecueError`."""
        default = request.timeout if self._timeout is None else self._timeout
        deadline = time.monotonic() + options.get("timeout", default)
        body = json_bytes(request.body)
        attempt, is_renewed = 0, False
        while True:
            headers = await within(deadline - time.monotonic(), credentials.headers())
            try:
                left = deadline - time.monotonic()
                answer = await within(left, self._attempt(request, {**headers, **request.headers}, body, options, read))
                self._retries.earn()
                return answer
            except ForecueError as error:
                left = deadline - time.monotonic()
                if error.status == 401 and not is_renewed and await within(left, credentials.renew(headers)):
                    is_renewed = True
                    continue
                if attempt >= options.get("retries", self._max_retries):
                    raise
                pause = self._retries.take_pause(error, attempt, request.repeatable, left)
                if pause is None:
                    raise
            attempt += 1
            await asyncio.sleep(pause)

    def close(self) -> None:
        self._http.close()

    async def _attempt(
        self,
        request: Request,
        headers: Dict[str, str],
        body: Optional[bytes],
        options: CallOptions,
        read: Callable[[Response], Awaitable[T]],
    ) -> T:
        method, path = request.method, request.path
        try:
            response = await self._http.send(method, path, headers, body, fresh=not request.repeatable)
        except NETWORK_FAULTS as cause:
            raise _network_error() from cause
        if "on_response" in options:
            options["on_response"](response)
        try:
            if 200 <= response.status < 300:
                return await read(response)
            raise error_of(response.status, response.headers, await response.read())
        except NETWORK_FAULTS as cause:
            raise _network_error() from cause


def _network_error() -> ForecueError:
    # The message leaves out the address, because it may contain text that a person wrote.
    return ForecueError("network_error", message="no answer came, or only a part of one")


async def read_json(response: Response) -> Any:
    """Raises `unexpected_response` if the body is not JSON: such an answer is not from Forecue."""
    body = await response.read()
    if response.status == 204:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        status = response.status
        message = f"answered {status}, but not with JSON"
        raise ForecueError("unexpected_response", status=status, message=message) from None


async def keep_open(response: Response) -> Response:
    """Reads nothing: the caller reads the body as a stream."""
    return response
