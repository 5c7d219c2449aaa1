import { type EntityManager, LockMode, raw } from '@mikro-orm/postgresql';
import type { UserPrincipal } from '../../domain/account.ts';
import { AppError } from '../../errors/app-error.ts';
import { Account, WaitlistEntry } from '../entities/account.ts';
import { TokenUsage } from '../entities/provider.ts';
import { Webhook } from '../entities/webhook.ts';
import { transaction } from '../statement.ts';
import { takeSteps } from '../steps.ts';
import { endSessions } from './accounts.ts';
import { retireApps } from './apps.ts';
import { endRevokedWork, revokeConnectionsOf, revokeEnded } from './connections/revoke.ts';
import {
  anonymizeProviderCalls,
  eraseMemory,
  eraseRecordings,
  eraseReplies,
  eraseRows,
} from './erasure/rows.ts';
import {
  type EndingOptions,
  endGrants,
  endJobs,
  endRunningPredictions,
  eraseJobs,
  erasePredictionsOfGrants,
} from './erasure/work.ts';
import { addErasedAccount } from './erasures.ts';
import { requireOpenLogIn } from './own-log-ins.ts';
import { revokeServiceKeys } from './service-keys.ts';

/**
 * Disables an account: its log-ins and service keys stop working, and its connections are revoked. Undefined if the
 * account does not exist or is being erased. After the first transaction, no approval or exchange of a connection
 * attempt can begin for the account. The second transaction waits for exchanges in progress. Safe to repeat if the
 * process dies between the two. Sends no wake-ups: workers poll once a second, ingresses twice a second.
 */
export async function disableAccount(
  em: EntityManager,
  id: string,
  windowS: number,
): Promise<Account | undefined> {
  const account = await endCredentials(em, id);
  if (account !== undefined) await transaction(em, (tx) => revokeConnectionsOf(tx, id, windowS));
  return account;
}

/**
 * Lets the owner of a disabled account log in again, but revokes its service keys. Undefined if the account does not
 * exist or is being erased.
 */
