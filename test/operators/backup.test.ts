import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { copyDatabase } from '../../bin/admin/archive/copy.ts';
import { restoreBackup, verifyBackup } from '../../bin/admin/archive/read.ts';
import { openEmbedded, openTarget } from '../../bin/admin/target.ts';
import { newId } from '../../shared/ids.ts';
import { migrate } from '../../shared/process/migrate.ts';
import {
  anonymously,
  eraseAccount,
  isGone,
  issueKey,
  logIn,
  renew,
  signUp,
  type UserClient,
} from '../support/account.ts';
import { adminResult, runAdmin } from '../support/admin.ts';
import { Operator, startBoard } from '../support/board.ts';
import { AppClient, fetchPublished, predictionBody } from '../support/client.ts';
import { connect, connectingApp, revoke } from '../support/connection.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { add, addSynced, forget } from '../support/memory.ts';
import { pluck } from '../support/pluck.ts';
import { event, post } from '../support/recording.ts';
import { type System, startSystem } from '../support/system.ts';
import { tablesWith } from '../support/tables-with.ts';
import { until } from '../support/until.ts';

async function idOfKey(person: UserClient, key = ''): Promise<string | undefined> {
  const { body } = await person.get<{ results: { id: string; prefix: string }[] }>('/api/auth/keys/');
  return body.results.find(({ prefix }) => key.startsWith(prefix))?.id;
}

