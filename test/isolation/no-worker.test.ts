import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppClient, predictionBody } from '../support/client.ts';
import { hang, ok } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { expectWithin, measureNoise } from '../support/noise.ts';
import { rowOf } from '../support/rows.ts';
import { useProcesses, useSystem } from '../support/system.ts';
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

describe('without any worker so far', function () {
  this.timeout(60_000);
  const system = useProcesses({ env, workers: 0 });

  it('while no worker has ever started, new calls are soon refused, each within 400 ms; once a worker has started, they are accepted', async () => {
    const app = await system.app();
    await expectRefusals(app);
    await system.startWorker();
    await until(async () => (await app.predict(predictionBody())).status === 200, KNOWN_MS);
  });
});

describe('with no worker left alive', function () {
  this.timeout(60_000);
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

  it('new calls are refused within 400 ms once the ingress knows that no worker is alive', () =>
    expectRefusals(app));

  it('units of disconnected callers are refunded even while no worker is alive', async () => {
    await until(async () => (await app.usage()).body.reserved_units === 0, leftMs());
  });

  it('texts are erased after their recovery window even while no worker is alive', async () => {
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

describe('with a draft in the queue when the last worker dies', function () {
  this.timeout(60_000);
  const system = useSystem({ apart: true, env: { ...env, WORKER_CONCURRENCY: '1' } });

  it('a person who types on while no worker is alive is soon refused, too, instead of waiting until the deadline', async () => {
    const app = await system.app();
    const type = (revision: number) => {
      const body = predictionBody({ session_id: 'typing', draft: { text: `Draft ${revision} `, revision } });
      const reply = app.predict(body);
      reply.catch(() => {});
      return { body, reply };
    };
    system.provider.respond(hang());
    app.predict(predictionBody()).catch(() => {});
    await system.provider.called(1);
    const { body } = type(1);
    await until(async () => (await rowOf(system, body).catch(() => undefined))?.state === 'queued');
    await system.workers[0]?.kill();
    let revision = 1;
    const refused = await until(() => {
      revision += 1;
      // Types on before the deadline, so that each draft finds an earlier one in the queue.
      return Promise.race([type(revision).reply, sleep(1000, undefined)]);
    });
    assert.deepEqual([refused.status, refused.code], [503, 'overloaded']);
  });
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
