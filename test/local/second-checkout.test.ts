import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { createDatabase } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';

const START = resolve(import.meta.dirname, '../../bin/start/main.ts');
const OPERATOR_PORT = 9460;

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
