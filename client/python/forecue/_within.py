from __future__ import annotations

import asyncio
from typing import Any, Coroutine, TypeVar

from ._errors import ForecueError

T = TypeVar("T")


async def within(seconds: float, work: "Coroutine[Any, Any, T]") -> T:
    """Settles like `work`, or raises the error `timeout`. Work that is late, or whose caller is cancelled, is
    cancelled. Unlike `asyncio.wait_for` before Python 3.12, it never swallows a cancellation."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(_retrieve)
    try:
        done, _ = await asyncio.wait({task}, timeout=max(0.0, seconds))
        if not done:
            raise ForecueError("timeout")
        return task.result()
    finally:
        task.cancel()


def _retrieve(task: "asyncio.Task[Any]") -> None:
    """Keeps asyncio from reporting an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
