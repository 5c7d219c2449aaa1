import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { delay, ok } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { type OwnServer, type Replica, startOwnServer } from '../support/own-server.ts';
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { type LoadObservations, lossesIn, underLoad } from '../support/under-load.ts';
import { until } from '../support/until.ts';

const PER_SECOND = 50;
const CALM_MS = 1000;
const SERVICE_MS = 50;
const DEMOTED_MS = 4000;
/** Maximum time to recover, from the moment at which the address leads to the new primary. */
const BACK_WITHIN_MS = 10_000;
const DOCUMENTED_CODES = ['503 service_unavailable', '503 overloaded', '504 prediction_timeout'];

describe('a failover of PostgreSQL under load', () => {
  let server: OwnServer;
  let replica: Replica;
  /** The proxy in front of the current primary. */
  let address: SilentProxy;
  let system: System<TestProcess>;
  let operators: string[];

  beforeEach(async () => {
    server = await startOwnServer();
    replica = await server.replicate();
    address = await startSilentProxy(server.url);
    const proxied = new URL(server.url);
    proxied.host = new URL(address.url).host;
    process.env['FORECUE_TEST_SERVER'] = proxied.href;
    const env = { SANDBOX_UNITS: '1000000', DATABASE_POOL: '4', LEASE_MS: '3000' };
    system = await startProcesses({ webs: 0, workers: 0, env });
    system.provider.respond(delay(SERVICE_MS, ok()));
    const ports = [await freePort(), await freePort()] as const;
    operators = ports.map((port) => `http://127.0.0.1:${port}/readyz`);
    await Promise.all([
      system.startWeb({ OPERATOR_PORT: `${ports[0]}` }),
      system.startWorker({ OPERATOR_PORT: `${ports[1]}` }),
    ]);
  });
  afterEach(async () => {
    await system?.stop();
    await address?.close();
    await replica?.close();
    await server?.close();
  });

  const readiness = async () => {
    const answers = await Promise.all(operators.map((url) => fetch(url)));
    return answers.map(({ status }) => status).join();
  };

  /** Sends a steady load while `fail` replaces the primary, until every process is ready again. */
  async function endure(fail: () => Promise<void>): Promise<LoadObservations & { backMs: number }> {
    const [app, other] = [await system.app(), await system.app()];
    let backMs = Number.NaN;
    const load = { app, pool: system.database.pool, provider: system.provider };
    const seen = await underLoad(load, PER_SECOND, async () => {
      await sleep(CALM_MS);
      await fail();
      address.move(replica.url);
      const since = performance.now();
      await until(async () => (await other.predict(predictionBody())).status === 200, BACK_WITHIN_MS);
      backMs = Math.round(performance.now() - since);
      await until(async () => (await readiness()) === '200,200', BACK_WITHIN_MS);
      await sleep(CALM_MS);
    });
    return { ...seen, backMs };
  }

  it('promoting a synchronous replica after a PostgreSQL crash loses no answer and bills no answer twice #postgres-failover', async () => {
    const seen = await endure(async () => {
      await server.stop('immediate');
      await replica.promote();
    });
    assertDocumented('crash', seen);
  });

  it('an ingress and a worker whose database address leads to a demoted primary are not ready, and no answer is lost #postgres-failover', async () => {
    const seen = await endure(async () => {
      await server.stop('fast');
      await replica.promote();
      await server.follow(replica);
      await until(async () => (await readiness()) === '503,503', DEMOTED_MS);
      await sleep(DEMOTED_MS);
    });
    assertDocumented('switch-over', seen);
  });
});

function assertDocumented(title: string, seen: LoadObservations & { backMs: number }): void {
  console.log(title, JSON.stringify(seen));
  assert.deepEqual(lossesIn(seen), [], JSON.stringify(seen));
  const codes = Object.keys({ ...seen.refused, ...seen.others });
  assert.ok(
    codes.every((code) => DOCUMENTED_CODES.includes(code)),
    JSON.stringify(seen),
  );
  assert.deepEqual(seen.broken, {});
}
