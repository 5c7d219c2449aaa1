import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Env } from '../config/env.ts';

const DATA = resolve(import.meta.dirname, '../../.data');

/**
 * The environment with a `JWT_SECRET`: outside of production one is made at the first start and kept, so that every
 * ingress of the checkout accepts the others' tokens, also after a restart.
 */
export function withSecret(values: NodeJS.ProcessEnv, folder = DATA): NodeJS.ProcessEnv {
  const env = new Env(values);
  if (env.text('NODE_ENV') === 'production' || env.text('JWT_SECRET') !== undefined) return values;
  return { ...values, JWT_SECRET: keptSecret(folder) };
}

/** Of several processes that start at once the first one's is kept: a link, unlike a rename, replaces nothing. */
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
