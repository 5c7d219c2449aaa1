/** Generated from docs/openapi.json by client/generate.ts: `npm run openapi`. */
import type { CallOptions } from '../transport.ts';
import type * as schemas from './schemas.ts';

export interface ApiMethods {
  /** Create an account. Errors: `invalid_json`, `invalid_content_type`, `invite_required`, `email_taken`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  signUp(body: schemas.SignupRequest, options?: CallOptions): Promise<schemas.LoginResponse>;
  /** Log in with e-mail address and password. Errors: `invalid_json`, `invalid_content_type`, `invalid_credentials`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  logIn(body: schemas.LoginRequest, options?: CallOptions): Promise<schemas.LoginResponse>;
  /** End a refresh token of the account, or all of its log-ins. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  logOut(body?: schemas.LogoutRequest, options?: CallOptions): Promise<schemas.LogoutResponse>;
  /** Get a new access token. Errors: `invalid_json`, `invalid_content_type`, `not_authenticated`, `body_too_large`, `rate_limited`, `service_unavailable`. */
  refreshToken(body: schemas.RefreshRequest, options?: CallOptions): Promise<schemas.AccessResponse>;
  /** Is this invite code good for signing up? Errors: `invalid_json`, `invalid_content_type`, `body_too_large`, `rate_limited`, `service_unavailable`. */
  validateInvite(body: schemas.InviteRequest, options?: CallOptions): Promise<schemas.InviteResponse>;
  /** Put an e-mail address on the waitlist. Errors: `invalid_json`, `invalid_content_type`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  joinWaitlist(body: schemas.WaitlistRequest, options?: CallOptions): Promise<schemas.WaitlistResponse>;
  /** The account. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  readAccount(options?: CallOptions): Promise<schemas.UserResponse>;
  /** Change name, password, target or floor. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeAccount(body?: schemas.AccountChange, options?: CallOptions): Promise<schemas.UserResponse>;
  /** Erase the account and all that belongs to it. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `rate_limited`, `overloaded`, `service_unavailable`. */
  eraseAccount(options?: CallOptions): Promise<void>;
  /** Everything of the account, one JSON object a line. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  exportAccount(options?: CallOptions): AsyncGenerator<schemas.ExportLine>;
  /** Ask for another e-mail address of the account. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `feature_disabled`, `email_taken`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeEmail(body: schemas.EmailChangeRequest, options?: CallOptions): Promise<void>;
  /** The log-ins of the account, the latest used first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listOwnLogIns(options?: CallOptions): Promise<schemas.LogInList>;
  /** End every log-in but this one. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  endAllOtherLogIns(options?: CallOptions): Promise<void>;
  /** End a log-in. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  endOneLogIn(id: string, options?: CallOptions): Promise<void>;
  /** The passkeys of the account, the oldest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listPasskeys(options?: CallOptions): Promise<schemas.PasskeyList>;
  /** Add a passkey, to log in with beside the password. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  addPasskey(body: schemas.NewPasskeyRequest, options?: CallOptions): Promise<schemas.PasskeyResponse>;
  /** Options to make a passkey with. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `fresh_login_required`, `rate_limited`, `overloaded`, `service_unavailable`. */
  startPasskey(options?: CallOptions): Promise<schemas.PasskeyCreation>;
  /** Rename a passkey. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  renamePasskey(id: string, body: schemas.PasskeyChange, options?: CallOptions): Promise<schemas.PasskeyResponse>;
  /** Remove a passkey, which logs in no more. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  removePasskey(id: string, options?: CallOptions): Promise<void>;
  /** The keys of the account, the newest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listKeys(query?: { limit?: number; cursor?: string; brought?: "true" | "false"; }, options?: CallOptions): Promise<schemas.KeyList>;
  /** Issue a key. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  issueKey(body: schemas.KeyRequest, options?: CallOptions): Promise<schemas.NewKeyResponse>;
  /** One key. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  readKey(key_id: string, options?: CallOptions): Promise<schemas.KeyResponse>;
  /** Revoke a key. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  revokeKey(key_id: string, options?: CallOptions): Promise<void>;
  /** The programs that have logged in to the account by OAuth, the latest used first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listOwnGrants(options?: CallOptions): Promise<schemas.GrantList>;
  /** Leave a program fewer scopes. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  narrowOwnGrant(id: string, body: schemas.GrantChange, options?: CallOptions): Promise<schemas.GrantResponse>;
  /** End what a program may do. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  revokeOwnGrant(id: string, options?: CallOptions): Promise<void>;
  /** The apps of the account, the newest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listApps(options?: CallOptions): Promise<schemas.AppList>;
  /** Make an app. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  createApp(body: schemas.AppRequest, options?: CallOptions): Promise<schemas.NewAppResponse>;
  /** An app: its keys, what it used, why it was refused, and how many people are connected. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readApp(app_id: string, options?: CallOptions): Promise<schemas.AppDetail>;
  /** Change an app; each ingress follows within a second. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeApp(app_id: string, body?: schemas.AppChange, options?: CallOptions): Promise<schemas.AppResponse>;
  /** End an app for good: its keys are refused within two seconds. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  deleteApp(app_id: string, options?: CallOptions): Promise<void>;
  /** Issue a new key for an app, and end its older ones after `grace_s`. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  rotateAppKey(app_id: string, body: schemas.AppKeyRequest, options?: CallOptions): Promise<schemas.NewAppKeyResponse>;
  /** What has changed of the account. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readChanges(options?: CallOptions): Promise<schemas.ChangesResponse>;
  /** The webhooks of the account and of its apps, the newest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listWebhooks(query?: { app_id?: string; }, options?: CallOptions): Promise<schemas.WebhookList>;
  /** Have events sent to an address. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  createWebhook(body: schemas.WebhookRequest, options?: CallOptions): Promise<schemas.NewWebhookResponse>;
  /** One webhook. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  readWebhook(webhook_id: string, options?: CallOptions): Promise<schemas.WebhookResponse>;
  /** Change a webhook, pause it, or begin anew after it was disabled. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeWebhook(webhook_id: string, body?: schemas.WebhookChange, options?: CallOptions): Promise<schemas.WebhookResponse>;
  /** Delete a webhook with its deliveries. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  removeWebhook(webhook_id: string, options?: CallOptions): Promise<void>;
  /** Make a new secret; for `grace_s` the present one signs as well. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  rotateWebhookSecret(webhook_id: string, body: schemas.WebhookSecretRequest, options?: CallOptions): Promise<schemas.WebhookSecretResponse>;
  /** What was sent to a webhook, and is to be, in the last seven days, the latest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  listWebhookDeliveries(webhook_id: string, query?: { limit?: number; cursor?: string; state?: "pending" | "delivered" | "failed"; }, options?: CallOptions): Promise<schemas.DeliveryList>;
  /** Send deliveries again: those named, or the latest that failed, a thousand at most. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  replayWebhookDeliveries(webhook_id: string, body?: schemas.ReplayRequest, options?: CallOptions): Promise<schemas.ReplayResponse>;
  /** The connections to the account, the newest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listOwnConnections(options?: CallOptions): Promise<schemas.ConnectionList>;
  /** A connection, and what the app used it for in the last 35 days. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readOwnConnection(id: string, options?: CallOptions): Promise<schemas.ConnectionDetail>;
  /** Change what an app may use, and until when. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `connection_revoked`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeOwnConnection(id: string, body?: schemas.ConnectionChange, options?: CallOptions): Promise<schemas.ConnectionDetail>;
  /** End a connection. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  revokeOwnConnection(id: string, options?: CallOptions): Promise<void>;
  /** Record a batch of events. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  recordEvents(body: ({ id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project?: string; type: "session.started"; [name: string]: unknown; } | { id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project?: string; type: "session.stopped"; [name: string]: unknown; } | { id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project?: string; type: "agent.prompt"; agent: string; prompt: string; [name: string]: unknown; } | { id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project?: string; type: "agent.message"; agent: string; text: string; [name: string]: unknown; } | { id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project?: string; type: "user.reply"; agent: string; reply: string; in_reply_to?: string; [name: string]: unknown; } | { id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project?: string; type: "user.message"; text: string; [name: string]: unknown; } | { id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project?: string; type: "note"; text: string; [name: string]: unknown; } | { id: string; session_id: string; occurred_at: string; source: string; source_detail?: string; project: string; type: "agent.permission"; agent: string; tool: string; action: "run" | "write" | "delete" | "read" | "fetch" | "call"; target: string; cwd: string; outcome: "allowed" | "refused"; [name: string]: unknown; } | schemas.CustomEvent)[], options?: CallOptions): Promise<schemas.RecordingReceipt>;
  /** One event. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readEvent(id: string, options?: CallOptions): Promise<schemas.StoredEvent>;
  /** The 50 most recent sessions. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listSessions(options?: CallOptions): Promise<schemas.SessionList>;
  /** The events of a session, the oldest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  listSessionEvents(id: string, query?: { limit?: number; after?: string; }, options?: CallOptions): Promise<schemas.SessionEvents>;
  /** The raw rows, the latest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  listRawMemory(query?: { limit?: number; cursor?: string; since?: string | string; until?: string | string; tag?: string; project?: string; q?: string; session_id?: string; }, options?: CallOptions): Promise<schemas.RawMemoryPage>;
  /** Add a raw row, or up to 200 of them. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  addRawMemory(body: schemas.RawMemoryRequest, options?: CallOptions): Promise<schemas.RawMemoryResponse>;
  /** Add a raw row, or up to 200 of them. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  addRawMemory(body: (schemas.RawMemoryRequest)[], options?: CallOptions): Promise<(schemas.RawMemoryResponse)[]>;
  /** One raw row. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  readRawMemory(id: string, options?: CallOptions): Promise<schemas.RawMemoryResponse>;
  /** Forget a raw row, and what was derived from it alone. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  deleteRawMemory(id: string, query?: { purge_event?: "true" | "false"; }, options?: CallOptions): Promise<schemas.DeletionReceipt>;
  /** The episodes, the latest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  listEpisodes(query?: { limit?: number; cursor?: string; since?: string | string; until?: string | string; tag?: string; project?: string; q?: string; session_id?: string; }, options?: CallOptions): Promise<schemas.EpisodePage>;
  /** Add an episode, or up to 200 of them. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  addEpisodes(body: schemas.EpisodeRequest, options?: CallOptions): Promise<schemas.EpisodeResponse>;
  /** Add an episode, or up to 200 of them. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  addEpisodes(body: (schemas.EpisodeRequest)[], options?: CallOptions): Promise<(schemas.EpisodeResponse)[]>;
  /** One episode. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  readEpisode(id: string, options?: CallOptions): Promise<schemas.EpisodeResponse>;
  /** Change the given properties of an episode. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeEpisode(id: string, body?: schemas.EpisodeChange, options?: CallOptions): Promise<schemas.EpisodeResponse>;
  /** Forget an episode, and the facts that were derived from it alone. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  deleteEpisode(id: string, options?: CallOptions): Promise<schemas.DeletionReceipt>;
  /** The facts, the latest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  listFacts(query?: { limit?: number; cursor?: string; since?: string | string; until?: string | string; tag?: string; project?: string; q?: string; revision_of?: string; superseded_by?: string; pinned?: "true" | "false"; }, options?: CallOptions): Promise<schemas.FactPage>;
  /** Add a fact, or up to 200 of them. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  addFacts(body: schemas.FactRequest, options?: CallOptions): Promise<schemas.FactResponse>;
  /** Add a fact, or up to 200 of them. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  addFacts(body: (schemas.FactRequest)[], options?: CallOptions): Promise<(schemas.FactResponse)[]>;
  /** One fact, with what it is derived from. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  readFact(id: string, options?: CallOptions): Promise<schemas.FactDetail>;
  /** Change the given properties of a fact. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeFact(id: string, body?: schemas.FactChange, options?: CallOptions): Promise<schemas.FactResponse>;
  /** Forget a fact, and its former wordings. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  deleteFact(id: string, options?: CallOptions): Promise<schemas.DeletionReceipt>;
  /** The profile. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  readProfile(options?: CallOptions): Promise<schemas.ProfileResponse>;
  /** Replace the given parts of the profile. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  writeProfile(body?: schemas.ProfileRequest, options?: CallOptions): Promise<schemas.ProfileResponse>;
  /** Delete the profile. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  deleteProfile(options?: CallOptions): Promise<void>;
  /** Forget up to 100 rows of a tier, with one receipt. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  forgetMemory(body: schemas.ForgetRequest, options?: CallOptions): Promise<schemas.ForgetReceipt>;
  /** What is known about the account and what it did lately, for one question. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  assembleContext(body?: schemas.ContextRequest, options?: CallOptions): Promise<schemas.ContextResponse>;
  /** How many rows each tier has, and when it last changed. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readMemoryStats(query?: { since?: string | string; }, options?: CallOptions): Promise<schemas.MemoryStats>;
  /** Take recorded events into memory. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `job_cancelled`, `overloaded`, `service_unavailable`, `job_timeout`. */
  syncMemory(body?: schemas.SyncRequest, options?: CallOptions): Promise<schemas.SyncResult>;
  /** Summarise raw rows in episodes. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `job_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `job_timeout`. */
  promoteEpisodes(body?: schemas.PromoteRequest, options?: CallOptions): Promise<schemas.PromoteResult>;
  /** Distil facts from episodes. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `job_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `job_timeout`. */
  promoteFacts(body?: schemas.PromoteRequest, options?: CallOptions): Promise<schemas.PromoteResult>;
  /** Predict what the person would reply to an agent. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `provider_rate_limited`, `prediction_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `prediction_timeout`. */
  predictReply(body: schemas.ReplyRequest, options?: CallOptions): Promise<schemas.ReplyResponse>;
  /** Predict the replies to many prompts. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `idempotency_conflict`, `request_in_flight`, `recovery_window_expired`, `body_too_large`, `rate_limited`, `job_cancelled`, `overloaded`, `service_unavailable`, `job_timeout`. */
  predictReplies(body: schemas.BatchRequest, options?: CallOptions): Promise<schemas.BatchResponse>;
  /** Predict what the person types next, without an app. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `quota_exceeded`, `body_too_large`, `context_too_large`, `rate_limited`, `provider_rate_limited`, `prediction_cancelled`, `provider_failed`, `overloaded`, `service_unavailable`, `provider_not_configured`, `prediction_timeout`. */
  predictDraft(body: schemas.DraftRequest, options?: CallOptions): Promise<schemas.DraftResponse>;
  /** Does this person allow what an agent is about to do? Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  predictPermission(body: schemas.PermissionRequest, options?: CallOptions): Promise<schemas.PermissionAnswer>;
  /** The predictions, the latest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  listReplies(query?: { status?: "pending" | "auto" | "escalated" | "accepted" | "edited" | "rejected"; trial?: "true" | "false"; fact_id?: string; agent?: string; session_id?: string; since?: string | string; until?: string | string; limit?: number; offset?: number; }, options?: CallOptions): Promise<schemas.ReplyList>;
  /** How many predictions are in each state, and how precise they were. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readReplyStats(query?: { since?: string | string; until?: string | string; }, options?: CallOptions): Promise<schemas.ReplyStats>;
  /** How far the confidences can be trusted, and which threshold suits. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readReplyCalibration(query?: { target?: number; }, options?: CallOptions): Promise<schemas.ReplyCalibration>;
  /** A prediction, with all that is stored of it. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `service_unavailable`. */
  readReply(id: string, query?: { evidence?: "true" | "false"; }, options?: CallOptions): Promise<schemas.ReplyDetail>;
  /** Say what the person did with a prediction. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `request_in_flight`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  giveFeedback(id: string, body: schemas.FeedbackRequest, options?: CallOptions): Promise<schemas.ReplyDetail>;
  /** What was decided for the person, the latest first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  listDecisions(query?: { limit?: number; cursor?: string; since?: string | string; until?: string | string; }, options?: CallOptions): Promise<schemas.DecisionList>;
  /** What may be decided for the person. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  readDecisionSettings(options?: CallOptions): Promise<schemas.DecisionSettings>;
  /** Change what may be decided for the person. Errors: `invalid_request`, `invalid_json`, `invalid_content_type`, `not_authenticated`, `token_expired`, `access_denied`, `feature_disabled`, `body_too_large`, `rate_limited`, `overloaded`, `service_unavailable`. */
  changeDecisionSettings(body?: schemas.DecisionSettingsChange, options?: CallOptions): Promise<schemas.DecisionSettings>;
  /** Say that one would have decided otherwise. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  objectToDecision(id: string, options?: CallOptions): Promise<schemas.Decision>;
  /** What was read of the account, by credential, tier and day, the latest day first. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `service_unavailable`. */
  listAccesses(query?: { reader_id?: string; tier?: "profile" | "facts" | "episodes" | "raw" | "recording" | "predictions" | "export"; since?: string; until?: string; limit?: number; cursor?: string; }, options?: CallOptions): Promise<schemas.AccessList>;
  /** What was predicted, learnt and spent, day by day. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readActivity(query?: { days?: number; utc_offset_minutes?: number; }, options?: CallOptions): Promise<schemas.ActivityResponse>;
  /** The progress of a job, or how it ended. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  readJob(job_id: string, options?: CallOptions): Promise<schemas.JobResponse>;
  /** Cancel a job. Errors: `invalid_request`, `not_authenticated`, `token_expired`, `access_denied`, `not_found`, `rate_limited`, `overloaded`, `service_unavailable`. */
  cancelJob(job_id: string, options?: CallOptions): Promise<schemas.JobResponse>;
}

