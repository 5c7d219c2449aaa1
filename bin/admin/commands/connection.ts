import type { EntityManager } from '@mikro-orm/postgresql';
import type { App } from '../../../shared/db/entities/app.ts';
import { findByEmail } from '../../../shared/db/stores/accounts.ts';
import { findApp, listApps } from '../../../shared/db/stores/apps.ts';
import { approveAttempt, startAttempt } from '../../../shared/db/stores/connections/attempts.ts';
import { exchange } from '../../../shared/db/stores/connections/exchange.ts';
import { listAllConnections } from '../../../shared/db/stores/connections/list.ts';
import { revokeConnection } from '../../../shared/db/stores/connections/revoke.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import { UUID } from '../../../shared/schemas/limits.ts';
import { challengeOf } from '../../../shared/security/fingerprint.ts';
import { newToken } from '../../../shared/security/keys.ts';
import { AdminError } from '../admin-error.ts';
import { appId, requireValue, unknownApp, userId } from '../arguments.ts';
import { command, EXAMPLE_ID } from '../command.ts';
import { fieldsOutcome, table } from '../text.ts';

const ATTEMPT_TTL_S = 60;

export const connectionCreate = command({
  summary: 'Connect an app with a user, as the consent page would; not in production',
  synopsis: '[APP_ID] --email E --user-id U',
  example: '--email ada@example.com --user-id u-1',
  options: { email: { type: 'string' }, 'user-id': { type: 'string' } },
  operand: (value) => (value === undefined ? undefined : appId(value)),
  read(values, id) {
    const email = requireValue('--email', values.email);
    const userId = requireValue('--user-id', values['user-id']);
    return async ({ em, config }) => {
      if (config.production)
        throw new AdminError('in production only the person connects an app, on the consent page');
      const app = await appOf(em, id);
      const account = await findByEmail(em, email);
      if (account === undefined)
        throw new AdminError('there is no user with this e-mail address: `user list` shows the users');
      return fieldsOutcome(
        await connect(em, app, { userId, accountId: account.id, windowS: config.recoveryWindowS }),
      );
    };
  },
});

export const connectionList = command({
  summary: 'List the latest 1000 connections, of an app or a user if one is given',
  synopsis: '[--app APP_ID] [--user USER_ID]',
  options: { app: { type: 'string' }, user: { type: 'string' } },
  example: `--user ${EXAMPLE_ID}`,
  read({ app, user }) {
    const filter = { app: app && appId(app), account: user && userId(user) };
    return async ({ em }) => {
      const data = (await listAllConnections(em, filter)).map((connection) => ({
        connection_id: connection.id,
        app_name: connection.app.name,
        user_id: connection.userId,
        email: connection.account?.email ?? null,
        status: connection.status,
        granted_at: connection.grantedAt,
        revoked_at: connection.revokedAt ?? null,
      }));
      return { data, text: table(data, COLUMNS) };
    };
  },
});

const COLUMNS = [
  'connection_id',
  'app_name',
  'user_id',
  'email',
  'status',
  'granted_at',
  'revoked_at',
] as const;

export const connectionRevoke = command({
  summary: 'End a connection and what runs with it',
  synopsis: 'CONNECTION_ID',
  example: EXAMPLE_ID,
  operand: (value) => requireValue('CONNECTION_ID', value).toLowerCase(),
  read(_, id) {
    return async ({ em, config }) => {
      const unknown = new AdminError(`there is no connection ${id}: \`connection list\` shows them`);
      if (!UUID.test(id)) throw unknown;
      const { ended } = await revokeConnection(em, { id }, config.recoveryWindowS).catch((error: unknown) => {
        throw error instanceof AppError && error.code === 'not_found' ? unknown : error;
      });
      const data = { connection_id: id, ended: ended.length };
      return { data, text: `The connection is revoked. Predictions that ended with it: ${ended.length}.` };
    };
  },
});

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
