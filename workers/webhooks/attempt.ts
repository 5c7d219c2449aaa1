import type { AttemptOutcome, DueDelivery, Target } from '../../shared/db/stores/webhooks/outbox.ts';
import { GuardedFetchError, guardedFetch } from '../../shared/net/guarded-fetch.ts';
import { webhookHeaders } from '../../shared/security/webhook-signature.ts';

const TIMEOUT_MS = 5000;
const GONE = 410;

/** Posts a delivery, signed by Standard Webhooks. Any 2xx counts; of an answer only its status is looked at. */
export async function attempt(
  { url, secrets }: Target,
  { id, event, data, createdMs }: DueDelivery,
  allowsPrivate: boolean,
): Promise<AttemptOutcome> {
  const body = JSON.stringify({ type: event, timestamp: new Date(createdMs).toISOString(), data });
  const timestamp = Math.floor(Date.now() / 1000);
  try {
    const { status } = await guardedFetch(new URL(url), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'Forecue',
        ...webhookHeaders({ id, timestamp, body }, secrets),
      },
      body,
      timeoutMs: TIMEOUT_MS,
      bytesMax: 0,
      allowsPrivate,
    });
    if (status >= 200 && status < 300) return { isDelivered: true };
    return { isDelivered: false, reason: `answered ${status}`, isGone: status === GONE };
  } catch (error) {
    return { isDelivered: false, reason: reasonOf(error), isGone: false };
  }
}

/** Says no more than an owner may know: neither addresses nor what a server wrote. */
function reasonOf(error: unknown): string {
  if (error instanceof GuardedFetchError) return `not called: ${error.message}`;
  if (error instanceof Error && error.name === 'AbortError') return 'no answer within 5 seconds';
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return `no connection: ${code}`;
}
