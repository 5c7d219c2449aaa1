import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { hang, status } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { ageDrafts } from '../support/time-travel.ts';

const REVISION_CONFLICT = [409, 'context_revision_conflict'];
const SUCCESS = [200, undefined];
const ENVELOPE_CHARS = 2000;

describe('stale context', () => {
  const system = useSystem({ env: { CONTEXT_ENVELOPE_CHARS: `${ENVELOPE_CHARS}` } });
  beforeEach(() => system.provider.reset());

  it('a request with a lower draft.revision than an admitted one is refused, does not run and costs nothing #stale-draft', async () => {
    const app = await system.app();
    assert.deepEqual(await ask(app, 5), SUCCESS);
    assert.deepEqual(await ask(app, 4), REVISION_CONFLICT);
    assert.deepEqual(await ask(app, 0), REVISION_CONFLICT);
    assert.equal(system.provider.calls.length, 1);
    const { prediction_units, reserved_units } = (await app.usage()).body;
    assert.deepEqual([prediction_units, reserved_units], [1, 0]);
  });

  it('a request with a repeated draft.revision is 409 with a different draft.text, and runs with the same draft.text', async () => {
    const app = await system.app();
    assert.deepEqual(await ask(app, 5, { text: 'Please send' }), SUCCESS);
    assert.deepEqual(await ask(app, 5, { text: 'Please send ' }), REVISION_CONFLICT);
    assert.deepEqual(await ask(app, 5, { text: 'please send' }), REVISION_CONFLICT);
    assert.deepEqual(await ask(app, 5, { text: 'Please send' }), SUCCESS);
    assert.deepEqual(await ask(app, 5, { text: 'Please send', context_revision: 'c-2' }), SUCCESS);
    assert.equal(system.provider.calls.length, 3);
  });

  it('a request with a higher draft.revision runs with any text, and lower revisions are 409 from then on', async () => {
    const app = await system.app();
    for (const revision of [0, 1, 7, Number.MAX_SAFE_INTEGER])
      assert.deepEqual(await ask(app, revision, { text: `Text ${revision}` }), SUCCESS);
    assert.deepEqual(await ask(app, Number.MAX_SAFE_INTEGER - 1), REVISION_CONFLICT);
  });

  it('the highest draft.revision is tracked per app, user and session', async () => {
    const [app, other] = [await system.app(), await system.app()];
    assert.deepEqual(await ask(app, 5), SUCCESS);
    assert.deepEqual(await ask(app, 1, { user_id: 'u-2' }), SUCCESS);
    assert.deepEqual(await ask(app, 1, { session_id: 's-2' }), SUCCESS);
    assert.deepEqual(await ask(other, 1), SUCCESS);
    assert.deepEqual(await ask(app, 4), REVISION_CONFLICT);
    assert.deepEqual(await ask(app, 0, { user_id: 'u-2' }), REVISION_CONFLICT);
  });

  it('the highest draft.revision is shared by both modes', async () => {
    const app = await system.app();
    assert.deepEqual(await ask(app, 5, { mode: 'next_prompt' }), SUCCESS);
    assert.deepEqual(await ask(app, 4, { mode: 'complete_draft' }), REVISION_CONFLICT);
    assert.deepEqual(await ask(app, 6, { mode: 'complete_draft' }), SUCCESS);
    assert.deepEqual(await ask(app, 5, { mode: 'next_prompt' }), REVISION_CONFLICT);
  });

  it('a lower draft.revision is 409 even if the prediction of the higher one still runs, is cancelled or fails', async () => {
    const app = await system.app();
    const body = predictionBody({ session_id: 's-1', draft: { text: 'Please send', revision: 5 } });
    system.provider.next(hang());
    const running = app.predict(body);
    await system.provider.called(1);
    assert.deepEqual(await ask(app, 4), REVISION_CONFLICT);
    await app.cancel(body.request_id, body.user_id);
    assert.equal((await running).status, 499);
    assert.deepEqual(await ask(app, 4), REVISION_CONFLICT);
    system.provider.next(status(500));
    assert.deepEqual(await ask(app, 6), [502, 'provider_failed']);
    assert.deepEqual(await ask(app, 5), REVISION_CONFLICT);
  });

  it('of 30 concurrent requests with different texts and the same draft.revision, exactly one runs', async () => {
    const app = await system.app();
    const asked = Array.from({ length: 30 }, (_, i) => ask(app, 1, { text: `Please send ${i}` }));
    const outcomes = (await Promise.all(asked)).map(([code]) => code);
    assert.deepEqual(
      outcomes.toSorted(),
      Array.from({ length: 30 }, (_, i) => (i === 0 ? 200 : 409)),
    );
    assert.equal(system.provider.calls.length, 1);
  });

  it('an answered request can be replayed after a higher draft.revision was admitted', async () => {
    const app = await system.app();
    const body = predictionBody({ session_id: 's-1' });
    const first = await app.predict(body);
    assert.deepEqual(await ask(app, 2), SUCCESS);
    const again = await app.predict(body);
    assert.deepEqual([again.status, again.text], [200, first.text]);
  });

  it('after the stored text is erased, a repeated draft.revision is still 409 with a different draft.text', async () => {
    const app = await system.app();
    const body = predictionBody({ session_id: 's-1', draft: { text: 'Please send', revision: 5 } });
    await app.predict(body);
    // The same happens at the end of the recovery window.
    await system.sql('delete from answers');
    assert.deepEqual(await ask(app, 5, { text: 'Please' }), REVISION_CONFLICT);
    assert.deepEqual(await ask(app, 5, { text: 'Please send' }), SUCCESS);
  });

  it('the highest draft.revision is forgotten after 35 days #stale-draft', async () => {
    const app = await system.app();
    assert.deepEqual(await ask(app, 5), SUCCESS);
    await ageDrafts(system, 34);
    assert.deepEqual(await ask(app, 4), REVISION_CONFLICT);
    await ageDrafts(system, 36);
    assert.deepEqual(await ask(app, 2), SUCCESS);
    assert.deepEqual(await ask(app, 1), REVISION_CONFLICT);
    assert.deepEqual(await ask(app, 3), SUCCESS, 'the old highest revision is forgotten');
  });

  it('a request refused for its draft.revision can be repeated with the same request_id and a higher revision', async () => {
    const app = await system.app();
    assert.deepEqual(await ask(app, 5), SUCCESS);
    const body = predictionBody({ session_id: 's-1', draft: { text: 'Please', revision: 4 } });
    assert.equal((await app.predict(body)).code, 'context_revision_conflict');
    const again = await app.predict({ ...body, draft: { ...body.draft, revision: 6 } });
    assert.deepEqual([again.status, again.headers.has('idempotency-replayed')], [200, false]);
  });
});

interface Part {
  text?: string;
  [field: string]: unknown;
}

/** Sends a request in session `s-1`, with a new request_id unless `part` has one. Resolves with status and code. */
async function ask(app: AppClient, revision: number, { text, ...part }: Part = {}) {
  const draft = { text: text ?? 'Please send the report', revision };
  const { status, code } = await app.predict({ ...predictionBody({ session_id: 's-1' }), ...part, draft });
  return [status, code];
}
