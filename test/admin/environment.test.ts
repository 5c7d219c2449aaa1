import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from '../../bin/admin/environment.ts';

describe("command line's database", () => {
  const address = 'postgres://postgres:x@127.0.0.1:5433/forecue';
  let dataFolder: string;
  let file: string;

  before(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), 'forecue-admin-'));
    file = join(dataFolder, 'database-url');
    await writeFile(file, `${address}\n`);
  });

  after(() => rm(dataFolder, { recursive: true }));

  it('the command line uses DATABASE_URL if the variable is set', async () => {
    const values = { DATABASE_URL: 'postgres://db.example/forecue' };
    assert.deepEqual(await withDatabase(values, file), values);
  });

  it('the command line uses the running embedded database if DATABASE_URL is not set', async () => {
    const values = { DATABASE_URL: '', DATABASE_DIRECT_URL: 'postgres://other.example/', PORT: '1' };
    const embedded = {
      DATABASE_URL: address,
      DATABASE_URL_FILE: '',
      DATABASE_DIRECT_URL: '',
      DATABASE_DIRECT_URL_FILE: '',
      PORT: '1',
    };
    assert.deepEqual(await withDatabase(values, file), embedded);
  });

  it('the command line takes PUBLIC_URL from a running `npm start` unless PUBLIC_URL is set', async () => {
    await writeFile(join(dataFolder, 'address'), 'http://127.0.0.1:8080\n');
    try {
      const [local, named] = await Promise.all([
        withDatabase({}, file),
        withDatabase({ PUBLIC_URL: 'https://forecue.example' }, file),
      ]);
      assert.equal(local['PUBLIC_URL'], 'http://127.0.0.1:8080');
      assert.equal(named['PUBLIC_URL'], 'https://forecue.example');
    } finally {
      await rm(join(dataFolder, 'address'));
    }
  });

  it('the command line never uses the embedded database in production', async () => {
    const values = { NODE_ENV: 'production' };
    assert.deepEqual(await withDatabase(values, file), values);
  });

  it('the command line says how to get a database if it finds none', async () => {
    await assert.rejects(withDatabase({}, join(dataFolder, 'none')), {
      message: 'there is no database: run `npm start` in another terminal, or set DATABASE_URL',
    });
  });
});
