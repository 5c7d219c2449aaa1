import { readFile } from 'node:fs/promises';
import type { StoreConfig } from '../../shared/config/config.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { createApp } from '../../shared/db/stores/apps.ts';
import { createLog } from '../../shared/log.ts';
import { writePrivateFile } from './private-files.ts';

/**
 * The key of the sandbox app. The database only has its hash, so a file keeps it for the next start. If the ingress at
 * `url` does not accept the kept key, a new app is created.
 */
export async function sandboxKey(file: string, url: string, config: StoreConfig): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '' && (await isAccepted(kept, url))) return kept;
  const key = await createSandboxApp(config);
  await writePrivateFile(file, `${key}\n`);
  return key;
}

async function isAccepted(key: string, url: string): Promise<boolean> {
  const response = await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  await response.body?.cancel();
  return response.status !== 401;
}

async function createSandboxApp(config: StoreConfig): Promise<string> {
  const database = await openDatabase(config, createLog('start', 'error'), 'forecue start');
  try {
    const { key } = await createApp(database.orm.em.fork(), {
      name: 'Sandbox',
      redirectUris: ['http://localhost:3000/callback'],
      plan: 'sandbox',
      capCents: null,
    });
    return key;
  } finally {
    await database.close();
  }
}
