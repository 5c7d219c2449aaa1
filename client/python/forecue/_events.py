from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, NamedTuple, Optional

from ._errors import ForecueError, error_of_event
from ._http import NETWORK_FAULTS, Response
from ._retry import pause_of
from ._within import within

# Silence after which a stream counts as dead. The server sends something on a job's stream at least every 15 s.
_SILENT_SECONDS = 30.0
# Maximum number of reconnections in a row that bring no event but `job`.
_CUTS_IN_A_ROW_MAX = 6
# Codes with which a stream may end while its job still runs.
_TRANSIENT_CODES = frozenset({"overloaded", "service_unavailable"})


@dataclass
class StreamPosition:
    job_id: Optional[str] = None
    last_event_id: Optional[str] = None


class ServerSentEvent(NamedTuple):
    name: str
    data: Any
    id: Optional[str]


async def lines_in(response: Response) -> AsyncIterator[str]:
    """Yields the lines of an answer, without any text after the last line break."""
    chunks = response.chunks().__aiter__()
    rest = b""
    try:
        while True:
            try:
                chunk = await within(_SILENT_SECONDS, _next_of(chunks))
            except StopAsyncIteration:
                return
            except ForecueError:
                raise ConnectionError("the stream is silent") from None
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line.rstrip(b"\r").decode("utf-8", "replace")
    finally:
        response.close()


async def _next_of(chunks: AsyncIterator[bytes]) -> bytes:
    return await chunks.__anext__()


async def events_in(response: Response) -> AsyncIterator[ServerSentEvent]:
    """Ends when the server ends the answer; raises if the connection breaks or falls silent."""
    fields: Dict[str, str] = {}
    async for line in lines_in(response):
        if line:
            name, _, value = line.partition(":")
            fields[name] = value[1:] if value.startswith(" ") else value
            continue
        if "event" in fields and "data" in fields:
            yield ServerSentEvent(fields["event"], json.loads(fields["data"]), fields.get("id"))
        fields = {}


async def follow(
    open_at: Callable[[StreamPosition], Awaitable[Response]], position: StreamPosition
) -> AsyncIterator[Any]:
    """Yields each event once, but may repeat `progress` after a cut. Without a job id, `open_at` starts or joins the
    job."""
    cuts = 0
    response: Optional[Response] = None
    while True:
        try:
            response = await open_at(position)
            async for event in events_in(response):
                is_repeated = event.name == "job" and position.job_id is not None
                job_event = _job_event_of(event)
                position.last_event_id = event.id or position.last_event_id
                if job_event is None or is_repeated:
                    continue
                if event.name == "job":
                    position.job_id = job_event["job_id"]
                cuts = 0
                yield job_event
                if event.name == "done":
                    return
            cause: Optional[BaseException] = None
        except NETWORK_FAULTS as error:
            cause = error
        except ForecueError as error:
            if error.status != 200 or error.code not in _TRANSIENT_CODES:
                raise
            cause = error
        finally:
            # A caller that leaves the loop runs no more of the generators within.
            if response is not None:
                response.close()
        if cuts >= _CUTS_IN_A_ROW_MAX:
            raise ForecueError("network_error", message="the stream was cut") from cause
        await asyncio.sleep(pause_of(cuts))
        cuts += 1


def _job_event_of(event: ServerSentEvent) -> Optional[Dict[str, Any]]:
    """Returns None for an unknown event, which a newer server may send. Raises the error of an `error` event."""
    if event.name in ("job", "progress"):
        return {"type": event.name, **event.data}
    if event.name == "result":
        return {"type": "result", "item": event.data}
    if event.name == "done":
        return {"type": "done", "result": event.data}
    if event.name == "error":
        raise error_of_event(event.data)
    return None
