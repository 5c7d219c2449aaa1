import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { quotaError } from '../../domain/account.ts';
import { checkEach, Faults } from '../../domain/faults.ts';
import { redirectUriFault } from '../../domain/redirect-uri.ts';
import { AppError } from '../../errors/app-error.ts';
import type { AppChange } from '../../schemas/apps.ts';
import { APPS_MAX } from '../../schemas/limits.ts';
import { App } from '../entities/app.ts';
import { transaction } from '../statement.ts';
import { insertApp, retireApps, rotateKey } from './apps.ts';
import { lockActiveAccount } from './lock-account.ts';

export function listOwnApps(em: EntityManager, accountId: string): Promise<App[]> {
  return em.find(App, { owner: accountId }, { orderBy: { id: 'desc' } });
}

/** Throws `not_found` if the account has no such app. */
export function findOwnApp(em: EntityManager, accountId: string, id: string): Promise<App> {
  return em.findOneOrFail(App, { id, owner: accountId });
}

interface NewOwnApp {
  name: string;
  redirectUris: string[];
  native: boolean;
}

/** Throws `quota_exceeded`, `not_authenticated` if the account is gone, or a `ValidationError`. */
export async function createOwnApp(
  em: EntityManager,
  accountId: string,
  app: NewOwnApp,
): Promise<{ app: App; key: string }> {
  checkRedirectUris(app.redirectUris);
  const { appId, key } = await transaction(em, async (tx) => {
    if ((await lockActiveAccount(tx, accountId, 'no key update')) === undefined)
      throw new AppError('not_authenticated');
    const used = await tx.count(App, { owner: accountId });
    if (used >= APPS_MAX) throw quotaError([{ resource: 'apps', used, added: 1, quota: APPS_MAX }]);
    return insertApp(tx, { ...app, plan: 'sandbox', capCents: null, owner: accountId });
  });
  return { app: await findOwnApp(em, accountId, appId), key };
}

/**
 * Undefined fields stay as they are. Throws `not_found`, or a `ValidationError`, for a cap above the present one too:
 * only an operator raises it.
 */
export function changeOwnApp(
  em: EntityManager,
  accountId: string,
  id: string,
  change: AppChange,
): Promise<App> {
  if (change.redirect_uris !== undefined) checkRedirectUris(change.redirect_uris);
  return transaction(em, async (tx) => {
    const where = { id, owner: accountId };
    const app = await tx.findOneOrFail(App, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const { capCents } = app;
    const faults = new Faults(change);
    if (change.monthly_cap_cents !== undefined && capCents != null && change.monthly_cap_cents > capCents)
      faults.add('monthly_cap_cents', `Input should be at most ${capCents}; an operator can raise it`);
    faults.throwIfAny();
    const fields = {
      name: change.name,
      redirectUris: change.redirect_uris,
      native: change.native,
      minConfidence: change.min_confidence,
      supersede: change.supersede,
      onDisconnect: change.on_disconnect,
      switchedOff: change.switched_off,
      capCents: change.monthly_cap_cents,
      updatedAt: new Date(),
    };
    return tx.assign(app, fields, { ignoreUndefined: true });
  });
}

/** Issues a key, shown once. Throws `not_found`. */
export async function rotateOwnKey(
  em: EntityManager,
  accountId: string,
  id: string,
  graceS: number,
): Promise<string> {
  await findOwnApp(em, accountId, id);
  const key = await rotateKey(em, id, graceS);
  if (key === undefined) throw new AppError('not_found');
  return key;
}

/** Throws `not_found`. */
export async function deleteOwnApp(em: EntityManager, accountId: string, id: string): Promise<void> {
  const retired = await transaction(em, (tx) => retireApps(tx, { owner: accountId, id }));
  if (retired === 0) throw new AppError('not_found');
}

function checkRedirectUris(redirectUris: readonly string[]): void {
  checkEach('redirect_uris', redirectUris, redirectUriFault);
}