export function enableAccount(em: EntityManager, id: string): Promise<Account | undefined> {
  return transaction(em, async (tx) => {
    const account = await tx.findOne(
      Account,
      { id, erasingAt: null },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (account === null || account.active) return account ?? undefined;
    await revokeServiceKeys(tx, id);
    return tx.assign(account, { active: true, updatedAt: new Date() });
  });
}

function endCredentials(em: EntityManager, id: string): Promise<Account | undefined> {
  return transaction(em, async (tx) => {
    const changedRows = await tx.nativeUpdate(
      Account,
      { id, erasingAt: null },
      { active: false, updatedAt: new Date() },
    );
    if (changedRows === 0) return undefined;
    await endSessions(tx, id);
    return (await tx.findOne(Account, { id })) ?? undefined;
  });
}

/*
 * An account is erased in short transactions, so that no lock is held for long. The caller is answered once the account
 * is anonymized and its connections are revoked. Later steps are safe to repeat, so any process can continue them.
 */

/** Interval at which an erasing process renews its lease. After `LEASE_S` without a renewal, it counts as dead. */
const RENEW_EVERY_MS = 1000;
const LEASE_S = 4;

/**
 * Begins to erase an account, which cannot be undone: ends its log-ins and keys, frees its e-mail address and revokes
 * its connections. Throws `not_authenticated` if the account is gone or already being erased, and `token_expired` if
 * the caller's log-in has been ended.
 */
export async function beginErasure(
  em: EntityManager,
  { id, login }: Pick<UserPrincipal, 'id' | 'login'>,
): Promise<void> {
  await transaction(em, async (tx) => {
    // Waits for admissions in progress, so that the erasure finds the work that they add. Later admissions are refused.
    await tx.execute('select lock_admissions_v1(?)', [id]);
    // The new `email_key` contains no @, so nobody can sign up with it. A log-in could still name it, so log-ins skip
    // accounts that are being erased.
    const account = await tx.findOne(
      Account,
      { id, erasingAt: null },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (account === null) throw new AppError('not_authenticated');
    await addErasedAccount(tx, id);
    await tx.nativeDelete(WaitlistEntry, { emailKey: account.emailKey });
    const now = raw('now()');
    await tx.nativeUpdate(
      Account,
      { id },
      {
        active: false,
        erasingAt: now,
        updatedAt: now,
        email: '',
        emailKey: id,
        name: '',
        passwordHash: '',
      },
    );
    if (login !== undefined) await requireOpenLogIn(tx, login, account.loginGeneration);
    await endSessions(tx, id);
    await revokeServiceKeys(tx, id);
    // Deleted later, since their deliveries may be many. From now on nothing is sent.
    await tx.nativeUpdate(Webhook, { account: id }, { disabled: 'paused' });
    await retireApps(tx, { owner: id });
  });
  await endGrants(em, id);
}

/** Continues an erasure for about `withinMs`. Returns false if it is unfinished; then any process may take it over. */
export async function continueErasure(
  em: EntityManager,
  id: string,
  options: EndingOptions,
  withinMs: number,
  stopping?: AbortSignal,
): Promise<boolean> {
  const steps = renewingLease(em, id, erasureSteps(em, id, options));
  const isFinished = await takeSteps(steps, withinMs, stopping);
  if (!isFinished)
    await em.nativeUpdate(Account, { id }, { erasingAt: raw('now() - make_interval(secs => ?)', [LEASE_S]) });
  return isFinished;
}

async function* renewingLease(
  em: EntityManager,
  id: string,
  steps: AsyncIterable<void>,
): AsyncGenerator<void> {
  let renewedAt = performance.now();
  for await (const _ of steps) {
    if (performance.now() - renewedAt > RENEW_EVERY_MS) {
      await em.nativeUpdate(Account, { id }, { erasingAt: raw('now()') });
      renewedAt = performance.now();
    }
    yield;
  }
}

/**
 * Revokes connections whose end has come, and finishes what other processes left unfinished when they died or ran out
 * of time: ends work under revoked connections, and erases accounts. Takes about `withinMs` for each of the two. Any
 * number of processes may call it.
 */
export async function finishEndings(
  em: EntityManager,
  options: EndingOptions,
  withinMs: number,
  stopping: AbortSignal,
): Promise<void> {
  try {
    await takeSteps(revokeEnded(em, options), withinMs, stopping);
    await takeSteps(endRevokedWork(em, options), withinMs, stopping);
  } finally {
    await finishErasures(em, options, withinMs, stopping);
  }
}

async function finishErasures(
  em: EntityManager,
  options: EndingOptions,
  withinMs: number,
  stopping: AbortSignal,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (!stopping.aborted) {
    const id = await takeOverErasure(em);
    if (id === undefined) return;
    const isFinished = await continueErasure(em, id, options, until - performance.now(), stopping);
    if (!isFinished) return;
  }
}

async function takeOverErasure(em: EntityManager): Promise<string | undefined> {
  const [account] = await em.execute<{ id: string }[]>(
    `update accounts set erasing_at = now()
      where id = (
        select id from accounts where erasing_at <= now() - make_interval(secs => ?)
         order by erasing_at limit 1 for update skip locked)
     returning id`,
    [LEASE_S],
  );
  return account?.id;
}

/** The first steps end work that callers wait for. */
async function* erasureSteps(em: EntityManager, id: string, options: EndingOptions): AsyncGenerator<void> {
  await endGrants(em, id);
  yield* eraseRows(em, id, 'connection_attempts');
  yield* eraseRows(em, id, 'access_days');
  yield* endRunningPredictions(em, id, options);
  yield* endJobs(em, id, options);
  yield* erasePredictionsOfGrants(em, id);
  yield* eraseRecordings(em, id);
  yield* eraseMemory(em, id);
  yield* eraseJobs(em, id);
  yield* anonymizeProviderCalls(em, id);
  yield* eraseReplies(em, id);
  yield* eraseRows(em, id, 'deliveries', 'webhook_id in (select id from webhooks where account_id = ?)');
  await em.nativeDelete(TokenUsage, { accountId: id });
  // The remaining tables reference the account with `on delete cascade`.
  await em.nativeDelete(Account, { id });
}
