import type { EntityManager } from '@mikro-orm/postgresql';
import { emailKey, findByEmail } from '../../shared/db/stores/accounts.ts';
import { issueToken } from '../../shared/db/stores/log-ins.ts';
import { passwordResetLink } from '../../shared/domain/account.ts';
import type { Mail } from '../../shared/net/mail.ts';
import { type Limiter, type LimiterFactory, takeOrRefuse } from '../limits/limiter.ts';
import { networkOf } from '../request/address.ts';
import type { Mailer } from './mailer.ts';

const WINDOW_S = 60 * 60;
/** Requests for one e-mail address per window. A stranger may use them up: the owner still gets the links by mail. */
const REQUESTS_PER_EMAIL = 5;
/** Requests from one network per window. A network may be a whole office. */
const REQUESTS_PER_NETWORK = 50;

interface LinkParts {
  em: () => EntityManager;
  mailer: Mailer | undefined;
  limits: LimiterFactory;
  publicUrl: string;
}

/** Mails a one-time password reset link to people who forgot their password. */
export class ResetLinks {
  readonly #parts: LinkParts;
  readonly #perEmail: Limiter;
  readonly #perNetwork: Limiter;

  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#perEmail = parts.limits.open({
      name: 'reset-address',
      points: REQUESTS_PER_EMAIL,
      windowS: WINDOW_S,
    });
    this.#perNetwork = parts.limits.open({
      name: 'reset-network',
      points: REQUESTS_PER_NETWORK,
      windowS: WINDOW_S,
    });
  }

  get areMailed(): boolean {
    return this.#parts.mailer !== undefined;
  }

  /**
   * Mails a link if the e-mail address has an account. Looks the account up in the background, so that the response
   * time does not reveal whether it exists. Throws `rate_limited`.
   */
  async ask(email: string, address: string): Promise<void> {
    await takeOrRefuse(this.#perNetwork, networkOf(address));
    await takeOrRefuse(this.#perEmail, emailKey(email));
    this.#parts.mailer?.send(() => this.#mailTo(email));
  }

  async #mailTo(email: string): Promise<Mail | undefined> {
    const { em, publicUrl } = this.#parts;
    const account = await findByEmail(em(), email);
    const issued = account && (await issueToken(em(), 'password_resets', account));
    if (account === undefined || issued === undefined) return undefined;
    // Mails to the stored spelling of the address, because another spelling may be another person's address.
    return {
      to: account.email,
      subject: 'A new password for Forecue',
      text: mailText(publicUrl, issued.token),
    };
  }
}

function mailText(publicUrl: string, token: string): string {
  return `Somebody asked for a new password for your Forecue account.

If it was you, choose one here. The link works once, within an hour:

${passwordResetLink(publicUrl, token)}

If it was not you, do nothing: your password stays as it is.
`;
}
