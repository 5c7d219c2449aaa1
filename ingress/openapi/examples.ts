import type { Static, TSchema } from 'typebox';
import * as accounts from '../../shared/schemas/accounts.ts';
import { HealthResponse, ReadinessResponse } from '../../shared/schemas/common.ts';
import * as connections from '../../shared/schemas/connections.ts';
import * as predictions from '../../shared/schemas/predictions.ts';
import { PredictionEventRequest, PredictionEventResponse } from '../../shared/schemas/predictions.ts';
import * as recording from '../../shared/schemas/recording.ts';
import { UsageResponse } from '../../shared/schemas/usage.ts';
import { MEMORY_EXAMPLES } from './memory-examples.ts';
import { REPLY_EXAMPLES } from './reply-examples.ts';

export function exampleOf(schema: TSchema): unknown {
  return EXAMPLES.get(schema);
}

const example = <T extends TSchema>(schema: T, value: Static<T>): [TSchema, unknown] => [schema, value];

const REQUEST_ID = 'req-2026-11-20-0001';
const CONNECTION_ID = '019a9fd2-6c4e-7b1a-9d55-0f6f3f6e2a10';
const ATTEMPT_ID = '019a9fd1-02f3-7c44-8a3b-5b1a4c9d7e21';
const USER_ID = 'user-17';
const REDIRECT_URI = 'https://app.example/forecue/callback';
const CREATED_AT = '2026-11-20T10:00:00.000Z';
const EMAIL = 'ada@example.com';
const PASSWORD = 'correct horse battery staple';
const ACCESS_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl';
const REFRESH_TOKEN = 'Wm9uZGVyIGVlbiB0b2tlbiBrb20gamUgbmVyZ2Vucw';
const USER = {
  id: '019a9fd0-5a11-7e3c-b0a4-9c2f6d1e8b30',
  email: EMAIL,
  name: 'Ada',
  created_at: CREATED_AT,
};
const KEY = { id: '019a9fd3-1d2e-7f90-a1b2-c3d4e5f60718', label: 'recorder', created_at: CREATED_AT };
const EVENT = {
  id: 'event-0001',
  session_id: 'session-3',
  occurred_at: CREATED_AT,
  source: 'terminal',
  type: 'agent.prompt',
  agent: 'reviewer',
  prompt: 'Shall I merge the branch?',
};
const SESSION = {
  session_id: EVENT.session_id,
  owner: USER.id,
  started_at: CREATED_AT,
  source: EVENT.source,
  source_detail: null,
  ended_at: null,
};

