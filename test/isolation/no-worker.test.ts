import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type AppClient, predictionBody } from '../support/client.ts';
import { hang, ok } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { expectWithin, measureNoise } from '../support/noise.ts';
import { useProcesses } from '../support/system.ts';
import { tablesWith } from '../support/tables-with.ts';
import { until } from '../support/until.ts';
import { untilShed } from '../support/until-shed.ts';

const LEASE_MS = 2000;
/** Time within which every process counts a killed worker as dead. */
const KNOWN_MS = LEASE_MS + 2000;
/** Much shorter than the deadline, until which accepted calls wait. */
const REFUSAL_MS = 400;
const CLEAN_MS = 20_000;
const SLOTS = 4;
const CALLERS = 10;

const env = {
  LEASE_MS: `${LEASE_MS}`,
  RECOVERY_WINDOW_S: '1',
  PREDICTION_TIMEOUT_MS: '3000',
  WORKER_CONCURRENCY: `${SLOTS}`,
};

describe('with no worker left alive', () => {
  const marker = `secret-${randomBytes(8).toString('hex')}`;
  const system = useProcesses({ env });
  let app: AppClient;
  let hungUpAt: number;
  before(async () => {
    app = await system.app();
    system.provider.next(ok({ continuation: `and ${marker}` }));
    assert.equal((await ask()).status, 200);
    system.provider.respond(hang());
    const lost = new AbortController();
    const callers = Promise.allSettled(Array.from({ length: CALLERS }, () => ask(lost.signal)));
    // One slot is kept free for another app.
    await system.provider.called(1 + SLOTS - 1);
    await until(async () => (await app.usage()).body.reserved_units === CALLERS);
    assert.notDeepEqual(
      await tablesWith(system, marker),
      [],
      'the texts are stored before the worker is killed',
    );
    await system.workers[0]?.stop('SIGKILL');
    lost.abort();
    await callers;
    hungUpAt = performance.now();
  });

  it('new calls are refused within 400 ms once the ingress knows that no worker is alive #overload #no-workers', async () =>
    // An app with nothing in the queue is refused for this reason alone.
    expectRefusals(await system.app()));

  it('units of disconnected callers are refunded even while no worker is alive #no-workers', async () => {
    await until(async () => (await app.usage()).body.reserved_units === 0, leftMs());
  });

  it('texts are erased after their recovery window even while no worker is alive #no-workers', async () => {
    await until(async () => (await tablesWith(system, marker)).length === 0, leftMs());
  });

  it('a worker that starts while no other is alive is used within 4 s, and runs no work of disconnected callers', async () => {
    system.provider.reset();
    await system.startWorker();
    await until(async () => (await app.predict(predictionBody())).status === 200, KNOWN_MS);
    const late = system.provider.calls.filter(({ record }) => record.draft.includes(marker));
    assert.deepEqual(late, []);
    await until(async () => (await app.usage()).body.reserved_units === 0, KNOWN_MS);
  });

  const leftMs = () => CLEAN_MS - (performance.now() - hungUpAt);

  function ask(signal?: AbortSignal) {
    return app.predict(predictionBody({ draft: { text: `Draft ${marker} `, revision: 1 } }), { signal });
  }
});

/** Waits until the ingress knows that no worker is alive, and asserts that calls are refused at once. */
async function expectRefusals(app: AppClient): Promise<void> {
  const ask = () => app.predict(predictionBody());
  await untilShed(ask, 'prediction_timeout', KNOWN_MS);
  const noise = measureNoise(app);
  const replies: Awaited<ReturnType<typeof ask>>[] = [];
  for (let n = 0; n < 20; n += 1) replies.push(await ask());
  await noise.stop();
  assert.deepEqual(tally(replies), { '503 overloaded': replies.length });
  expectWithin(replies, REFUSAL_MS, noise);
  assert.ok(replies.every(({ headers }) => Number(headers.get('retry-after')) >= 1));
}
