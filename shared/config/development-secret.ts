import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Env } from './env.ts';

const DATA = resolve(import.meta.dirname, '../../.data');

/**
 * The environment with a `JWT_SECRET`. Outside production one is generated at the first start and kept, so that every
 * ingress of this checkout accepts the same tokens, before and after a restart.
 */
export function withSecret(values: NodeJS.ProcessEnv, folder = DATA): NodeJS.ProcessEnv {
  const env = new Env(values);
  if (env.text('NODE_ENV') === 'production' || env.has('JWT_SECRET')) return values;
  return { ...values, JWT_SECRET: keptSecret(folder) };
}

/** When several processes start at once the first one's secret wins: a link, unlike a rename, never replaces a file. */
function keptSecret(folder: string): string {
  const file = join(folder, 'jwt-secret');
  const draft = `${file}.${process.pid}`;
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
}
