import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Env } from './env.ts';

const DATA = resolve(import.meta.dirname, '../../.data');

/** The files of the secrets that are made where there are none. */
const KEPT = { JWT_SECRET: 'jwt-secret', ADMIN_TOKEN: 'admin-token' } as const;

/**
 * The environment with its secrets. Outside production those that are missing are generated at the first start and kept, so
 * that every ingress of this checkout accepts the same tokens, before and after a restart.
 */
export function withSecrets(values: NodeJS.ProcessEnv, folder = DATA): NodeJS.ProcessEnv {
  const env = new Env(values);
  if (env.text('NODE_ENV') === 'production') return values;
  const missing = Object.entries(KEPT).filter(([name]) => !env.has(name as keyof typeof KEPT));
  const made = missing.map(([name, file]) => [name, keptSecret(join(folder, file))]);
  return { ...values, ...Object.fromEntries(made) };
}

/** When several processes start at once the first one's secret wins: a link, unlike a rename, never replaces a file. */
function keptSecret(file: string): string {
  const draft = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true, mode: 0o711 });
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

/** The environment with the embedded database's address. A direct address in it belongs to another database. */
export function withEmbeddedDatabase(values: NodeJS.ProcessEnv, url: string): NodeJS.ProcessEnv {
  return {
    ...values,
    DATABASE_URL: url,
    DATABASE_URL_FILE: '',
    DATABASE_DIRECT_URL: '',
    DATABASE_DIRECT_URL_FILE: '',
  };
}
