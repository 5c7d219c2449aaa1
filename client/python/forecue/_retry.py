from __future__ import annotations

import random
from typing import Optional

from ._errors import ForecueError

# Upper limit of the first random pause, in seconds. The limit doubles with each retry, up to `_LONGEST_PAUSE`.
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
# Maximum number of retries in the budget, which all calls of a client share.
_RETRY_BUDGET = 20.0
# Share of a retry that a successful call adds to the budget: five successes pay for one retry.
_EARNED_PER_SUCCESS = 0.2

# Codes of requests that were refused before anything was done: always safe to repeat.
_REFUSED_CODES = frozenset({"rate_limited", "overloaded", "request_timeout"})
# Codes of transient failures: safe to repeat if the server recognises a repeated request.
_TRANSIENT_CODES = frozenset({"network_error", "service_unavailable", "request_in_flight", "provider_rate_limited"})
_GATEWAY_STATUSES = frozenset({500, 502, 503, 504, 520, 521, 522, 523, 524})


class Retries:
    """Backs off exponentially with full jitter, within a budget that all calls of a client share."""

    def __init__(self) -> None:
        self._left = _RETRY_BUDGET

    def earn(self) -> None:
        self._left = min(_RETRY_BUDGET, self._left + _EARNED_PER_SUCCESS)

    def take_pause(self, error: ForecueError, attempt: int, repeatable: bool, left: float) -> Optional[float]:
        """Takes a retry from the budget, and returns the pause before it in seconds; None if none is allowed."""
        if self._left < 1 or not _is_retryable(error, repeatable):
            return None
        pause = (error.retry_after or 0) + pause_of(attempt)
        if pause >= left:
            return None
        self._left -= 1
        return pause


def pause_of(attempt: int) -> float:
    """Returns a random pause in seconds: exponential backoff with full jitter. `attempt` counts from 0."""
    return random.random() * min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**attempt)


def _is_retryable(error: ForecueError, repeatable: bool) -> bool:
    if error.code in _REFUSED_CODES:
        return True
    from_gateway = error.code == "unexpected_response" and error.status in _GATEWAY_STATUSES
    return repeatable and (error.code in _TRANSIENT_CODES or from_gateway)
