import type { MailConfig } from '../../shared/config/mail.ts';
import type { Log } from '../../shared/log.ts';
import { codesOf, isPermanent, type Mail, openMailTransport } from '../../shared/net/mail.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import { retry } from '../../shared/timing/retry.ts';
import { withTimeout } from '../../shared/timing/within.ts';

export interface Mailer {
  /** Sends the mail that `createMail` returns, in the background. The caller does not learn whether it was sent. */
  send(createMail: () => Promise<Mail | undefined>): void;
  close(): Promise<void>;
}

/** Tells the owner of an account, who may not be the one who changed its password. */
export function reportNewPassword(
  { mailer, publicUrl }: { mailer: Mailer | undefined; publicUrl: string },
  to: string,
): void {
  const link = `${publicUrl}/connect/forgotten-password`;
  const text = `The password was changed, and every log-in has ended.\n\nIf it was not you, set another one:\n\n${link}\n`;
  mailer?.send(async () => ({ to, subject: 'Your Forecue password was changed', text }));
}

const MAILS_AT_ONCE = 4;
/** Maximum mails that wait to be sent. Further mails are dropped. */
const WAITING_MAILS_MAX = 500;
const BACKOFF = { firstMs: 1000, longestMs: 15_000 };
const RETRY_FOR_MS = 60_000;
const CLOSE_TIMEOUT_MS = 2000;

/** Retries a mail for a minute, unless its failure is permanent. Waiting mails are lost when the process stops. */
export async function openMailer(config: MailConfig | undefined, log: Log): Promise<Mailer | undefined> {
  if (config === undefined) return undefined;
  const sendMail = await openMailTransport(config);
  const limiter = new ConcurrencyLimiter({ capacity: MAILS_AT_ONCE, maxQueued: WAITING_MAILS_MAX });
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();

  const deliver = async (createMail: () => Promise<Mail | undefined>): Promise<void> => {
    const mail = await createMail();
    if (mail === undefined) return;
    const until = performance.now() + RETRY_FOR_MS;
    await retry(() => sendMail(mail), {
      ...BACKOFF,
      until,
      when: (error) => !isPermanent(error),
      signal: closing.signal,
    });
  };

  return {
    send(createMail) {
      const delivery = limiter
        .run(() => deliver(createMail), { gone: closing.signal })
        // Logs codes only, because the server's message may name the person.
        .catch((error: unknown) => log.warn(codesOf(error), 'a mail was not sent'))
        .finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    async close() {
      closing.abort(new Error('the process stops'));
      await withTimeout(CLOSE_TIMEOUT_MS, () => Promise.all(underWay)).catch(() => {});
    },
  };
}
