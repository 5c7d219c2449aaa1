import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { portOf } from '../../bin/start/ports.ts';
import { createDatabase } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';
import { until } from '../support/until.ts';

const START = resolve(import.meta.dirname, '../../bin/start/main.ts');
const OPERATOR_PORT = 9460;
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

/** Occupies the operator port, as the ingress of another checkout would, unless it is already in use. */
async function holdOperatorPort(): Promise<Server> {
  const server = createServer().listen(OPERATOR_PORT, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) =>
    assert.equal(error.code, 'EADDRINUSE'),
  );
  return server;
}

it('`npm start` becomes ready on ports of its own while another checkout holds the operator port', async () => {
  const [held, database, data] = await Promise.all([
    holdOperatorPort(),
    createDatabase(),
    mkdtemp(join(tmpdir(), 'forecue-second-')),
  ]);
  try {
    const env = { ...bareEnvironment(), PORT: '0', DATABASE_URL: database.url };
    const child = spawn(process.execPath, [START, data], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, exited] = [text(child.stderr), once(child, 'exit')];
    let shown = '';
    for await (const chunk of child.stdout) {
      shown += chunk;
      if (shown.includes('Forecue is ready')) child.kill('SIGTERM');
    }
    await exited;
    assert.match(shown, /Forecue is ready/, await said);
    assert.match(shown, /^ +board +http:\/\/127\.0\.0\.1:\d+\/admin\/ /m);
    const tools = String.raw`http://127\.0\.0\.1:\d+/mcp`;
    assert.match(shown, new RegExp(`^claude mcp add --transport http forecue ${tools} `, 'm'));
    assert.match(shown, new RegExp(`^code --add-mcp '.*"url":"${tools}"`, 'm'));
    assert.match(shown, new RegExp(`^Cursor: .*"url": "${tools}"`, 'm'));
  } finally {
    held.close();
    await rm(data, { recursive: true, force: true });
    await database.drop();
  }
});

it('npm start reads the port from a URL, even if it is the default port 80', () => {
  assert.equal(portOf('http://127.0.0.1:8080'), '8080');
  assert.equal(portOf('http://127.0.0.1:80'), '80');
});
