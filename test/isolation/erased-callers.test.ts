import assert from 'node:assert/strict';
import { isGone, signUp, type UserClient } from '../support/account.ts';
import { predictionBody, type Reply } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { hang } from '../support/fake-provider.ts';
import { promote, say } from '../support/promotion.ts';
import { inputsOf, predictBatch, predictReply } from '../support/replies.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Much less than the deadlines of the calls, and more than polls need on a busy machine. */
const ANSWERED_WITHIN_MS = 8000;

describe('callers of an erased account', () => {
  // A prediction's own deadline may not pass while its ingress is frozen.
  const env = { PREDICTION_TIMEOUT_MS: '60000' };
  const system = useProcesses({ workerEntry: ['workers/main.ts', 'all'], env });

  beforeEach(() => system.provider.reset());

  /** Makes another process erase the account without waking the callers, as if the first process had died. */
  const eraseSilently = ({ id }: UserClient) =>
    system.database.pool.query(
      `update accounts set active = false, erasing_at = now() - interval '1 minute' where id = $1`,
      [id],
    );

  it('calls that wait for a reply, batch, promotion or prediction are answered within 8 s after their account is erased #erased-callers', async () => {
    const person = await signUp(system);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    await say(person, ['I want coverage']);
    system.provider.respond(hang());
    const calls: Record<string, Promise<Reply<unknown>>> = {
      reply: predictReply(person),
      batch: predictBatch(person, inputsOf(2)),
      promotion: promote(person, 'episodes'),
      'promotion in the queue': promote(person, 'episodes'),
      prediction: app.predict(predictionBody({ connection_id })),
    };
    const ends = new Map<string, string>();
    for (const [name, call] of Object.entries(calls))
      void call.then(({ status, code }) => ends.set(name, `${status} ${code}`));
    // All calls except the queued promotion ask the model; the batch asks it twice.
    await until(() => system.provider.running === 5);
    // A caller that looks meanwhile sees that its work was cancelled, not that it is gone.
    const [web] = system.webs;
    web?.freeze(true);
    await eraseSilently(person);
    await until(() => isGone(system, person));
    web?.freeze(false);
    await until(() => ends.size === Object.keys(calls).length, ANSWERED_WITHIN_MS).catch(() => {});
    const { prediction, ...own } = Object.fromEntries(ends);
    assert.equal(prediction, '403 connection_revoked');
    assert.deepEqual(
      Object.keys(own).sort(),
      Object.keys(calls)
        .filter((name) => name !== 'prediction')
        .sort(),
    );
    for (const end of Object.values(own)) assert.equal(end, '401 not_authenticated');
  });

  it("a job's event stream ends with an error event when the account is erased #erased-callers", async () => {
    const person = await signUp(system);
    await say(person, ['I want coverage']);
    system.provider.respond(hang());
    const streaming = promote(person, 'episodes', {}, { accept: 'text/event-stream' });
    await until(() => system.provider.running === 1);
    await eraseSilently(person);
    const { status, text } = await streaming;
    assert.equal(status, 200);
    assert.match(
      text,
      /event: error\ndata: {"detail":{"code":"(not_authenticated|job_cancelled)",[^\n]*}}\n\n$/,
    );
  });
});
