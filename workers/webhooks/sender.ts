import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import {
  claimWebhooks,
  failPending,
  readDue,
  readTarget,
  releaseWebhook,
  storeAttempts,
} from '../../shared/db/stores/webhooks/outbox.ts';
import type { Log } from '../../shared/log.ts';
import { webhookAttempts } from '../../shared/metrics/work.ts';
import type { Repetition } from '../../shared/timing/every.ts';
import type { Rest } from '../../shared/timing/rest.ts';
import { withTimeout } from '../../shared/timing/within.ts';
import { attempt } from './attempt.ts';
import { type MailParts, mailQuestions } from './mail.ts';

const LOOK_EVERY_MS = { busy: 250, resting: 10_000 };
/** Webhooks to which a process sends at once, and deliveries to each of them. */
const WEBHOOKS_AT_ONCE = 32;
const DELIVERIES_AT_ONCE = 8;
/** Pause after attempts that could not be stored, so that a receiver is not called over and over. */
const FAILED_PAUSE_MS = 5000;
/** Longer than an attempt at a webhook. */
const CLOSE_TIMEOUT_MS = 7000;

export interface SenderOptions {
  em: () => EntityManager;
  /** Id of this process, whose heartbeat says whether deliveries are due. */
  heartbeat: { readonly id: string; readonly areDeliveriesDue: boolean; readonly rest: Rest };
  allowsPrivate: boolean;
  /** Undefined: this process sends no mail. */
  mail: MailParts | undefined;
  log: Log;
}

/**
 * Sends what the outbox has, at least once. Each worker has a sender; of a webhook, one at a time sends, and what a dead
 * one has left is sent again by another.
 */
export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #looks: Repetition;
  readonly #sending = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: SenderOptions) {
    this.#options = options;
    const { busy, resting } = LOOK_EVERY_MS;
    this.#looks = options.heartbeat.rest.every(busy, resting, () => this.#look(), {
      onError: (error) => options.log.warn({ err: error }, 'could not look for deliveries'),
    });
  }

  /** Ends after the attempts under way. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#looks.stop();
    // A mail server may take longer than a stop may: its mail is sent again.
    await withTimeout(CLOSE_TIMEOUT_MS, () => Promise.all(this.#sending.values())).catch(() => {});
  }

  async #look(): Promise<void> {
    const { em, heartbeat, mail } = this.#options;
    const busy = [...this.#sending.keys()];
    const limit = WEBHOOKS_AT_ONCE - busy.length;
    if (!heartbeat.areDeliveriesDue || limit === 0) return;
    for (const id of await claimWebhooks(em(), heartbeat.id, { busy, limit, mails: mail !== undefined })) {
      const sending = this.#send(id)
        .catch((error: unknown) => this.#pause(error))
        .finally(() => this.#sending.delete(id));
      this.#sending.set(id, sending);
    }
  }

  async #send(id: string): Promise<void> {
    while (!this.#closing.signal.aborted && (await this.#sendSome(id)));
    await releaseWebhook(this.#options.em(), id, this.#options.heartbeat.id);
  }

  async #pause(error: unknown): Promise<void> {
    this.#options.log.warn({ err: error }, 'could not send to a webhook');
    await sleep(FAILED_PAUSE_MS, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  /** Returns whether more may be sent at once. */
  async #sendSome(id: string): Promise<boolean> {
    const { em, heartbeat, allowsPrivate, mail, log } = this.#options;
    const target = await readTarget(em(), id, heartbeat.id);
    if (target === undefined) return false;
    if (target.isDisabled) return failPending(em(), id);
    if (mail !== undefined && target.mailTo !== null) {
      const outcome = await mailQuestions(em, mail, { webhook: id, to: target.mailTo });
      if (outcome?.is === 'failed') log.warn({ reason: outcome.reason }, 'a mail was not sent');
      return false;
    }
    const due = await readDue(em(), id, DELIVERIES_AT_ONCE);
    if (due.length === 0) return false;
    const attempted = await Promise.all(
      due.map(async (delivery) => ({ delivery, outcome: await attempt(target, delivery, allowsPrivate) })),
    );
    for (const { outcome } of attempted)
      webhookAttempts.inc({ outcome: outcome.isDelivered ? 'delivered' : 'failed' });
    return storeAttempts(em(), id, attempted);
  }
}
