import { createHmac, randomBytes } from 'node:crypto';

/** Standard Webhooks asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;

export function newWebhookSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Shows a secret as Standard Webhooks writes one. */
export function presentSecret(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`;
}

export interface SignedMessage {
  id: string;
  /** Unix seconds of the attempt. */
  timestamp: number;
  body: string;
}

/** Makes the headers of Standard Webhooks, with a signature by each secret. */
export function webhookHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly Buffer[],
): Record<string, string> {
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return {
    'Webhook-Id': id,
    'Webhook-Timestamp': `${timestamp}`,
    'Webhook-Signature': signatures.join(' '),
  };
}
