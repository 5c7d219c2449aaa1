# Generated from docs/openapi.json by client/generate.ts: `npm run openapi`.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, List, Literal, Sequence, Tuple, Union, overload

from .._operations import OMITTED
from . import shapes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._operations import CallOptions
    from .._sync import SyncCallOptions


class AsyncMethods:
    """The operations of the server's `/openapi.json`."""

    async def _call(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> Any:
        raise NotImplementedError

    async def _start(self, name: str, given: Any, options: Any) -> Any:
        raise NotImplementedError

    def _lines(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError

    def _stream(self, name: str, given: Any, options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError

    async def start_connection(
        self,
        *,
        user_id: str,
        redirect_uri: str,
        state: str,
        code_challenge: str,
        **options: Unpack[CallOptions]
    ) -> shapes.ConnectionStartResponse:
        """Start to connect a user of the app.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_redirect_uri`, `invalid_app_key`, `feature_disabled`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("start_connection", (), {"user_id": user_id, "redirect_uri": redirect_uri, "state": state, "code_challenge": code_challenge}, options)

    async def exchange_connection(
        self,
        *,
        request_id: str,
        user_id: str,
        code: str,
        code_verifier: str,
        redirect_uri: str,
        **options: Unpack[CallOptions]
    ) -> shapes.ConnectionExchangeResponse:
        """Exchange the returned code for a connection.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_grant`, `authorization_pending`, `invalid_app_key`, `access_denied`, `connection_revoked`, `not_found`, `feature_disabled`, `connection_attempt_expired`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("exchange_connection", (), {"request_id": request_id, "user_id": user_id, "code": code, "code_verifier": code_verifier, "redirect_uri": redirect_uri}, options)

    async def revoke_connection(
        self,
        connection_id: str,
        *,
        user_id: str,
        **options: Unpack[CallOptions]
    ) -> shapes.RevokeResponse:
        """End a connection.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("revoke_connection", (connection_id,), {"user_id": user_id}, options)

    async def predict(
        self,
        *,
        request_id: str = OMITTED,
        user_id: str,
        session_id: str,
        mode: Literal["complete_draft", "next_prompt"],
        draft: shapes.PredictionRequestDraft,
        context_revision: str,
        artifact: Union[shapes.Artifact, None] = OMITTED,
        connection_id: Union[str, None] = OMITTED,
        language: str = OMITTED,
        messages: Sequence[shapes.Message] = OMITTED,
        user_preferences: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> Union[shapes.PredictionResponse, shapes.EndedPrediction]:
        """Predict what the person will type next.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `sandbox_exhausted`, `monthly_cap_reached`, `access_denied`, `connection_revoked`, `not_found`, `feature_disabled`, `idempotency_conflict`, `request_in_flight`, `context_revision_conflict`, `recovery_window_expired`, `body_too_large`, `context_too_large`, `rate_limited`, `prediction_cancelled`, `prediction_superseded`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `provider_rate_limited`, `prediction_timeout`.
        """
        return await self._call("predict", (), {"request_id": request_id, "user_id": user_id, "session_id": session_id, "mode": mode, "draft": draft, "context_revision": context_revision, "artifact": artifact, "connection_id": connection_id, "language": language, "messages": messages, "user_preferences": user_preferences}, options)

    async def cancel_prediction(
        self,
        request_id: str,
        *,
        user_id: str,
        **options: Unpack[CallOptions]
    ) -> shapes.CancelResponse:
        """Cancel a prediction, or learn how it ended.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("cancel_prediction", (request_id,), {"user_id": user_id}, options)

    async def record_prediction_event(
        self,
        *,
        event_id: str = OMITTED,
        request_id: str,
        user_id: str,
        kind: Literal["presented", "accepted", "edited", "dismissed", "submitted"],
        **options: Unpack[CallOptions]
    ) -> shapes.PredictionEventResponse:
        """Report what became of a prediction.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `request_in_flight`, `event_conflict`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("record_prediction_event", (), {"event_id": event_id, "request_id": request_id, "user_id": user_id, "kind": kind}, options)

    async def read_usage(self, *, month: str = OMITTED, **options: Unpack[CallOptions]) -> shapes.UsageResponse:
        """What the app used in a month.

        Errors: `invalid_request`, `invalid_month`, `invalid_app_key`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_usage", (), {"month": month}, options)

    async def sign_up(
        self,
        *,
        email: str,
        password: str,
        name: str = OMITTED,
        invite_code: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.LoginResponse:
        """Create an account.

        Errors: `invalid_json`, `invalid_content_type`, `invite_required`, `email_taken`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("sign_up", (), {"email": email, "password": password, "name": name, "invite_code": invite_code}, options)

    async def log_in(self, *, email: str, password: str, **options: Unpack[CallOptions]) -> shapes.LoginResponse:
        """Log in with e-mail address and password.

        Errors: `invalid_json`, `invalid_content_type`, `invalid_credentials`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("log_in", (), {"email": email, "password": password}, options)

    async def log_out(
        self,
        *,
        refresh: str = OMITTED,
        all: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.LogoutResponse:
        """End a refresh token of the account, or all of its log-ins.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("log_out", (), {"refresh": refresh, "all": all}, options)

    async def refresh_token(self, *, refresh: str, **options: Unpack[CallOptions]) -> shapes.AccessResponse:
        """Get a new access token.

        Errors: `invalid_json`, `invalid_content_type`, `not_authenticated`, `body_too_large`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("refresh_token", (), {"refresh": refresh}, options)

    async def validate_invite(self, *, code: str, **options: Unpack[CallOptions]) -> shapes.InviteResponse:
        """Is this invite code good for signing up?

        Errors: `invalid_json`, `invalid_content_type`, `body_too_large`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("validate_invite", (), {"code": code}, options)

    async def join_waitlist(self, *, email: str, **options: Unpack[CallOptions]) -> shapes.WaitlistResponse:
        """Put an e-mail address on the waitlist.

        Errors: `invalid_json`, `invalid_content_type`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("join_waitlist", (), {"email": email}, options)

    async def read_account(self, **options: Unpack[CallOptions]) -> shapes.UserResponse:
        """The account.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_account", (), None, options)

    async def change_account(
        self,
        *,
        name: str = OMITTED,
        precision_target: Union[float, None] = OMITTED,
        threshold_floor: Union[float, None] = OMITTED,
        password: str = OMITTED,
        current_password: str = OMITTED,
        revoke_keys: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.UserResponse:
        """Change name, password, target or floor.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_account", (), {"name": name, "precision_target": precision_target, "threshold_floor": threshold_floor, "password": password, "current_password": current_password, "revoke_keys": revoke_keys}, options)

    async def erase_account(self, **options: Unpack[CallOptions]) -> None:
        """Erase the account and all that belongs to it.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("erase_account", (), None, options)

    def export_account(self, **options: Unpack[CallOptions]) -> AsyncIterator[shapes.ExportLine]:
        """Everything of the account, one JSON object a line.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._lines("export_account", (), None, options)

    async def change_email(self, *, email: str, current_password: str, **options: Unpack[CallOptions]) -> None:
        """Ask for another e-mail address of the account.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `feature_disabled`, `email_taken`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_email", (), {"email": email, "current_password": current_password}, options)

    async def list_own_log_ins(self, **options: Unpack[CallOptions]) -> shapes.LogInList:
        """The log-ins of the account, the latest used first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_own_log_ins", (), None, options)

    async def end_all_other_log_ins(self, **options: Unpack[CallOptions]) -> None:
        """End every log-in but this one.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("end_all_other_log_ins", (), None, options)

    async def end_one_log_in(self, id: str, **options: Unpack[CallOptions]) -> None:
        """End a log-in.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("end_one_log_in", (id,), None, options)

    async def list_passkeys(self, **options: Unpack[CallOptions]) -> shapes.PasskeyList:
        """The passkeys of the account, the oldest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_passkeys", (), None, options)

    async def add_passkey(
        self,
        *,
        name: str,
        credential: shapes.PasskeyAttestation,
        **options: Unpack[CallOptions]
    ) -> shapes.PasskeyResponse:
        """Add a passkey, to log in with beside the password.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("add_passkey", (), {"name": name, "credential": credential}, options)

    async def start_passkey(self, **options: Unpack[CallOptions]) -> shapes.PasskeyCreation:
        """Options to make a passkey with.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("start_passkey", (), None, options)

    async def rename_passkey(self, id: str, *, name: str, **options: Unpack[CallOptions]) -> shapes.PasskeyResponse:
        """Rename a passkey.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("rename_passkey", (id,), {"name": name}, options)

    async def remove_passkey(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Remove a passkey, which logs in no more.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("remove_passkey", (id,), None, options)

    async def list_keys(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        brought: Literal["true", "false"] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.KeyList:
        """The keys of the account, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_keys", (), {"limit": limit, "cursor": cursor, "brought": brought}, options)

    async def issue_key(
        self,
        *,
        label: str,
        scopes: Sequence[Literal["read", "predict", "write", "forget", "decide", "record"]] = OMITTED,
        threshold_floor: float = OMITTED,
        expires_at: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.NewKeyResponse:
        """Issue a key.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("issue_key", (), {"label": label, "scopes": scopes, "threshold_floor": threshold_floor, "expires_at": expires_at}, options)

    async def read_key(self, key_id: str, **options: Unpack[CallOptions]) -> shapes.KeyResponse:
        """One key.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_key", (key_id,), None, options)

    async def revoke_key(self, key_id: str, **options: Unpack[CallOptions]) -> None:
        """Revoke a key.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("revoke_key", (key_id,), None, options)

    async def list_own_grants(self, **options: Unpack[CallOptions]) -> shapes.GrantList:
        """The programs that have logged in to the account by OAuth, the latest used first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_own_grants", (), None, options)

    async def narrow_own_grant(
        self,
        id: str,
        *,
        scopes: Sequence[Literal["read", "predict", "write", "forget", "decide", "record"]],
        **options: Unpack[CallOptions]
    ) -> shapes.GrantResponse:
        """Leave a program fewer scopes.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("narrow_own_grant", (id,), {"scopes": scopes}, options)

    async def revoke_own_grant(self, id: str, **options: Unpack[CallOptions]) -> None:
        """End what a program may do.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("revoke_own_grant", (id,), None, options)

    async def list_apps(self, **options: Unpack[CallOptions]) -> shapes.AppList:
        """The apps of the account, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_apps", (), None, options)

    async def create_app(
        self,
        *,
        name: str,
        redirect_uris: Sequence[str] = OMITTED,
        native: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.NewAppResponse:
        """Make an app.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("create_app", (), {"name": name, "redirect_uris": redirect_uris, "native": native}, options)

    async def read_app(self, app_id: str, **options: Unpack[CallOptions]) -> shapes.AppDetail:
        """An app: its keys, what it used, why it was refused, and how many people are connected.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_app", (app_id,), None, options)

    async def change_app(
        self,
        app_id: str,
        *,
        name: str = OMITTED,
        redirect_uris: Sequence[str] = OMITTED,
        native: bool = OMITTED,
        min_confidence: float = OMITTED,
        supersede: bool = OMITTED,
        on_disconnect: Literal["continue", "cancel"] = OMITTED,
        switched_off: Sequence[Literal["predictions", "connections", "complete_draft", "next_prompt"]] = OMITTED,
        monthly_cap_cents: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.AppResponse:
        """Change an app; each ingress follows within a second.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_app", (app_id,), {"name": name, "redirect_uris": redirect_uris, "native": native, "min_confidence": min_confidence, "supersede": supersede, "on_disconnect": on_disconnect, "switched_off": switched_off, "monthly_cap_cents": monthly_cap_cents}, options)

    async def delete_app(self, app_id: str, **options: Unpack[CallOptions]) -> None:
        """End an app for good: its keys are refused within two seconds.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("delete_app", (app_id,), None, options)

    async def rotate_app_key(
        self,
        app_id: str,
        *,
        grace_s: int,
        **options: Unpack[CallOptions]
    ) -> shapes.NewAppKeyResponse:
        """Issue a new key for an app, and end its older ones after `grace_s`.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("rotate_app_key", (app_id,), {"grace_s": grace_s}, options)

    async def read_changes(self, **options: Unpack[CallOptions]) -> shapes.ChangesResponse:
        """What has changed of the account.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_changes", (), None, options)

    async def list_webhooks(self, *, app_id: str = OMITTED, **options: Unpack[CallOptions]) -> shapes.WebhookList:
        """The webhooks of the account and of its apps, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_webhooks", (), {"app_id": app_id}, options)

    async def create_webhook(
        self,
        *,
        url: str,
        events: Sequence[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]],
        app_id: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.NewWebhookResponse:
        """Have events sent to an address.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("create_webhook", (), {"url": url, "events": events, "app_id": app_id}, options)

    async def read_webhook(self, webhook_id: str, **options: Unpack[CallOptions]) -> shapes.WebhookResponse:
        """One webhook.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_webhook", (webhook_id,), None, options)

    async def change_webhook(
        self,
        webhook_id: str,
        *,
        url: str = OMITTED,
        events: Sequence[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]] = OMITTED,
        active: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.WebhookResponse:
        """Change a webhook, pause it, or begin anew after it was disabled.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_webhook", (webhook_id,), {"url": url, "events": events, "active": active}, options)

    async def remove_webhook(self, webhook_id: str, **options: Unpack[CallOptions]) -> None:
        """Delete a webhook with its deliveries.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("remove_webhook", (webhook_id,), None, options)

    async def rotate_webhook_secret(
        self,
        webhook_id: str,
        *,
        grace_s: int,
        **options: Unpack[CallOptions]
    ) -> shapes.WebhookSecretResponse:
        """Make a new secret; for `grace_s` the present one signs as well.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("rotate_webhook_secret", (webhook_id,), {"grace_s": grace_s}, options)

    async def list_webhook_deliveries(
        self,
        webhook_id: str,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        state: Literal["pending", "delivered", "failed"] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.DeliveryList:
        """What was sent to a webhook, and is to be, in the last seven days, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_webhook_deliveries", (webhook_id,), {"limit": limit, "cursor": cursor, "state": state}, options)

    async def replay_webhook_deliveries(
        self,
        webhook_id: str,
        *,
        delivery_ids: Sequence[str] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ReplayResponse:
        """Send deliveries again: those named, or the latest that failed, a thousand at most.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("replay_webhook_deliveries", (webhook_id,), {"delivery_ids": delivery_ids}, options)

    async def list_own_connections(self, **options: Unpack[CallOptions]) -> shapes.ConnectionList:
        """The connections to the account, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_own_connections", (), None, options)

    async def read_own_connection(self, id: str, **options: Unpack[CallOptions]) -> shapes.ConnectionDetail:
        """A connection, and what the app used it for in the last 35 days.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_own_connection", (id,), None, options)

    async def change_own_connection(
        self,
        id: str,
        *,
        scope: shapes.ConnectionChangeScope = OMITTED,
        ends_at: Union[str, None] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ConnectionDetail:
        """Change what an app may use, and until when.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `connection_revoked`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_own_connection", (id,), {"scope": scope, "ends_at": ends_at}, options)

    async def revoke_own_connection(self, id: str, **options: Unpack[CallOptions]) -> None:
        """End a connection.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("revoke_own_connection", (id,), None, options)

    async def record_events(
        self,
        body: Sequence[Union[shapes.RecordEventsSessionStarted, shapes.RecordEventsSessionStopped, shapes.RecordEventsAgentPrompt, shapes.RecordEventsAgentMessage, shapes.RecordEventsUserReply, shapes.RecordEventsUserMessage, shapes.RecordEventsNote, shapes.RecordEventsAgentPermission, shapes.CustomEvent]],
        **options: Unpack[CallOptions]
    ) -> shapes.RecordingReceipt:
        """Record a batch of events.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("record_events", (), body, options)

    async def read_event(self, id: str, **options: Unpack[CallOptions]) -> shapes.StoredEvent:
        """One event.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_event", (id,), None, options)

    async def list_sessions(self, **options: Unpack[CallOptions]) -> shapes.SessionList:
        """The 50 most recent sessions.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_sessions", (), None, options)

    async def list_session_events(
        self,
        id: str,
        *,
        limit: int = OMITTED,
        after: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.SessionEvents:
        """The events of a session, the oldest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("list_session_events", (id,), {"limit": limit, "after": after}, options)

    async def list_raw_memory(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        tag: str = OMITTED,
        project: str = OMITTED,
        q: str = OMITTED,
        session_id: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.RawMemoryPage:
        """The raw rows, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("list_raw_memory", (), {"limit": limit, "cursor": cursor, "since": since, "until": until, "tag": tag, "project": project, "q": q, "session_id": session_id}, options)

    @overload
    async def add_raw_memory(self, body: shapes.RawMemoryRequest, **options: Unpack[CallOptions]) -> shapes.RawMemoryResponse: ...

    @overload
    async def add_raw_memory(self, body: Sequence[shapes.RawMemoryRequest], **options: Unpack[CallOptions]) -> List[shapes.RawMemoryResponse]: ...

    async def add_raw_memory(self, body: Any, **options: Any) -> Any:
        """Add a raw row, or up to 200 of them.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("add_raw_memory", (), body, options)

    async def read_raw_memory(self, id: str, **options: Unpack[CallOptions]) -> shapes.RawMemoryResponse:
        """One raw row.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_raw_memory", (id,), None, options)

    async def delete_raw_memory(
        self,
        id: str,
        *,
        purge_event: Literal["true", "false"] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.DeletionReceipt:
        """Forget a raw row, and what was derived from it alone.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("delete_raw_memory", (id,), {"purge_event": purge_event}, options)

    async def list_episodes(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        tag: str = OMITTED,
        project: str = OMITTED,
        q: str = OMITTED,
        session_id: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.EpisodePage:
        """The episodes, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("list_episodes", (), {"limit": limit, "cursor": cursor, "since": since, "until": until, "tag": tag, "project": project, "q": q, "session_id": session_id}, options)

    @overload
    async def add_episodes(self, body: shapes.EpisodeRequest, **options: Unpack[CallOptions]) -> shapes.EpisodeResponse: ...

    @overload
    async def add_episodes(self, body: Sequence[shapes.EpisodeRequest], **options: Unpack[CallOptions]) -> List[shapes.EpisodeResponse]: ...

    async def add_episodes(self, body: Any, **options: Any) -> Any:
        """Add an episode, or up to 200 of them.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("add_episodes", (), body, options)

    async def read_episode(self, id: str, **options: Unpack[CallOptions]) -> shapes.EpisodeResponse:
        """One episode.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_episode", (id,), None, options)

    async def change_episode(
        self,
        id: str,
        *,
        title: str = OMITTED,
        summary: str = OMITTED,
        started_at: str = OMITTED,
        ended_at: str = OMITTED,
        status: Literal["draft", "final"] = OMITTED,
        raw_ids: Sequence[str] = OMITTED,
        project: Union[str, None] = OMITTED,
        tags: Sequence[str] = OMITTED,
        salience: float = OMITTED,
        model: Union[str, None] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.EpisodeResponse:
        """Change the given properties of an episode.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_episode", (id,), {"title": title, "summary": summary, "started_at": started_at, "ended_at": ended_at, "status": status, "raw_ids": raw_ids, "project": project, "tags": tags, "salience": salience, "model": model}, options)

    async def delete_episode(self, id: str, **options: Unpack[CallOptions]) -> shapes.DeletionReceipt:
        """Forget an episode, and the facts that were derived from it alone.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("delete_episode", (id,), None, options)

    async def list_facts(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        tag: str = OMITTED,
        project: str = OMITTED,
        q: str = OMITTED,
        revision_of: str = OMITTED,
        superseded_by: str = OMITTED,
        pinned: Literal["true", "false"] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.FactPage:
        """The facts, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("list_facts", (), {"limit": limit, "cursor": cursor, "since": since, "until": until, "tag": tag, "project": project, "q": q, "revision_of": revision_of, "superseded_by": superseded_by, "pinned": pinned}, options)

    @overload
    async def add_facts(self, body: shapes.FactRequest, **options: Unpack[CallOptions]) -> shapes.FactResponse: ...

    @overload
    async def add_facts(self, body: Sequence[shapes.FactRequest], **options: Unpack[CallOptions]) -> List[shapes.FactResponse]: ...

    async def add_facts(self, body: Any, **options: Any) -> Any:
        """Add a fact, or up to 200 of them.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("add_facts", (), body, options)

    async def read_fact(self, id: str, **options: Unpack[CallOptions]) -> shapes.FactDetail:
        """One fact, with what it is derived from.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_fact", (id,), None, options)

    async def change_fact(
        self,
        id: str,
        *,
        text: str = OMITTED,
        kind: Union[str, None] = OMITTED,
        tags: Sequence[str] = OMITTED,
        confidence: float = OMITTED,
        episode_ids: Sequence[str] = OMITTED,
        valid_from: Union[str, None] = OMITTED,
        valid_to: Union[str, None] = OMITTED,
        superseded_by: Union[str, None] = OMITTED,
        pinned: bool = OMITTED,
        model: Union[str, None] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.FactResponse:
        """Change the given properties of a fact.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_fact", (id,), {"text": text, "kind": kind, "tags": tags, "confidence": confidence, "episode_ids": episode_ids, "valid_from": valid_from, "valid_to": valid_to, "superseded_by": superseded_by, "pinned": pinned, "model": model}, options)

    async def delete_fact(self, id: str, **options: Unpack[CallOptions]) -> shapes.DeletionReceipt:
        """Forget a fact, and its former wordings.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("delete_fact", (id,), None, options)

    async def read_profile(self, **options: Unpack[CallOptions]) -> shapes.ProfileResponse:
        """The profile.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_profile", (), None, options)

    async def write_profile(
        self,
        *,
        data: Dict[str, Any] = OMITTED,
        summary: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ProfileResponse:
        """Replace the given parts of the profile.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("write_profile", (), {"data": data, "summary": summary}, options)

    async def delete_profile(self, **options: Unpack[CallOptions]) -> None:
        """Delete the profile.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("delete_profile", (), None, options)

    async def forget_memory(
        self,
        *,
        tier: Literal["raw", "episodes", "facts"],
        ids: Sequence[str],
        purge_event: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ForgetReceipt:
        """Forget up to 100 rows of a tier, with one receipt.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("forget_memory", (), {"tier": tier, "ids": ids, "purge_event": purge_event}, options)

    async def assemble_context(
        self,
        *,
        query: str = OMITTED,
        goal: str = OMITTED,
        tags: Sequence[str] = OMITTED,
        recency_minutes: Union[int, None] = OMITTED,
        max_facts: int = OMITTED,
        max_episodes: int = OMITTED,
        max_raw: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ContextResponse:
        """What is known about the account and what it did lately, for one question.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("assemble_context", (), {"query": query, "goal": goal, "tags": tags, "recency_minutes": recency_minutes, "max_facts": max_facts, "max_episodes": max_episodes, "max_raw": max_raw}, options)

    async def read_memory_stats(self, *, since: str = OMITTED, **options: Unpack[CallOptions]) -> shapes.MemoryStats:
        """How many rows each tier has, and when it last changed.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_memory_stats", (), {"since": since}, options)

    async def sync_memory(
        self,
        *,
        since: str = OMITTED,
        session_id: str = OMITTED,
        limit: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.SyncResult:
        """Take recorded events into memory.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `job_cancelled`, `overloaded`, `service_unavailable`, `job_timeout`.
        """
        return await self._call("sync_memory", (), {"since": since, "session_id": session_id, "limit": limit}, options)

    async def start_sync_memory(
        self,
        *,
        since: str = OMITTED,
        session_id: str = OMITTED,
        limit: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `sync_memory` without waiting for it."""
        return await self._start("sync_memory", {"since": since, "session_id": session_id, "limit": limit}, options)

    def stream_sync_memory(
        self,
        *,
        since: str = OMITTED,
        session_id: str = OMITTED,
        limit: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> AsyncIterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.SyncMemoryDone]]:
        """Starts the job of `sync_memory` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("sync_memory", {"since": since, "session_id": session_id, "limit": limit}, options)

    async def promote_episodes(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.PromoteResult:
        """Summarise raw rows in episodes.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `job_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `job_timeout`.
        """
        return await self._call("promote_episodes", (), {"since": since, "limit": limit, "model": model, "force": force}, options)

    async def start_promote_episodes(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `promote_episodes` without waiting for it."""
        return await self._start("promote_episodes", {"since": since, "limit": limit, "model": model, "force": force}, options)

    def stream_promote_episodes(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> AsyncIterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.PromoteEpisodesDone]]:
        """Starts the job of `promote_episodes` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("promote_episodes", {"since": since, "limit": limit, "model": model, "force": force}, options)

    async def promote_facts(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.PromoteResult:
        """Distil facts from episodes.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `job_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `job_timeout`.
        """
        return await self._call("promote_facts", (), {"since": since, "limit": limit, "model": model, "force": force}, options)

    async def start_promote_facts(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `promote_facts` without waiting for it."""
        return await self._start("promote_facts", {"since": since, "limit": limit, "model": model, "force": force}, options)

    def stream_promote_facts(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> AsyncIterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.PromoteFactsDone]]:
        """Starts the job of `promote_facts` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("promote_facts", {"since": since, "limit": limit, "model": model, "force": force}, options)

    async def predict_reply(
        self,
        *,
        agent: str,
        agent_input: str,
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        session_id: Union[str, None] = OMITTED,
        trial: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ReplyResponse:
        """Predict what the person would reply to an agent.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `prediction_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `prediction_timeout`.
        """
        return await self._call("predict_reply", (), {"agent": agent, "agent_input": agent_input, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes, "session_id": session_id, "trial": trial}, options)

    async def predict_replies(
        self,
        *,
        prompts: Sequence[shapes.BatchRequestPrompts],
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.BatchResponse:
        """Predict the replies to many prompts.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `job_cancelled`, `overloaded`, `service_unavailable`, `job_timeout`.
        """
        return await self._call("predict_replies", (), {"prompts": prompts, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes}, options)

    async def start_predict_replies(
        self,
        *,
        prompts: Sequence[shapes.BatchRequestPrompts],
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `predict_replies` without waiting for it."""
        return await self._start("predict_replies", {"prompts": prompts, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes}, options)

    def stream_predict_replies(
        self,
        *,
        prompts: Sequence[shapes.BatchRequestPrompts],
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> AsyncIterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.PredictRepliesDone]]:
        """Starts the job of `predict_replies` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("predict_replies", {"prompts": prompts, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes}, options)

    async def predict_draft(
        self,
        *,
        draft: str,
        mode: Literal["complete_draft", "next_prompt"] = OMITTED,
        language: str = OMITTED,
        messages: Sequence[shapes.Message] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.DraftResponse:
        """Predict what the person types next, without an app.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `context_too_large`, `rate_limited`, `provider_rate_limited`, `prediction_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `prediction_timeout`.
        """
        return await self._call("predict_draft", (), {"draft": draft, "mode": mode, "language": language, "messages": messages}, options)

    async def predict_permission(
        self,
        *,
        agent: str,
        tool: str,
        action: Literal["run", "write", "delete", "read", "fetch", "call"],
        target: str,
        cwd: str,
        project: str,
        session_id: str = OMITTED,
        mode: str = OMITTED,
        shadow: bool = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.PermissionAnswer:
        """Does this person allow what an agent is about to do?

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("predict_permission", (), {"agent": agent, "tool": tool, "action": action, "target": target, "cwd": cwd, "project": project, "session_id": session_id, "mode": mode, "shadow": shadow}, options)

    async def list_replies(
        self,
        *,
        status: Literal["pending", "auto", "escalated", "accepted", "edited", "rejected"] = OMITTED,
        trial: Literal["true", "false"] = OMITTED,
        fact_id: str = OMITTED,
        agent: str = OMITTED,
        session_id: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        limit: int = OMITTED,
        offset: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ReplyList:
        """The predictions, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("list_replies", (), {"status": status, "trial": trial, "fact_id": fact_id, "agent": agent, "session_id": session_id, "since": since, "until": until, "limit": limit, "offset": offset}, options)

    async def read_reply_stats(
        self,
        *,
        since: str = OMITTED,
        until: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ReplyStats:
        """How many predictions are in each state, and how precise they were.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_reply_stats", (), {"since": since, "until": until}, options)

    async def read_reply_calibration(
        self,
        *,
        target: float = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ReplyCalibration:
        """How far the confidences can be trusted, and which threshold suits.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_reply_calibration", (), {"target": target}, options)

    async def read_reply(
        self,
        id: str,
        *,
        evidence: Literal["true", "false"] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ReplyDetail:
        """A prediction, with all that is stored of it.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_reply", (id,), {"evidence": evidence}, options)

    async def give_feedback(
        self,
        id: str,
        *,
        status: Literal["accepted", "edited", "rejected"],
        actual_response: Union[str, None] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ReplyDetail:
        """Say what the person did with a prediction.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `request_in_flight`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("give_feedback", (id,), {"status": status, "actual_response": actual_response}, options)

    async def list_decisions(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.DecisionList:
        """What was decided for the person, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("list_decisions", (), {"limit": limit, "cursor": cursor, "since": since, "until": until}, options)

    async def read_decision_settings(self, **options: Unpack[CallOptions]) -> shapes.DecisionSettings:
        """What may be decided for the person.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("read_decision_settings", (), None, options)

    async def change_decision_settings(
        self,
        *,
        automatic: bool = OMITTED,
        deny: bool = OMITTED,
        check_share: float = OMITTED,
        daily_note: bool = OMITTED,
        escalation_mail: Literal["off", "on"] = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.DecisionSettings:
        """Change what may be decided for the person.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `feature_disabled`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("change_decision_settings", (), {"automatic": automatic, "deny": deny, "check_share": check_share, "daily_note": daily_note, "escalation_mail": escalation_mail}, options)

    async def object_to_decision(self, id: str, **options: Unpack[CallOptions]) -> shapes.Decision:
        """Say that one would have decided otherwise.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("object_to_decision", (id,), None, options)

    async def list_accesses(
        self,
        *,
        reader_id: str = OMITTED,
        tier: Literal["profile", "facts", "episodes", "raw", "recording", "predictions", "export"] = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.AccessList:
        """What was read of the account, by credential, tier and day, the latest day first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return await self._call("list_accesses", (), {"reader_id": reader_id, "tier": tier, "since": since, "until": until, "limit": limit, "cursor": cursor}, options)

    async def read_activity(
        self,
        *,
        days: int = OMITTED,
        utc_offset_minutes: int = OMITTED,
        **options: Unpack[CallOptions]
    ) -> shapes.ActivityResponse:
        """What was predicted, learnt and spent, day by day.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_activity", (), {"days": days, "utc_offset_minutes": utc_offset_minutes}, options)

    async def read_job(self, job_id: str, **options: Unpack[CallOptions]) -> shapes.JobResponse:
        """The progress of a job, or how it ended.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("read_job", (job_id,), None, options)

    async def cancel_job(self, job_id: str, **options: Unpack[CallOptions]) -> shapes.JobResponse:
        """Cancel a job.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return await self._call("cancel_job", (job_id,), None, options)


class Methods:
    """The operations of the server's `/openapi.json`."""

    def _call(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> Any:
        raise NotImplementedError

    def _start(self, name: str, given: Any, options: Any) -> Any:
        raise NotImplementedError

    def _lines(self, name: str, ids: Tuple[str, ...], given: Any, options: Any) -> Iterator[Any]:
        raise NotImplementedError

    def _stream(self, name: str, given: Any, options: Any) -> Iterator[Any]:
        raise NotImplementedError

    def start_connection(
        self,
        *,
        user_id: str,
        redirect_uri: str,
        state: str,
        code_challenge: str,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ConnectionStartResponse:
        """Start to connect a user of the app.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_redirect_uri`, `invalid_app_key`, `feature_disabled`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("start_connection", (), {"user_id": user_id, "redirect_uri": redirect_uri, "state": state, "code_challenge": code_challenge}, options)

    def exchange_connection(
        self,
        *,
        request_id: str,
        user_id: str,
        code: str,
        code_verifier: str,
        redirect_uri: str,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ConnectionExchangeResponse:
        """Exchange the returned code for a connection.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_grant`, `authorization_pending`, `invalid_app_key`, `access_denied`, `connection_revoked`, `not_found`, `feature_disabled`, `connection_attempt_expired`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("exchange_connection", (), {"request_id": request_id, "user_id": user_id, "code": code, "code_verifier": code_verifier, "redirect_uri": redirect_uri}, options)

    def revoke_connection(
        self,
        connection_id: str,
        *,
        user_id: str,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.RevokeResponse:
        """End a connection.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("revoke_connection", (connection_id,), {"user_id": user_id}, options)

    def predict(
        self,
        *,
        request_id: str = OMITTED,
        user_id: str,
        session_id: str,
        mode: Literal["complete_draft", "next_prompt"],
        draft: shapes.PredictionRequestDraft,
        context_revision: str,
        artifact: Union[shapes.Artifact, None] = OMITTED,
        connection_id: Union[str, None] = OMITTED,
        language: str = OMITTED,
        messages: Sequence[shapes.Message] = OMITTED,
        user_preferences: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> Union[shapes.PredictionResponse, shapes.EndedPrediction]:
        """Predict what the person will type next.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `sandbox_exhausted`, `monthly_cap_reached`, `access_denied`, `connection_revoked`, `not_found`, `feature_disabled`, `idempotency_conflict`, `request_in_flight`, `context_revision_conflict`, `recovery_window_expired`, `body_too_large`, `context_too_large`, `rate_limited`, `prediction_cancelled`, `prediction_superseded`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `provider_rate_limited`, `prediction_timeout`.
        """
        return self._call("predict", (), {"request_id": request_id, "user_id": user_id, "session_id": session_id, "mode": mode, "draft": draft, "context_revision": context_revision, "artifact": artifact, "connection_id": connection_id, "language": language, "messages": messages, "user_preferences": user_preferences}, options)

    def cancel_prediction(
        self,
        request_id: str,
        *,
        user_id: str,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.CancelResponse:
        """Cancel a prediction, or learn how it ended.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("cancel_prediction", (request_id,), {"user_id": user_id}, options)

    def record_prediction_event(
        self,
        *,
        event_id: str = OMITTED,
        request_id: str,
        user_id: str,
        kind: Literal["presented", "accepted", "edited", "dismissed", "submitted"],
        **options: Unpack[SyncCallOptions]
    ) -> shapes.PredictionEventResponse:
        """Report what became of a prediction.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `invalid_app_key`, `access_denied`, `not_found`, `request_in_flight`, `event_conflict`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("record_prediction_event", (), {"event_id": event_id, "request_id": request_id, "user_id": user_id, "kind": kind}, options)

    def read_usage(self, *, month: str = OMITTED, **options: Unpack[SyncCallOptions]) -> shapes.UsageResponse:
        """What the app used in a month.

        Errors: `invalid_request`, `invalid_month`, `invalid_app_key`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_usage", (), {"month": month}, options)

    def sign_up(
        self,
        *,
        email: str,
        password: str,
        name: str = OMITTED,
        invite_code: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.LoginResponse:
        """Create an account.

        Errors: `invalid_json`, `invalid_content_type`, `invite_required`, `email_taken`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("sign_up", (), {"email": email, "password": password, "name": name, "invite_code": invite_code}, options)

    def log_in(self, *, email: str, password: str, **options: Unpack[SyncCallOptions]) -> shapes.LoginResponse:
        """Log in with e-mail address and password.

        Errors: `invalid_json`, `invalid_content_type`, `invalid_credentials`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("log_in", (), {"email": email, "password": password}, options)

    def log_out(
        self,
        *,
        refresh: str = OMITTED,
        all: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.LogoutResponse:
        """End a refresh token of the account, or all of its log-ins.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("log_out", (), {"refresh": refresh, "all": all}, options)

    def refresh_token(self, *, refresh: str, **options: Unpack[SyncCallOptions]) -> shapes.AccessResponse:
        """Get a new access token.

        Errors: `invalid_json`, `invalid_content_type`, `not_authenticated`, `body_too_large`, `rate_limited`, `service_unavailable`.
        """
        return self._call("refresh_token", (), {"refresh": refresh}, options)

    def validate_invite(self, *, code: str, **options: Unpack[SyncCallOptions]) -> shapes.InviteResponse:
        """Is this invite code good for signing up?

        Errors: `invalid_json`, `invalid_content_type`, `body_too_large`, `rate_limited`, `service_unavailable`.
        """
        return self._call("validate_invite", (), {"code": code}, options)

    def join_waitlist(self, *, email: str, **options: Unpack[SyncCallOptions]) -> shapes.WaitlistResponse:
        """Put an e-mail address on the waitlist.

        Errors: `invalid_json`, `invalid_content_type`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("join_waitlist", (), {"email": email}, options)

    def read_account(self, **options: Unpack[SyncCallOptions]) -> shapes.UserResponse:
        """The account.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_account", (), None, options)

    def change_account(
        self,
        *,
        name: str = OMITTED,
        precision_target: Union[float, None] = OMITTED,
        threshold_floor: Union[float, None] = OMITTED,
        password: str = OMITTED,
        current_password: str = OMITTED,
        revoke_keys: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.UserResponse:
        """Change name, password, target or floor.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_account", (), {"name": name, "precision_target": precision_target, "threshold_floor": threshold_floor, "password": password, "current_password": current_password, "revoke_keys": revoke_keys}, options)

    def erase_account(self, **options: Unpack[SyncCallOptions]) -> None:
        """Erase the account and all that belongs to it.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("erase_account", (), None, options)

    def export_account(self, **options: Unpack[SyncCallOptions]) -> Iterator[shapes.ExportLine]:
        """Everything of the account, one JSON object a line.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._lines("export_account", (), None, options)

    def change_email(self, *, email: str, current_password: str, **options: Unpack[SyncCallOptions]) -> None:
        """Ask for another e-mail address of the account.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `feature_disabled`, `email_taken`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_email", (), {"email": email, "current_password": current_password}, options)

    def list_own_log_ins(self, **options: Unpack[SyncCallOptions]) -> shapes.LogInList:
        """The log-ins of the account, the latest used first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_own_log_ins", (), None, options)

    def end_all_other_log_ins(self, **options: Unpack[SyncCallOptions]) -> None:
        """End every log-in but this one.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("end_all_other_log_ins", (), None, options)

    def end_one_log_in(self, id: str, **options: Unpack[SyncCallOptions]) -> None:
        """End a log-in.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("end_one_log_in", (id,), None, options)

    def list_passkeys(self, **options: Unpack[SyncCallOptions]) -> shapes.PasskeyList:
        """The passkeys of the account, the oldest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_passkeys", (), None, options)

    def add_passkey(
        self,
        *,
        name: str,
        credential: shapes.PasskeyAttestation,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.PasskeyResponse:
        """Add a passkey, to log in with beside the password.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("add_passkey", (), {"name": name, "credential": credential}, options)

    def start_passkey(self, **options: Unpack[SyncCallOptions]) -> shapes.PasskeyCreation:
        """Options to make a passkey with.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("start_passkey", (), None, options)

    def rename_passkey(self, id: str, *, name: str, **options: Unpack[SyncCallOptions]) -> shapes.PasskeyResponse:
        """Rename a passkey.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("rename_passkey", (id,), {"name": name}, options)

    def remove_passkey(self, id: str, **options: Unpack[SyncCallOptions]) -> None:
        """Remove a passkey, which logs in no more.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("remove_passkey", (id,), None, options)

    def list_keys(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        brought: Literal["true", "false"] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.KeyList:
        """The keys of the account, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_keys", (), {"limit": limit, "cursor": cursor, "brought": brought}, options)

    def issue_key(
        self,
        *,
        label: str,
        scopes: Sequence[Literal["read", "predict", "write", "forget", "decide", "record"]] = OMITTED,
        threshold_floor: float = OMITTED,
        expires_at: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.NewKeyResponse:
        """Issue a key.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("issue_key", (), {"label": label, "scopes": scopes, "threshold_floor": threshold_floor, "expires_at": expires_at}, options)

    def read_key(self, key_id: str, **options: Unpack[SyncCallOptions]) -> shapes.KeyResponse:
        """One key.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_key", (key_id,), None, options)

    def revoke_key(self, key_id: str, **options: Unpack[SyncCallOptions]) -> None:
        """Revoke a key.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("revoke_key", (key_id,), None, options)

    def list_own_grants(self, **options: Unpack[SyncCallOptions]) -> shapes.GrantList:
        """The programs that have logged in to the account by OAuth, the latest used first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_own_grants", (), None, options)

    def narrow_own_grant(
        self,
        id: str,
        *,
        scopes: Sequence[Literal["read", "predict", "write", "forget", "decide", "record"]],
        **options: Unpack[SyncCallOptions]
    ) -> shapes.GrantResponse:
        """Leave a program fewer scopes.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("narrow_own_grant", (id,), {"scopes": scopes}, options)

    def revoke_own_grant(self, id: str, **options: Unpack[SyncCallOptions]) -> None:
        """End what a program may do.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("revoke_own_grant", (id,), None, options)

    def list_apps(self, **options: Unpack[SyncCallOptions]) -> shapes.AppList:
        """The apps of the account, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_apps", (), None, options)

    def create_app(
        self,
        *,
        name: str,
        redirect_uris: Sequence[str] = OMITTED,
        native: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.NewAppResponse:
        """Make an app.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("create_app", (), {"name": name, "redirect_uris": redirect_uris, "native": native}, options)

    def read_app(self, app_id: str, **options: Unpack[SyncCallOptions]) -> shapes.AppDetail:
        """An app: its keys, what it used, why it was refused, and how many people are connected.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_app", (app_id,), None, options)

    def change_app(
        self,
        app_id: str,
        *,
        name: str = OMITTED,
        redirect_uris: Sequence[str] = OMITTED,
        native: bool = OMITTED,
        min_confidence: float = OMITTED,
        supersede: bool = OMITTED,
        on_disconnect: Literal["continue", "cancel"] = OMITTED,
        switched_off: Sequence[Literal["predictions", "connections", "complete_draft", "next_prompt"]] = OMITTED,
        monthly_cap_cents: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.AppResponse:
        """Change an app; each ingress follows within a second.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_app", (app_id,), {"name": name, "redirect_uris": redirect_uris, "native": native, "min_confidence": min_confidence, "supersede": supersede, "on_disconnect": on_disconnect, "switched_off": switched_off, "monthly_cap_cents": monthly_cap_cents}, options)

    def delete_app(self, app_id: str, **options: Unpack[SyncCallOptions]) -> None:
        """End an app for good: its keys are refused within two seconds.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("delete_app", (app_id,), None, options)

    def rotate_app_key(
        self,
        app_id: str,
        *,
        grace_s: int,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.NewAppKeyResponse:
        """Issue a new key for an app, and end its older ones after `grace_s`.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("rotate_app_key", (app_id,), {"grace_s": grace_s}, options)

    def read_changes(self, **options: Unpack[SyncCallOptions]) -> shapes.ChangesResponse:
        """What has changed of the account.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_changes", (), None, options)

    def list_webhooks(self, *, app_id: str = OMITTED, **options: Unpack[SyncCallOptions]) -> shapes.WebhookList:
        """The webhooks of the account and of its apps, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_webhooks", (), {"app_id": app_id}, options)

    def create_webhook(
        self,
        *,
        url: str,
        events: Sequence[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]],
        app_id: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.NewWebhookResponse:
        """Have events sent to an address.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("create_webhook", (), {"url": url, "events": events, "app_id": app_id}, options)

    def read_webhook(self, webhook_id: str, **options: Unpack[SyncCallOptions]) -> shapes.WebhookResponse:
        """One webhook.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_webhook", (webhook_id,), None, options)

    def change_webhook(
        self,
        webhook_id: str,
        *,
        url: str = OMITTED,
        events: Sequence[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]] = OMITTED,
        active: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.WebhookResponse:
        """Change a webhook, pause it, or begin anew after it was disabled.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_webhook", (webhook_id,), {"url": url, "events": events, "active": active}, options)

    def remove_webhook(self, webhook_id: str, **options: Unpack[SyncCallOptions]) -> None:
        """Delete a webhook with its deliveries.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("remove_webhook", (webhook_id,), None, options)

    def rotate_webhook_secret(
        self,
        webhook_id: str,
        *,
        grace_s: int,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.WebhookSecretResponse:
        """Make a new secret; for `grace_s` the present one signs as well.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("rotate_webhook_secret", (webhook_id,), {"grace_s": grace_s}, options)

    def list_webhook_deliveries(
        self,
        webhook_id: str,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        state: Literal["pending", "delivered", "failed"] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.DeliveryList:
        """What was sent to a webhook, and is to be, in the last seven days, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_webhook_deliveries", (webhook_id,), {"limit": limit, "cursor": cursor, "state": state}, options)

    def replay_webhook_deliveries(
        self,
        webhook_id: str,
        *,
        delivery_ids: Sequence[str] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ReplayResponse:
        """Send deliveries again: those named, or the latest that failed, a thousand at most.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("replay_webhook_deliveries", (webhook_id,), {"delivery_ids": delivery_ids}, options)

    def list_own_connections(self, **options: Unpack[SyncCallOptions]) -> shapes.ConnectionList:
        """The connections to the account, the newest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_own_connections", (), None, options)

    def read_own_connection(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.ConnectionDetail:
        """A connection, and what the app used it for in the last 35 days.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_own_connection", (id,), None, options)

    def change_own_connection(
        self,
        id: str,
        *,
        scope: shapes.ConnectionChangeScope = OMITTED,
        ends_at: Union[str, None] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ConnectionDetail:
        """Change what an app may use, and until when.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `connection_revoked`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_own_connection", (id,), {"scope": scope, "ends_at": ends_at}, options)

    def revoke_own_connection(self, id: str, **options: Unpack[SyncCallOptions]) -> None:
        """End a connection.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("revoke_own_connection", (id,), None, options)

    def record_events(
        self,
        body: Sequence[Union[shapes.RecordEventsSessionStarted, shapes.RecordEventsSessionStopped, shapes.RecordEventsAgentPrompt, shapes.RecordEventsAgentMessage, shapes.RecordEventsUserReply, shapes.RecordEventsUserMessage, shapes.RecordEventsNote, shapes.RecordEventsAgentPermission, shapes.CustomEvent]],
        **options: Unpack[SyncCallOptions]
    ) -> shapes.RecordingReceipt:
        """Record a batch of events.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("record_events", (), body, options)

    def read_event(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.StoredEvent:
        """One event.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_event", (id,), None, options)

    def list_sessions(self, **options: Unpack[SyncCallOptions]) -> shapes.SessionList:
        """The 50 most recent sessions.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_sessions", (), None, options)

    def list_session_events(
        self,
        id: str,
        *,
        limit: int = OMITTED,
        after: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.SessionEvents:
        """The events of a session, the oldest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("list_session_events", (id,), {"limit": limit, "after": after}, options)

    def list_raw_memory(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        tag: str = OMITTED,
        project: str = OMITTED,
        q: str = OMITTED,
        session_id: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.RawMemoryPage:
        """The raw rows, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("list_raw_memory", (), {"limit": limit, "cursor": cursor, "since": since, "until": until, "tag": tag, "project": project, "q": q, "session_id": session_id}, options)

    @overload
    def add_raw_memory(self, body: shapes.RawMemoryRequest, **options: Unpack[SyncCallOptions]) -> shapes.RawMemoryResponse: ...

    @overload
    def add_raw_memory(self, body: Sequence[shapes.RawMemoryRequest], **options: Unpack[SyncCallOptions]) -> List[shapes.RawMemoryResponse]: ...

    def add_raw_memory(self, body: Any, **options: Any) -> Any:
        """Add a raw row, or up to 200 of them.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("add_raw_memory", (), body, options)

    def read_raw_memory(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.RawMemoryResponse:
        """One raw row.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_raw_memory", (id,), None, options)

    def delete_raw_memory(
        self,
        id: str,
        *,
        purge_event: Literal["true", "false"] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.DeletionReceipt:
        """Forget a raw row, and what was derived from it alone.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("delete_raw_memory", (id,), {"purge_event": purge_event}, options)

    def list_episodes(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        tag: str = OMITTED,
        project: str = OMITTED,
        q: str = OMITTED,
        session_id: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.EpisodePage:
        """The episodes, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("list_episodes", (), {"limit": limit, "cursor": cursor, "since": since, "until": until, "tag": tag, "project": project, "q": q, "session_id": session_id}, options)

    @overload
    def add_episodes(self, body: shapes.EpisodeRequest, **options: Unpack[SyncCallOptions]) -> shapes.EpisodeResponse: ...

    @overload
    def add_episodes(self, body: Sequence[shapes.EpisodeRequest], **options: Unpack[SyncCallOptions]) -> List[shapes.EpisodeResponse]: ...

    def add_episodes(self, body: Any, **options: Any) -> Any:
        """Add an episode, or up to 200 of them.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("add_episodes", (), body, options)

    def read_episode(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.EpisodeResponse:
        """One episode.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_episode", (id,), None, options)

    def change_episode(
        self,
        id: str,
        *,
        title: str = OMITTED,
        summary: str = OMITTED,
        started_at: str = OMITTED,
        ended_at: str = OMITTED,
        status: Literal["draft", "final"] = OMITTED,
        raw_ids: Sequence[str] = OMITTED,
        project: Union[str, None] = OMITTED,
        tags: Sequence[str] = OMITTED,
        salience: float = OMITTED,
        model: Union[str, None] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.EpisodeResponse:
        """Change the given properties of an episode.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_episode", (id,), {"title": title, "summary": summary, "started_at": started_at, "ended_at": ended_at, "status": status, "raw_ids": raw_ids, "project": project, "tags": tags, "salience": salience, "model": model}, options)

    def delete_episode(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.DeletionReceipt:
        """Forget an episode, and the facts that were derived from it alone.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("delete_episode", (id,), None, options)

    def list_facts(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        tag: str = OMITTED,
        project: str = OMITTED,
        q: str = OMITTED,
        revision_of: str = OMITTED,
        superseded_by: str = OMITTED,
        pinned: Literal["true", "false"] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.FactPage:
        """The facts, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("list_facts", (), {"limit": limit, "cursor": cursor, "since": since, "until": until, "tag": tag, "project": project, "q": q, "revision_of": revision_of, "superseded_by": superseded_by, "pinned": pinned}, options)

    @overload
    def add_facts(self, body: shapes.FactRequest, **options: Unpack[SyncCallOptions]) -> shapes.FactResponse: ...

    @overload
    def add_facts(self, body: Sequence[shapes.FactRequest], **options: Unpack[SyncCallOptions]) -> List[shapes.FactResponse]: ...

    def add_facts(self, body: Any, **options: Any) -> Any:
        """Add a fact, or up to 200 of them.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("add_facts", (), body, options)

    def read_fact(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.FactDetail:
        """One fact, with what it is derived from.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_fact", (id,), None, options)

    def change_fact(
        self,
        id: str,
        *,
        text: str = OMITTED,
        kind: Union[str, None] = OMITTED,
        tags: Sequence[str] = OMITTED,
        confidence: float = OMITTED,
        episode_ids: Sequence[str] = OMITTED,
        valid_from: Union[str, None] = OMITTED,
        valid_to: Union[str, None] = OMITTED,
        superseded_by: Union[str, None] = OMITTED,
        pinned: bool = OMITTED,
        model: Union[str, None] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.FactResponse:
        """Change the given properties of a fact.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_fact", (id,), {"text": text, "kind": kind, "tags": tags, "confidence": confidence, "episode_ids": episode_ids, "valid_from": valid_from, "valid_to": valid_to, "superseded_by": superseded_by, "pinned": pinned, "model": model}, options)

    def delete_fact(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.DeletionReceipt:
        """Forget a fact, and its former wordings.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("delete_fact", (id,), None, options)

    def read_profile(self, **options: Unpack[SyncCallOptions]) -> shapes.ProfileResponse:
        """The profile.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_profile", (), None, options)

    def write_profile(
        self,
        *,
        data: Dict[str, Any] = OMITTED,
        summary: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ProfileResponse:
        """Replace the given parts of the profile.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("write_profile", (), {"data": data, "summary": summary}, options)

    def delete_profile(self, **options: Unpack[SyncCallOptions]) -> None:
        """Delete the profile.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("delete_profile", (), None, options)

    def forget_memory(
        self,
        *,
        tier: Literal["raw", "episodes", "facts"],
        ids: Sequence[str],
        purge_event: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ForgetReceipt:
        """Forget up to 100 rows of a tier, with one receipt.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("forget_memory", (), {"tier": tier, "ids": ids, "purge_event": purge_event}, options)

    def assemble_context(
        self,
        *,
        query: str = OMITTED,
        goal: str = OMITTED,
        tags: Sequence[str] = OMITTED,
        recency_minutes: Union[int, None] = OMITTED,
        max_facts: int = OMITTED,
        max_episodes: int = OMITTED,
        max_raw: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ContextResponse:
        """What is known about the account and what it did lately, for one question.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("assemble_context", (), {"query": query, "goal": goal, "tags": tags, "recency_minutes": recency_minutes, "max_facts": max_facts, "max_episodes": max_episodes, "max_raw": max_raw}, options)

    def read_memory_stats(self, *, since: str = OMITTED, **options: Unpack[SyncCallOptions]) -> shapes.MemoryStats:
        """How many rows each tier has, and when it last changed.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_memory_stats", (), {"since": since}, options)

    def sync_memory(
        self,
        *,
        since: str = OMITTED,
        session_id: str = OMITTED,
        limit: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.SyncResult:
        """Take recorded events into memory.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `job_cancelled`, `overloaded`, `service_unavailable`, `job_timeout`.
        """
        return self._call("sync_memory", (), {"since": since, "session_id": session_id, "limit": limit}, options)

    def start_sync_memory(
        self,
        *,
        since: str = OMITTED,
        session_id: str = OMITTED,
        limit: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `sync_memory` without waiting for it."""
        return self._start("sync_memory", {"since": since, "session_id": session_id, "limit": limit}, options)

    def stream_sync_memory(
        self,
        *,
        since: str = OMITTED,
        session_id: str = OMITTED,
        limit: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> Iterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.SyncMemoryDone]]:
        """Starts the job of `sync_memory` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("sync_memory", {"since": since, "session_id": session_id, "limit": limit}, options)

    def promote_episodes(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.PromoteResult:
        """Summarise raw rows in episodes.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `job_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `job_timeout`.
        """
        return self._call("promote_episodes", (), {"since": since, "limit": limit, "model": model, "force": force}, options)

    def start_promote_episodes(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `promote_episodes` without waiting for it."""
        return self._start("promote_episodes", {"since": since, "limit": limit, "model": model, "force": force}, options)

    def stream_promote_episodes(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> Iterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.PromoteEpisodesDone]]:
        """Starts the job of `promote_episodes` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("promote_episodes", {"since": since, "limit": limit, "model": model, "force": force}, options)

    def promote_facts(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.PromoteResult:
        """Distil facts from episodes.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `job_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `job_timeout`.
        """
        return self._call("promote_facts", (), {"since": since, "limit": limit, "model": model, "force": force}, options)

    def start_promote_facts(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `promote_facts` without waiting for it."""
        return self._start("promote_facts", {"since": since, "limit": limit, "model": model, "force": force}, options)

    def stream_promote_facts(
        self,
        *,
        since: str = OMITTED,
        limit: int = OMITTED,
        model: str = OMITTED,
        force: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> Iterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.PromoteFactsDone]]:
        """Starts the job of `promote_facts` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("promote_facts", {"since": since, "limit": limit, "model": model, "force": force}, options)

    def predict_reply(
        self,
        *,
        agent: str,
        agent_input: str,
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        session_id: Union[str, None] = OMITTED,
        trial: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ReplyResponse:
        """Predict what the person would reply to an agent.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `prediction_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `prediction_timeout`.
        """
        return self._call("predict_reply", (), {"agent": agent, "agent_input": agent_input, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes, "session_id": session_id, "trial": trial}, options)

    def predict_replies(
        self,
        *,
        prompts: Sequence[shapes.BatchRequestPrompts],
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.BatchResponse:
        """Predict the replies to many prompts.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `job_cancelled`, `overloaded`, `service_unavailable`, `job_timeout`.
        """
        return self._call("predict_replies", (), {"prompts": prompts, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes}, options)

    def start_predict_replies(
        self,
        *,
        prompts: Sequence[shapes.BatchRequestPrompts],
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.JobReceipt:
        """Starts the job of `predict_replies` without waiting for it."""
        return self._start("predict_replies", {"prompts": prompts, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes}, options)

    def stream_predict_replies(
        self,
        *,
        prompts: Sequence[shapes.BatchRequestPrompts],
        k: int = OMITTED,
        threshold: float = OMITTED,
        model: str = OMITTED,
        recency_minutes: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> Iterator[Union[shapes.JobBegun, shapes.JobProgress, shapes.JobItem, shapes.PredictRepliesDone]]:
        """Starts the job of `predict_replies` and follows it. A stream that is cut continues where it was. Leaving the loop
        does not cancel the job."""
        return self._stream("predict_replies", {"prompts": prompts, "k": k, "threshold": threshold, "model": model, "recency_minutes": recency_minutes}, options)

    def predict_draft(
        self,
        *,
        draft: str,
        mode: Literal["complete_draft", "next_prompt"] = OMITTED,
        language: str = OMITTED,
        messages: Sequence[shapes.Message] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.DraftResponse:
        """Predict what the person types next, without an app.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `context_too_large`, `rate_limited`, `provider_rate_limited`, `prediction_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `prediction_timeout`.
        """
        return self._call("predict_draft", (), {"draft": draft, "mode": mode, "language": language, "messages": messages}, options)

    def predict_permission(
        self,
        *,
        agent: str,
        tool: str,
        action: Literal["run", "write", "delete", "read", "fetch", "call"],
        target: str,
        cwd: str,
        project: str,
        session_id: str = OMITTED,
        mode: str = OMITTED,
        shadow: bool = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.PermissionAnswer:
        """Does this person allow what an agent is about to do?

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("predict_permission", (), {"agent": agent, "tool": tool, "action": action, "target": target, "cwd": cwd, "project": project, "session_id": session_id, "mode": mode, "shadow": shadow}, options)

    def list_replies(
        self,
        *,
        status: Literal["pending", "auto", "escalated", "accepted", "edited", "rejected"] = OMITTED,
        trial: Literal["true", "false"] = OMITTED,
        fact_id: str = OMITTED,
        agent: str = OMITTED,
        session_id: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        limit: int = OMITTED,
        offset: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ReplyList:
        """The predictions, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("list_replies", (), {"status": status, "trial": trial, "fact_id": fact_id, "agent": agent, "session_id": session_id, "since": since, "until": until, "limit": limit, "offset": offset}, options)

    def read_reply_stats(
        self,
        *,
        since: str = OMITTED,
        until: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ReplyStats:
        """How many predictions are in each state, and how precise they were.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_reply_stats", (), {"since": since, "until": until}, options)

    def read_reply_calibration(
        self,
        *,
        target: float = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ReplyCalibration:
        """How far the confidences can be trusted, and which threshold suits.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_reply_calibration", (), {"target": target}, options)

    def read_reply(
        self,
        id: str,
        *,
        evidence: Literal["true", "false"] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ReplyDetail:
        """A prediction, with all that is stored of it.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_reply", (id,), {"evidence": evidence}, options)

    def give_feedback(
        self,
        id: str,
        *,
        status: Literal["accepted", "edited", "rejected"],
        actual_response: Union[str, None] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ReplyDetail:
        """Say what the person did with a prediction.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `request_in_flight`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("give_feedback", (id,), {"status": status, "actual_response": actual_response}, options)

    def list_decisions(
        self,
        *,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.DecisionList:
        """What was decided for the person, the latest first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("list_decisions", (), {"limit": limit, "cursor": cursor, "since": since, "until": until}, options)

    def read_decision_settings(self, **options: Unpack[SyncCallOptions]) -> shapes.DecisionSettings:
        """What may be decided for the person.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("read_decision_settings", (), None, options)

    def change_decision_settings(
        self,
        *,
        automatic: bool = OMITTED,
        deny: bool = OMITTED,
        check_share: float = OMITTED,
        daily_note: bool = OMITTED,
        escalation_mail: Literal["off", "on"] = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.DecisionSettings:
        """Change what may be decided for the person.

        Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `feature_disabled`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("change_decision_settings", (), {"automatic": automatic, "deny": deny, "check_share": check_share, "daily_note": daily_note, "escalation_mail": escalation_mail}, options)

    def object_to_decision(self, id: str, **options: Unpack[SyncCallOptions]) -> shapes.Decision:
        """Say that one would have decided otherwise.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("object_to_decision", (id,), None, options)

    def list_accesses(
        self,
        *,
        reader_id: str = OMITTED,
        tier: Literal["profile", "facts", "episodes", "raw", "recording", "predictions", "export"] = OMITTED,
        since: str = OMITTED,
        until: str = OMITTED,
        limit: int = OMITTED,
        cursor: str = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.AccessList:
        """What was read of the account, by credential, tier and day, the latest day first.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`.
        """
        return self._call("list_accesses", (), {"reader_id": reader_id, "tier": tier, "since": since, "until": until, "limit": limit, "cursor": cursor}, options)

    def read_activity(
        self,
        *,
        days: int = OMITTED,
        utc_offset_minutes: int = OMITTED,
        **options: Unpack[SyncCallOptions]
    ) -> shapes.ActivityResponse:
        """What was predicted, learnt and spent, day by day.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_activity", (), {"days": days, "utc_offset_minutes": utc_offset_minutes}, options)

    def read_job(self, job_id: str, **options: Unpack[SyncCallOptions]) -> shapes.JobResponse:
        """The progress of a job, or how it ended.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("read_job", (job_id,), None, options)

    def cancel_job(self, job_id: str, **options: Unpack[SyncCallOptions]) -> shapes.JobResponse:
        """Cancel a job.

        Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`.
        """
        return self._call("cancel_job", (job_id,), None, options)
