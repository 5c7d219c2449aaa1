from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, List, Literal, Mapping, Optional, TypedDict, Union, cast

from ._generated.errors import MESSAGES, ServerCode

ErrorCode = Union[
    ServerCode,
    # 422: `fields` lists what is wrong.
    Literal["validation_error"],
    # No answer came, or only a part of one.
    Literal["network_error"],
    # The call took longer than its `timeout`.
    Literal["timeout"],
    # Something other than Forecue answered: a proxy, a login page.
    Literal["unexpected_response"],
    # A person came back from the consent page with an attempt that is not theirs.
    Literal["invalid_state"],
]

Remedy = Literal["retry", "authenticate", "upgrade", "connect", "new_id", "fix_request", "report"]

# Codes after which the same request can succeed later.
_RETRYABLE = frozenset(
    {
        "network_error",
        "timeout",
        "rate_limited",
        "overloaded",
        "service_unavailable",
        "request_in_flight",
        "request_timeout",
        "provider_rate_limited",
        "provider_failed",
        "prediction_timeout",
        "job_timeout",
    }
)

_REMEDIES: Mapping[str, Remedy] = {
    "sandbox_exhausted": "upgrade",
    "monthly_cap_reached": "upgrade",
    "quota_exceeded": "upgrade",
    "invalid_app_key": "authenticate",
    "not_authenticated": "authenticate",
    "token_expired": "authenticate",
    "invalid_credentials": "authenticate",
    "fresh_login_required": "authenticate",
    "connection_revoked": "connect",
    "connection_attempt_expired": "connect",
    "invalid_state": "connect",
    "idempotency_conflict": "new_id",
    "event_conflict": "new_id",
    "recovery_window_expired": "new_id",
    "prediction_cancelled": "new_id",
    "prediction_superseded": "new_id",
    "job_cancelled": "new_id",
    "internal_error": "report",
    "provider_not_configured": "report",
    "feature_disabled": "report",
    "unexpected_response": "report",
}


class FieldFault(TypedDict, total=False):
    """A faulty field of a request, and its first fault."""

    loc: List[Union[str, int]]
    msg: str
    type: str
    ctx: Mapping[str, Any]


class ForecueError(Exception):
    """Failure of a call. Contains no value that was sent."""

    def __init__(
        self,
        code: ErrorCode,
        *,
        status: int = 0,
        message: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
        fields: Optional[List[FieldFault]] = None,
    ) -> None:
        super().__init__(message or MESSAGES.get(code, code.replace("_", " ")))
        self.code: ErrorCode = code
        #: HTTP status; 0 if there was no answer.
        self.status = status
        #: `X-Request-Id` of the answer: give it to the people who run the server.
        self.request_id = request_id
        #: Seconds after which to try again, if the server says so.
        self.retry_after = retry_after
        #: Faults by field, for a `validation_error`.
        self.fields: List[FieldFault] = fields or []

    @property
    def remedy(self) -> Remedy:
        """What can help: retry later, a new credential, a larger plan, a new connection, a new id, another request,
        or to tell the people who run the server."""
        return "retry" if self.code in _RETRYABLE else _REMEDIES.get(self.code, "fix_request")


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> ForecueError:
    facts: Any = {
        "status": status,
        "request_id": headers.get("x-request-id"),
        "retry_after": _retry_after_of(headers),
    }
    detail = _detail_of(body)
    if isinstance(detail, list):
        # `input`, a value that was sent, is left out.
        fields = [cast(FieldFault, {key: one[key] for key in _FAULT_KEYS if key in one}) for one in detail]
        message = "; ".join(f"{_path_of(one['loc'])}: {one['msg']}" for one in fields)
        return ForecueError("validation_error", message=message, fields=fields, **facts)
    if detail is None:
        message = f"answered {status}, and not as Forecue does"
        return ForecueError("unexpected_response", message=message, **facts)
    return ForecueError(detail["code"], message=detail.get("message"), **facts)


_FAULT_KEYS = ("loc", "msg", "type", "ctx")


def error_of_event(data: Any) -> ForecueError:
    """Builds the error from the data of an `error` event in a job's stream."""
    return ForecueError(data["detail"]["code"], status=200, message=data["detail"]["message"])


def _path_of(loc: List[Union[str, int]]) -> str:
    return ".".join(str(one) for one in loc[1:]) or str(loc[0])


def _detail_of(body: bytes) -> Any:
    """Returns None if the body is not Forecue's."""
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    is_code = isinstance(detail, dict) and isinstance(detail.get("code"), str)
    return detail if is_code or isinstance(detail, list) and all(map(_is_fault, detail)) else None


def _is_fault(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    loc = value.get("loc")
    return isinstance(loc, list) and len(loc) > 0 and isinstance(value.get("msg"), str)


def _retry_after_of(headers: Mapping[str, str]) -> Optional[int]:
    """Returns seconds. A proxy may send a date, which is compared with the answer's `Date` header."""
    header = headers.get("retry-after", "")
    if header.isascii() and header.isdigit():
        return int(header)
    until = _timestamp_of(header)
    if until is None:
        return None
    sent = _timestamp_of(headers.get("date", ""))
    return max(0, -int(((sent if sent is not None else time.time()) - until) // 1))


def _timestamp_of(date: str) -> Optional[float]:
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, IndexError):
        return None
