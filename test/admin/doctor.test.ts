import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { judgeRoom } from '../../bin/admin/checks-of-capacity.ts';
import { runAdmin } from '../support/admin.ts';
import { databaseUrl } from '../support/database.ts';
import { describeWithPgBouncer, type Pooler, startPgBouncer } from '../support/pgbouncer.ts';
import { type System, startSystem } from '../support/system.ts';

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
  let system: System;
  before(async () => {
    system = await startSystem();
  });
  after(() => system?.stop());

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

  it('the doctor has a page for each of its checks', async () => {
    const names = (await examine()).map(({ name }) => `docs/operating.md#doctor-${name}`);
    assert.deepEqual([...names, 'docs/operating.md#doctor-live'].sort(), PAGES.sort());
  });

  it('the doctor reads what an ingress and a worker say of themselves, without an address or a secret', async () => {
    const { ok, found } = await check('processes');
    assert.deepEqual(
      [ok, found.replace(/version \S+,/, 'version,')],
      [true, '1 web, 1 worker, version, one queue'],
    );
    const { rows } = await system.database.pool.query('select settings from processes where kind = $1', [
      'worker',
    ]);
    const { version, queue, connections, ...rest } = rows[0].settings;
    assert.deepEqual(rest, { models: ['fake-model'], has_key: true });
    assert.match(queue, /^(Redis|PostgreSQL) [0-9a-f]{12}$/);
    assert.equal(typeof version, 'string');
    assert.ok(connections >= 0);
  });

  for (const [what, settings, found, toDo] of [
    ['another queue', { queue: 'Redis 0' }, /different queues: .*1 worker on Redis 0/, /REDIS_URL/],
    ['another version', { version: '9.9.9' }, /version 9\.9\.9/, /rollout/],
    ['another model', { models: ['other'] }, /workers differ: .*models other/, /DEFAULT_MODEL/],
    [
      'no key for its model',
      { has_key: false },
      /workers without a key for their model: 1/,
      /OPENAI_API_KEY/,
    ],
  ] as const)
    it(`the doctor finds a process with ${what}`, async () => {
      await state(settings);
      const fault = await check('processes');
      assert.equal(fault.ok, false);
      assert.match(fault.found, found);
      assert.match(fault.to_do ?? '', toDo);
    });

  it("the doctor notices that it looks at another queue than the processes' itself", async () => {
    const { ok, found } = await check('processes', { QUEUE_PREFIX: 'other' });
    assert.equal(ok, false);
    assert.match(found, /another queue/);
  });

  it('the doctor finds that the processes may open more connections than PostgreSQL takes', async () => {
    assert.equal((await check('connections')).ok, true);
    await state({ connections: 100_000 });
    const { ok, found, to_do } = await check('connections');
    assert.equal(ok, false);
    assert.match(found, /^3 processes open up to \d{6} of \d+ connections$/);
    assert.match(to_do ?? '', /DATABASE_POOL/);
  });

  it('the doctor finds a disk that is nearly full', () => {
    const gib = 1024 ** 3;
    const rooms = [
      [0.5, 2],
      [10, 1000],
      [2, 20],
      [40, 1000],
    ] as const;
    assert.deepEqual(
      rooms.map(([free, size]) => judgeRoom(free * gib, size * gib).ok),
      [false, false, true, true],
    );
  });

  describeWithPgBouncer('in front of a pooler', () => {
    const pooled = (pooler: Pooler) =>
      databaseUrl(pooler.url, new URL(system.database.url).pathname.slice(1));

    for (const mode of ['transaction', 'session'] as const)
      it(`the doctor tells a pooler in ${mode} mode, and whether DATABASE_DIRECT_URL leads past it`, async () => {
        const pooler = await startPgBouncer(process.env['FORECUE_TEST_SERVER'] ?? '', mode);
        try {
          const own = system.database.url;
          // One after the other: in session mode the pooler has a session for each connection.
          const alone = await check('database', { DATABASE_URL: pooled(pooler), DATABASE_DIRECT_URL: '' });
          const both = await check('pooler', { DATABASE_URL: own, DATABASE_DIRECT_URL: pooled(pooler) });
          const past = await check('pooler', { DATABASE_URL: pooled(pooler), DATABASE_DIRECT_URL: own });
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
