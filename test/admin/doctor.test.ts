import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { checkProvider } from '../../bin/admin/check-provider.ts';
import { adminResult, runAdmin } from '../support/admin.ts';
import { administer, databaseUrl } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';
import { delay, status as failing, ok as suggest } from '../support/fake-provider.ts';
import { useServer } from '../support/listening.ts';
import { describeWithPgBouncer, type Pooler, startPgBouncer } from '../support/pgbouncer.ts';
import { describeWithRedis, startRedisServer } from '../support/redis-server.ts';
import { useSystem } from '../support/system.ts';

interface LiveFinding {
  name: string;
  ok: boolean;
  found: string;
  to_do: string | null;
  status: number | null;
  code: string | null;
  stage: string | null;
}

interface Check {
  name: string;
  ok: boolean | null;
  found: string;
  to_do: string | null;
  see: string | null;
}

const HEADINGS = [...readFileSync('docs/operating.md', 'utf8').matchAll(/^### Doctor: (.*)$/gm)];
const PAGES = HEADINGS.map(([, name]) => `docs/operating.md#doctor-${name}`);

describe('doctor', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { PREDICTION_TIMEOUT_MS: '2000', PROVIDER_TIMEOUT_MS: '30000' },
  });

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
    system.sql(
      `insert into processes (id, kind, alive_until, settings)
       select gen_random_uuid(), 'worker', now() + interval '2 minutes', w.settings || $1::jsonb
         from processes w where w.kind = 'worker' and w.alive_until > now() limit 1`,
      [JSON.stringify(settings)],
    );
  const forget = () => system.sql(`delete from processes where alive_until > now() + interval '1 minute'`);
  afterEach(forget);

  it('the doctor finds nothing wrong with a healthy installation', async () => {
    const { ok, checks } = await adminResult(['doctor'], { DATABASE_URL: system.database.url });
    const names = checks.map((check: { name: string }) => check.name);
    const stores = [
      'settings',
      'database',
      'migrations',
      'pooler',
      'connections',
      'erasures',
      'disk',
      'queue',
    ];
    assert.deepEqual(names, [...stores, 'provider', 'clock', 'processes']);
    assert.ok(ok);
    for (const check of checks) assert.deepEqual([check.ok, check.to_do, check.see], [true, null, null]);
  });

  it('the doctor reports which migrations a database lacks, and what to do', async () => {
    const server = process.env['FORECUE_TEST_SERVER'] ?? '';
    const name = `${new URL(system.database.url).pathname.slice(1)}_empty`;
    await administer(server, `create database ${name}`);
    try {
      const env = { DATABASE_URL: databaseUrl(server, name), DEFAULT_MODEL: 'some-model' };
      const [examined, list] = await Promise.all([
        runAdmin(['doctor', '--json'], env),
        runAdmin(['app', 'list'], env),
      ]);
      assert.equal(examined.code, 1);
      const { ok, checks } = JSON.parse(examined.stdout);
      assert.equal(ok, false);
      const faulty = checks.filter((check: Check) => check.ok === false);
      assert.deepEqual(
        faulty.map(({ name }: Check) => name),
        ['migrations', 'provider'],
      );
      const [migrations] = faulty;
      assert.match(migrations.found, /^missing: Migration\d+(, Migration\d+)*$/);
      assert.match(migrations.to_do, /npm run migrate/);
      const skipped = checks.filter((check: Check) => check.ok === null);
      assert.deepEqual(
        skipped.map(({ name, found }: Check) => [name, found]),
        ['connections', 'erasures', 'queue', 'processes'].map((name) => [
          name,
          'not checked until migrations is right',
        ]),
      );
      assert.deepEqual([list.code, list.stdout], [1, '']);
      assert.match(list.stderr, /^the database is not up to date: run `npm run migrate`\n$/);
    } finally {
      await administer(server, `drop database ${name} with (force)`);
    }
  });

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
    const rows = await system.sql<{ settings: Record<string, unknown> }>(
      `select settings from processes where kind = 'worker'`,
    );
    const { version, queue, connections, host, pid, port, resting, ...rest } = rows[0]?.settings ?? {};
    assert.deepEqual([host, typeof pid, typeof port], [hostname(), 'number', 'number']);
    assert.deepEqual(rest, { models: ['fake-model'], has_key: true, clock_ahead_s: 0 });
    assert.match(String(queue), /^(Redis|PostgreSQL) [0-9a-f]{12}$/);
    assert.deepEqual([typeof version, typeof resting], ['string', 'boolean']);
    assert.ok(Number(connections) >= 0);
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

  it('the doctor detects that the processes may open more database connections than PostgreSQL accepts', async () => {
    assert.equal((await check('connections')).ok, true);
    await state({ connections: 100_000 });
    const { ok, found, to_do } = await check('connections');
    assert.equal(ok, false);
    assert.match(found, /^3 processes open up to \d{6} of \d+ connections$/);
    assert.match(to_do ?? '', /DATABASE_POOL/);
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

  describe('provider check', () => {
    let status: number;
    let received: (string | undefined)[];

    const provider = useServer(
      createServer((request, response) => {
        received.push(request.url, request.headers.authorization);
        response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('{"data":[]}');
      }),
    );
    beforeEach(() => {
      received = [];
    });

    const checkKey = async (answer: number) => {
      status = answer;
      const baseUrl = `${provider.url}/v1`;
      const finding = await checkProvider({ models: ['m'], openai: { apiKey: 'sk-secret', baseUrl } });
      assert.doesNotMatch(JSON.stringify(finding), /secret/);
      return finding;
    };

    it("the doctor checks the API key by requesting the provider's list of models", async () => {
      const { ok, found } = await checkKey(200);
      assert.ok(ok);
      assert.match(found, /^m at 127\.0\.0\.1:\d+, which accepts the key$/);
      assert.deepEqual(received, ['/v1/models', 'Bearer sk-secret']);
    });

    for (const [answer, toDo] of [
      [401, /^correct OPENAI_API_KEY$/],
      [403, /^correct OPENAI_API_KEY$/],
      [404, /^correct OPENAI_BASE_URL/],
      [429, /limits/],
      [500, /status page/],
      [302, /OPENAI_BASE_URL/],
    ] as const)
      it(`the doctor says what to do if the provider answers ${answer}`, async () => {
        const { ok, to_do } = await checkKey(answer);
        assert.equal(ok, false);
        assert.match(to_do ?? '', toDo);
      });
  });

  describe('`doctor --live`', () => {
    beforeEach(() => system.provider.reset());

    const runLiveDoctor = async (env: Record<string, string> = {}, url = system.webs[0]?.url ?? '') => {
      const { code, stdout, stderr } = await runAdmin(['doctor', '--live', '--url', url, '--json'], {
        ...system.env,
        ...env,
      });
      assert.equal(stderr, '');
      const found = JSON.parse(stdout).checks.find(({ name }: LiveFinding) => name === 'live') as LiveFinding;
      return { exit: code, ...found };
    };
    const stageOf = ({ exit, ok, status, code, stage }: Awaited<ReturnType<typeof runLiveDoctor>>) => {
      assert.deepEqual([exit, ok], [1, false]);
      return [stage, status, code];
    };

    it("`doctor --live` sends one prediction through ingress, queue and provider, and charges the doctor's own app", async () => {
      const app = await system.app();
      const first = await runLiveDoctor();
      // Ignores the exit code: the fake provider has no list of models, which another check reports.
      assert.deepEqual([first.ok, first.status, first.stage, first.to_do], [true, 200, null, null]);
      assert.match(first.found, /^a prediction was answered 200 \(suggested\) in \d+ ms$/);
      assert.equal(system.provider.calls.length, 1);
      await Promise.all([runLiveDoctor(), runLiveDoctor()]);
      assert.equal(system.provider.calls.length, 3);

      const used = await adminResult(['usage'], system.env);
      const units = used.map((one: { app_id: string; plan: string; prediction_units: number }) => [
        one.app_id === app.id,
        one.plan,
        one.prediction_units,
      ]);
      assert.deepEqual(units.sort(), [
        [false, 'sandbox', 3],
        [true, 'sandbox', 0],
      ]);
      const rows = await system.sql(
        `select count(*)::int from app_keys k join apps a on a.id = k.app_id where a.name = 'Doctor'`,
      );
      assert.deepEqual(rows, [{ count: 0 }]);
    });

    it('`doctor --live` reports the stage `provider` if the provider is too slow or refuses the API key', async () => {
      system.provider.respond(failing(401));
      const refused = await runLiveDoctor();
      assert.deepEqual(stageOf(refused), ['provider', 503, 'provider_not_configured']);
      assert.match(refused.to_do ?? '', /OPENAI_API_KEY/);
      assert.match(refused.found, /the provider says: 401 /);

      system.provider.respond((response, call) =>
        (call.body.model === 'other' ? failing(404) : suggest())(response, call),
      );
      const other = await runLiveDoctor({ DEFAULT_MODEL: 'other', TAB_MODEL: 'fake-model' });
      assert.deepEqual(stageOf(other), ['provider', 200, null]);
      assert.match(other.found, /other, which predicts replies: the provider says: 404 /);

      system.provider.respond(delay(60_000, suggest()));
      const slow = await runLiveDoctor();
      assert.deepEqual(stageOf(slow), ['provider', 504, 'prediction_timeout']);
    });

    it('`doctor --live` reports the stage `queue` if no worker starts the prediction', async () => {
      await adminResult(['queue', 'pause', 'predict'], system.env);
      try {
        const found = await runLiveDoctor();
        assert.deepEqual(stageOf(found), ['queue', 504, 'prediction_timeout']);
        assert.match(found.to_do ?? '', /queue resume/);
      } finally {
        await adminResult(['queue', 'resume'], system.env);
      }
    });
  });
});
