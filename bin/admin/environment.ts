import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { usesEmbeddedDatabase, withEmbeddedDatabase } from '../../shared/config/development.ts';
import { AdminError } from './admin-error.ts';

const ADDRESS_FILE = fileURLToPath(new URL('../../.data/database-url', import.meta.url));

/** Adds the addresses of a running `npm start` (database, ingress), unless in production or `DATABASE_URL` is set. */
export async function withDatabase(
  values: NodeJS.ProcessEnv,
  addressFile = ADDRESS_FILE,
): Promise<NodeJS.ProcessEnv> {
  if (!usesEmbeddedDatabase(values)) return values;
  const address = await readFile(addressFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new AdminError('there is no database: run `npm start` in another terminal, or set DATABASE_URL');
  });
  const ingress = await readFile(join(dirname(addressFile), 'address'), 'utf8').catch(() => '');
  const local = values['PUBLIC_URL'] || ingress === '' ? {} : { PUBLIC_URL: ingress.trim() };
  return withEmbeddedDatabase({ ...values, ...local }, address.trim());
}
