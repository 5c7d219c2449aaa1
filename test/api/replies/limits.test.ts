import assert from 'node:assert/strict';
import type { ReplyDetail, ReplyList } from '../../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { hang } from '../../support/fake-provider.ts';
import { pluck } from '../../support/pluck.ts';
import { predictReply, predictSuccessfully, proposeReplies } from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';
import { untilShed } from '../../support/until-shed.ts';

describe('reply limits', () => {
  const system = useSystem({
    apart: true,
    env: { RECOVERY_WINDOW_S: '1', LEASE_MS: '1000', REPLY_TIMEOUT_MS: '15000' },
  });
  let ann: UserClient;
  before(async () => {
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    ann = await signUp(system);
  });

  it('a reply prediction whose worker is killed is made by another worker', async () => {
    system.provider.next(hang());
    const calls = system.provider.calls.length;
    const waiting = predictReply(ann, { threshold: 0 });
    await system.provider.called(calls + 1);
    const [victim] = system.workers.splice(0, 1);
    await system.startWorker();
    await victim?.kill();
    const { status, body } = await waiting;
    assert.deepEqual([status, body.predicted_response, body.status], [200, 'Blue', 'auto']);
    const { body: list } = await ann.get<ReplyList>('/api/predictions/');
    assert.deepEqual(pluck(list.results, 'id'), [body.id]);
  });

  it('a predicted reply can be read after its recovery window, but a repeat of its request is then 410', async () => {
    const headers = { 'idempotency-key': 'k' };
    const { body } = await predictReply(ann, {}, { headers });
    const late = await until(async () => {
      const again = await predictReply(ann, {}, { headers });
      return again.status === 410 && again;
    });
    assert.equal(late.code, 'recovery_window_expired');
    const stored = await ann.get<ReplyDetail>(`/api/predictions/${body.id}/`);
    assert.equal(stored.body.predicted_response, 'Blue');
  });

  it('reply predictions are soon 503 overloaded without a worker, and succeed once a worker has started', async () => {
    await Promise.all(system.workers.map((worker) => worker.kill()));
    await untilShed(() => predictReply(ann), 'prediction_timeout', 30_000);
    await system.startWorker();
    await until(async () => (await predictReply(ann)).status === 200, 10_000);
    assert.equal((await predictSuccessfully(ann)).predicted_response, 'Blue');
  });
});
