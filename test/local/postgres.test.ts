import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startPostgres } from '../../bin/start/postgres.ts';
import { query, untilRefused } from '../support/one-query.ts';

const HOLDER = join(import.meta.dirname, '../support/hold-postgres.ts');

describe('embedded PostgreSQL', () => {
  let directory: string;
  const start = () => startPostgres({ directory, throwaway: true });

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'forecue-postgres-'));
  });

  after(async () => {
    const { stop } = await start();
    await stop();
    for (const path of [await realpath(directory), directory])
      await rm(path, { recursive: true, force: true });
  });

  it('the embedded PostgreSQL uses UTF-8 and UTC, and listens on the loopback address only', async () => {
    const { url, stop } = await start();
    const settings = ['server_encoding', 'timezone', 'listen_addresses', 'unix_socket_directories'];
    const values = settings.map((name) => `current_setting('${name}')`).join(', ');
    const [row] = await query(url, `select array[current_database(), ${values}]::text[] as settings`);
    assert.deepEqual(row?.['settings'], ['forecue', 'UTF8', 'UTC', '127.0.0.1', '']);
    await stop();
  });

  it('the embedded PostgreSQL refuses a client with a wrong password, and only the owner of the files can read the password', async () => {
    const { url, stop } = await start();
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await assert.rejects(query(wrong.href, 'select 1'), { code: '28P01' });
    assert.equal((await stat(join(directory, 'password'))).mode & 0o777, 0o600);
    await stop();
  });

  it('the embedded PostgreSQL keeps its data between starts', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    const second = await start();
    assert.deepEqual(await query(second.url, 'select answer from kept'), [{ answer: 42 }]);
    await second.stop();
  });

  it('the embedded PostgreSQL replaces a server that already runs on the same data', async () => {
    const [first, second] = [await start(), await start()];
    await assert.rejects(query(first.url, 'select 1'), { code: 'ECONNREFUSED' });
    await query(second.url, 'select 1');
    await second.stop();
    await first.stop();
  });

  it('the embedded PostgreSQL ends when its owner process is killed, and can be started again', async () => {
    const holder = spawn(process.execPath, [HOLDER, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [url] = (await once(createInterface(holder.stdout), 'line')) as [string];
    await query(url, 'select 1');
    holder.kill('SIGKILL');
    await untilRefused(url);
    const { url: next, stop } = await start();
    await query(next, 'select 1');
    await stop();
  });

  for (const [state, content] of [
    ['is empty', ''],
    ['names a process that is not PostgreSQL', `${process.ppid}\n-\n0\n1\n\n127.0.0.1\n\nready\n`],
  ] as const)
    it(`the embedded PostgreSQL starts even if postmaster.pid ${state}`, async () => {
      await (await start()).stop();
      await writeFile(join(directory, 'data/postmaster.pid'), content);
      const { url, stop } = await start();
      await query(url, 'select 1');
      await stop();
    }).timeout(15_000);
});
