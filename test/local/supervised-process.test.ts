import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SupervisedProcess } from '../../bin/start/supervised-process.ts';
import { until } from '../support/until.ts';

const NODE = process.execPath;

/** Program of a process that logs its id, and ends with its supervisor. */
const ENTRY = `
console.log(process.pid);
process.send({ type: 'ready' });
process.on('disconnect', () => process.exit());
`;

describe('supervised process', () => {
  let folder: string;
  let said: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'forecue-supervised-'));
    await writeFile(join(folder, 'entry.mjs'), ENTRY);
    said = [];
  });
  afterEach(async () => {
    process.execPath = NODE;
    await rm(folder, { recursive: true });
  });

  const supervise = () => {
    const files = { entry: join(folder, 'entry.mjs'), log: join(folder, 'log') };
    const say = (line: string) => said.push(line);
    return new SupervisedProcess({ name: 'worker', args: [], env: process.env, ...files, say }, 100);
  };
  const pids = async () => (await readFile(join(folder, 'log'), 'utf8')).trim().split('\n').map(Number);
  const failForks = () => {
    process.execPath = join(folder, 'missing');
  };
  const killLatest = async () => process.kill((await pids()).at(-1) ?? 0, 'SIGKILL');
  const failures = () => said.filter((line) => line.includes('ENOENT')).length;

  it('restarting a supervised process is retried until the operating system can start it', async () => {
    await using worker = supervise();
    await worker.ready();
    failForks();
    await killLatest();
    await until(() => failures() >= 2);
    process.execPath = NODE;
    await until(async () => (await pids()).length === 2);
  });

  it('the log of a supervised process moves aside while the process runs, once it is larger than 20 MiB', async () => {
    const log = join(folder, 'log');
    await writeFile(join(folder, 'entry.mjs'), `setInterval(() => console.log('alive'), 20); ${ENTRY}`);
    await using worker = supervise();
    await worker.ready();
    await appendFile(log, `${'x'.repeat(2 ** 20)}\n`.repeat(20));
    await until(async () => (await stat(log)).size < 2 ** 20);
    assert.ok((await stat(`${log}.1`)).size > 20 * 2 ** 20);
    await until(async () => (await readFile(log, 'utf8')).startsWith('alive\nalive\n'));
  });
});
