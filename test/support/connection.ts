import { randomBytes } from 'node:crypto';
import { approveAttempt, denyAttempt } from '../../shared/db/stores/connections/attempts.ts';
import { challengeOf } from '../../shared/security/fingerprint.ts';
import type { UserClient } from './account.ts';
import type { AppClient, Reply } from './client.ts';
import type { System } from './system.ts';

export const REDIRECT_URI = 'https://app.example/callback?from=forecue';

export interface StartResponse {
  request_id: string;
  expires_at: number;
  authorize_url: string;
}

export interface ExchangeResponse {
  connection_id: string;
  profile_revision: string;
  grant_revision: number;
  status: string;
}

export interface Attempt extends StartResponse {
  userId: string;
  verifier: string;
}

export function connectingApp(system: System): Promise<AppClient> {
  return system.app({ redirectUris: [REDIRECT_URI] });
}

export function startBody(userId = 'u-1') {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(24).toString('base64url');
  const body = { user_id: userId, redirect_uri: REDIRECT_URI, state, code_challenge: challengeOf(verifier) };
  return { verifier, body };
}

export async function startConnection(app: AppClient, userId = 'u-1'): Promise<Attempt> {
  const { verifier, body } = startBody(userId);
  const reply = await app.request<StartResponse>('POST', '/v1/connections', body);
  if (reply.status !== 200) throw new Error(`starting was answered ${reply.status} ${reply.text}`);
  return { ...reply.body, userId, verifier };
}

/** Approves the attempt for the person, as on the consent page. Returns the code. */
export async function approve(
  system: Pick<System, 'em'>,
  attempt: Attempt,
  { id }: Pick<UserClient, 'id'>,
): Promise<string> {
  const code = await approveAttempt(system.em(), attempt.request_id, id);
  if (code === undefined) throw new Error('the attempt cannot be approved');
  return code;
}

export async function deny(system: Pick<System, 'em'>, attempt: Attempt): Promise<void> {
  if (!(await denyAttempt(system.em(), attempt.request_id))) throw new Error('the attempt cannot be denied');
}

export function exchange(
  app: AppClient,
  attempt: Attempt,
  code: string,
  part: object = {},
  at: { url: string } = app,
): Promise<Reply<ExchangeResponse>> {
  const body = {
    request_id: attempt.request_id,
    user_id: attempt.userId,
    code,
    code_verifier: attempt.verifier,
    redirect_uri: REDIRECT_URI,
    ...part,
  };
  return app.request('POST', '/v1/connections/exchange', body, { at });
}

export async function connect(
  system: Pick<System, 'em'>,
  app: AppClient,
  account: Pick<UserClient, 'id'>,
  userId = 'u-1',
): Promise<ExchangeResponse> {
  const attempt = await startConnection(app, userId);
  const reply = await exchange(app, attempt, await approve(system, attempt, account));
  if (reply.status !== 200) throw new Error(`the exchange was answered ${reply.status} ${reply.text}`);
  return reply.body;
}

export function revoke(
  app: AppClient,
  connectionId: string,
  userId = 'u-1',
): Promise<Reply<{ status: string }>> {
  return app.request('POST', `/v1/connections/${connectionId}/revoke`, { user_id: userId });
}