/** Examples by schema, all about the same person, app and request. */
const EXAMPLES = new Map<TSchema, unknown>([
  example(connections.ConnectionStartRequest, {
    user_id: USER_ID,
    redirect_uri: REDIRECT_URI,
    state: 'q7Zt0pXkV3mB9sLw2cRf6yHd1uNa8eGj',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  }),
  example(connections.ConnectionStartResponse, {
    request_id: ATTEMPT_ID,
    expires_at: 1795169400,
    authorize_url: `https://forecue.example/connect/${ATTEMPT_ID}`,
  }),
  example(connections.ConnectionExchangeRequest, {
    request_id: ATTEMPT_ID,
    user_id: USER_ID,
    code: 'Vb3kQ9xT2mZr7LwYc5Nf0sHd8pGj1uRa4eKo6iBtXyE',
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    redirect_uri: REDIRECT_URI,
  }),
  example(connections.ConnectionExchangeResponse, {
    connection_id: CONNECTION_ID,
    profile_revision: 'p-4f1c',
    grant_revision: 1,
    status: 'connected',
  }),
  example(connections.RevokeResponse, { status: 'revoked' }),
  example(connections.ConnectionList, {
    results: [
      { connection_id: CONNECTION_ID, app_name: 'Notebook', status: 'connected', created_at: CREATED_AT },
    ],
  }),

  example(connections.ConnectionDetail, {
    connection_id: CONNECTION_ID,
    app_name: 'Notebook',
    status: 'connected',
    created_at: CREATED_AT,
    predictions: 412,
    suggested: 287,
    last_used_at: CREATED_AT,
  }),

  example(predictions.PredictionRequest, {
    request_id: REQUEST_ID,
    user_id: USER_ID,
    session_id: 'session-3',
    mode: 'complete_draft',
    draft: { text: 'Please summarise the quart', revision: 7 },
    context_revision: 'c-12',
    artifact: null,
    connection_id: null,
    language: 'auto',
    messages: [
      {
        role: 'user',
        content: 'Please summarise the quarterly sales report for the board',
        origin: 'human',
      },
    ],
    user_preferences: '',
  }),
  example(predictions.PredictionResponse, {
    request_id: REQUEST_ID,
    prediction_id: '019a9fd4-77aa-7d01-8c3e-2b4f6a8c0e12',
    session_id: 'session-3',
    connection_id: null,
    draft_revision: 7,
    context_revision: 'c-12',
    profile_revision: 'none',
    grant_revision: 0,
    status: 'suggested',
    completion: 'erly sales report for the board',
    expires_at: 1795169401,
    context_truncated: false,
    usage: { prediction_units: 1 },
  }),
  example(predictions.SubjectRequest, { user_id: USER_ID }),
  example(predictions.CancelResponse, { status: 'cancelled', prediction_units: 0 }),
  example(PredictionEventRequest, {
    event_id: 'event-1',
    request_id: REQUEST_ID,
    user_id: USER_ID,
    kind: 'accepted',
  }),
  example(PredictionEventResponse, { status: 'recorded' }),

  example(UsageResponse, {
    app_id: '019a9fcf-3e10-7a55-9b1c-8d7e6f5a4b3c',
    month: '2026-11',
    plan: 'paid',
    prediction_units: 1280,
    reserved_units: 2,
    paid_prediction_units: 280,
    invoice_cents: 56,
    monthly_cap_cents: 5000,
    sandbox_remaining: 0,
    currency: 'USD',
    billing_model: 'manual',
    cap_scope: 'app',
  }),

  example(accounts.SignupRequest, { email: EMAIL, password: PASSWORD, name: 'Ada' }),
  example(accounts.LoginRequest, { email: EMAIL, password: PASSWORD }),
  example(accounts.LoginResponse, { access: ACCESS_TOKEN, refresh: REFRESH_TOKEN, user: USER }),
  example(accounts.RefreshRequest, { refresh: REFRESH_TOKEN }),
  example(accounts.LogoutRequest, { refresh: REFRESH_TOKEN }),
  example(accounts.AccessResponse, { access: ACCESS_TOKEN }),
  example(accounts.LogoutResponse, { status: 'logged_out' }),
  example(accounts.InviteRequest, { code: 'invite-7Q2M' }),
  example(accounts.InviteResponse, { valid: true }),
  example(accounts.WaitlistRequest, { email: EMAIL }),
  example(accounts.WaitlistResponse, { status: 'added' }),
  example(accounts.AccountChange, { name: 'Ada L.' }),
  example(accounts.UserResponse, USER),
  example(accounts.KeyRequest, { label: KEY.label }),
  example(accounts.NewKeyResponse, {
    ...KEY,
    key: 'service_Vb3kQ9xT2mZr7LwYc5Nf0sHd8pGj1uRa4eKo6iBtXyE0aB1cD',
  }),
  example(accounts.KeyResponse, { ...KEY, prefix: 'service_Vb3k', last_used_at: null }),
  example(accounts.KeyList, { results: [{ ...KEY, prefix: 'service_Vb3k', last_used_at: null }] }),

  example(accounts.ExportLine, { type: 'account', data: { ...USER } }),
  example(recording.RecordingBatch, [EVENT]),
  example(recording.RecordingReceipt, { accepted: 1, duplicates: 0, invalid: [] }),
  example(recording.StoredEvent, { ...EVENT, received_at: CREATED_AT }),
  example(recording.SessionList, { results: [SESSION] }),
  example(recording.SessionEvents, {
    session: SESSION,
    results: [{ ...EVENT, received_at: CREATED_AT }],
    next: null,
  }),

  example(HealthResponse, { status: 'ok' }),
  example(ReadinessResponse, { status: 'ready' }),
  ...MEMORY_EXAMPLES,
  ...REPLY_EXAMPLES,
]);
