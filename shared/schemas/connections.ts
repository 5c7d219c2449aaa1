import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf, text } from './build.ts';
import { Identifier, Name, NullableTimestamp, Timestamp } from './common.ts';
import { SOURCE_DETAIL_MAX } from './limits.ts';

export const RedirectUri = text(2048, 1);

export const ConnectionStartRequest = closedObject({
  user_id: Name,
  redirect_uri: RedirectUri,
  state: Type.String({ minLength: 32, maxLength: 160, pattern: '^[A-Za-z0-9_-]+$' }),
  code_challenge: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
});

export const ConnectionStartResponse = closedObject({
  request_id: Type.String(),
  expires_at: Type.Integer(),
  authorize_url: Type.String(),
});

export const ConnectionExchangeRequest = closedObject({
  request_id: Identifier,
  user_id: Name,
  code: text(160, 32),
  code_verifier: Type.String({ minLength: 43, maxLength: 128, pattern: '^[A-Za-z0-9._~-]+$' }),
  redirect_uri: RedirectUri,
});
export type ConnectionExchangeRequest = Static<typeof ConnectionExchangeRequest>;

export const ConnectionExchangeResponse = closedObject({
  connection_id: Type.String(),
  profile_revision: Type.String(),
  grant_revision: Type.Integer(),
  status: oneOf(['connected']),
});
export type ConnectionExchangeResponse = Static<typeof ConnectionExchangeResponse>;

export const RevokeResponse = closedObject({ status: oneOf(['revoked']) });

const summaryFields = {
  connection_id: Type.String(),
  app_name: Type.String(),
  status: oneOf(['connected', 'revoked']),
  created_at: Timestamp,
};
const ConnectionSummary = closedObject(summaryFields);
export type ConnectionSummary = Static<typeof ConnectionSummary>;

/** Maximum number of a connection's predictions that are counted. */
export const CONNECTION_USES_MAX = 10_000;
const UseCount = Type.Integer({ minimum: 0, maximum: CONNECTION_USES_MAX });

export const CONSENT_MEMORY = ['all', 'facts'] as const;

export const PROJECTS_MAX = 50;

/** What predictions for the app may use of memory. */
const ConsentScope = closedObject({
  /** All of it, or only the profile and the facts. */
  memory: oneOf(CONSENT_MEMORY),
  /**
   * Only what was said in these projects, and facts of these or of no single project. Names, paths or addresses of
   * repositories in a request, names in an answer. Absent: whatever the project.
   */
  projects: Type.Optional(Type.Array(text(SOURCE_DETAIL_MAX, 1), { minItems: 1, maxItems: PROJECTS_MAX })),
});
export type ConsentScope = Static<typeof ConsentScope>;

export const ConnectionChange = closedObject({
  scope: Type.Optional(ConsentScope),
  /** When the connection ends as by a revoke; null: never. */
  ends_at: Type.Optional(NullableTimestamp),
});
export type ConnectionChange = Static<typeof ConnectionChange>;

/** A connection. The counts cover the last 35 days, and only predictions made under the current grant. */
export const ConnectionDetail = closedObject({
  ...summaryFields,
  scope: ConsentScope,
  ends_at: NullableTimestamp,
  /** Number of predictions made with the account's memory. */
  predictions: UseCount,
  /** Number of these predictions that suggested something. */
  suggested: UseCount,
  last_used_at: nullable(Timestamp),
});
export type ConnectionDetail = Static<typeof ConnectionDetail>;

export const ConnectionList = closedObject({ results: Type.Array(ConnectionSummary) });
