import type { EntityManager } from '@mikro-orm/postgresql';
import type { App } from '../../../shared/db/entities/app.ts';
import { findByEmail } from '../../../shared/db/stores/accounts.ts';
import { findApp, listApps } from '../../../shared/db/stores/apps.ts';
import { approveAttempt, startAttempt } from '../../../shared/db/stores/connections/attempts.ts';
import { exchange } from '../../../shared/db/stores/connections/exchange.ts';
import { challengeOf } from '../../../shared/security/fingerprint.ts';
import { newToken } from '../../../shared/security/keys.ts';
import { AdminError } from '../admin-error.ts';
import { appId, required, unknownApp } from '../arguments.ts';
import { command } from '../command.ts';
import { lines } from '../text.ts';

const ATTEMPT_TTL_S = 60;

/** What a person otherwise does on the consent page, for trying things out: never in production, where consent is theirs. */
export const connectionCreate = command({
  synopsis: '[APP_ID] --email E --user-id U',
  options: { email: { type: 'string' }, 'user-id': { type: 'string' } },
  operands: 1,
  read(values, operand) {
    const email = required('--email', values.email);
    const userId = required('--user-id', values['user-id']);
    const id = operand === undefined ? undefined : appId(operand);
    return async ({ em, config }) => {
      if (config.production)
        throw new AdminError('in production only the person connects an app, on the consent page');
      const app = await appOf(em, id);
      const account = await findByEmail(em, email);
      if (account === undefined)
        throw new AdminError('there is no user with this e-mail address: `user list` shows the users');
      const data = await connect(em, app, { userId, accountId: account.id, windowS: config.recoveryWindowS });
      return { data, text: lines(data) };
    };
  },
});

/** The app with this id; without one, the only app there is. */
async function appOf(em: EntityManager, id: string | undefined): Promise<App> {
  if (id !== undefined) {
    const app = await findApp(em, id);
    if (app === undefined) throw unknownApp(id);
    return app;
  }
  const [only, ...others] = await listApps(em);
  if (only === undefined || others.length > 0)
    throw new AdminError('APP_ID is missing, and there is not exactly one app: `app list` shows the apps');
  return only;
}

/** The three steps of a connection: the app's start, the person's approval, the app's exchange. */
async function connect(
  em: EntityManager,
  { id, redirectUris: [redirectUri] }: App,
  { userId, accountId, windowS }: { userId: string; accountId: string; windowS: number },
): Promise<object> {
  if (redirectUri === undefined) throw new AdminError('the app has no redirect URI: `app update` adds one');
  const verifier = newToken().token;
  const attempt = await startAttempt(em, {
    appId: id,
    userId,
    redirectUri,
    state: newToken().token,
    codeChallenge: challengeOf(verifier),
    ttlS: ATTEMPT_TTL_S,
  });
  const code = await approveAttempt(em, attempt.id, accountId);
  if (code === undefined) throw new AdminError('the user is disabled');
  const request = {
    request_id: attempt.id,
    user_id: userId,
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
  };
  const { answer } = await exchange(em, id, request, windowS);
  return JSON.parse(answer);
}
