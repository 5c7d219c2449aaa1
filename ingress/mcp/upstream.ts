import { type AccountClient, createAccountClient } from '../../client/src/api.ts';
import { ForecueError } from '../../client/src/errors.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { traceHeaders } from '../../shared/tracing/span.ts';

/** Sender of a request. If `/api` trusts the tool server as a proxy, it counts wrong credentials by `address`. */
export interface Caller {
  credential: string;
  /** Undefined for a client on standard input and output. */
  address?: string;
  requestId?: string;
  onRefused?: () => void;
}

/** Creates a client of `/api` for one caller. Cancelling a call also cancels the prediction behind it. */
export function accountClientAt(
  baseUrl: string,
  { credential, address, requestId, onRefused }: Caller,
): AccountClient {
  const extraHeaders = {
    'x-on-disconnect': 'cancel',
    ...(address !== undefined && { 'x-forwarded-for': address }),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
  };
  return createAccountClient({
    baseUrl,
    credential,
    async fetch(input, init) {
      const headers = { ...(init?.headers as object), ...extraHeaders, ...traceHeaders() };
      const answer = await fetch(input, { ...init, headers });
      if (answer.status === 401) onRefused?.();
      return answer;
    },
  });
}

const REFUSED =
  'The key or access token is unknown or was revoked. Issue a new key, and set it in the agent.';

/**
 * Throws `not_authenticated` or `token_expired` if `/api` refuses the credential, `rate_limited` or
 * `service_unavailable` if it cannot check it.
 */
export async function checkCredential(account: AccountClient, signal: AbortSignal): Promise<void> {
  try {
    await account.readAccount({ signal, retries: 1 });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ForecueError)) throw error;
    // A key without the scope to read is valid.
    if (error.code === 'access_denied') return;
    if (error.code === 'token_expired') throw new AppError('token_expired');
    if (error.status === 401) throw new AppError('not_authenticated', { explanation: REFUSED });
    const code = error.code === 'rate_limited' ? 'rate_limited' : 'service_unavailable';
    throw new AppError(code, { retryAfterS: error.retryAfter ?? 1 });
  }
}
