import type { MailConfig } from '../../shared/config/config.ts';
import type { Log } from '../../shared/log.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import { retry } from '../../shared/timing/retry.ts';
import { withTimeout } from '../../shared/timing/within.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends mails in the background, so that the answer to a request does not wait for its mail. */
export interface Mailer {
  /**
   * Sends the mail that `createMail` returns, if any. The caller neither waits nor learns whether the mail was sent.
   */
  send(createMail: () => Promise<Mail | undefined>): void;
  close(): Promise<void>;
}

const MAILS_AT_ONCE = 4;
/** Maximum number of mails that wait: more than a mail server takes in a minute or two. Further mails are dropped. */
const WAITING_MAX = 500;
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
const BACKOFF = { firstMs: 1000, longestMs: 15_000 };
const TRY_FOR_MS = 60_000;
/** Time that mails under way get when the process stops. */
const CLOSE_MS = 2000;
/** Lowest reply code with which a mail server reports that a retry is of no use (RFC 5321, 4.2.1). */
const PERMANENT_CODE = 500;

/**
 * Opens the mailer, if a server is configured. It retries each mail for a minute, unless the server refuses it for
 * good. When the process stops, waiting mails are lost.
 */
export async function openMailer(config: MailConfig | undefined, log: Log): Promise<Mailer | undefined> {
  if (config === undefined) return undefined;
  // Imported only where mail is sent: the import takes 60 ms of the start.
  const { createTransport } = await import('nodemailer');
  const timeouts = {
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  };
  const transport = createTransport({ url: config.url, ...timeouts });
  const limiter = new ConcurrencyLimiter({ capacity: MAILS_AT_ONCE, maxQueued: WAITING_MAX });
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();

  const deliver = async (createMail: () => Promise<Mail | undefined>): Promise<void> => {
    const mail = await createMail();
    if (mail === undefined) return;
    const { to, ...content } = mail;
    // `to` is an object, because a text would be parsed as a list of addresses.
    const message = { from: config.from, to: { name: '', address: to }, ...content };
    const until = performance.now() + TRY_FOR_MS;
    await retry(() => transport.sendMail(message), {
      ...BACKOFF,
      until,
      when: (error) => codesOf(error).responseCode < PERMANENT_CODE,
      signal: closing.signal,
    });
  };

  return {
    send(createMail) {
      const delivery = limiter
        .run(() => deliver(createMail), { gone: closing.signal })
        // Logs codes only, because the server's own words may name the person.
        .catch((error: unknown) => log.warn(codesOf(error), 'a mail was not sent'))
        .finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    async close() {
      closing.abort(new Error('the process stops'));
      await withTimeout(CLOSE_MS, () => Promise.all(underWay)).catch(() => {});
    },
  };
}

/**
 * Returns why a mail was not sent: the error's code, and the mail server's reply code, or 0 if the server did not
 * answer.
 */
function codesOf(error: unknown): { code: string; responseCode: number } {
  const { code = 'unknown', responseCode = 0 } = error as { code?: string; responseCode?: number };
  return { code, responseCode };
}
