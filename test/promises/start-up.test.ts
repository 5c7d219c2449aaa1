import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { MIGRATIONS_FOLDER } from '../../shared/db/missing-migrations.ts';
import { migrate } from '../../shared/process/migrate.ts';
import { fetchPublished } from '../support/client.ts';
import { administer, createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('start-up', () => {
  const system = useProcesses({ webs: 0, workers: 0 });
  afterEach(() => Promise.all([...system.webs, ...system.workers].map((one) => one.stop())));

  describe('on an empty database', () => {
    let empty: TestDatabase;
    beforeEach(async () => {
      empty = await createDatabase({ empty: true });
    });
    afterEach(async () => {
      await Promise.all([...system.webs, ...system.workers].map((one) => one.stop()));
      await empty.drop();
    });
    const runMigrations = () => migrate({ directUrl: empty.url, queuePrefix: 'forecue' });

    it('six concurrent runs of the migrations on an empty database succeed, and apply each migration once', async () => {
      await Promise.all(Array.from({ length: 6 }, runMigrations));
      const { rows } = await empty.pool.query<{ name: string }>(
        'select name from mikro_orm_migrations order by name',
      );
      const files = (await readdir(MIGRATIONS_FOLDER)).filter((file) => file.startsWith('Migration')).sort();
      assert.deepEqual(
        rows.map(({ name }) => `${name}.ts`),
        files,
      );
      await runMigrations();
      const { rowCount } = await empty.pool.query('select from mikro_orm_migrations');
      assert.equal(rowCount, files.length);
    });

    it('a process on an empty database logs the migration that it waits for, and is ready once all were run', async () => {
      const ports = [await freePort(), await freePort()];
      const env = { DATABASE_URL: empty.url, DATABASE_DIRECT_URL: empty.url };
      const started = [
        system.launch('web', { ...env, OPERATOR_PORT: String(ports[0]) }),
        system.launch('worker', { ...env, OPERATOR_PORT: String(ports[1]) }),
      ];
      for (const [n, process] of started.entries()) {
        await until(() => /Migration\d+/.test(process.log));
        assert.equal(await readiness(ports[n]), 503);
      }
      await runMigrations();
      await Promise.all(started.map((process) => process.ready()));
      for (const port of ports) assert.equal(await readiness(port), 200);
      const { status } = await fetchPublished(`${started[0]?.url}/readyz`);
      assert.equal(status, 200);
    });
  });

  it('a process whose database is unreachable can be stopped, or becomes ready once the database is reachable', async () => {
    const [port, operatorPort] = [await freePort(), await freePort()];
    const target = new URL(system.database.url);
    const away = new URL(target);
    away.hostname = '127.0.0.1';
    away.port = String(port);
    const env = { DATABASE_URL: away.href, DATABASE_DIRECT_URL: away.href };
    const web = system.launch('web', { ...env, OPERATOR_PORT: String(operatorPort) });
    const worker = system.launch('worker', env);
    for (const { log } of await Promise.all([web, worker].map(untilNotReady)))
      assert.match(log, /ECONNREFUSED/);
    assert.equal(await readiness(operatorPort), 503);

    worker.kill('SIGTERM');
    await worker.exited;
    assert.equal(worker.child.exitCode, 0);

    const proxy = await forward(port, target);
    await web.ready();
    assert.equal(await readiness(operatorPort), 200);
    await web.stop();
    proxy.close();
  });

  it('a process is unready while its database is read-only, and becomes ready once writes are possible', async () => {
    const { FORECUE_TEST_SERVER: server = '' } = process.env;
    const name = new URL(system.database.url).pathname.slice(1);
    const switchWrites = async (readOnly: 'on' | 'off') => {
      await administer(server, `alter database ${name} set default_transaction_read_only = ${readOnly}`);
      // Ends open sessions, since a session reads the setting when it begins.
      await administer(
        server,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
    };
    await switchWrites('on');
    const started = [system.launch('web'), system.launch('worker')];
    for (const { log } of await Promise.all(started.map(untilNotReady))) assert.match(log, /read-only/);
    await switchWrites('off');
    await Promise.all(started.map((process) => process.ready()));
  });

  it('an invalid environment variable ends its process with one log line, which names the variable and no password', async () => {
    const secret = 'mysql://user:hunter2@localhost/x';
    const faults: [kind: 'web' | 'worker', variable: string, value: string, others?: object][] = [
      ['web', 'PORT', '80a'],
      ['web', 'DATABASE_URL', secret],
      ['worker', 'PROVIDER_TIMEOUT_MS', '0'],
      ['worker', 'OPENAI_API_KEY_FILE', '/hunter2'],
      ['worker', 'OPENAI_API_KEY_FILE', '/nowhere', { OPENAI_API_KEY: '' }],
    ];
    await Promise.all(
      faults.map(async ([kind, variable, value, others]) => {
        const line = await onlyLine(system.launch(kind, { ...others, [variable]: value }));
        assert.match(line, new RegExp(`\\b${variable}\\b`));
        assert.doesNotMatch(line, /hunter2/);
      }),
    );
  });

  it('a process that starts in production names every required variable that it lacks, and no others', async () => {
    const env = {
      NODE_ENV: 'production',
      DATABASE_URL: '',
      JWT_SECRET: '',
      ADMIN_TOKEN: '',
      DEFAULT_MODEL: '',
    };
    const [web, worker] = await Promise.all([
      onlyLine(system.launch('web', env)),
      onlyLine(system.launch('worker', env)),
    ]);
    const required = (...names: string[]) =>
      `configuration: ${names.map((name) => `${name} is required`).join('; ')}\n`;
    assert.equal(web, required('DATABASE_URL', 'JWT_SECRET', 'ADMIN_TOKEN', 'PUBLIC_URL'));
    assert.equal(worker, required('DATABASE_URL', 'DEFAULT_MODEL'));
    const keyless = system.launch('worker', { NODE_ENV: 'production', OPENAI_API_KEY: '' });
    assert.match(await onlyLine(keyless), /OPENAI_API_KEY is required by the model fake-model/);
  });

  it('two workers run side by side on different operator ports, and empty variables count as unset', async () => {
    const ports = [await freePort(), await freePort()];
    await Promise.all(
      ports.map((port) => system.startWorker({ OPERATOR_PORT: String(port), LEASE_MS: '', LOG_LEVEL: '' })),
    );
    for (const port of ports) assert.equal(await readiness(port), 200);
  });
});

async function untilNotReady(process: TestProcess): Promise<TestProcess> {
  await until(() => process.log.includes('not ready'));
  return process;
}

/** Waits for a process that ends with an error. Returns the only line that it logged. */
async function onlyLine(process: TestProcess): Promise<string> {
  await process.exited;
  assert.equal(process.child.exitCode, 1);
  const log = await until(() => process.log.endsWith('\n') && process.log);
  assert.equal(log.trimEnd().split('\n').length, 1, log);
  return log;
}

async function readiness(port: number | undefined): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } });
  return status;
}

async function forward(port: number, target: URL): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(Number(target.port) || 5432, target.hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
