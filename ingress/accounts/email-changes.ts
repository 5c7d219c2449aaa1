import type { EntityManager } from '@mikro-orm/postgresql';
import { emailKey, findAccount, findByEmail } from '../../shared/db/stores/accounts.ts';
import { askForEmail, confirmEmail, emailOfLink } from '../../shared/db/stores/email-changes.ts';
import { beginEscalationMail } from '../../shared/db/stores/webhooks/mails.ts';
import { emailChangeLink, requireLogin, type UserPrincipal } from '../../shared/domain/account.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { type Limiter, type LimiterFactory, takeOrRefuse } from '../limits/limiter.ts';
import { networkOf } from '../request/address.ts';
import { validationErrorFor } from './errors.ts';
import type { Mailer } from './mailer.ts';
import type { AccountService } from './service.ts';

const WINDOW_S = 60 * 60;
/** Links for one account in a window, and to one address, which may be a stranger's. */
const LINKS_MAX = 5;
/** Requests from one network in a window. */
const REQUESTS_PER_NETWORK = 50;

interface EmailParts {
  em: () => EntityManager;
  accounts: Pick<AccountService, 'checkPassword'>;
  mailer: Mailer | undefined;
  limits: LimiterFactory;
  publicUrl: string;
}

interface EmailRequest {
  email: string;
  currentPassword: string;
  address: string;
}

/** Changes an account's e-mail address, once its owner has confirmed it by a link that is mailed there. */
export class EmailChanges {
  readonly #parts: EmailParts;
  readonly #links: Limiter;
  readonly #requests: Limiter;

  constructor(parts: EmailParts) {
    this.#parts = parts;
    this.#links = parts.limits.open({ name: 'email-links', points: LINKS_MAX, windowS: WINDOW_S });
    this.#requests = parts.limits.open({
      name: 'email-network',
      points: REQUESTS_PER_NETWORK,
      windowS: WINDOW_S,
    });
  }

  /**
   * Mails the link, and a notice to the present address. Throws `feature_disabled` if this server sends no mail,
   * `access_denied` for a wrong password, `email_taken`, `rate_limited`, and a `ValidationError` for the present address.
   */
  async ask(user: UserPrincipal, asked: EmailRequest, gone: AbortSignal): Promise<void> {
    const { em, accounts, mailer, publicUrl } = this.#parts;
    if (mailer === undefined) throw new AppError('feature_disabled', { explanation: NO_MAIL });
    const login = requireLogin(user);
    const { email, currentPassword, address } = asked;
    await takeOrRefuse(this.#requests, networkOf(address));
    const account = await findAccount(em(), user.id);
    if (account === undefined) throw new AppError('not_authenticated');
    await accounts.checkPassword(account, { currentPassword, address }, gone);
    if (emailKey(email) === account.emailKey)
      throw validationErrorFor('email', 'This is your address', email);
    if ((await findByEmail(em(), email)) !== undefined) throw new AppError('email_taken');
    await takeOrRefuse(this.#links, user.id);
    await takeOrRefuse(this.#links, emailKey(email));
    const token = await askForEmail(em(), account, login, email);
    mailer.send(async () => ({
      to: email.normalize('NFC').trim(),
      subject: 'Confirm your e-mail address for Forecue',
      text: confirmText(emailChangeLink(publicUrl, token)),
    }));
    mailer.send(async () => ({
      to: account.email,
      subject: 'Your Forecue account is to get another e-mail address',
      text: noticeText(publicUrl),
    }));
  }

  /**
   * Mails a link to the account's own address, which confirms it and begins mails about escalated predictions. Does
   * nothing if they are on. Throws `feature_disabled` if this server sends no mail, and `rate_limited`.
   */
  async beginEscalationMail(accountId: string): Promise<void> {
    const { em, mailer, publicUrl } = this.#parts;
    if (mailer === undefined) throw new AppError('feature_disabled', { explanation: NO_MAIL });
    await takeOrRefuse(this.#links, accountId);
    const begun = await beginEscalationMail(em(), accountId);
    if (begun === undefined) return;
    mailer.send(async () => ({
      to: begun.email,
      subject: 'Confirm your e-mail address for Forecue',
      text: confirmText(emailChangeLink(publicUrl, begun.token), FOR_QUESTIONS),
    }));
  }

  /** The address that a link confirms; undefined if the link has ended. */
  addressOf(token: string): Promise<string | undefined> {
    return emailOfLink(this.#parts.em(), token);
  }

  /** Tells the old address. Returns the new one; undefined if the link has ended. Throws `email_taken`. */
  async confirm(token: string): Promise<{ accountId: string; email: string } | undefined> {
    const { em, mailer } = this.#parts;
    const changed = await confirmEmail(em(), token);
    if (changed === undefined) return undefined;
    if (emailKey(changed.before) === emailKey(changed.email)) return changed;
    const text = 'It is used from now on to log in, and for mails. This address has no account any more.\n';
    mailer?.send(async () => ({
      to: changed.before,
      subject: 'Your Forecue account has another e-mail address',
      text,
    }));
    return changed;
  }
}

const NO_MAIL = 'This server sends no mail, so it cannot confirm an address.';

const FOR_QUESTIONS = 'Then questions of your agents that wait for you are mailed here. ';

const confirmText = (
  link: string,
  more = '',
) => `Confirm that this is the e-mail address of your Forecue account:

${link}

${more}The link works once, within an hour. If you did not ask for it, do nothing.
`;

const noticeText = (
  publicUrl: string,
) => `Somebody with your password asked for another e-mail address for your account.

If it was not you, set a new password now. It ends every log-in and this request:

${publicUrl}/connect/forgotten-password
`;
