from __future__ import annotations

import asyncio
import json
import ssl
import uuid
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Dict, Optional, Set, Tuple, Union, cast

from ._errors import ForecueError
from ._events import StreamPosition, follow, lines_in
from ._generated import shapes
from ._generated.methods import AsyncMethods
from ._http import NETWORK_FAULTS, Response
from ._operations import OMITTED, Call, CallOptions, call_of, idempotency_headers, without
from ._session import Session, Tokens, check_credential
from ._transport import Request, Transport, keep_open, read_json

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Operations that are safe to send twice, apart from reads and from those that take an idempotency key. All others of
# `/v1` carry an id, except those that begin a connection.
_REPEATABLE_OPERATIONS = frozenset(
    {
        "exchange_connection",
        "revoke_connection",
        "predict",
        "cancel_prediction",
        "record_prediction_event",
        "log_in",
        "log_out",
        "refresh_token",
        "validate_invite",
        "join_waitlist",
        "record_events",
        "assemble_context",
        "change_episode",
        "change_fact",
        "write_profile",
        "give_feedback",
        "cancel_job",
    }
)
# Fields that are generated unless the caller gives them.
_IDS = {"predict": "request_id", "record_prediction_event": "event_id"}
# In seconds.
_TIMEOUTS = {"keyed": 60.0, "job": 300.0, "": 30.0}
# Pauses between attempts to cancel, in seconds: a cancellation may reach the server before its prediction does.
_CANCEL_RETRY_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6)
# Outcomes of a prediction that are no failures.
_ENDINGS = {"prediction_cancelled": "cancelled", "prediction_superseded": "superseded"}


class _FixedCredentials:
    def __init__(self, headers: Dict[str, str]) -> None:
        self._headers = headers

    async def headers(self) -> Dict[str, str]:
        return self._headers

    async def renew(self, refused: Dict[str, str]) -> bool:
        return False


_ANONYMOUS = _FixedCredentials({})


