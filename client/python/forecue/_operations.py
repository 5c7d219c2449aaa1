from __future__ import annotations

import json
import re
from typing import Any, Callable, Dict, FrozenSet, Mapping, NamedTuple, Optional, Tuple, TypedDict
from urllib.parse import quote, urlencode

from ._generated.operations import OPERATIONS
from ._http import Response


class CallOptions(TypedDict, total=False):
    """Options of every call, given by name after its own arguments."""

    #: Time limit of the call with its retries, in seconds: by default 30, for a reply 60, for a job 300.
    timeout: float
    #: Maximum number of retries; 3 by default.
    retries: int
    #: Key by which the server recognises a repeated request. By default generated for each call that takes a key.
    idempotency_key: Optional[str]
    #: Called with each answer, before its body is read. It must not block.
    on_response: Callable[[Response], None]


class _Omitted:
    def __repr__(self) -> str:
        return "OMITTED"


#: Default of an argument that is left out of the request, where None would say something else.
OMITTED: Any = _Omitted()


class Call(NamedTuple):
    """One use of an operation."""

    name: str
    method: str
    path: str
    body: Any
    #: Any of `body`, `query`, `lines` (answers JSON Lines), `open` (needs no credential), `keyed` (takes an
    #: `Idempotency-Key`) and `job` (starts a job).
    flags: FrozenSet[str]
    options: CallOptions


def call_of(name: str, ids: Tuple[str, ...], given: Any, options: CallOptions) -> Call:
    """Raises a `ValueError` for an id that no path can carry, and a `TypeError` for an unknown option."""
    unknown = options.keys() - CallOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
    method, template, *words = OPERATIONS[name].split(" ")
    flags = frozenset(words)
    rest = list(ids)
    path = re.sub(r"\{(\w+)\}", lambda match: _segment_of(match[1], rest.pop(0)), template)
    if isinstance(given, dict):
        given = {key: value for key, value in given.items() if value is not OMITTED}
    if "query" in flags and given:
        path += "?" + urlencode({key: _text_of(value) for key, value in given.items()})
    return Call(name, method, path, given if "body" in flags else None, flags, options)


def json_bytes(body: Any) -> Optional[bytes]:
    """A lone surrogate becomes its JSON escape, which the server refuses by the field's name."""
    if body is None:
        return None
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def idempotency_headers(options: CallOptions) -> Dict[str, str]:
    """Raises a `ValueError` for a key that no header can carry."""
    key = options.get("idempotency_key")
    if key is None:
        return {}
    if not re.fullmatch(r"[\x20-\x7e]*", key):
        raise ValueError("idempotency_key: only printable characters of ASCII can be sent")
    return {"idempotency-key": key}


def without(options: Mapping[str, Any], *names: str) -> Any:
    return {name: value for name, value in options.items() if name not in names}


def _segment_of(parameter: str, value: object) -> str:
    """Refuses dot segments: proxies fold "." and "..", so the path would address something else."""
    if isinstance(value, str) and value not in ("", ".", ".."):
        return quote(value, safe="")
    raise ValueError(f'{parameter}: a text other than "", "." and ".." is needed')


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
