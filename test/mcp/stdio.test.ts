import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { signUp } from '../support/account.ts';
import { bareEnvironment } from '../support/environment.ts';
import { type System, startSystem } from '../support/system.ts';
import { called, keyOf } from '../support/tool-server.ts';

const BIN = join(import.meta.dirname, '../../bin/mcp');

describe('bin/mcp', function () {
  this.timeout(60_000);
  let system: System;
  before(async () => {
    system = await startSystem({ workers: 0 });
  });
  after(() => system.stop());

  it('bin/mcp serves the tools over a pipe, with the key of its environment', async () => {
    const person = await signUp(system);
    const env = { ...bareEnvironment(), FORECUE_URL: person.url, FORECUE_KEY: await keyOf(person) };
    const client = new Client({ name: 'desktop', version: '1' });
    await client.connect(new StdioClientTransport({ command: BIN, env }));
    const { id } = await called(client, 'remember', { text: 'Likes pipes' });
    assert.equal((await called(client, 'fetch', { id }))['text'], 'Likes pipes');
    await client.close();
  });

  it('bin/mcp says what is missing, on standard error', async () => {
    const child = spawn(BIN, { env: bareEnvironment() });
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    assert.equal(code, 1);
    assert.match(said, /FORECUE_KEY is required/);
  });
});
