import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { bareEnvironment } from '../support/environment.ts';
import { ok } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { pluck } from '../support/pluck.ts';
import { rowOf } from '../support/rows.ts';
import { pathOf, type TestProcess, useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

/** A supervisor that reads the log of its ingress through a pipe. Sends the process id once there is a line. */
const SUPERVISOR = `
  const child = require('node:child_process').fork(process.argv[1], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  child.stdout.once('data', () => process.send(child.pid)).resume();
`;

describe('shutdown', () => {
  const system = useProcesses({
    workers: 0,
    env: { PREDICTION_TIMEOUT_MS: '60000', PROVIDER_TIMEOUT_MS: '60000' },
  });
  let answer: () => void;
  beforeEach(() => {
    system.provider.reset();
    const gate = Promise.withResolvers<void>();
    answer = gate.resolve;
    system.provider.respond(async (response, call) => {
      await gate.promise;
      await ok()(response, call);
    });
  });
  afterEach(() => Promise.all(system.workers.map((worker) => worker.stop())));

  const countAlive = async () => {
    const rows = await system.sql<{ id: string }>('select id from processes where alive_until > now()');
    return rows.length;
  };

  it('a running call gets its answer even if all processes get SIGTERM twice meanwhile #shutdown', async () => {
    const app = await system.app();
    const [web, worker] = await Promise.all([system.startWeb(), system.startWorker()]);
    const before = await countAlive();
    const waiting = app.predict(predictionBody(), { at: web });
    await system.provider.called(1);
    for (const process of [web, worker, web, worker]) process.kill('SIGTERM');
    await until(() => isRefused(web));
    answer();
    const reply = await waiting;
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.headers.get('connection'), 'close');
    assert.deepEqual(await exitCodes(web, worker), [0, 0]);
    // The processes have ended their leases themselves, instead of letting them expire.
    assert.equal(await countAlive(), before - 2);
    const { body: usage } = await app.usage();
    assert.deepEqual([usage.prediction_units, usage.reserved_units], [1, 0]);
  });

  it('an ingress that gets SIGTERM while busy still answers all requests that have reached its port #shutdown', async () => {
    const app = await system.app();
    const [web] = await Promise.all([system.startWeb(), system.startWorker()]);
    answer();
    const client = new KeepAliveClient(app.key);
    const ask = () => Promise.all(Array.from({ length: 8 }, () => client.predict(web.url, predictionBody())));
    await ask();
    web.freeze(true);
    // Eight calls use kept-alive connections, and eight use new connections.
    const asked = Promise.all([ask(), ask()]);
    await sleep(200);
    web.kill('SIGTERM');
    web.freeze(false);
    assert.deepEqual(pluck((await asked).flat(), 'status'), Array(16).fill(200));
    client.close();
    assert.deepEqual(await exitCodes(web), [0]);
  });

  it('a stopping ingress answers requests that have arrived on its idle keep-alive connections', async () => {
    const app = await system.app();
    const [web] = await Promise.all([system.startWeb(), system.startWorker()]);
    answer();
    const client = new KeepAliveClient(app.key);
    const ask = () => Promise.all(Array.from({ length: 8 }, () => client.predict(web.url, predictionBody())));
    await ask();
    web.kill('SIGTERM');
    await until(() => isRefused(web));
    web.freeze(true);
    const asked = ask();
    // Longer than a stopping ingress keeps an idle connection open.
    await sleep(1000);
    web.freeze(false);
    assert.deepEqual(pluck(await asked, 'status'), Array(8).fill(200));
    client.close();
    assert.deepEqual(await exitCodes(web), [0]);
  });

  it('a worker that is told to stop finishes its running work and leaves queued work to other workers #shutdown', async () => {
    const app = await system.app();
    const worker = await system.startWorker();
    const running = app.predict(predictionBody());
    await system.provider.called(1);
    worker.kill('SIGTERM');
    await until(() => worker.log.includes('stopping'));
    const body = predictionBody();
    const later = app.predict(body);
    await until(async () => (await rowOf(system, body).catch(() => undefined))?.state === 'queued');
    answer();
    assert.equal((await running).status, 200);
    assert.deepEqual(await exitCodes(worker), [0]);
    assert.equal(system.provider.calls.length, 1);
    assert.equal((await rowOf(system, body)).state, 'queued');
    await system.startWorker();
    assert.equal((await later).status, 200);
    assert.equal((await rowOf(system, body)).attempt, 1);
  });

  it('an ingress and a worker end when the parent process that supervises them disconnects', async () => {
    const processes = await Promise.all([system.startWeb(), system.startWorker()]);
    for (const { child } of processes) child.disconnect();
    assert.deepEqual(await exitCodes(...processes), [0, 0]);
  });

  it('an ingress that is still starting ends when the process that reads its log is killed', async () => {
    const url = new URL(system.database.url);
    url.host = `127.0.0.1:${await freePort()}`;
    const env = {
      ...bareEnvironment(),
      ...system.env,
      DATABASE_URL: url.href,
      DATABASE_DIRECT_URL: url.href,
    };
    const supervisor = spawn(process.execPath, ['-e', SUPERVISOR, pathOf('ingress/main.ts')], {
      env,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const [pid] = await once(supervisor, 'message');
    let haveBothEnded = false;
    // Both hold the other end of the pipe for errors.
    supervisor.once('close', () => {
      haveBothEnded = true;
    });
    supervisor.stderr?.resume();
    supervisor.kill('SIGKILL');
    try {
      await until(() => haveBothEnded);
    } finally {
      kill(pid);
    }
  });
});

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function exitCodes(...processes: TestProcess[]): Promise<(number | null)[]> {
  await Promise.all(processes.map((process) => process.exited));
  return processes.map((process) => process.child.exitCode);
}

async function isRefused({ url }: TestProcess): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}
