from __future__ import annotations

import asyncio
import os
import ssl
import threading
import weakref
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Iterator, Optional, Set, Tuple, TypeVar, Union

from ._client import AsyncForecue
from ._generated import shapes
from ._generated.methods import Methods
from ._operations import CallOptions, without
from ._session import Tokens

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")


class Cancellation:
    """Cancels, from another thread, the calls that it is given to: they raise `concurrent.futures.CancelledError`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._futures: Set[Future[Any]] = set()
        self.is_cancelled = False

    def cancel(self) -> None:
        with self._lock:
            self.is_cancelled = True
            futures = list(self._futures)
        for future in futures:
            future.cancel()

    def _watch(self, future: Future[Any]) -> None:
        with self._lock:
            self._futures.add(future)
            is_late = self.is_cancelled
        if is_late:
            future.cancel()

    def _leave(self, future: Future[Any]) -> None:
        with self._lock:
            self._futures.discard(future)


class SyncCallOptions(CallOptions, total=False):
    """Options of every call of `Forecue`."""

    cancellation: Optional[Cancellation]


class _Loop(asyncio.SelectorEventLoop):
    """Left by a fork, it counts as closed: its sockets are the parent's, and so is what its selector watches."""

    def __init__(self) -> None:
        self.is_orphan = False
        super().__init__()

    def is_closed(self) -> bool:
        return self.is_orphan or super().is_closed()


class _Background:
    """One event loop in a thread of its own, for all clients of the process. A child of `fork` starts another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: Optional[_Loop] = None

    def loop(self) -> _Loop:
        with self._lock:
            if self._loop is None:
                self._loop = _Loop()
                threading.Thread(target=self._loop.run_forever, name="forecue", daemon=True).start()
            return self._loop

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Blocks nothing, and starts no loop: a finalizer may run in any thread, also in the loop's own."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(callback)

    def leave_to_parent(self) -> None:
        # Another thread may have held the lock when the process was forked.
        self._lock = threading.Lock()
        if self._loop is not None:
            self._loop.is_orphan = True
        self._loop = None


_background = _Background()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_background.leave_to_parent)


def _run(work: Callable[[], Coroutine[Any, Any, T]], cancellation: Optional[Cancellation] = None) -> T:
    """Runs the work in the background loop. An exception in this thread, such as `KeyboardInterrupt`, cancels it."""
    if cancellation is not None and cancellation.is_cancelled:
        raise CancelledError()
    future = asyncio.run_coroutine_threadsafe(work(), _background.loop())
    if cancellation is not None:
        cancellation._watch(future)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
    finally:
        if cancellation is not None:
            cancellation._leave(future)


class Forecue(Methods):
    """Client for an app (`/v1`, with `app_key`) and for an account (`/api`, with `credential`), for any threads.

    A `Cancellation`, and Ctrl-C, end a call at once, and cancel the work on the server too, if it is a prediction of
    `/v1`, or a job that the call waits for or follows. That goes on in the background; leaving `with` waits for it.
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
        self._client = AsyncForecue(
            base_url,
            app_key=app_key,
            credential=credential,
            on_tokens=on_tokens,
            timeout=timeout,
            retries=retries,
            ssl_context=ssl_context,
        )
        # Sockets of a client that nobody closed are closed by the thread that they belong to.
        weakref.finalize(self, _background.call_soon, self._client._transport.close)

    def __enter__(self) -> "Forecue":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Waits until what was cancelled is cancelled on the server, and closes the connections."""
        _run(self._client.aclose)

    def follow(self, job_id: str, **options: Unpack[SyncCallOptions]) -> Iterator[shapes.JobEvent]:
        """Follows a job that was started before. Leaving the loop does not cancel it."""
        return _iterate(lambda: self._client.follow(job_id, **without(options, "cancellation")), options)

    def _call(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> Any:
        rest = without(options, "cancellation")
        return _run(lambda: self._client._call(name, ids, given, rest), options.get("cancellation"))

    def _start(self, name: str, given: Any, options: Any) -> Any:
        rest = without(options, "cancellation")
        return _run(lambda: self._client._start(name, given, rest), options.get("cancellation"))

    def _lines(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> Iterator[Any]:
        return _iterate(lambda: self._client._lines(name, ids, given, without(options, "cancellation")), options)

    def _stream(self, name: str, given: Any, options: Any) -> Iterator[Any]:
        return _iterate(lambda: self._client._stream(name, given, without(options, "cancellation")), options)


_END = object()


def _iterate(begin: Callable[[], AsyncIterator[Any]], options: Any) -> Iterator[Any]:
    items: Any = begin()
    step: Optional[asyncio.Task[Any]] = None

    async def take() -> Any:
        nonlocal step
        step = asyncio.current_task()
        async for item in items:
            return item
        return _END

    async def end(is_cancelled: bool) -> None:
        if step is not None:
            await asyncio.wait({step})
        if is_cancelled:
            try:
                await items.athrow(asyncio.CancelledError())
            except (asyncio.CancelledError, StopAsyncIteration):
                pass
        await items.aclose()

    is_cancelled = True
    try:
        while True:
            item = _run(take, options.get("cancellation"))
            if item is _END:
                return
            is_cancelled = False
            yield item
            is_cancelled = True
    finally:
        _run(lambda: end(is_cancelled))
