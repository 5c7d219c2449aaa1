"""The client of Forecue, which predicts what a person will type next.

>>> from forecue import Forecue
>>> with Forecue("https://forecue.example.com", app_key=key) as forecue:
...     prediction = forecue.predict(
...         user_id="user-17",
...         session_id="chat-3",
...         mode="complete_draft",
...         draft={"text": "Thank you for the ", "revision": 1},
...         context_revision="1",
...     )
"""

from ._client import AsyncForecue
from ._connect import AsyncConnector, Connector
from ._errors import ErrorCode, FieldFault, ForecueError, Remedy
from ._generated import shapes
from ._http import Response
from ._operations import CallOptions
from ._session import Tokens
from ._sync import Cancellation, Forecue, SyncCallOptions

__all__ = [
    "AsyncConnector",
    "AsyncForecue",
    "CallOptions",
    "Cancellation",
    "Connector",
    "ErrorCode",
    "FieldFault",
    "Forecue",
    "ForecueError",
    "Remedy",
    "Response",
    "SyncCallOptions",
    "Tokens",
    "shapes",
]