describe('backup', () => {
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
    // Adds a partition for a past week, which migrations do not create, and no round of the product drops yet.
    const week = `date_trunc('week', now() at time zone 'UTC') - interval '21 days'`;
    const [{ name, from, to } = assert.fail()] = await system.sql<Record<'name' | 'from' | 'to', string>>(`
      select 'history_' || to_char(${week}, 'YYYYMMDD') as name, ${week} || '+00' as from,
             ${week} + interval '1 week' || '+00' as to`);
    await system.sql(`create table ${name} partition of history for values from ('${from}') to ('${to}')`);
    await system.sql(
      `insert into history select (jsonb_populate_record(h, '{"ended_at": "${from.slice(0, 10)}T12:00:00Z"}')).* from history h`,
    );

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
             (select sum(units)::int from history where ended_at > now() - interval '1 day') as units`);
    assert.equal(ended.rows[0]?.settled, ended.rows[0]?.units);
    assert.equal(await countIn(elsewhere, name), 1);
    const apps = await elsewhere.pool.query('select name from apps');
    assert.deepEqual(apps.rows, [{ name: 'Écran\tmit\\N "Zeilen"\n' }]);

    const examined = await runAdmin(['doctor', '--json'], {
      ...there(),
      OPENAI_API_KEY: '',
      DEFAULT_MODEL: 'local',
    });
    const checks: { name: string; ok: boolean }[] = JSON.parse(examined.stdout).checks;
    // No process runs there yet.
    assert.deepEqual(
      pluck(
        checks.filter(({ ok }) => !ok),
        'name',
      ),
      ['processes'],
    );
    const stores = { DATABASE_URL: elsewhere.url, DATABASE_DIRECT_URL: elsewhere.url };
    const [web] = await Promise.all([system.startWeb(stores), system.startWorker(stores)]);
    const again = await app.predict(body, { at: web });
    assert.deepEqual([again.status, again.text], [200, first.text]);
    // Until a worker has it, work that ran during the backup counts as long waiting, which refuses new work.
    await until(async () => (await app.predict(predictionBody(), { at: web })).status === 200);
    await web.stop();
    await system.workers.at(-1)?.stop();
  });

  it('after a restore all log-ins have ended, and so has what had ended since the backup in the replaced database', async () => {
    const [app, former, gone] = await Promise.all([1, 2, 3].map(() => connectingApp(system)));
    const [ann, bob, cat, dan] = await Promise.all([1, 2, 3, 4].map(() => signUp(system)));
    if (!app || !former || !gone || !ann || !bob || !cat || !dan) throw new Error('incomplete');
    const people = { ann, bob, cat, dan };
    const [kept, revoked, ofCat, ofDan] = await Promise.all([ann, ann, cat, dan].map((one) => issueKey(one)));
    const connections = {
      kept: await connect(system, app, ann, 'kept'),
      revoked: await connect(system, app, ann, 'revoked'),
      taken: await connect(system, app, ann, 'taken'),
      erased: await connect(system, app, cat, 'erased'),
    };
    await adminResult(['user', 'reset-password', ann.id], {
      ...system.env,
      PUBLIC_URL: 'https://forecue.example',
    });
    const board = new Operator(await startBoard(system));
    await board.signIn(system.env['ADMIN_TOKEN'] ?? '');
    const file = await backUp();

    const password = 'another horse with 9 staples';
    await ann.request('DELETE', `/api/auth/keys/${await idOfKey(ann, revoked)}/`);
    await bob.request('PATCH', '/api/auth/me/', { password, current_password: bob.password });
    await eraseAccount(system, cat);
    await adminResult(['user', 'disable', dan.id], system.env);
    const { key: newKey } = await adminResult(['key', 'rotate', former.id], system.env);
    await adminResult(['app', 'deactivate', gone.id], system.env);
    await revoke(app, connections.revoked.connection_id, 'revoked');
    await connect(system, app, bob, 'taken');

    const name = new URL(system.database.url).pathname.slice(1);
    const issuer = `http://localhost:${new URL(system.webs[0]?.url ?? '').port}`;
    let firstAccess: string | undefined;
    const cells = async (...options: string[]) => {
      const copy = await createDatabase({ empty: true });
      await using _copy = copy;
      const env = { ...system.env, DATABASE_URL: copy.url, DATABASE_DIRECT_URL: copy.url };
      const { code, stdout, stderr } = await runAdmin(['restore', file, ...options], env);
      assert.deepEqual([code, stderr], [0, '']);
      const port = await freePort();
      const stores = { DATABASE_URL: copy.url, DATABASE_DIRECT_URL: copy.url };
      const [at, worker] = await Promise.all([
        system.startWeb({ ...stores, OPERATOR_PORT: `${port}`, PUBLIC_URL: issuer }),
        system.startWorker(stores),
      ]);
      const there = { webs: [at] };
      const me = (headers: Record<string, string>) =>
        anonymously(there, 'GET', '/api/auth/me/', undefined, { headers });
      const keyed = (key = '') => me({ 'x-service-api-key': key });
      const connected = (one: { connection_id: string }, userId: string) =>
        app.predict(predictionBody({ connection_id: one.connection_id, user_id: userId }), { at });
      const statuses: Record<string, number> = {};
      const note = async (what: string, reply: Promise<{ status: number }>) => {
        statuses[what] = (await reply).status;
      };
      for (const [who, person] of Object.entries(people)) {
        await note(`${who}'s access token`, me({ authorization: `Bearer ${person.access}` }));
        await note(`${who}'s refresh token`, renew(there, person.refresh));
        await note(`${who}'s password`, logIn(there, person));
      }
      await note('an access token of the first restore', me({ authorization: `Bearer ${firstAccess}` }));
      firstAccess ??= (await logIn(there, ann)).body.access;
      await note("bob's new password", logIn(there, { email: bob.email, password }));
      await note('a kept key', keyed(kept));
      await note('a revoked key', keyed(revoked));
      await note("an erased person's key", keyed(ofCat));
      await note("a disabled person's key", keyed(ofDan));
      await note('a rotated app key', former.predict(predictionBody(), { at }));
      await note('the app key after it', new AppClient(former.id, newKey, at.url).predict(predictionBody()));
      await note('the key of a deactivated app', gone.predict(predictionBody(), { at }));
      for (const [what, one] of Object.entries(connections))
        await note(`connection: ${what}`, connected(one, what));
      statuses['links to a new password'] = (await countIn(copy, 'password_resets')) ?? 0;
      const old = await fetch(`http://127.0.0.1:${port}/admin/find?id=x`, {
        headers: { cookie: board.cookie },
      });
      statuses['a board session'] = old.status;
      const renewed = new Operator(port);
      // A session that begins within two seconds of the restore counts as earlier.
      await until(async () => {
        assert.equal((await renewed.signIn(system.env['ADMIN_TOKEN'] ?? '')).status, 303);
        return (await renewed.get('find?id=x')).status === 200;
      });
      if (options.includes('--replaces')) await until(async () => isGone({ database: copy }, cat), 20_000);
      await Promise.all([at.stop(), worker.stop()]);
      return { statuses, stdout };
    };
    const results = [
      await cells('--replaces', name),
      await cells('--replaces', name, '--keep-log-ins'),
      await cells(),
    ];
    const columns = results.map(({ statuses }) => statuses);
    assert.deepEqual(
      Object.fromEntries(
        Object.keys(columns[0] ?? {}).map((what) => [what, columns.map((one) => one[what])]),
      ),
      {
        "ann's access token": [401, 200, 401],
        "ann's refresh token": [401, 200, 401],
        "ann's password": [200, 200, 200],
        "bob's access token": [401, 401, 401],
        "bob's refresh token": [401, 401, 401],
        "bob's password": [401, 401, 200],
        "cat's access token": [401, 401, 401],
        "cat's refresh token": [401, 401, 401],
        "cat's password": [401, 401, 200],
        "dan's access token": [401, 401, 401],
        "dan's refresh token": [401, 401, 401],
        "dan's password": [401, 401, 200],
        'an access token of the first restore': [401, 401, 401],
        "bob's new password": [200, 200, 401],
        'a kept key': [200, 200, 200],
        'a revoked key': [401, 401, 200],
        "an erased person's key": [401, 401, 200],
        "a disabled person's key": [401, 401, 200],
        'a rotated app key': [401, 401, 200],
        'the app key after it': [200, 200, 401],
        'the key of a deactivated app': [401, 401, 200],
        'connection: kept': [200, 200, 200],
        'connection: revoked': [403, 403, 200],
        'connection: taken': [403, 403, 200],
        'connection: erased': [403, 403, 200],
        'links to a new password': [0, 1, 0],
        'a board session': [401, 200, 401],
      },
    );
    const said = [
      /All log-ins have ended.*\berased accounts: 1\b/,
      /The log-ins of the backup go on/,
      /works again/,
    ];
    for (const [nth, { stdout }] of results.entries()) assert.match(stdout, said[nth] ?? /^$/);
    await using other = await createDatabase();
    const { code, stderr } = await runAdmin(['restore', file, '--replaces', other.url], there());
    assert.deepEqual([code, /^--replaces names another database/.test(stderr)], [1, true]);
    const missing = await runAdmin(['restore', file, '--replaces', 'none'], there());
    assert.match(missing.stderr, /^--replaces: .*"none" does not exist\): check --replaces\n$/);
    assert.equal(await countIn(elsewhere, 'accounts'), 0);
  });

  it('`admin restored --replaces` erases nobody who has signed up since the restore', async () => {
    await signUp(system);
    const gone = await signUp(system);
    const file = await backUp();
    await eraseAccount(system, gone);
    const name = new URL(system.database.url).pathname.slice(1);
    assert.equal((await restore(file)).code, 0);
    const stores = { DATABASE_URL: elsewhere.url, DATABASE_DIRECT_URL: elsewhere.url };
    const web = await system.startWeb(stores);
    const eve = await signUp({ webs: [web] });
    const { code, stderr } = await runAdmin(['restored', '--replaces', name], there());
    assert.deepEqual([code, /^people have signed up since the restore/.test(stderr)], [1, true], stderr);
    assert.equal((await logIn({ webs: [web] }, eve)).status, 200);
    await web.stop();
  });

  it('what people narrowed, removed or switched off since a backup stays so after a restore that knows the replaced database', async () => {
    const [app, ann] = await Promise.all([connectingApp(system), signUp(system)]);
    const connection = await connect(system, app, ann);
    const hooks = await Promise.all(
      ['removed', 'moved'].map((name) =>
        ann.post<{ id: string }>('/api/webhooks/', {
          url: `https://example.com/${name}`,
          events: ['job.finished'],
        }),
      ),
    );
    const [removed = '', moved = ''] = pluck(pluck(hooks, 'body'), 'id');
    const grant = newId();
    await system.sql(
      `insert into grants (id, account_id, client_id, client_name, scopes, resource, created_at, last_used_at)
       values ($1, $2, 'c', 'c', '{read,write,decide}', 'r', now(), now())`,
      [grant, ann.id],
    );
    const file = await backUp();

    const ends_at = '2099-01-01T00:00:00.000Z';
    const scope = { memory: 'facts', projects: ['engine'] };
    const changes = [
      ['PATCH', `connections/${connection.connection_id}/`, { scope, ends_at }],
      ['PATCH', `auth/grants/${grant}/`, { scopes: ['read'] }],
      ['DELETE', `webhooks/${removed}/`],
      ['PATCH', `webhooks/${moved}/`, { url: 'https://example.com/there' }],
      ['POST', `webhooks/${moved}/secret/`, { grace_s: 60 }],
      ['PATCH', 'decisions/settings/', { automatic: false }],
    ] as const;
    for (const [method, path, body] of changes) {
      const { status, text } = await ann.request(method, `/api/${path}`, body);
      assert.ok(status < 300, `${path} ${text}`);
    }
    const select = async ({ pool }: TestDatabase) => {
      const { rows } = await pool.query(
        `select c.memory, c.projects, c.ends_at, g.scopes, w.url, w.secret, a.automatic
           from connections c join accounts a on a.id = c.account_id join grants g on g.account_id = a.id
           join webhooks w on w.account_id = a.id
          where a.id = $1`,
        [ann.id],
      );
      return rows;
    };
    const name = new URL(system.database.url).pathname.slice(1);
    const { code, stdout, stderr } = await runAdmin(['restore', file, '--replaces', name], there());
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await select(elsewhere), await select(system.database));
    assert.match(
      stdout,
      /stopped automation: 1, narrowed grants: 1, changed consents: 1, removed webhooks: 1, changed webhooks: 1/,
    );
  });

  it('what people erased after a backup is erased in a restored database before it serves anybody', async () => {
    const list = join(folder, 'list.erasures');
    const markers: string[] = [];
    const mark = () => {
      markers.push(randomBytes(8).toString('hex'));
      return markers.at(-1) ?? '';
    };
    const [ann, bob] = await Promise.all([signUp(system), signUp(system)]);
    const say = async (content: string) => add(ann, 'raw', { content, kind: 'reply' });
    await say(`I live in ${mark()}`);
    const more = await Promise.all([1, 2].map(() => say(`I read ${mark()}`)));
    const steps: (() => Promise<unknown>)[] = [];
    const erase = (path: string) => ann.request('DELETE', `/api/memory/${path}/?purge_event=true`);
    const [row, fact, wrong] = [
      await say(`I like ${mark()}`),
      await add(ann, 'facts', { text: `Likes ${mark()}` }),
      await add(ann, 'facts', { text: `Plays the ${mark()}` }),
    ];
    const episode = await add(ann, 'episodes', { title: mark(), summary: mark(), raw_ids: [row.id] });
    await ann.request('POST', '/api/memory/profile/', { summary: mark() });
    const eventId = mark();
    await post(ann, [event({ id: eventId, type: 'user.message', text: mark() })]);
    const synced = await addSynced(system, ann, { content: markers.at(-1) ?? '', event_id: eventId });
    await add(bob, 'raw', { content: mark(), kind: 'note' });
    const kept = markers.shift() ?? '';
    steps.push(
      ...more.map(
        ({ id }) =>
          () =>
            erase(`raw/${id}`),
      ),
      () => erase(`raw/${synced.id}`),
      () => erase(`facts/${fact.id}`),
      () => ann.request('PATCH', `/api/memory/facts/${wrong.id}/`, { text: `Plays the ${kept} organ` }),
      () => erase(`episodes/${episode.id}`),
      () => erase(`raw/${row.id}`),
      () => erase('profile'),
      () => eraseAccount(system, bob),
    );
    const backups = [await backUp()];
    for (const step of steps) {
      await step();
      backups.push(await backUp());
    }
    await adminResult(['erasures', list], system.env);
    assert.equal((await adminResult(['erasures', list], system.env)).added, 0);
    const name = new URL(system.database.url).pathname.slice(1);
    const restores = [
      ...backups.map((file) => ['restore', file, '--erasures', list]),
      ['restore', backups[0] ?? '', '--replaces', name],
    ];
    for (const args of restores) {
      await using copy = await createDatabase({ empty: true });
      const env = { ...system.env, DATABASE_URL: copy.url, DATABASE_DIRECT_URL: copy.url };
      const { code, stderr } = await runAdmin(args, env);
      assert.deepEqual([code, stderr], [0, '']);
      const account = await copy.pool.query('select from accounts where id = $1 and active', [bob.id]);
      assert.equal(account.rowCount, 0, 'an erased account is refused at once');
      const left: Record<string, string[]> = {};
      for (const marker of markers.slice(0, -1)) {
        // A corrected fact keeps its former wording, also in a backup that is taken afterwards.
        if (marker === markers[4] && backups.indexOf(args[1] ?? '') > 4) continue;
        const tables = await tablesWith({ database: copy }, marker);
        if (tables.length > 0) left[marker] = tables;
      }
      assert.deepEqual(left, {}, args.join(' '));
      assert.notDeepEqual(await tablesWith({ database: copy }, kept), []);
      const corrected = await copy.pool.query(`select from facts where text like '% organ'`);
      assert.equal(
        corrected.rowCount,
        Number(backups.indexOf(args[1] ?? '') > 4),
        'a later correction is known',
      );
    }
  });

  it('`admin restored` finishes an interrupted restore, and ends no log-in since', async () => {
    const ann = await signUp(system);
    const row = await add(ann, 'raw', { content: 'I live in Kiel', kind: 'reply' });
    const file = await backUp();
    await forget(ann, 'raw', row);
    const list = join(folder, 'interrupted.erasures');
    await adminResult(['erasures', list], system.env);
    assert.equal((await runAdmin(['restore', file, '--erasures', list], there())).code, 0);
    const generation = async () =>
      (await elsewhere.pool.query('select login_generation from accounts order by id')).rows;
    const before = await generation();
    await elsewhere.pool.query('update erasures set pending = true');
    const { code, stdout } = await runAdmin(['restored'], there());
    assert.equal(code, 0);
    assert.match(stdout, /^The interrupted restore is finished/);
    assert.doesNotMatch(stdout, /again/);
    assert.deepEqual(await generation(), before);
    assert.match((await runAdmin(['restored'], there())).stdout, /^All log-ins have ended/);
  });

  it('a list of erasures is written even if nothing was erased, and a damaged one is refused before anything is stored', async () => {
    await using fresh = await createDatabase();
    const list = join(folder, 'damaged.erasures');
    const env = { ...system.env, DATABASE_URL: fresh.url, DATABASE_DIRECT_URL: fresh.url };
    assert.equal((await adminResult(['erasures', list], env)).added, 0);
    const file = await backUp();
    const { code, stderr } = await runAdmin(['restore', file, '--erasures', list], there());
    assert.deepEqual([code, stderr], [0, '']);

    const line = (what: string, moment = '2026-11-25T10:00:00.000Z') => `${newId()}\t${what}\tx\t${moment}\n`;
    const [first, second] = [line('tombstone'), line('statement')];
    await using copy = await createDatabase({ empty: true });
    const restoreWith = async (text: string) => {
      await writeFile(list, text);
      return runAdmin(['restore', file, '--erasures', list], {
        ...system.env,
        DATABASE_URL: copy.url,
        DATABASE_DIRECT_URL: copy.url,
      });
    };
    const damaged = [
      `${first}garbage\n${second}`,
      `\ufeff${first}${second}`,
      `${first}${line('zzz')}`,
      `${first}${line('event', '2026-99-99T99:99:99Z')}`,
      `${first}${second}`.replace(/^.{36}/, '-'.repeat(36)),
    ];
    for (const text of damaged) {
      const refused = await restoreWith(text);
      assert.equal(refused.code, 1, text);
      assert.match(refused.stderr, /damaged\.erasures is damaged at line [12]: take another copy/);
    }
    assert.equal(await countIn(copy, 'apps'), 0);
    // A crash cut the second line, which was appended again.
    const cut = await restoreWith(`${first}${second.slice(0, 50)}\n${second}${first.slice(0, 10)}`);
    assert.deepEqual([cut.code, cut.stderr], [0, '']);
  });

  it('a copy of a database, such as a restored dump, serves nobody before what people erased since is erased', async () => {
    const [ann, marker] = [await signUp(system), randomBytes(8).toString('hex')];
    const row = await add(ann, 'raw', { content: `I live in ${marker}`, kind: 'reply' });
    const file = await backUp();
    await forget(ann, 'raw', row);
    const list = join(folder, 'of-a-copy.erasures');
    await adminResult(['erasures', list], system.env);
    // A copy of a restored database is to its rows and marks what `pg_restore` makes of a dump.
    assert.equal((await restore(file)).code, 0);
    await using copy = await createDatabase({ copyOf: elsewhere });
    const env = { ...system.env, DATABASE_URL: copy.url, DATABASE_DIRECT_URL: copy.url };
    const web = system.launch('web', env);
    try {
      await until(() => web.log.includes('this database is a copy'));
      await assert.rejects(fetch(`${web.url}/readyz`));
      const { checks } = JSON.parse((await runAdmin(['doctor', '--json'], env)).stdout);
      const { ok, found } = checks.find(({ name }: { name: string }) => name === 'erasures');
      assert.deepEqual([ok, /is a copy/.test(found)], [false, true]);
      assert.notDeepEqual(await tablesWith({ database: copy }, marker), []);
      const { erased } = await adminResult(['restored', '--erasures', list], env);
      assert.ok(erased > 0);
      await web.ready();
      assert.deepEqual(await tablesWith({ database: copy }, marker), []);
      assert.equal((await fetchPublished(`${web.url}/readyz`)).status, 200);
    } finally {
      await web.stop();
    }
  });

  it('a restored database has as many rows in its main tables as the original, and all triggers enabled', async () => {
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
    const countAll = (one: TestDatabase) => Promise.all(tables.map((table) => countIn(one, table)));
    // Erasures of earlier tests may still be under way.
    const [file, counts] = await until(async () => {
      const before = await countAll(system.database);
      const made = await backUp();
      return isDeepStrictEqual(await countAll(system.database), before) && ([made, before] as const);
    });
    assert.equal((await restore(file)).code, 0);
    assert.deepEqual(await countAll(elsewhere), counts, tables.join());
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
    const nowhere = await runAdmin(['backup', '/nowhere/a.backup'], system.env);
    assert.match(nowhere.stderr, /^ENOENT: .*\/nowhere\/.*: check this path, and whether you may use it$/m);
  });
});
