import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

describe('main job', () => {
  const system = useSystem({ env: { TAB_MODEL: 'small-model' } });
  beforeEach(() => system.provider.reset());

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

  it('a draft completion calls TAB_MODEL with a limit of 128 output tokens and low reasoning effort', async () => {
    const app = await system.app();
    await app.predict(predictionBody());
    const { body } = await system.provider.called(1);
    assert.deepEqual([body.model, body['max_tokens'], body['reasoning_effort']], ['small-model', 128, 'low']);
  });

  it('draft completions have the same prompt_cache_key at the provider if they have the same app, user and session', async () => {
    const [app, other] = [await system.app(), await system.app()];
    const session = { user_id: 'u', session_id: 's' };
    await app.predict(predictionBody(session));
    await app.predict(predictionBody({ ...session, draft: { text: 'Another draft of them', revision: 2 } }));
    await app.predict(predictionBody({ ...session, session_id: 't' }));
    await app.predict(predictionBody({ ...session, user_id: 'v' }));
    await other.predict(predictionBody(session));
    const keys = system.provider.calls.map(({ body }) => body['prompt_cache_key']);
    assert.match(String(keys[0]), /^[\w-]{22}$/);
    assert.equal(keys[0], keys[1]);
    assert.equal(new Set(keys).size, 4);
  });

  it("a draft completion's ledger row states how many tokens the provider had cached", async () => {
    const app = await system.app();
    const details = { prompt_tokens_details: { cached_tokens: 1024 } };
    system.provider.respond(ok({ usage: { prompt_tokens: 1200, completion_tokens: 8, ...details } }));
    await app.predict(predictionBody());
    const row = await until(async () => {
      const { rows } = await system.database.pool.query('select * from provider_calls where app_id = $1', [
        app.id,
      ]);
      return rows[0];
    });
    assert.deepEqual([row.input_tokens, row.cached_tokens, row.output_tokens], [1200, 1024, 8]);
  });
});
