import assert from 'node:assert/strict';
import { execFile, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import pg from 'pg';
import { judgeFreeSpace, judgeSessions } from '../../bin/admin/checks-of-capacity.ts';
import { readInstallation } from '../../shared/db/stores/installation.ts';
import { runAdmin } from '../support/admin.ts';
import { databaseUrl } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';
import { describeWithPgBouncer, type Pooler, startPgBouncer } from '../support/pgbouncer.ts';
import { describeWithRedis, startRedisServer } from '../support/redis-server.ts';
import { TestProcess, useSystem } from '../support/system.ts';

interface Check {
  name: string;
  ok: boolean;
  found: string;
  to_do: string | null;
  see: string | null;
}

const HEADINGS = [...readFileSync('docs/operating.md', 'utf8').matchAll(/^### Doctor: (.*)$/gm)];
const PAGES = HEADINGS.map(([, name]) => `docs/operating.md#doctor-${name}`);

describe('doctor', function () {
  this.timeout(60_000);
  const system = useSystem();

  const examine = async (env: Record<string, string> = {}) => {
    const { stdout, stderr } = await runAdmin(['doctor', '--json'], { ...system.env, ...env });
    assert.equal(stderr, '');
    return JSON.parse(stdout).checks as Check[];
  };
  const check = async (name: string, env?: Record<string, string>) => {
    const found = (await examine(env)).find((one) => one.name === name);
    assert.ok(found);
    if (!found.ok) assert.ok(PAGES.includes(found.see ?? ''), `no page for ${name}`);
    return found;
  };
  const state = (settings: object) =>
    system.database.pool.query(
      `insert into processes (id, kind, alive_until, settings)
       select gen_random_uuid(), 'worker', now() + interval '1 hour', w.settings || $1::jsonb
         from processes w where w.kind = 'worker' and w.alive_until > now() limit 1`,
      [JSON.stringify(settings)],
    );
  const forget = () =>
    system.database.pool.query(`delete from processes where alive_until > now() + interval '30 minutes'`);
  afterEach(forget);

  it('each check of the doctor has a section in docs/operating.md', async () => {
    const names = (await examine()).map(({ name }) => `docs/operating.md#doctor-${name}`);
    assert.deepEqual([...names, 'docs/operating.md#doctor-live'].sort(), PAGES.sort());
  });

  it('the doctor reads the settings that running processes publish, which contain no addresses or secrets', async () => {
    const { ok, found } = await check('processes');
    assert.deepEqual(
      [ok, found.replace(/version \S+,/, 'version,')],
      [true, '1 web, 1 worker, version, one queue'],
    );
    const { rows } = await system.database.pool.query('select settings from processes where kind = $1', [
      'worker',
    ]);
    const { version, queue, connections, ...rest } = rows[0].settings;
    assert.deepEqual(rest, { models: ['fake-model'], has_key: true, clock_ahead_s: 0 });
    assert.match(queue, /^(Redis|PostgreSQL) [0-9a-f]{12}$/);
    assert.equal(typeof version, 'string');
    assert.ok(connections >= 0);
  });

  for (const [what, settings, found, toDo] of [
    ['another queue', { queue: 'Redis 0' }, /different queues: .*1 worker on Redis 0/, /REDIS_URL/],
    ['a clock that is a minute off', { clock_ahead_s: -60 }, /database's: worker 60 s behind$/, /NTP/],
    ['another version', { version: '9.9.9' }, /version 9\.9\.9/, /rollout/],
    ['another model', { models: ['other'] }, /workers differ: .*models other/, /DEFAULT_MODEL/],
    [
      'no key for its model',
      { has_key: false },
      /workers without a key for their model: 1/,
      /OPENAI_API_KEY/,
    ],
  ] as const)
    it(`the doctor detects a process with ${what}`, async () => {
      await state(settings);
      const fault = await check('processes');
      assert.equal(fault.ok, false);
      assert.match(fault.found, found);
      assert.match(fault.to_do ?? '', toDo);
    });

  it('the doctor finds no fault with a scheduler in production that has no model and no API key', async () => {
    const missing = { DEFAULT_MODEL: '', TAB_MODEL: '', OPENAI_API_KEY: '' };
    const env = { ...bareEnvironment(), ...system.env, ...missing, NODE_ENV: 'production' };
    const scheduler = new TestProcess(fork('workers/main.ts', ['scheduler'], { env, silent: true }));
    try {
      await scheduler.ready();
      const { ok, found } = await check('processes');
      assert.deepEqual([ok, found.split(', version')[0]], [true, '1 web, 2 worker']);
    } finally {
      await scheduler.stop('SIGTERM');
    }
  });

  it('the doctor detects that its QUEUE_PREFIX differs from that of the running processes', async () => {
    const { ok, found } = await check('processes', { QUEUE_PREFIX: 'other' });
    assert.equal(ok, false);
    assert.match(found, /another queue/);
  });

  it('the doctor detects that the processes may open more database connections than PostgreSQL accepts', async () => {
    assert.equal((await check('connections')).ok, true);
    await state({ connections: 100_000 });
    const { ok, found, to_do } = await check('connections');
    assert.equal(ok, false);
    assert.match(found, /^3 processes open up to \d{6} of \d+ connections$/);
    assert.match(to_do ?? '', /DATABASE_POOL/);
  });

  it('the doctor detects that more than 90 % of the connections of PostgreSQL are in use', () => {
    const found = judgeSessions('', 91, 100);
    assert.equal(found.ok, false);
    assert.match(`${found.found}: ${found.to_do}`, /91 are in use: end sessions/);
    assert.equal(judgeSessions('', 90, 100).ok, true);
  });

  it("the doctor counts the PostgreSQL sessions of all roles, even without the right to see other roles' sessions", async () => {
    const { url, pool } = system.database;
    const name = `forecue_${randomBytes(6).toString('hex')}`;
    await pool.query(
      `create role ${name} login password '${name}'; grant select on all tables in schema public to ${name}`,
    );
    const own = new pg.Pool({
      connectionString: Object.assign(new URL(url), { username: name, password: name }).href,
    });
    const others = await Promise.all(Array.from({ length: 4 }, () => pool.connect()));
    try {
      const { sessions } = await readInstallation(own);
      assert.ok(sessions > others.length, `${sessions} sessions`);
    } finally {
      for (const other of others) other.release();
      await own.end();
      await pool.query(`drop owned by ${name}; drop role ${name}`);
    }
  });

  it('the doctor detects that the clock of its machine is a minute off', async () => {
    const clock = new URL('../support/clock-ahead.ts', import.meta.url).href;
    const env = { ...system.env, CLOCK_AHEAD_MS: '60000', NODE_OPTIONS: `--import ${clock}` };
    const { stdout } = await promisify(execFile)('bin/node', ['bin/admin/main.ts', 'doctor', '--json'], {
      env: { ...bareEnvironment(), ...env },
    }).catch((failed: { stdout: string }) => failed);
    const clockCheck = (JSON.parse(stdout).checks as Check[]).find(({ name }) => name === 'clock');
    assert.equal(clockCheck?.ok, false);
    assert.match(clockCheck.found, /, (5[5-9]|60)\.\d s from this machine's$/);
    assert.equal(clockCheck.see, 'docs/operating.md#doctor-clock');
  });

  describeWithRedis('doctor and Redis', () => {
    it('the doctor detects a Redis that may evict jobs, is full, is a read-only replica, or is down', async () => {
      await using redis = await startRedisServer();
      const queue = () => check('queue', { REDIS_URL: redis.url });
      const faults = [
        [
          () => redis.setPolicy('allkeys-lru'),
          () => redis.setPolicy('noeviction'),
          /allkeys-lru: set maxmemory-policy to noeviction/,
        ],
        [() => redis.fill(true), () => redis.fill(false), /its memory is full/],
        [() => redis.follow(redis), () => redis.follow(undefined), /read-only replica: .*replicaof no one/],
        [() => redis.kill(), () => redis.start(), /does not answer within 3 s: start it/],
      ] as const;
      assert.equal((await queue()).ok, true);
      for (const [inject, mend, says] of faults) {
        await inject();
        const { ok, found, to_do } = await queue();
        assert.equal(ok, false);
        assert.match(`${found}: ${to_do}`, says);
        await mend();
        assert.equal((await queue()).ok, true);
      }
    });
  });

  it('the doctor detects a disk with less than 1 GiB free, or with less than 5 % and less than 20 GiB free', () => {
    const gib = 1024 ** 3;
    const rooms = [
      [0.5, 2],
      [10, 1000],
      [2, 20],
      [40, 1000],
    ] as const;
    assert.deepEqual(
      rooms.map(([free, size]) => judgeFreeSpace(free * gib, size * gib).ok),
      [false, false, true, true],
    );
  });

  describeWithPgBouncer('doctor and pooler', () => {
    const urlThrough = (pooler: Pooler) =>
      databaseUrl(pooler.url, new URL(system.database.url).pathname.slice(1));

    for (const mode of ['transaction', 'session'] as const)
      it(`the doctor ${mode === 'transaction' ? 'accepts a pooler in transaction mode only if' : 'accepts no pooler in session mode, even if'} DATABASE_DIRECT_URL bypasses the pooler`, async () => {
        const pooler = await startPgBouncer(process.env['FORECUE_TEST_SERVER'] ?? '', mode);
        try {
          const own = system.database.url;
          // Checks in sequence: in session mode the pooler opens a session for each connection.
          const alone = await check('database', {
            DATABASE_URL: urlThrough(pooler),
            DATABASE_DIRECT_URL: '',
          });
          const both = await check('pooler', { DATABASE_URL: own, DATABASE_DIRECT_URL: urlThrough(pooler) });
          const past = await check('pooler', { DATABASE_URL: urlThrough(pooler), DATABASE_DIRECT_URL: own });
          for (const { ok, found, to_do } of [alone, both]) {
            assert.equal(ok, false);
            assert.match(`${found}: ${to_do}`, /leads to a pooler.*PostgreSQL itself/);
          }
          assert.equal(past.found, `DATABASE_URL leads to a pooler in ${mode} mode`);
          assert.equal(past.ok, mode === 'transaction');
        } finally {
          await pooler.close();
        }
      });
  });
});
