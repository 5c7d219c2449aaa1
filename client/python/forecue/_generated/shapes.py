# Generated from docs/openapi.json by client/generate.ts: `npm run openapi`.
"""Shapes of bodies and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AccessEntry(TypedDict):
    day: str
    reader: Literal["log_in", "key", "grant", "app"]
    reader_id: str
    name: str
    tier: Literal["profile", "facts", "episodes", "raw", "recording", "predictions", "export"]
    reads: int
    rows: int
    last_at: str


class AccessList(TypedDict):
    results: List[AccessEntry]
    next: Union[str, None]


class AccessResponse(TypedDict):
    access: str


class AccountChange(TypedDict):
    name: NotRequired[str]
    precision_target: NotRequired[Union[float, None]]
    threshold_floor: NotRequired[Union[float, None]]
    password: NotRequired[str]
    current_password: NotRequired[str]
    revoke_keys: NotRequired[bool]


class ActivityDayByStatus(TypedDict):
    pending: int
    auto: int
    escalated: int
    accepted: int
    edited: int
    rejected: int


class ActivityDay(TypedDict):
    date: str
    by_status: ActivityDayByStatus
    characters_saved: int
    facts: int
    episodes: int
    raw: int
    model_calls: int
    cost_cents: Union[float, None]


class ActivityResponseChecks(TypedDict):
    replies: Checks
    permissions: Checks


class ActivityResponseSuggestions(TypedDict):
    accepted: int
    dismissed: int
    retained: Union[float, None]


class ActivityResponse(TypedDict):
    days: List[ActivityDay]
    checks: ActivityResponseChecks
    suggestions: ActivityResponseSuggestions
    tokens_today: int
    tokens_quota: Union[int, None]


class AppChange(TypedDict):
    name: NotRequired[str]
    redirect_uris: NotRequired[List[str]]
    native: NotRequired[bool]
    min_confidence: NotRequired[float]
    supersede: NotRequired[bool]
    on_disconnect: NotRequired[Literal["continue", "cancel"]]
    switched_off: NotRequired[List[Literal["predictions", "connections", "complete_draft", "next_prompt"]]]
    monthly_cap_cents: NotRequired[int]


class AppDetailKeys(TypedDict):
    prefix: str
    created_at: str
    expires_at: Union[str, None]


class AppDetailDays(TypedDict):
    date: str
    prediction_units: int


class AppDetailRefused(TypedDict):
    code: str
    calls: int
    last_at: str
    means: Union[str, None]


class AppDetail(TypedDict):
    app_id: str
    name: str
    plan: Literal["sandbox", "paid"]
    monthly_cap_cents: Union[int, None]
    active: bool
    native: bool
    redirect_uris: List[str]
    min_confidence: float
    supersede: bool
    on_disconnect: Literal["continue", "cancel"]
    disabled: List[str]
    switched_off: List[str]
    created_at: str
    keys: List[AppDetailKeys]
    used: UsageResponse
    days: List[AppDetailDays]
    refused: List[AppDetailRefused]
    people: int


class AppKeyRequest(TypedDict):
    grace_s: int


class AppList(TypedDict):
    results: List[AppResponse]
    may_create: bool


class AppRequest(TypedDict):
    name: str
    redirect_uris: NotRequired[List[str]]
    native: NotRequired[bool]


class AppResponse(TypedDict):
    app_id: str
    name: str
    plan: Literal["sandbox", "paid"]
    monthly_cap_cents: Union[int, None]
    active: bool
    native: bool
    redirect_uris: List[str]
    min_confidence: float
    supersede: bool
    on_disconnect: Literal["continue", "cancel"]
    disabled: List[str]
    switched_off: List[str]
    created_at: str


class Artifact(TypedDict):
    kind: Literal["video", "slides", "other"]
    id: str
    revision: str
    selection: NotRequired[str]
    summary: NotRequired[str]


class BatchRequestPrompts(TypedDict):
    agent: str
    agent_input: str
    session_id: NotRequired[Union[str, None]]
    trial: NotRequired[bool]


class BatchRequest(TypedDict):
    prompts: List[BatchRequestPrompts]
    k: NotRequired[int]
    threshold: NotRequired[float]
    model: NotRequired[str]
    recency_minutes: NotRequired[int]


class BatchResponseResultsPrediction(TypedDict):
    index: int
    prediction: ReplyResponse


class BatchResponseResultsErrorError(TypedDict):
    code: str


class BatchResponseResultsError(TypedDict):
    index: int
    error: BatchResponseResultsErrorError


class BatchResponseUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class BatchResponse(TypedDict):
    results: List[Union[BatchResponseResultsPrediction, BatchResponseResultsError]]
    succeeded: int
    failed: int
    usage: BatchResponseUsage
    latency_ms: int


class CancelResponse(TypedDict):
    status: Literal["cancelled", "suggested", "abstained", "failed"]
    prediction_units: int


class ChangesResponse(TypedDict):
    changed: List[Literal["memory", "predictions", "connections", "keys", "apps", "webhooks", "account"]]


class Checks(TypedDict):
    asked: int
    answered: int
    right: int
    precision: Union[float, None]
    precision_low: Union[float, None]
    precision_high: Union[float, None]


class ConnectionChangeScope(TypedDict):
    memory: Literal["all", "facts"]
    projects: NotRequired[List[str]]


class ConnectionChange(TypedDict):
    scope: NotRequired[ConnectionChangeScope]
    ends_at: NotRequired[Union[str, None]]


class ConnectionDetailScope(TypedDict):
    memory: Literal["all", "facts"]
    projects: NotRequired[List[str]]


class ConnectionDetail(TypedDict):
    connection_id: str
    app_name: str
    status: Literal["connected", "revoked"]
    created_at: str
    scope: ConnectionDetailScope
    ends_at: Union[str, None]
    predictions: int
    suggested: int
    last_used_at: Union[str, None]


class ConnectionExchangeRequest(TypedDict):
    request_id: str
    user_id: str
    code: str
    code_verifier: str
    redirect_uri: str


class ConnectionExchangeResponse(TypedDict):
    connection_id: str
    profile_revision: str
    grant_revision: int
    status: Literal["connected"]


class ConnectionListResults(TypedDict):
    connection_id: str
    app_name: str
    status: Literal["connected", "revoked"]
    created_at: str


class ConnectionList(TypedDict):
    results: List[ConnectionListResults]


class ConnectionStartRequest(TypedDict):
    user_id: str
    redirect_uri: str
    state: str
    code_challenge: str


class ConnectionStartResponse(TypedDict):
    request_id: str
    expires_at: int
    authorize_url: str


class ConsoleAccessResponse(TypedDict):
    access: str
    user: UserResponse


class ContextMetaWindow(TypedDict):
    since: Union[str, None]
    until: str
    recency_minutes: Union[int, None]


class ContextMetaFilters(TypedDict):
    goal: Union[str, None]
    tags: List[str]


class ContextMetaCountsFacts(TypedDict):
    matched: int
    returned: int


class ContextMetaCountsEpisodes(TypedDict):
    matched: int
    returned: int


class ContextMetaCountsRaw(TypedDict):
    matched: int
    returned: int


class ContextMetaCounts(TypedDict):
    facts: ContextMetaCountsFacts
    episodes: ContextMetaCountsEpisodes
    raw: ContextMetaCountsRaw


class ContextMetaTruncated(TypedDict):
    facts: bool
    episodes: bool
    raw: bool


class ContextMetaExcluded(TypedDict):
    superseded: int
    stale: int
    expired: int
    not_yet_valid: int
    predicted_origin: int


class ContextMetaPromotionBacklog(TypedDict):
    raw: int
    episodes: int


class ContextMeta(TypedDict):
    revision: int
    generated_at: str
    window: ContextMetaWindow
    filters: ContextMetaFilters
    counts: ContextMetaCounts
    timed_out: bool
    truncated: ContextMetaTruncated
    excluded: ContextMetaExcluded
    token_estimate: int
    ranking: str
    promotion_backlog: ContextMetaPromotionBacklog


class ContextRequest(TypedDict):
    query: NotRequired[str]
    goal: NotRequired[str]
    tags: NotRequired[List[str]]
    recency_minutes: NotRequired[Union[int, None]]
    max_facts: NotRequired[int]
    max_episodes: NotRequired[int]
    max_raw: NotRequired[int]


class ContextResponse(TypedDict):
    profile: Union[ProfileResponse, None]
    facts: List[FactResponse]
    episodes: List[EpisodeResponse]
    raw: List[RawMemoryResponse]
    meta: ContextMeta


class CustomEvent(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: str
    payload: Dict[str, Any]


class DecisionEvidence(TypedDict):
    agreeing: int
    similar: int


class Decision(TypedDict):
    id: str
    kind: Literal["reply", "permission"]
    decided_at: str
    agent: str
    session_id: Union[str, None]
    project: Union[str, None]
    tool: Union[str, None]
    action: Union[Literal["run", "write", "delete", "read", "fetch", "call"], None]
    asked: str
    answer: str
    confidence: float
    threshold: Union[float, None]
    required: Union[int, None]
    evidence: DecisionEvidence
    key_id: Union[str, None]
    objected_at: Union[str, None]


class DecisionList(TypedDict):
    results: List[Decision]
    next: Union[str, None]
    latest_day: int


class DecisionSettings(TypedDict):
    automatic: bool
    deny: bool
    check_share: float
    daily_note: bool
    escalation_mail: Literal["off", "unconfirmed", "on"]


class DecisionSettingsChange(TypedDict):
    automatic: NotRequired[bool]
    deny: NotRequired[bool]
    check_share: NotRequired[float]
    daily_note: NotRequired[bool]
    escalation_mail: NotRequired[Literal["off", "on"]]


class DeletionReceiptEpisodes(TypedDict):
    deleted: int
    stale: int


class DeletionReceiptFacts(TypedDict):
    deleted: int
    stale: int
    restored: int


class DeletionReceipt(TypedDict):
    id: str
    event_deleted: bool
    episodes: DeletionReceiptEpisodes
    facts: DeletionReceiptFacts


class DeliveryList(TypedDict):
    results: List[DeliveryResponse]


class DeliveryResponse(TypedDict):
    id: str
    event: Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]
    data: Dict[str, Any]
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    reason: Union[str, None]
    created_at: str
    last_attempt_at: Union[str, None]
    next_attempt_at: Union[str, None]


class DraftContext(TypedDict):
    profile: bool
    fact_ids: List[str]
    episode_ids: List[str]
    raw_ids: List[str]
    truncated: bool


class DraftRequest(TypedDict):
    draft: str
    mode: NotRequired[Literal["complete_draft", "next_prompt"]]
    language: NotRequired[str]
    messages: NotRequired[List[Message]]


class DraftResponseSent(TypedDict):
    role: str
    content: str


class DraftResponseUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class DraftResponseTiming(TypedDict):
    queue_ms: int
    memory_ms: int
    model_ms: int
    total_ms: int


class DraftResponse(TypedDict):
    status: Literal["suggested", "abstained"]
    completion: str
    alternatives: List[str]
    confidence: float
    model: str
    sent: NotRequired[List[DraftResponseSent]]
    context: NotRequired[DraftContext]
    usage: DraftResponseUsage
    timing: DraftResponseTiming


class EmailChangeRequest(TypedDict):
    email: str
    current_password: str


class EpisodeChange(TypedDict):
    title: NotRequired[str]
    summary: NotRequired[str]
    started_at: NotRequired[str]
    ended_at: NotRequired[str]
    status: NotRequired[Literal["draft", "final"]]
    raw_ids: NotRequired[List[str]]
    project: NotRequired[Union[str, None]]
    tags: NotRequired[List[str]]
    salience: NotRequired[float]
    model: NotRequired[Union[str, None]]


class EpisodePage(TypedDict):
    results: List[EpisodeResponse]
    next: Union[str, None]


class EpisodeRequest(TypedDict):
    title: str
    summary: str
    started_at: str
    ended_at: str
    status: NotRequired[Literal["draft", "final"]]
    raw_ids: NotRequired[List[str]]
    project: NotRequired[Union[str, None]]
    tags: NotRequired[List[str]]
    salience: NotRequired[float]
    model: NotRequired[Union[str, None]]
    origin: NotRequired[Literal["human", "agent"]]


class EpisodeResponse(TypedDict):
    id: str
    title: str
    summary: str
    started_at: str
    ended_at: str
    status: Literal["draft", "final"]
    origin: Literal["human", "agent", "model", "extractive"]
    raw_ids: List[str]
    project: Union[str, None]
    tags: List[str]
    salience: float
    model: Union[str, None]
    promoted_at: Union[str, None]
    stale_at: Union[str, None]
    created_at: str
    updated_at: str


class ExportLine(TypedDict):
    type: str
    data: Dict[str, Any]


class FactChange(TypedDict):
    text: NotRequired[str]
    kind: NotRequired[Union[str, None]]
    tags: NotRequired[List[str]]
    confidence: NotRequired[float]
    episode_ids: NotRequired[List[str]]
    valid_from: NotRequired[Union[str, None]]
    valid_to: NotRequired[Union[str, None]]
    superseded_by: NotRequired[Union[str, None]]
    pinned: NotRequired[bool]
    model: NotRequired[Union[str, None]]


class FactDetail(TypedDict):
    id: str
    text: str
    kind: Union[str, None]
    slot: Union[str, None]
    origin: Literal["human", "agent", "model", "extractive"]
    tags: List[str]
    confidence: float
    episode_ids: List[str]
    project: Union[str, None]
    valid_from: Union[str, None]
    valid_to: Union[str, None]
    recorded_at: str
    invalidated_at: Union[str, None]
    superseded_by: Union[str, None]
    revision_of: Union[str, None]
    stale_at: Union[str, None]
    pinned: bool
    model: Union[str, None]
    created_at: str
    updated_at: str
    sources: List[MemorySource]


class FactPage(TypedDict):
    results: List[FactResponse]
    next: Union[str, None]


class FactRequest(TypedDict):
    text: str
    kind: NotRequired[Union[str, None]]
    tags: NotRequired[List[str]]
    confidence: NotRequired[float]
    episode_ids: NotRequired[List[str]]
    valid_from: NotRequired[Union[str, None]]
    valid_to: NotRequired[Union[str, None]]
    superseded_by: NotRequired[Union[str, None]]
    pinned: NotRequired[bool]
    model: NotRequired[Union[str, None]]
    origin: NotRequired[Literal["human", "agent"]]


class FactResponse(TypedDict):
    id: str
    text: str
    kind: Union[str, None]
    slot: Union[str, None]
    origin: Literal["human", "agent", "model", "extractive"]
    tags: List[str]
    confidence: float
    episode_ids: List[str]
    project: Union[str, None]
    valid_from: Union[str, None]
    valid_to: Union[str, None]
    recorded_at: str
    invalidated_at: Union[str, None]
    superseded_by: Union[str, None]
    revision_of: Union[str, None]
    stale_at: Union[str, None]
    pinned: bool
    model: Union[str, None]
    created_at: str
    updated_at: str


class Fault(TypedDict):
    loc: List[Union[str, int]]
    msg: str
    type: Literal["missing", "extra_forbidden", "string_type", "int_type", "float_type", "bool_type", "list_type", "dict_type", "string_too_short", "string_too_long", "string_pattern_mismatch", "enum", "greater_than_equal", "less_than_equal", "too_short", "too_long", "uuid_parsing", "datetime_parsing", "value_error"]
    ctx: NotRequired[Dict[str, Any]]
    input: NotRequired[Any]


class FeedbackRequest(TypedDict):
    status: Literal["accepted", "edited", "rejected"]
    actual_response: NotRequired[Union[str, None]]


class ForgetReceiptEpisodes(TypedDict):
    deleted: int
    stale: int


class ForgetReceiptFacts(TypedDict):
    deleted: int
    stale: int
    restored: int


class ForgetReceipt(TypedDict):
    forgotten: int
    events_deleted: int
    episodes: ForgetReceiptEpisodes
    facts: ForgetReceiptFacts


class ForgetRequest(TypedDict):
    tier: Literal["raw", "episodes", "facts"]
    ids: List[str]
    purge_event: NotRequired[bool]


class GrantChange(TypedDict):
    scopes: List[Literal["read", "predict", "write", "forget", "decide", "record"]]


class GrantList(TypedDict):
    results: List[GrantResponse]


class GrantResponse(TypedDict):
    id: str
    client_name: str
    client_url: Union[str, None]
    scopes: List[Literal["read", "predict", "write", "forget", "decide", "record"]]
    resource: str
    created_at: str
    last_used_at: str


class HealthResponse(TypedDict):
    status: Literal["ok"]


class InviteRequest(TypedDict):
    code: str


class InviteResponse(TypedDict):
    valid: bool


class JobReceipt(TypedDict):
    job_id: str
    status_url: str


class JobResponseProgress(TypedDict):
    done: int
    total: int


class JobResponseError(TypedDict):
    code: str
    message: str


class JobResponse(TypedDict):
    id: str
    kind: str
    state: Literal["queued", "running", "succeeded", "failed", "cancelled"]
    progress: JobResponseProgress
    result: Union[Dict[str, Any], None]
    error: Union[JobResponseError, None]
    created_at: str
    finished_at: Union[str, None]


class KeyListResultsBrought(TypedDict):
    messages: int
    predictions: int
    permissions: int
    decisions: int


class KeyListResults(TypedDict):
    id: str
    label: str
    scopes: NotRequired[List[Literal["read", "predict", "write", "forget", "decide", "record"]]]
    threshold_floor: NotRequired[float]
    expires_at: NotRequired[str]
    prefix: str
    created_at: str
    last_used_at: Union[str, None]
    brought: NotRequired[KeyListResultsBrought]


class KeyList(TypedDict):
    results: List[KeyListResults]


class KeyRequest(TypedDict):
    label: str
    scopes: NotRequired[List[Literal["read", "predict", "write", "forget", "decide", "record"]]]
    threshold_floor: NotRequired[float]
    expires_at: NotRequired[str]


class KeyResponse(TypedDict):
    id: str
    label: str
    scopes: NotRequired[List[Literal["read", "predict", "write", "forget", "decide", "record"]]]
    threshold_floor: NotRequired[float]
    expires_at: NotRequired[str]
    prefix: str
    created_at: str
    last_used_at: Union[str, None]


class LogInList(TypedDict):
    results: List[LogInResponse]


class LogInResponse(TypedDict):
    id: str
    client: Union[str, None]
    system: Union[str, None]
    created_at: str
    last_used_at: str
    current: bool


class LoginRequest(TypedDict):
    email: str
    password: str


class LoginResponse(TypedDict):
    access: str
    refresh: str
    user: UserResponse


class LogoutRequest(TypedDict):
    refresh: NotRequired[str]
    all: NotRequired[bool]


class LogoutResponse(TypedDict):
    status: Literal["logged_out"]


class MemorySource(TypedDict):
    tier: Literal["raw", "episode", "fact"]
    id: str
    quote: Union[str, None]


class MemoryStatsProfile(TypedDict):
    count: int
    last_updated_at: Union[str, None]
    count_since: NotRequired[int]


class MemoryStatsFacts(TypedDict):
    count: int
    last_updated_at: Union[str, None]
    count_since: NotRequired[int]


class MemoryStatsEpisodes(TypedDict):
    count: int
    last_updated_at: Union[str, None]
    count_since: NotRequired[int]


class MemoryStatsRaw(TypedDict):
    count: int
    last_updated_at: Union[str, None]
    count_since: NotRequired[int]


class MemoryStats(TypedDict):
    profile: MemoryStatsProfile
    facts: MemoryStatsFacts
    episodes: MemoryStatsEpisodes
    raw: MemoryStatsRaw


class Message(TypedDict):
    role: Literal["user", "assistant", "tool"]
    content: str
    origin: NotRequired[Literal["human", "agent", "accepted_prediction", "edited_prediction", "unknown"]]


class NewAppKeyResponse(TypedDict):
    key: str


class NewAppResponse(TypedDict):
    app_id: str
    name: str
    plan: Literal["sandbox", "paid"]
    monthly_cap_cents: Union[int, None]
    active: bool
    native: bool
    redirect_uris: List[str]
    min_confidence: float
    supersede: bool
    on_disconnect: Literal["continue", "cancel"]
    disabled: List[str]
    switched_off: List[str]
    created_at: str
    key: str


class NewKeyResponse(TypedDict):
    id: str
    key: str
    label: str
    scopes: NotRequired[List[Literal["read", "predict", "write", "forget", "decide", "record"]]]
    threshold_floor: NotRequired[float]
    expires_at: NotRequired[str]
    created_at: str


class NewPasskeyRequest(TypedDict):
    name: str
    credential: PasskeyAttestation


class NewWebhookResponse(TypedDict):
    id: str
    app_id: Union[str, None]
    url: str
    events: List[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]]
    disabled: Union[Literal["paused", "gone", "failing"], None]
    failing_since: Union[str, None]
    old_secret_until: Union[str, None]
    created_at: str
    secret: str


class PasskeyAssertionResponse(TypedDict):
    clientDataJSON: str
    authenticatorData: str
    signature: str


class PasskeyAssertion(TypedDict):
    id: str
    rawId: str
    type: Literal["public-key"]
    response: PasskeyAssertionResponse


class PasskeyAttestationResponse(TypedDict):
    clientDataJSON: str
    attestationObject: str
    transports: NotRequired[List[str]]


class PasskeyAttestation(TypedDict):
    id: str
    rawId: str
    type: Literal["public-key"]
    response: PasskeyAttestationResponse


class PasskeyChange(TypedDict):
    name: str


class PasskeyCreationRp(TypedDict):
    name: str
    id: str


class PasskeyCreationUser(TypedDict):
    id: str
    name: str
    displayName: str


class PasskeyCreationPubKeyCredParams(TypedDict):
    alg: int
    type: Literal["public-key"]


class PasskeyCreationExcludeCredentials(TypedDict):
    id: str
    type: Literal["public-key"]
    transports: List[str]


class PasskeyCreationAuthenticatorSelection(TypedDict):
    residentKey: Literal["required"]
    requireResidentKey: Literal[true]
    userVerification: Literal["required"]


class PasskeyCreation(TypedDict):
    rp: PasskeyCreationRp
    user: PasskeyCreationUser
    challenge: str
    pubKeyCredParams: List[PasskeyCreationPubKeyCredParams]
    timeout: int
    attestation: Literal["none"]
    excludeCredentials: List[PasskeyCreationExcludeCredentials]
    authenticatorSelection: PasskeyCreationAuthenticatorSelection


class PasskeyList(TypedDict):
    results: List[PasskeyResponse]


class PasskeyLogInRequest(TypedDict):
    credential: PasskeyAssertion


class PasskeyRequest(TypedDict):
    challenge: str
    rpId: str
    timeout: int
    userVerification: Literal["required"]


class PasskeyResponse(TypedDict):
    id: str
    name: str
    backed_up: bool
    created_at: str
    last_used_at: Union[str, None]


class PermissionAnswer(TypedDict):
    id: str
    decision: Literal["allow", "ask", "deny"]
    reason: Literal["supported", "unsupported", "never", "check", "off"]
    confidence: float
    allowed: int
    refused: int
    required: Union[int, None]


class PermissionRequest(TypedDict):
    agent: str
    tool: str
    action: Literal["run", "write", "delete", "read", "fetch", "call"]
    target: str
    cwd: str
    project: str
    session_id: NotRequired[str]
    mode: NotRequired[str]
    shadow: NotRequired[bool]


class PredictionEventRequest(TypedDict):
    event_id: str
    request_id: str
    user_id: str
    kind: Literal["presented", "accepted", "edited", "dismissed", "submitted"]


class PredictionEventResponse(TypedDict):
    status: Literal["recorded"]


class PredictionRequestDraft(TypedDict):
    text: str
    revision: int


class PredictionRequest(TypedDict):
    request_id: str
    user_id: str
    session_id: str
    mode: Literal["complete_draft", "next_prompt"]
    draft: PredictionRequestDraft
    context_revision: str
    artifact: NotRequired[Union[Artifact, None]]
    connection_id: NotRequired[Union[str, None]]
    language: NotRequired[str]
    messages: NotRequired[List[Message]]
    user_preferences: NotRequired[str]


class PredictionResponseUsage(TypedDict):
    prediction_units: int


class PredictionResponse(TypedDict):
    request_id: str
    prediction_id: str
    session_id: str
    connection_id: Union[str, None]
    draft_revision: int
    context_revision: str
    profile_revision: str
    grant_revision: int
    status: Literal["suggested", "abstained"]
    completion: str
    expires_at: int
    context_truncated: bool
    usage: PredictionResponseUsage


class ProfileRequest(TypedDict):
    data: NotRequired[Dict[str, Any]]
    summary: NotRequired[str]


class ProfileResponse(TypedDict):
    data: Dict[str, Any]
    summary: str
    revision: int
    created_at: str
    updated_at: str


class PromoteRequest(TypedDict):
    since: NotRequired[str]
    limit: NotRequired[int]
    model: NotRequired[str]
    force: NotRequired[bool]


class PromoteResultUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class PromoteResult(TypedDict):
    created: int
    updated: int
    skipped: int
    considered: int
    ids: List[str]
    model: str
    usage: PromoteResultUsage
    latency_ms: int


class RawMemoryPage(TypedDict):
    results: List[RawMemoryResponse]
    next: Union[str, None]


class RawMemoryRequest(TypedDict):
    content: str
    kind: NotRequired[Literal["prompt", "reply", "message", "note", "other"]]
    role: NotRequired[Union[Literal["human", "agent", "tool", "system"], None]]
    origin: NotRequired[Literal["human", "agent", "accepted_prediction", "edited_prediction", "unknown"]]
    agent: NotRequired[Union[str, None]]
    session_id: NotRequired[Union[str, None]]
    source: NotRequired[str]
    occurred_at: NotRequired[str]
    project: NotRequired[Union[str, None]]
    tags: NotRequired[List[str]]
    metadata: NotRequired[Dict[str, Any]]


class RawMemoryResponse(TypedDict):
    id: str
    content: str
    kind: Literal["prompt", "reply", "message", "note", "other"]
    role: Union[Literal["human", "agent", "tool", "system"], None]
    origin: Literal["human", "agent", "accepted_prediction", "edited_prediction", "unknown", "reported"]
    agent: Union[str, None]
    session_id: Union[str, None]
    source: str
    event_id: Union[str, None]
    occurred_at: str
    project: Union[str, None]
    tags: List[str]
    metadata: Dict[str, Any]
    promoted_at: Union[str, None]
    created_at: str


class ReadinessResponse(TypedDict):
    status: Literal["ready"]


class RecordingReceiptInvalid(TypedDict):
    index: int
    errors: List[str]


class RecordingReceipt(TypedDict):
    accepted: int
    duplicates: int
    invalid: List[RecordingReceiptInvalid]


class RefreshRequest(TypedDict):
    refresh: str


class ReplayRequest(TypedDict):
    delivery_ids: NotRequired[List[str]]


class ReplayResponse(TypedDict):
    replayed: int


class ReplyCalibrationBins(TypedDict):
    lo: float
    hi: float
    count: int
    mean_confidence: float
    observed: float


class ReplyCalibrationEvidence(TypedDict):
    target: float
    labels: int
    coverage: Union[float, None]
    precision: Union[float, None]
    precision_low: Union[float, None]
    precision_high: Union[float, None]
    reason: Union[Literal["no_feedback", "too_little_feedback", "not_precise_enough"], None]


class ReplyCalibration(TypedDict):
    bins: List[ReplyCalibrationBins]
    brier: Union[float, None]
    suggested_threshold: Union[float, None]
    feedback_count: int
    evidence: ReplyCalibrationEvidence


class ReplyCandidate(TypedDict):
    response: str
    confidence: float
    reasoning: str


class ReplyContextCounts(TypedDict):
    facts: int
    episodes: int
    raw: int
    examples: int


class ReplyContext(TypedDict):
    prompt_revision: int
    memory_revision: int
    profile: bool
    fact_ids: List[str]
    episode_ids: List[str]
    raw_ids: List[str]
    example_ids: List[str]
    withheld_ids: List[str]
    support: Union[ReplySupport, None]
    counts: ReplyContextCounts
    truncated: bool


class ReplyDetailUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class ReplyDetailEvidence(TypedDict):
    tier: Literal["raw", "episode", "fact"]
    id: str
    text: str
    at: str


class ReplyDetail(TypedDict):
    id: str
    predicted_response: str
    confidence: float
    reasoning: str
    candidates: List[ReplyCandidate]
    k: int
    status: Literal["pending", "auto", "escalated", "accepted", "edited", "rejected"]
    threshold: float
    model: str
    latency_ms: int
    usage: ReplyDetailUsage
    agent: str
    question: str
    trial: bool
    session_id: Union[str, None]
    created_at: str
    acted_at: Union[str, None]
    actual_response: Union[str, None]
    feedback_at: Union[str, None]
    feedback_witness: Union[str, None]
    feedback_reported: bool
    error: Union[str, None]
    agent_input: str
    context: Union[ReplyContext, None]
    evidence: NotRequired[List[ReplyDetailEvidence]]


class ReplyList(TypedDict):
    total: int
    limit: int
    offset: int
    results: List[ReplySummary]


class ReplyRequest(TypedDict):
    agent: str
    agent_input: str
    k: NotRequired[int]
    threshold: NotRequired[float]
    model: NotRequired[str]
    recency_minutes: NotRequired[int]
    session_id: NotRequired[Union[str, None]]
    trial: NotRequired[bool]


class ReplyResponseUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class ReplyResponse(TypedDict):
    id: str
    predicted_response: str
    confidence: float
    reasoning: str
    candidates: List[ReplyCandidate]
    k: int
    status: Literal["pending", "auto", "escalated", "accepted", "edited", "rejected"]
    threshold: float
    model: str
    latency_ms: int
    usage: ReplyResponseUsage


class ReplyStatsByStatus(TypedDict):
    pending: int
    auto: int
    escalated: int
    accepted: int
    edited: int
    rejected: int


class ReplyStats(TypedDict):
    total: int
    by_status: ReplyStatsByStatus
    precision: Union[float, None]
    automation_rate: Union[float, None]


class ReplySummaryUsage(TypedDict):
    input_tokens: int
    output_tokens: int


class ReplySummary(TypedDict):
    id: str
    predicted_response: str
    confidence: float
    reasoning: str
    candidates: List[ReplyCandidate]
    k: int
    status: Literal["pending", "auto", "escalated", "accepted", "edited", "rejected"]
    threshold: float
    model: str
    latency_ms: int
    usage: ReplySummaryUsage
    agent: str
    question: str
    trial: bool
    session_id: Union[str, None]
    created_at: str
    acted_at: Union[str, None]
    actual_response: Union[str, None]
    feedback_at: Union[str, None]
    feedback_witness: Union[str, None]
    feedback_reported: bool
    error: Union[str, None]


class ReplySupport(TypedDict):
    supported: bool
    strict: bool
    similar: int
    agreeing: int
    reply_ids: List[str]
    prediction_ids: List[str]


class RevokeResponse(TypedDict):
    status: Literal["revoked"]


class Session(TypedDict):
    session_id: str
    owner: str
    started_at: str
    source: str
    source_detail: Union[str, None]
    ended_at: Union[str, None]


class SessionEvents(TypedDict):
    session: Session
    results: List[StoredEvent]
    next: Union[str, None]


class SessionListResults(TypedDict):
    session_id: str
    owner: str
    started_at: str
    source: str
    source_detail: Union[str, None]
    ended_at: Union[str, None]
    title: Union[str, None]
    project: Union[str, None]
    permissions: Union[int, None]


class SessionList(TypedDict):
    results: List[SessionListResults]


class SignupRequest(TypedDict):
    email: str
    password: str
    name: NotRequired[str]
    invite_code: NotRequired[str]


class StoredEvent(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: str
    received_at: str


class SubjectRequest(TypedDict):
    user_id: str


class SyncRequest(TypedDict):
    since: NotRequired[str]
    session_id: NotRequired[str]
    limit: NotRequired[int]


class SyncResult(TypedDict):
    scanned: int
    created: int
    skipped: int
    last_event_at: Union[str, None]


class UsageResponse(TypedDict):
    app_id: str
    month: str
    plan: Literal["sandbox", "paid"]
    prediction_units: int
    reserved_units: int
    paid_prediction_units: int
    invoice_cents: int
    monthly_cap_cents: Union[int, None]
    sandbox_remaining: int
    currency: Literal["USD"]
    billing_model: Literal["manual"]
    cap_scope: Literal["app"]


class UserResponse(TypedDict):
    id: str
    email: str
    name: str
    created_at: str


class ValidationErrorBody(TypedDict):
    detail: List[Fault]


class WaitlistRequest(TypedDict):
    email: str


class WaitlistResponse(TypedDict):
    status: Literal["added"]


class WebhookChange(TypedDict):
    url: NotRequired[str]
    events: NotRequired[List[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]]]
    active: NotRequired[bool]


class WebhookList(TypedDict):
    results: List[WebhookResponse]


class WebhookRequest(TypedDict):
    url: str
    events: List[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]]
    app_id: NotRequired[str]


class WebhookResponse(TypedDict):
    id: str
    app_id: Union[str, None]
    url: str
    events: List[Literal["prediction.escalated", "job.finished", "connection.revoked", "cap.reached"]]
    disabled: Union[Literal["paused", "gone", "failing"], None]
    failing_since: Union[str, None]
    old_secret_until: Union[str, None]
    created_at: str


class WebhookSecretRequest(TypedDict):
    grace_s: int


class WebhookSecretResponse(TypedDict):
    secret: str


class PredictionInput(TypedDict):
    """The arguments of `predict`, whose `request_id` is generated if it is absent."""

    request_id: NotRequired[str]
    user_id: str
    session_id: str
    mode: Literal["complete_draft", "next_prompt"]
    draft: PredictionRequestDraft
    context_revision: str
    artifact: NotRequired[Union[Artifact, None]]
    connection_id: NotRequired[Union[str, None]]
    language: NotRequired[str]
    messages: NotRequired[List[Message]]
    user_preferences: NotRequired[str]


class EndedPrediction(TypedDict):
    """A prediction that was cancelled, or that a newer draft replaced."""

    status: Literal["cancelled", "superseded"]
    request_id: str


class JobBegun(TypedDict):
    type: Literal["job"]
    job_id: str
    status_url: str


class JobProgress(TypedDict):
    type: Literal["progress"]
    done: int
    total: int


class JobItem(TypedDict):
    """One prediction of a batch."""

    type: Literal["result"]
    item: Union[BatchResponseResultsPrediction, BatchResponseResultsError]


class JobDone(TypedDict):
    type: Literal["done"]
    result: Any


class RecordEventsSessionStarted(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: Literal["session.started"]


class RecordEventsSessionStopped(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: Literal["session.stopped"]


class RecordEventsAgentPrompt(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: Literal["agent.prompt"]
    agent: str
    prompt: str


class RecordEventsAgentMessage(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: Literal["agent.message"]
    agent: str
    text: str


class RecordEventsUserReply(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: Literal["user.reply"]
    agent: str
    reply: str
    in_reply_to: NotRequired[str]


class RecordEventsUserMessage(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: Literal["user.message"]
    text: str


class RecordEventsNote(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: NotRequired[str]
    type: Literal["note"]
    text: str


class RecordEventsAgentPermission(TypedDict):
    id: str
    session_id: str
    occurred_at: str
    source: str
    source_detail: NotRequired[str]
    project: str
    type: Literal["agent.permission"]
    agent: str
    tool: str
    action: Literal["run", "write", "delete", "read", "fetch", "call"]
    target: str
    cwd: str
    outcome: Literal["allowed", "refused"]


class SyncMemoryDone(TypedDict):
    type: Literal["done"]
    result: SyncResult


class PromoteEpisodesDone(TypedDict):
    type: Literal["done"]
    result: PromoteResult


class PromoteFactsDone(TypedDict):
    type: Literal["done"]
    result: PromoteResult


class PredictRepliesDone(TypedDict):
    type: Literal["done"]
    result: BatchResponse


# The events of a job: `JobBegun` comes first, `JobDone` last. A failure is raised.
JobEvent = Union[JobBegun, JobProgress, JobItem, JobDone]
