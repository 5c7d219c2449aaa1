"""HTTP/1.1 over asyncio: a cancelled call closes its socket at once, which a thread in `http.client` cannot."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from typing import AsyncIterator, Dict, List, Mapping, Optional
from urllib.parse import urlsplit

# A kept connection is used again for this long: less than servers and proxies keep theirs.
_IDLE_SECONDS = 30.0
_IDLE_MAX = 16

#: What reading and writing may raise, besides cancellation.
NETWORK_FAULTS = (OSError, EOFError, ValueError, asyncio.LimitOverrunError)


class Address:
    """A server's address, with the path before those of its endpoints."""

    def __init__(self, base_url: str) -> None:
        """Raises `ValueError` for anything but an HTTP or HTTPS address without user, query and fragment."""
        url = urlsplit(base_url)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError('base_url: not an http or https address; is "https://" missing?')
        if "@" in url.netloc or url.query or url.fragment:
            raise ValueError("base_url: an address has no user, password, query or fragment here")
        self.is_secure = url.scheme == "https"
        self.host = url.hostname
        self.port = url.port or (443 if self.is_secure else 80)
        self.authority = url.netloc
        self.path = url.path.rstrip("/")


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.loop = asyncio.get_running_loop()
        self.idle_since = 0.0

    def is_own(self) -> bool:
        """False for a connection of another loop, which only that loop, in its own thread, may use or close."""
        return self.loop is asyncio.get_running_loop()

    def is_usable(self) -> bool:
        return not (
            self.writer.is_closing() or self.reader.at_eof() or time.monotonic() - self.idle_since > _IDLE_SECONDS
        )

    def close(self) -> None:
        self.writer.transport.abort()


class Response:
    """An answer: its status and headers, whose names are in lower case."""

    def __init__(self, connection: Connection, pool: "Http", status: int, headers: Mapping[str, str]) -> None:
        self.status = status
        self.headers = headers
        self._connection = connection
        self._pool = pool
        self._is_over = False

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yields the body as it arrives. The connection is kept only if the body is read to its end."""
        is_whole = False
        try:
            async for chunk in self._body():
                yield chunk
            is_whole = True
        finally:
            is_kept = is_whole and self.headers.get("connection", "").lower() != "close" and self._is_delimited()
            if not self._is_over:
                self._is_over = True
                self._pool.give_back(self._connection, is_kept)

    def close(self) -> None:
        """Drops the connection, unless the body is read to its end."""
        if not self._is_over:
            self._is_over = True
            self._connection.close()

    def _is_delimited(self) -> bool:
        return self.status == 204 or "transfer-encoding" in self.headers or "content-length" in self.headers

    async def _body(self) -> AsyncIterator[bytes]:
        reader = self._connection.reader
        if self.status in (204, 304):
            return
        if self.headers.get("transfer-encoding", "").lower().endswith("chunked"):
            while True:
                size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
                if size > 0:
                    yield await reader.readexactly(size)
                # The end of the chunk; after the last one, of the trailers too.
                while (await reader.readuntil(b"\r\n")) != b"\r\n":
                    pass
                if size == 0:
                    return
        elif "content-length" in self.headers:
            yield await reader.readexactly(int(self.headers["content-length"]))
        else:
            while True:
                chunk = await reader.read(65536)
                if not chunk:
                    return
                yield chunk


class Http:
    """Sends requests to one address, over connections that it keeps for a while."""

    def __init__(self, base_url: str, ssl_context: Optional[ssl.SSLContext] = None) -> None:
        self._address = Address(base_url)
        self._ssl = ssl_context
        self._idle: List[Connection] = []

    async def send(
        self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes], *, fresh: bool
    ) -> Response:
        """Returns when the head of the answer is there. `fresh` asks for a connection of its own: the server may close
        a kept one at the moment in which it is used."""
        connection = (None if fresh else self._take_idle()) or await self._connect()
        try:
            connection.writer.write(self._head(method, path, headers, body) + (body or b""))
            # The buffer is not drained: the server may answer, for example 413, without reading it.
            status, answered = await _read_head(connection.reader)
        except BaseException:
            connection.close()
            raise
        return Response(connection, self, status, answered)

    def give_back(self, connection: Connection, is_kept: bool) -> None:
        if is_kept and len(self._own_idle()) < _IDLE_MAX:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        for connection in self._own_idle():
            self._idle.remove(connection)
            connection.close()

    def _own_idle(self) -> List[Connection]:
        return [connection for connection in self._idle if connection.is_own()]

    def _take_idle(self) -> Optional[Connection]:
        self._idle = [connection for connection in self._idle if not connection.loop.is_closed()]
        for connection in reversed(self._own_idle()):
            self._idle.remove(connection)
            if connection.is_usable():
                return connection
            connection.close()
        return None

    async def _connect(self) -> Connection:
        address = self._address
        if address.is_secure and self._ssl is None:
            self._ssl = ssl.create_default_context()
        context = self._ssl if address.is_secure else None
        return Connection(*await asyncio.open_connection(address.host, address.port, ssl=context))

    def _head(self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes]) -> bytes:
        fields = {"host": self._address.authority, "accept-encoding": "identity", **headers}
        if body is not None:
            fields["content-type"] = "application/json"
        if body is not None or method != "GET":
            fields["content-length"] = str(len(body or b""))
        lines = [f"{method} {self._address.path}{path} HTTP/1.1", *(f"{name}: {fields[name]}" for name in fields)]
        return "\r\n".join([*lines, "\r\n"]).encode("ascii")


async def _read_head(reader: asyncio.StreamReader) -> "tuple[int, Dict[str, str]]":
    while True:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        match = re.match(r"HTTP/1\.[01] ([1-5]\d\d)\b", first)
        if match is None:
            raise ValueError("this is not HTTP")
        status = int(match[1])
        if status >= 200:
            fields = (line.partition(":") for line in lines if line)
            return status, {name.strip().lower(): value.strip() for name, _, value in fields}
