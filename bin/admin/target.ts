import { join, resolve } from 'node:path';
import { type AdminConfig, adminConfig } from '../../shared/config/config.ts';
import { withEmbeddedDatabase } from '../../shared/config/development.ts';
import { Env } from '../../shared/config/env.ts';
import { lockFolder, makePrivateFolder } from '../start/files.ts';
import { startPostgres } from '../start/postgres.ts';
import { AdminError } from './admin-error.ts';

export const DATA_FOLDER = resolve(import.meta.dirname, '../../.data');

/** A database that `restore` fills, or the embedded database that `move` copies; each command opens it itself. */
interface Target extends AsyncDisposable {
  config: AdminConfig;
}

/** Opens the database of `DATABASE_URL`; without it, outside production, the embedded one. */
export async function openTarget(values: NodeJS.ProcessEnv, folder = DATA_FOLDER): Promise<Target> {
  const env = new Env(values);
  if (env.has('DATABASE_URL') || env.text('NODE_ENV') === 'production')
    return targetOf(adminConfig(values), new AsyncDisposableStack());
  return openEmbedded(values, folder);
}

export async function openEmbedded(values: NodeJS.ProcessEnv, folder = DATA_FOLDER): Promise<Target> {
  await using opening = new AsyncDisposableStack();
  await makePrivateFolder(folder);
  const lock = lockFolder(folder);
  if (lock === undefined)
    throw new AdminError(
      '`npm start` runs in this checkout: stop it first, or set DATABASE_URL to another database',
    );
  opening.use(lock);
  const postgres = await startPostgres({ directory: join(folder, 'postgres') });
  opening.defer(() => postgres.stop());
  return targetOf(adminConfig(withEmbeddedDatabase(values, postgres.url)), opening.move());
}

function targetOf(config: AdminConfig, opened: AsyncDisposableStack): Target {
  return { config, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
