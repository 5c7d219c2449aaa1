import { readFile } from 'node:fs/promises';
import type { BaseConfig } from '../config/config.ts';
import { openDatabase } from '../db/orm.ts';
import { createApp } from '../db/stores/apps.ts';
import { createLog } from '../log.ts';
import { writePrivateFile } from './private-files.ts';

/**
 * The key of the developer's own app. The database holds its hash only, so the file is what shows it again at
 * the next start. A key that the ingress at `url` no longer knows is replaced by a new app's.
 */
export async function sandboxKey(file: string, url: string, config: BaseConfig): Promise<string> {
  const kept = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (kept !== '' && (await isKnown(kept, url))) return kept;
  const key = await createSandboxApp(config);
  await writePrivateFile(file, `${key}\n`);
  return key;
}

async function isKnown(key: string, url: string): Promise<boolean> {
  const response = await fetch(`${url}/v1/usage`, { headers: { authorization: `Bearer ${key}` } });
  await response.body?.cancel();
  return response.status !== 401;
}

async function createSandboxApp(config: BaseConfig): Promise<string> {
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
