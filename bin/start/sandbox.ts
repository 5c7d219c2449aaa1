import { readFile } from 'node:fs/promises';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { StoreConfig } from '../../shared/config/config.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { createApp, findApp, findAppsByKey, updateApp } from '../../shared/db/stores/apps.ts';
import { createLog } from '../../shared/log.ts';
import { hashKey } from '../../shared/security/keys.ts';
import { writePrivateFile } from './files.ts';

/** Keeps the key in a file, because the database has only its hash. Creates an app if no active one has it. */
export async function sandboxKey(file: string, callback: string, config: StoreConfig): Promise<string> {
  const storedKey = (await readFile(file, 'utf8').catch(() => '')).trim();
  const database = await openDatabase(config, createLog('start', 'error'), 'forecue start');
  try {
    const em = database.orm.em.fork();
    const [app] = await findAppsByKey(database.pool, [hashKey(storedKey)]);
    if (app !== undefined) {
      await addRedirectUri(em, app.id, callback);
      return storedKey;
    }
    const redirectUris = [callback, 'http://localhost:3000/callback'];
    const { key } = await createApp(em, { name: 'Sandbox', redirectUris, plan: 'sandbox', capCents: null });
    await writePrivateFile(file, `${key}\n`);
    return key;
  } finally {
    await database.close();
  }
}

/** The port in the URI may differ from that of the last start. */
async function addRedirectUri(em: EntityManager, appId: string, uri: string): Promise<void> {
  const app = await findApp(em, appId);
  if (app !== undefined && !app.redirectUris.includes(uri))
    await updateApp(em, appId, { redirectUris: [uri, ...app.redirectUris] });
}
