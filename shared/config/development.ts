import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Env } from './env.ts';

const DATA_FOLDER = resolve(import.meta.dirname, '../../.data');

const SECRET_FILES = { JWT_SECRET: 'jwt-secret', ADMIN_TOKEN: 'admin-token' } as const;

/**
 * Adds missing secrets, except in production. They are stored, so that every ingress of this checkout accepts the same
 * tokens, before and after a restart.
 */
export function withSecrets(values: NodeJS.ProcessEnv, folder = DATA_FOLDER): NodeJS.ProcessEnv {
  const env = new Env(values);
  if (env.text('NODE_ENV') === 'production') return values;
  const missing = Object.entries(SECRET_FILES).filter(
    ([name]) => !env.has(name as keyof typeof SECRET_FILES),
  );
  const secrets = missing.map(([name, file]) => [name, storedSecret(join(folder, file))]);
  return { ...values, ...Object.fromEntries(secrets) };
}

/** Reads the key of the sandbox app that `npm start` made; null if there is none. */
export async function readSandboxKey(folder = DATA_FOLDER): Promise<string | null> {
  const text = await readFile(join(folder, 'app-key'), 'utf8').catch(() => '');
  return text.trim() || null;
}

/**
 * If several processes create the file at once, the first one wins, because a link, unlike a rename, never replaces a
 * file.
 */
function storedSecret(file: string): string {
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

/** Production requires a `DATABASE_URL`; elsewhere, without one, the database is the embedded one. */
export function usesEmbeddedDatabase(values: NodeJS.ProcessEnv): boolean {
  const env = new Env(values);
  return !env.has('DATABASE_URL') && env.text('NODE_ENV') !== 'production';
}

/** Clears `DATABASE_DIRECT_URL`, which may name another database. */
export function withEmbeddedDatabase(values: NodeJS.ProcessEnv, url: string): NodeJS.ProcessEnv {
  return {
    ...values,
    DATABASE_URL: url,
    DATABASE_URL_FILE: '',
    DATABASE_DIRECT_URL: '',
    DATABASE_DIRECT_URL_FILE: '',
  };
}
