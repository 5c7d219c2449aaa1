import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type AdminConfig, adminConfig } from '../../shared/config/config.ts';
import { usesEmbeddedDatabase, withEmbeddedDatabase } from '../../shared/config/development.ts';
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
  return usesEmbeddedDatabase(values)
    ? openEmbedded(values, folder)
    : targetOf(adminConfig(values), new AsyncDisposableStack());
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

interface Replaced extends AsyncDisposable {
  url: string;
}

/**
 * Finds the database that a restored one replaces: by its address, by its name on the same server or, for an embedded
 * one, by the folder to which it was moved, in which it is started.
 */
export async function openReplaced(
  values: NodeJS.ProcessEnv,
  { database }: Pick<AdminConfig, 'database'>,
  place: string | undefined,
): Promise<Replaced | undefined> {
  if (place === undefined) return undefined;
  if (place.includes('://')) return { url: place, async [Symbol.asyncDispose]() {} };
  if (!usesEmbeddedDatabase(values)) {
    const url = new URL(database.directUrl);
    url.pathname = `/${encodeURIComponent(place)}`;
    return { url: url.href, async [Symbol.asyncDispose]() {} };
  }
  if (!existsSync(join(place, 'password'))) throw new AdminError(`${place} is not the folder of a database`);
  const { url, stop } = await startPostgres({ directory: place });
  return { url, [Symbol.asyncDispose]: stop };
}

function targetOf(config: AdminConfig, opened: AsyncDisposableStack): Target {
  return { config, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
