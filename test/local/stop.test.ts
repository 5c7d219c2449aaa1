import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { createDatabase } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';
import { until } from '../support/until.ts';

const START = resolve(import.meta.dirname, '../../bin/start/main.ts');
const MIGRATING = `
  select from pg_stat_activity where datname = current_database() and application_name = 'forecue migrate'`;

it('Ctrl-C stops an `npm start` that waits for the migration of another process', async () => {
  const [database, data] = await Promise.all([createDatabase(), mkdtemp(join(tmpdir(), 'forecue-stop-'))]);
  const other = await database.pool.connect();
  await other.query(`select pg_advisory_lock(hashtext('forecue migrations'))`);
  const env = { ...bareEnvironment(), PORT: '0', DATABASE_URL: database.url };
  const child = spawn(process.execPath, [START, data], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [shown, said, exited] = [text(child.stdout), text(child.stderr), once(child, 'exit')];
  try {
    await until(async () => (await database.pool.query(MIGRATING)).rowCount);
    child.kill('SIGINT');
    await until(() => child.exitCode !== null);
    assert.deepEqual([child.exitCode, await said], [0, '']);
    assert.match(await shown, /Stopped\.\n$/);
  } finally {
    child.kill('SIGKILL');
    await exited;
    other.release();
    await rm(data, { recursive: true, force: true });
    await database.drop();
  }
});
