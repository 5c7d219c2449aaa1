import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { copyDatabase } from '../../bin/admin/archive/copy.ts';
import { restoreBackup, verifyBackup } from '../../bin/admin/archive/read.ts';
import { openEmbedded, openTarget } from '../../bin/admin/target.ts';
import { newId } from '../../shared/ids.ts';
import { migrate } from '../../shared/process/migrate.ts';
import { adminResult, runAdmin } from '../support/admin.ts';
import { predictionBody } from '../support/client.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';
import { lockTable } from '../support/row-lock.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');

/** Makes a checkout of the same files with its own `.data/`. */
async function linkCheckout(folder: string): Promise<void> {
  await mkdir(folder);
  for (const name of await readdir(CHECKOUT))
    if (!name.startsWith('.')) await symlink(join(CHECKOUT, name), join(folder, name));
}

const WAITING_SESSIONS = `
  select from pg_locks l join pg_database d on d.oid = l.database where not l.granted and d.datname = current_database()`;

describe('backup', function () {
  this.timeout(120_000);
  let system: System;
  let folder: string;
  let elsewhere: TestDatabase;
  before(async () => {
    [system, folder] = await Promise.all([startSystem(), mkdtemp(join(tmpdir(), 'forecue-backup-'))]);
  });
  after(() => Promise.all([system?.stop(), rm(folder, { recursive: true })]));
  beforeEach(async () => {
    elsewhere = await createDatabase({ empty: true });
  });
  afterEach(() => elsewhere.drop());

  let fileCount = 0;
  const newFile = () => {
    fileCount += 1;
    return join(folder, `${fileCount}.backup`);
  };
  const filesOf = async (file: string) =>
    (await readdir(folder)).filter((name) => name.startsWith(basename(file)));
  const backUp = async () => {
    const file = newFile();
    await adminResult(['backup', file], system.env);
    return file;
  };
  const there = () => ({
    ...system.env,
    DATABASE_URL: elsewhere.url,
    DATABASE_DIRECT_URL: elsewhere.url,
  });
  const restore = (file: string) => runAdmin(['restore', file, '--json'], there());
  const countIn = async ({ pool }: TestDatabase, table: string) =>
    (await pool.query<{ count: number }>(`select count(*)::int from ${table}`)).rows[0]?.count;

  it('a backup taken during calls restores into another database, where a repeated request gets the same answer', async () => {
    const app = await system.app({ name: 'Écran\tmit\\N "Zeilen"\n' });
    const body = predictionBody();
    const first = await app.predict(body);
    assert.equal(first.status, 200);
    // Adds a partition for a past week, which migrations do not create.
    await system.database.pool.query(`
      create table history_20200106 partition of history
        for values from ('2020-01-06 00:00:00+00') to ('2020-01-13 00:00:00+00');
      insert into history select (jsonb_populate_record(h, '{"ended_at": "2020-01-08T00:00:00Z"}')).* from history h`);

    let isTaken = false;
    const answered: number[] = [];
    const calls = Array.from({ length: 4 }, async () => {
      do answered.push((await app.predict(predictionBody())).status);
      while (!isTaken);
    });
    const file = await backUp();
    isTaken = true;
    await Promise.all(calls);
    assert.deepEqual([...new Set(answered)], [200]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);

    const { code, stdout, stderr } = await restore(file);
    assert.deepEqual([code, stderr], [0, '']);
    assert.ok(JSON.parse(stdout).rows > 0);
    const ended = await elsewhere.pool.query<{ settled: number; units: number }>(`
      select (select sum(settled)::int from usage) as settled,
             (select sum(units)::int from history where ended_at > '2021-01-01') as units`);
    assert.equal(ended.rows[0]?.settled, ended.rows[0]?.units);
    assert.equal(await countIn(elsewhere, 'history_20200106'), 1);
    const apps = await elsewhere.pool.query('select name from apps');
    assert.deepEqual(apps.rows, [{ name: 'Écran\tmit\\N "Zeilen"\n' }]);

    const examined = await runAdmin(['doctor', '--json'], {
      ...there(),
      OPENAI_API_KEY: '',
      DEFAULT_MODEL: 'local',
    });
    const checks: { name: string; ok: boolean }[] = JSON.parse(examined.stdout).checks;
    assert.deepEqual(
      checks.filter(({ ok }) => !ok),
      [],
    );
    const stores = { DATABASE_URL: elsewhere.url, DATABASE_DIRECT_URL: elsewhere.url };
    const [web] = await Promise.all([system.startWeb(stores), system.startWorker(stores)]);
    const [again, fresh] = await Promise.all([
      app.predict(body, { at: web }),
      app.predict(predictionBody(), { at: web }),
    ]);
    assert.deepEqual([again.status, again.text], [200, first.text]);
    assert.equal(fresh.status, 200);
    await web.stop();
    await system.workers.at(-1)?.stop();
  });

  it('a restored database has as many rows in its main tables as the original, and all triggers enabled', async () => {
    const file = await backUp();
    assert.equal((await restore(file)).code, 0);
    const tables = [
      'accounts',
      'apps',
      'app_keys',
      'usage',
      'history',
      'answers',
      'drafts',
      'provider_calls',
    ];
    for (const table of tables)
      assert.equal(await countIn(elsewhere, table), await countIn(system.database, table), table);
    const { rows } = await elsewhere.pool.query(
      `select tgname from pg_trigger where not tgisinternal and tgenabled = 'D'`,
    );
    assert.deepEqual(rows, []);
  });

  it('tables of others in the database are not backed up, and neither their rows nor those of the target hinder a restore', async () => {
    const { pool } = system.database;
    await pool.query(`create table notes (text text); insert into notes values ('not ours')`);
    const file = await backUp().finally(() => pool.query('drop table notes'));
    assert.ok(!gunzipSync(await readFile(file)).includes('not ours'));

    await elsewhere.pool.query(
      `create table places (name text); insert into places values ('not ours either')`,
    );
    const { code, stderr } = await restore(file);
    assert.deepEqual([code, stderr], [0, '']);
    for (const table of ['apps', 'history'])
      assert.equal(await countIn(elsewhere, table), await countIn(system.database, table), table);
    assert.equal(await countIn(elsewhere, 'places'), 1);
  });

  it('an event recorded after a restore gets a higher arrival number than every event of the backup', async () => {
    const { pool } = system.database;
    const session = newId();
    const add = (to: TestDatabase) =>
      to.pool.query<{ arrival: number }>(
        `insert into recording_events (account_id, id, session_id, type, occurred_at, received_at, body)
         values ($1, gen_random_uuid()::text, 'restored', 'note', now(), now(), '{}') returning arrival::int`,
        [session],
      );
    await pool.query('alter sequence recording_events_arrival_seq restart with 5000');
    await add(system.database);
    await pool.query(
      `insert into recording_sessions (id, account_id, started_at, source, created_at, last_arrival)
       values ('restored', $1, now(), 'test', now(), 5000)`,
      [session],
    );
    assert.equal((await restore(await backUp())).code, 0);
    assert.equal((await add(elsewhere)).rows[0]?.arrival, 5001);
  });

  it('a backup can be restored into the embedded database while `npm start` is stopped, and that database moved to another server', async () => {
    const file = await backUp();
    const data = join(folder, 'data');
    await using target = await openTarget({}, data);
    const { queuePrefix, database } = target.config;
    await migrate({ directUrl: database.directUrl, queuePrefix });
    assert.ok((await restoreBackup(database.directUrl, file, await verifyBackup(file))) > 0);
    await assert.rejects(openTarget({}, data), {
      message: /^`npm start` runs in this checkout: stop it first/,
    });
    await assert.rejects(openEmbedded({}, data), {
      message: /^`npm start` runs in this checkout: stop it first/,
    });
    const there = { queuePrefix, database: { ...database, url: elsewhere.url, directUrl: elsewhere.url } };
    assert.ok((await copyDatabase(target.config, there, folder)) > 0);
    for (const table of ['apps', 'app_keys', 'usage', 'history'])
      assert.equal(await countIn(elsewhere, table), await countIn(system.database, table), table);
    await assert.rejects(copyDatabase(target.config, there, folder), {
      message: /^the database is not empty/,
    });
  });

  it('`admin move` keeps its temporary copy in the data folder, not in TMPDIR, and deletes the copy when interrupted', async () => {
    const [checkout, temporary] = [join(folder, 'checkout'), join(folder, 'temporary')];
    await Promise.all([linkCheckout(checkout), mkdir(temporary)]);
    await migrate({ directUrl: elsewhere.url, queuePrefix: 'forecue' });
    const locked = await lockTable({ database: elsewhere }, 'accounts');
    const main = ['--preserve-symlinks', '--preserve-symlinks-main', join(checkout, 'bin/admin/main.ts')];
    const env = { ...bareEnvironment(), TMPDIR: temporary, DATABASE_URL: elsewhere.url };
    const move = spawn(process.execPath, [...main, 'move'], { env, stdio: 'ignore' });
    const over = once(move, 'exit');
    await until(async () => (await elsewhere.pool.query(WAITING_SESSIONS)).rowCount);
    const data = join(checkout, '.data');
    assert.deepEqual(await readdir(temporary), []);
    assert.deepEqual((await readdir(data)).sort(), ['lock', 'move.backup', 'postgres']);
    move.kill('SIGINT');
    assert.deepEqual(await over, [null, 'SIGINT']);
    assert.deepEqual((await readdir(data)).sort(), ['lock', 'postgres']);
    await locked.release();
    // Opens the database again, which waits until the embedded server has ended.
    await using _ended = await openEmbedded({}, data);
  });

  it('a backup interrupted by a signal leaves no files', async () => {
    await migrate({ directUrl: elsewhere.url, queuePrefix: 'forecue' });
    // Adds rows that take seconds to compress.
    await elsewhere.pool.query(`
      insert into waitlist (email_key, email, created_at)
      select n, (select string_agg(md5(n || ' ' || i), '') from generate_series(1, 50000) i), now()
        from generate_series(1, 40) n`);
    const file = newFile();
    const env = { ...bareEnvironment(), ...there() };
    const child = spawn(process.execPath, ['bin/admin/main.ts', 'backup', file], { env, stdio: 'ignore' });
    const over = once(child, 'exit');
    await until(async () => (await filesOf(file)).length > 0);
    child.kill('SIGTERM');
    assert.deepEqual(await over, [null, 'SIGTERM']);
    assert.deepEqual(await filesOf(file), []);
  });

  it('`admin move` requires DATABASE_URL, the address of the target database', async () => {
    const { code, stderr } = await runAdmin(['move'], { ...system.env, DATABASE_URL: '' });
    assert.deepEqual([code, stderr.split('\n')[0]], [1, 'configuration: DATABASE_URL is required']);
  });

  it('a backup is not restored into a database that is not empty', async () => {
    const file = await backUp();
    assert.equal((await restore(file)).code, 0);
    const before = await countIn(elsewhere, 'history');
    const { code, stderr } = await restore(file);
    assert.equal(code, 1);
    assert.match(stderr, /^the database is not empty \(.*\): stop the processes, and .* a new one .*\n$/);
    assert.equal(await countIn(elsewhere, 'history'), before);
  });

  it('`admin restore` refuses a damaged or truncated backup, or any other file, before anything is stored', async () => {
    const whole = await readFile(await backUp());
    const flipped = Buffer.from(whole);
    const middle = flipped.length >> 1;
    flipped.writeUInt8(flipped.readUInt8(middle) ^ 1, middle);
    const contents = [
      flipped,
      whole.subarray(0, -1),
      whole.subarray(0, middle),
      Buffer.alloc(0),
      Buffer.from('x'),
    ];
    for (const content of contents) {
      const file = newFile();
      await writeFile(file, content);
      const { code, stderr } = await restore(file);
      assert.equal(code, 1);
      assert.match(stderr, /^this is no backup, or a damaged one \(.+\): take another copy of it\n$/);
    }
    const { rows } = await elsewhere.pool.query(`select to_regclass('apps') as apps`);
    assert.deepEqual(rows, [{ apps: null }]);
    const missing = await restore(join(folder, 'none'));
    assert.match(missing.stderr, /cannot be read \(ENOENT/);
  });

  it('a backup never replaces a file, and leaves no file when it fails', async () => {
    const file = await backUp();
    const { size } = await stat(file);
    const again = await runAdmin(['backup', file], system.env);
    assert.deepEqual([again.code, again.stderr], [1, `${file} exists: give another name\n`]);
    assert.equal((await stat(file)).size, size);
    const other = newFile();
    const failed = await runAdmin(['backup', other], there());
    assert.equal(failed.code, 1);
    assert.deepEqual(await filesOf(other), []);
  });

  it('of two concurrent backups to the same file, one is complete and the other is refused', async () => {
    await migrate({ directUrl: elsewhere.url, queuePrefix: 'forecue' });
    const locked = await lockTable({ database: elsewhere }, 'accounts');
    const file = newFile();
    const both = [1, 2].map(() => runAdmin(['backup', file], there()));
    await until(async () => (await elsewhere.pool.query(WAITING_SESSIONS)).rowCount === 2);
    await locked.release();
    const refused = (await Promise.all(both)).filter(({ code }) => code !== 0);
    assert.deepEqual(
      refused.map(({ code, stderr }) => [code, stderr]),
      [[1, `${file} exists: give another name\n`]],
    );
    await verifyBackup(file);
    assert.deepEqual(await filesOf(file), [basename(file)]);
  });
});
