import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('scaling signal', () => {
  const system = useProcesses({ webs: 0, workers: 0, env: { WORKER_CONCURRENCY: '4' } });
  let port: number;
  let workerPort: number;
  before(async () => {
    [port, workerPort] = [await freePort(), await freePort()];
    await system.startWeb({ OPERATOR_PORT: String(port) });
    await startWorker();
  });
  const startWorker = () => system.startWorker({ OPERATOR_PORT: String(workerPort) });

  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const desiredWorkers = async () =>
    ((await (await get('/scale/predict')).json()) as { desired: number }).desired;

  it('the scaling signal asks for more workers while calls wait, and for one worker once all calls have ended', async () => {
    assert.equal(await desiredWorkers(), 1);
    system.provider.respond(() => {});
    const gone = new AbortController();
    const app = await system.app();
    const calls = Array.from({ length: 12 }, () =>
      app.predict(predictionBody(), { signal: gone.signal }).catch(() => undefined),
    );
    await until(async () => (await desiredWorkers()) >= 4);
    gone.abort();
    await Promise.all(calls);
    // Starts a new worker: the abandoned calls hang in the first worker, and end with it.
    system.provider.reset();
    await system.workers[0]?.stop();
    await startWorker();
    await until(async () => (await desiredWorkers()) === 1, 30_000);
  });

  it('the scaling signal of an unknown pool is 404', async () => {
    assert.equal((await get('/scale/nothing')).status, 404);
    assert.equal((await get('/scale/')).status, 404);
  });
});