export interface ApiJobs {
  syncMemory: { body: schemas.SyncRequest; result: schemas.SyncResult };
  promoteEpisodes: { body: schemas.PromoteRequest; result: schemas.PromoteResult };
  promoteFacts: { body: schemas.PromoteRequest; result: schemas.PromoteResult };
  predictReplies: { body: schemas.BatchRequest; result: schemas.BatchResponse };
}

export const apiOperations = {
  signUp: 'POST /api/auth/signup/ body open',
  logIn: 'POST /api/auth/login/ body open',
  logOut: 'POST /api/auth/logout/ body',
  refreshToken: 'POST /api/auth/token/refresh/ body open',
  validateInvite: 'POST /api/auth/invite/validate/ body open',
  joinWaitlist: 'POST /api/auth/waitlist/ body open',
  readAccount: 'GET /api/auth/me/',
  changeAccount: 'PATCH /api/auth/me/ body',
  eraseAccount: 'DELETE /api/auth/me/',
  exportAccount: 'GET /api/export/ lines',
  changeEmail: 'POST /api/auth/email/ body',
  listOwnLogIns: 'GET /api/auth/log-ins/',
  endAllOtherLogIns: 'DELETE /api/auth/log-ins/',
  endOneLogIn: 'DELETE /api/auth/log-ins/{id}/',
  listPasskeys: 'GET /api/auth/passkeys/',
  addPasskey: 'POST /api/auth/passkeys/ body',
  startPasskey: 'POST /api/auth/passkeys/options/',
  renamePasskey: 'PATCH /api/auth/passkeys/{id}/ body',
  removePasskey: 'DELETE /api/auth/passkeys/{id}/',
  listKeys: 'GET /api/auth/keys/ query',
  issueKey: 'POST /api/auth/keys/ body',
  readKey: 'GET /api/auth/keys/{key_id}/',
  revokeKey: 'DELETE /api/auth/keys/{key_id}/',
  listOwnGrants: 'GET /api/auth/grants/',
  narrowOwnGrant: 'PATCH /api/auth/grants/{id}/ body',
  revokeOwnGrant: 'DELETE /api/auth/grants/{id}/',
  listApps: 'GET /api/apps/',
  createApp: 'POST /api/apps/ body',
  readApp: 'GET /api/apps/{app_id}/',
  changeApp: 'PATCH /api/apps/{app_id}/ body',
  deleteApp: 'DELETE /api/apps/{app_id}/',
  rotateAppKey: 'POST /api/apps/{app_id}/keys/ body',
  readChanges: 'GET /api/changes/',
  listWebhooks: 'GET /api/webhooks/ query',
  createWebhook: 'POST /api/webhooks/ body',
  readWebhook: 'GET /api/webhooks/{webhook_id}/',
  changeWebhook: 'PATCH /api/webhooks/{webhook_id}/ body',
  removeWebhook: 'DELETE /api/webhooks/{webhook_id}/',
  rotateWebhookSecret: 'POST /api/webhooks/{webhook_id}/secret/ body',
  listWebhookDeliveries: 'GET /api/webhooks/{webhook_id}/deliveries/ query',
  replayWebhookDeliveries: 'POST /api/webhooks/{webhook_id}/replay/ body',
  listOwnConnections: 'GET /api/connections/',
  readOwnConnection: 'GET /api/connections/{id}/',
  changeOwnConnection: 'PATCH /api/connections/{id}/ body',
  revokeOwnConnection: 'DELETE /api/connections/{id}/',
  recordEvents: 'POST /api/recording/events/ body',
  readEvent: 'GET /api/recording/events/{id}/',
  listSessions: 'GET /api/recording/sessions/',
  listSessionEvents: 'GET /api/recording/sessions/{id}/events/ query',
  listRawMemory: 'GET /api/memory/raw/ query',
  addRawMemory: 'POST /api/memory/raw/ body',
  readRawMemory: 'GET /api/memory/raw/{id}/',
  deleteRawMemory: 'DELETE /api/memory/raw/{id}/ query',
  listEpisodes: 'GET /api/memory/episodes/ query',
  addEpisodes: 'POST /api/memory/episodes/ body',
  readEpisode: 'GET /api/memory/episodes/{id}/',
  changeEpisode: 'PATCH /api/memory/episodes/{id}/ body',
  deleteEpisode: 'DELETE /api/memory/episodes/{id}/',
  listFacts: 'GET /api/memory/facts/ query',
  addFacts: 'POST /api/memory/facts/ body',
  readFact: 'GET /api/memory/facts/{id}/',
  changeFact: 'PATCH /api/memory/facts/{id}/ body',
  deleteFact: 'DELETE /api/memory/facts/{id}/',
  readProfile: 'GET /api/memory/profile/',
  writeProfile: 'POST /api/memory/profile/ body',
  deleteProfile: 'DELETE /api/memory/profile/',
  forgetMemory: 'POST /api/memory/forget/ body',
  assembleContext: 'POST /api/memory/context/ body',
  readMemoryStats: 'GET /api/memory/stats/ query',
  syncMemory: 'POST /api/memory/sync/ body keyed job',
  promoteEpisodes: 'POST /api/memory/promote/episodes/ body keyed job',
  promoteFacts: 'POST /api/memory/promote/facts/ body keyed job',
  predictReply: 'POST /api/predictions/predict/ body keyed',
  predictReplies: 'POST /api/predictions/predict/batch/ body keyed job',
  predictDraft: 'POST /api/predictions/draft/ body',
  predictPermission: 'POST /api/predictions/permission/ body',
  listReplies: 'GET /api/predictions/ query',
  readReplyStats: 'GET /api/predictions/stats/ query',
  readReplyCalibration: 'GET /api/predictions/calibration/ query',
  readReply: 'GET /api/predictions/{id}/ query',
  giveFeedback: 'POST /api/predictions/{id}/feedback/ body',
  listDecisions: 'GET /api/decisions/ query',
  readDecisionSettings: 'GET /api/decisions/settings/',
  changeDecisionSettings: 'PATCH /api/decisions/settings/ body',
  objectToDecision: 'POST /api/decisions/{id}/object/',
  listAccesses: 'GET /api/accesses/ query',
  readActivity: 'GET /api/activity/ query',
  readJob: 'GET /api/jobs/{job_id}/',
  cancelJob: 'DELETE /api/jobs/{job_id}/',
} as const;
