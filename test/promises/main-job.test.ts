import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { useSystem } from '../support/system.ts';

describe('main job', () => {
  const system = useSystem();

  it('a prediction of a draft has every published field, costs one unit and appears in the usage', async () => {
    const app = await system.app();
    const body = predictionBody();
    const reply = await app.predict(body);
    assert.equal(reply.status, 200, reply.text);
    const { prediction_id, completion, expires_at, ...rest } = reply.body;
    assert.match(prediction_id, /^[A-Za-z0-9._:-]{1,80}$/);
    assert.notEqual(completion, '');
    assert.ok(Math.abs(expires_at - (Date.now() / 1000 + 600)) < 30, `expires_at ${expires_at}`);
    assert.deepEqual(rest, {
      request_id: body.request_id,
      session_id: body.session_id,
      connection_id: null,
      draft_revision: 1,
      context_revision: 'c-1',
      profile_revision: 'none',
      grant_revision: 0,
      status: 'suggested',
      context_truncated: false,
      usage: { prediction_units: 1 },
    });
    assert.match(
      reply.headers.get('server-timing') ?? '',
      /^queue;dur=[\d.]+, provider;dur=[\d.]+, total;dur=[\d.]+$/,
    );
    const usage = await app.usage();
    assert.equal(usage.body.prediction_units, 1);
    assert.equal(usage.body.reserved_units, 0);
    assert.equal(usage.body.sandbox_remaining, 999);
  });
});
