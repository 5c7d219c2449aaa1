import type { MailConfig } from '../../shared/config/config.ts';
import type { Log } from '../../shared/log.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import { retry } from '../../shared/timing/retry.ts';
import { within } from '../../shared/timing/within.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Sends mails in the background: the answer to their request does not wait. */
export interface Mailer {
  /** Sends what `make` returns, if anything. The caller neither waits for it nor learns what came of it. */
  send(make: () => Promise<Mail | undefined>): void;
  close(): Promise<void>;
}

const AT_ONCE = 4;
/** More than a mail server takes in a minute or two; what a storm brings beyond that is dropped. */
const LINE_MAX = 500;
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
const BACKOFF = { firstMs: 1000, longestMs: 15_000 };
const TRY_FOR_MS = 60_000;
/** Time that mails under way get at a stop. */
const CLOSE_MS = 2000;
/** From here on the server says that another try is of no use (RFC 5321, 4.2.1). */
const PERMANENT = 500;

/** Sends through the server, or nothing if none is configured. A mail is tried for a minute, and lost with its process. */
export async function openMailer(config: MailConfig | undefined, log: Log): Promise<Mailer | undefined> {
  if (config === undefined) return undefined;
  // Loaded only where mail is sent: it takes 60 ms of a start.
  const { createTransport } = await import('nodemailer');
  const timeouts = {
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
  };
  const transport = createTransport({ url: config.url, ...timeouts });
  const limiter = new ConcurrencyLimiter({ atOnce: AT_ONCE, longest: LINE_MAX });
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();

  const deliver = async (make: () => Promise<Mail | undefined>): Promise<void> => {
    const mail = await make();
    if (mail === undefined) return;
    const { to, ...content } = mail;
    // As an object: a text would be parsed as a list of addresses.
    const message = { from: config.from, to: { name: '', address: to }, ...content };
    const until = performance.now() + TRY_FOR_MS;
    await retry(() => transport.sendMail(message), {
      ...BACKOFF,
      until,
      when: (error) => codeOf(error).responseCode < PERMANENT,
      signal: closing.signal,
    });
  };

  return {
    send(make) {
      const sent = limiter
        .run(() => deliver(make), { gone: closing.signal })
        // The server's own words may name the person.
        .catch((error: unknown) => log.warn(codeOf(error), 'a mail was not sent'))
        .finally(() => underWay.delete(sent));
      underWay.add(sent);
    },
    async close() {
      closing.abort(new Error('the process stops'));
      await within(CLOSE_MS, () => Promise.all(underWay)).catch(() => {});
    },
  };
}

/** Why a mail was not sent: our or the library's code, and the mail server's, 0 without an answer of it. */
function codeOf(error: unknown): { code: string; responseCode: number } {
  const { code = 'unknown', responseCode = 0 } = error as { code?: string; responseCode?: number };
  return { code, responseCode };
}
