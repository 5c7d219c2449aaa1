import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { inputsOf, predictBatch, proposeReplies } from '../support/replies.ts';
import { SCALE } from '../support/scale.ts';
import { useProcesses } from '../support/system.ts';
import { until, untilDone } from '../support/until.ts';
import { makeWebhook, useReceiver } from '../support/webhooks.ts';

const ACCOUNTS = 5;
const BATCH_PROMPTS = 100;
const EVENTS = 1000 * SCALE;
const KILLS = 10 * SCALE;
const WORKERS = 2;
const WITHIN_MS = 20 * 60_000;

/** `SCALE=10` is the promised trial: 10,000 events under 100 kills. */
describe('webhooks while workers are killed', function () {
  this.timeout(2 * WITHIN_MS);
  const system = useProcesses({
    workers: WORKERS,
    workerEntry: ['workers/main.ts', 'all'],
    env: { ALLOW_PRIVATE_ADDRESSES: 'true', LEASE_MS: '2000', BATCH_TIMEOUT_MS: '600000' },
  });
  const { received, receiver } = useReceiver();

  it('each escalated prediction is reported, always by one id, however often its workers are killed', async () => {
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    const people = await Promise.all(Array.from({ length: ACCOUNTS }, () => signUp(system)));
    for (const person of people)
      await makeWebhook(person, { url: receiver.url, events: ['prediction.escalated'] });
    const asked = Promise.all(people.map(askBatches));
    for (let kills = 0; kills < KILLS; kills += 1) {
      await until(() => received.idsByPrediction.size >= (EVENTS * kills) / KILLS, WITHIN_MS);
      const victim = system.workers.find(({ child }) => child.exitCode === null && child.signalCode === null);
      await victim?.stop();
      // A supervisor would start it again, should the database be too busy to answer at the first try.
      await untilDone(() => system.startWorker(), WITHIN_MS);
    }
    await asked;
    const pending = `select from deliveries where state = 'pending'`;
    await until(async () => (await system.sql(pending)).length === 0, WITHIN_MS);
    const escalated = await system.sql<{ id: string }>(`select id from replies where status = 'escalated'`);
    assert.equal(escalated.length, EVENTS);
    assert.deepEqual([...received.idsByPrediction.keys()].sort(), escalated.map(({ id }) => id).sort());
    const repeated = [...received.idsByPrediction.values()].filter((ids) => ids.size > 1);
    assert.deepEqual(repeated, []);
    console.info(`      ${EVENTS} events, ${KILLS} kills, ${received.attempts} attempts`);
  });

  async function askBatches(person: UserClient): Promise<void> {
    for (let left = EVENTS / ACCOUNTS; left > 0; left -= BATCH_PROMPTS) {
      const { status, body, text: answer } = await predictBatch(person, inputsOf(BATCH_PROMPTS));
      assert.deepEqual([status, body.succeeded], [200, BATCH_PROMPTS], answer.slice(0, 300));
    }
  }
});
