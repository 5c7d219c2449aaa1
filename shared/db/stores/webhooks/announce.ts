import type { EntityManager } from '@mikro-orm/postgresql';
import type { WebhookEventName } from '../../../schemas/webhooks.ts';

/**
 * The `url` of an account's webhook by which it is told of escalated predictions by mail, at its e-mail address. It is
 * no webhook to its owner, but a setting.
 */
export const MAIL_URL = 'mailto:';

/** Whom an event concerns: the webhooks of the account, of the app, or of both get it. */
export interface WebhookEvent {
  account?: string | null;
  app?: string;
  event: WebhookEventName;
  /** Ids and codes; never a person's text. */
  data: object;
}

/** Adds events to the outbox, in the transaction that causes them. */
export async function announce(tx: EntityManager, events: readonly WebhookEvent[]): Promise<void> {
  if (events.length > 0) await tx.execute('select announce_v1(?::json)', [JSON.stringify(events)]);
}
