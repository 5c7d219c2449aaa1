import assert from 'node:assert/strict';
import type { ReplyDetail } from '../../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { predicted, predictReply, proposing } from '../../support/replies.ts';
import { type System, startSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

describe('the recovery window of a predicted reply', function () {
  this.timeout(30_000);
  let system: System;
  let ann: UserClient;
  before(async () => {
    system = await startSystem({ env: { RECOVERY_WINDOW_S: '1', LEASE_MS: '1000' } });
    system.provider.respond(proposing([{ response: 'Blue' }]));
    ann = await signUp(system);
  });
  after(() => system?.stop());

  it('ends its idempotency key, but not the prediction', async () => {
    const headers = { 'idempotency-key': 'k' };
    const { body } = await predictReply(ann, {}, { headers });
    const late = await until(async () => {
      const again = await predictReply(ann, {}, { headers });
      return again.status === 410 && again;
    });
    assert.equal(late.code, 'recovery_window_expired');
    const stored = await ann.request<ReplyDetail>('GET', `/api/predictions/${body.id}/`);
    assert.equal(stored.body.predicted_response, 'Blue');
  });

  it('is not waited for when no worker is left', async () => {
    await Promise.all(system.workers.map((worker) => worker.stop()));
    await until(async () => (await predictReply(ann)).code === 'overloaded', 10_000);
    await system.startWorker();
    await until(async () => (await predictReply(ann)).status === 200, 10_000);
    assert.equal((await predicted(ann)).predicted_response, 'Blue');
  });
});