class AsyncForecue(AsyncMethods):
    """Client for an app (`/v1`, with `app_key`) and for an account (`/api`, with `credential`).

    Cancelling the task of a call cancels the work on the server too, if it is a prediction of `/v1`, or a job that the
    call waits for or follows. The cancellation goes on in the background; leaving `async with` waits for it.
    """

    def __init__(
        self,
        base_url: str,
        *,
        app_key: Optional[str] = None,
        credential: Union[str, Tokens, None] = None,
        on_tokens: Optional[Callable[[Optional[Tokens]], None]] = None,
        timeout: Optional[float] = None,
        retries: Optional[int] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """`credential` is an access token, a key (`service_…`), or a pair of tokens, which alone is renewed.
        `on_tokens` is called with the tokens whenever they change, and with None when nobody is logged in any more.
        Raises `ValueError` for an invalid address or credential."""
        if app_key is not None:
            check_credential("app_key", app_key)
        self._app = _FixedCredentials({} if app_key is None else {"authorization": f"Bearer {app_key}"})
        self._session = Session(credential, on_tokens, self._exchange)
        self._transport = Transport(base_url, timeout, retries, ssl_context)
        self._background: Set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "AsyncForecue":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits until what was cancelled is cancelled on the server, and closes the connections."""
        await asyncio.gather(*self._background, return_exceptions=True)
        self._transport.close()

    async def follow(self, job_id: str, **options: Unpack[CallOptions]) -> AsyncIterator[shapes.JobEvent]:
        """Follows a job that was started before. Leaving the loop does not cancel it."""
        call = call_of("read_job", (job_id,), None, options)
        async for event in self._events(call, job_id):
            yield event

    async def _call(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> Any:
        if name in _IDS and not isinstance(given.get(_IDS[name]), str):
            given = {**given, _IDS[name]: str(uuid.uuid4())}
        if name == "log_out" and self._session.tokens is not None and set(given.values()) == {OMITTED}:
            given = {"refresh": self._session.tokens.refresh}
        call = call_of(name, ids, given, options)
        if name == "predict":
            return await self._predict(call)
        if "keyed" in call.flags:
            return await self._perform(_with_key(call))
        answer = await self._send(call)
        if name in ("sign_up", "log_in"):
            self._session.adopt(Tokens(answer["access"], answer["refresh"]))
        if name == "log_out":
            self._session.adopt(None)
        return answer

    async def _start(self, name: str, given: Any, options: Any) -> Any:
        return await self._send(_with_key(call_of(name, (), given, options)), {"prefer": "wait, respond-async"})

    async def _lines(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> AsyncIterator[Any]:
        response: Response = await self._send(call_of(name, ids, given, options), read=keep_open)
        try:
            async for line in lines_in(response):
                yield json.loads(line)
        except NETWORK_FAULTS as cause:
            raise ForecueError("network_error") from cause
        finally:
            response.close()

    async def _stream(self, name: str, given: Any, options: Any) -> AsyncIterator[Any]:
        async for event in self._events(_with_key(call_of(name, (), given, options))):
            yield event

    async def _events(self, call: Call, job_id: Optional[str] = None) -> AsyncIterator[Any]:
        position = StreamPosition(job_id)

        async def open_at(position: StreamPosition) -> Response:
            headers = {"accept": "text/event-stream"}
            if position.last_event_id is not None:
                headers["last-event-id"] = position.last_event_id
            if position.job_id is None:
                return cast(Response, await self._send(call, {**headers, "prefer": "wait"}, keep_open))
            reading = call_of("read_job", (position.job_id,), None, call.options)
            return cast(Response, await self._send(reading, headers, keep_open))

        try:
            async for event in follow(open_at, position):
                yield event
        except asyncio.CancelledError:
            self._keep(self._cancel_job(call, position.job_id))
            raise

    async def _predict(self, call: Call) -> Any:
        # If the connection breaks, the prediction may still run. `wait` makes a retry wait for its answer.
        prediction = asyncio.ensure_future(self._send(call, {"prefer": "wait"}))
        prediction.add_done_callback(lambda one: one.cancelled() or one.exception())
        try:
            # The connection stays open until the server has cancelled: a caller that is merely gone cancels nothing.
            return await asyncio.shield(prediction)
        except asyncio.CancelledError:
            if not prediction.done():
                self._keep(self._cancel_prediction(call, prediction))
            raise
        except ForecueError as error:
            if error.code not in _ENDINGS:
                raise
            return {"status": _ENDINGS[error.code], "request_id": call.body["request_id"]}

    async def _cancel_prediction(self, call: Call, prediction: "asyncio.Task[Any]") -> None:
        """Tries a few times, until the server knows the prediction or the request for it has ended."""
        subject = {"user_id": call.body.get("user_id")}
        try:
            for pause in _CANCEL_RETRY_PAUSES:
                is_over = prediction.done()
                try:
                    await self._send(call_of("cancel_prediction", (call.body["request_id"],), subject, {}))
                    return
                except ForecueError as error:
                    if error.code != "not_found" or is_over:
                        return
                await asyncio.wait({prediction}, timeout=pause)
        finally:
            prediction.cancel()

    async def _perform(self, call: Call) -> Any:
        try:
            return await self._send(call, {"prefer": "wait"})
        except asyncio.CancelledError:
            if "job" in call.flags:
                self._keep(self._cancel_job(call))
            raise

    async def _cancel_job(self, call: Call, job_id: Optional[str] = None) -> None:
        if job_id is None:
            # The idempotency key finds the job, without waiting for it.
            receipt = await self._send(call, {"prefer": "wait, respond-async"})
            job_id = cast(str, receipt["job_id"])
        await self._send(call_of("cancel_job", (job_id,), None, {}))

    async def _exchange(self, refresh: str) -> str:
        answer = await self._send(call_of("refresh_token", (), {"refresh": refresh}, {}))
        return cast(str, answer["access"])

    async def _send(
        self, call: Call, headers: Optional[Dict[str, str]] = None, read: Callable[[Response], Any] = read_json
    ) -> Any:
        flags = call.flags
        keys = idempotency_headers(call.options) if "keyed" in flags else {}
        request = Request(
            call.method,
            call.path,
            call.body,
            {**keys, **(headers or {})},
            call.method == "GET" or "keyed" in flags or call.name in _REPEATABLE_OPERATIONS,
            _TIMEOUTS["job" if "job" in flags else "keyed" if "keyed" in flags else ""],
        )
        credentials = self._app if call.path.startswith("/v1/") else self._session
        return await self._transport.send(
            request, _ANONYMOUS if "open" in flags else credentials, call.options, read
        )

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs work in the background, whose failure concerns nobody: the server ends what has no caller."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        task.add_done_callback(lambda one: one.cancelled() or one.exception())


def _with_key(call: Call) -> Call:
    """Adds an idempotency key, so that a call that is sent twice does its work once."""
    key = call.options.get("idempotency_key") or str(uuid.uuid4())
    options = cast(CallOptions, {**without(call.options, "idempotency_key"), "idempotency_key": key})
    return call._replace(options=options)
