import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp, revoke } from '../support/connection.ts';
import { ok } from '../support/fake-provider.ts';
import { addFact } from '../support/memory.ts';
import { useSystem } from '../support/system.ts';

describe('typing along a suggestion', () => {
  const system = useSystem();
  let app: AppClient;
  let session: object;
  let revision: number;
  beforeEach(async () => {
    system.provider.reset();
    app = await system.app();
    session = { session_id: `s-${crypto.randomUUID()}`, user_id: 'ada' };
    revision = 0;
  });

  const type = (text: string, part: object = {}) => {
    revision += 1;
    return app.predict(predictionBody({ ...session, draft: { text, revision }, ...part }));
  };
  const typeAndSummarize = async (text: string, part: object = {}) => {
    const { body } = await type(text, part);
    return [body.status, body.completion, body.usage.prediction_units, system.provider.calls.length];
  };
  const unitCounts = async () => {
    const { body } = await app.usage();
    return [body.prediction_units, body.reserved_units];
  };

  it('a draft typed along a suggestion gets the rest of the suggestion, without a provider call or a unit', async () => {
    assert.deepEqual(await typeAndSummarize('Send it'), ['suggested', ' with care', 1, 1]);
    assert.deepEqual(await typeAndSummarize('Send it '), ['suggested', 'with care', 0, 1]);
    assert.deepEqual(await typeAndSummarize('Send it w'), ['suggested', 'ith care', 0, 1]);
    assert.deepEqual(await typeAndSummarize('Send it with ca'), ['suggested', 're', 0, 1]);
    assert.deepEqual(await unitCounts(), [1, 0]);
  });

  it('what the person typed along a suggestion or accepted, and then deleted, is not suggested again at once', async () => {
    await type('Send it');
    await type('Send it with');
    assert.equal((await type('Send it')).body.status, 'abstained');
    session = { ...session, session_id: `s-${crypto.randomUUID()}` };
    const { body } = await type('Send it');
    const event = { event_id: 'accepted', request_id: body.request_id, user_id: 'ada', kind: 'accepted' };
    assert.equal((await app.post('/v1/prediction-events', event)).status, 200);
    assert.equal((await type('Send it with')).body.status, 'abstained');
  });

  it('a draft that contains all of a suggestion, or departs from it, gets a new suggestion from the provider', async () => {
    await typeAndSummarize('Send it');
    system.provider.respond(ok({ continuation: ' and soon' }));
    assert.deepEqual(await typeAndSummarize('Send it with care'), ['suggested', ' and soon', 1, 2]);
    assert.deepEqual(await typeAndSummarize('Send it with care by'), ['suggested', ' and soon', 1, 3]);
    assert.deepEqual(await typeAndSummarize('Read it with care by w'), ['suggested', ' and soon', 1, 4]);
    assert.deepEqual(await unitCounts(), [4, 0]);
  });

  it('the answer to a draft typed along a suggestion can be replayed, and takes prediction events', async () => {
    await typeAndSummarize('Send it');
    const body = predictionBody({ ...session, draft: { text: 'Send it wi', revision: 9 } });
    const first = await app.predict(body);
    const again = await app.predict(body);
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    const event = { event_id: 'e', request_id: body.request_id, user_id: 'ada', kind: 'accepted' };
    assert.equal((await app.request('POST', '/v1/prediction-events', event)).status, 200);
    assert.deepEqual([system.provider.calls.length, ...(await unitCounts())], [1, 1, 0]);
  });

  const changes: [what: string, part: object][] = [
    ['other messages', { messages: [{ role: 'assistant', content: 'Shall I?', origin: 'agent' }] }],
    ['another revision of the context', { context_revision: 'c-2' }],
    ['another language', { language: 'de' }],
    ['the other mode', { mode: 'next_prompt' }],
    ['another session', { session_id: 'elsewhere' }],
    ['another person', { user_id: 'bob' }],
  ];
  for (const [what, part] of changes)
    it(`a draft typed along a suggestion needs a new provider call if the request has ${what}`, async () => {
      await typeAndSummarize('Send it');
      await type('Send it with', part);
      assert.equal(system.provider.calls.length, 2);
    });

  it('a draft typed along a suggestion needs a new provider call once the suggestion was dismissed', async () => {
    const { body } = await type('Send it');
    await typeAndSummarize('Send it w');
    const event = { event_id: 'd', request_id: body.request_id, user_id: 'ada', kind: 'dismissed' };
    assert.equal((await app.request('POST', '/v1/prediction-events', event)).status, 200);
    await type('Send it wi');
    assert.equal(system.provider.calls.length, 2);
  });

  it('a model without a suggestion is asked again only when the next word begins, or the request changes', async () => {
    system.provider.respond(ok({ continuation: '' }));
    const keys = [...'Please send me the report by Friday noon'];
    for (const at of keys.keys()) await type(keys.slice(0, at + 1).join(''));
    assert.equal(system.provider.calls.length, 8);
    assert.deepEqual(await typeAndSummarize('一二三四五'), ['abstained', '', 0, 9]);
    for (const text of ['一二三四五', '一二三四五六七', '一二三四五六七八九']) await type(text);
    assert.equal(system.provider.calls.length, 10);
    await type('一二三四五六七八九', { context_revision: 'c-2' });
    assert.equal(system.provider.calls.length, 11);
    system.provider.respond(ok());
    assert.deepEqual(await typeAndSummarize('Send it'), ['suggested', ' with care', 1, 12]);
    assert.deepEqual(await unitCounts(), [1, 0]);
  });

  describe('of a connected person', () => {
    let connecting: AppClient;
    let person: UserClient;
    let connection_id: string;
    beforeEach(async () => {
      connecting = await connectingApp(system);
      person = await signUp(system);
      ({ connection_id } = await connect(system, connecting, person));
    });

    const ask = async (text: string, draftRevision: number) => {
      const draft = { text, revision: draftRevision };
      const { body } = await connecting.predict(
        predictionBody({ ...session, user_id: 'u-1', connection_id, draft }),
      );
      return [body.usage?.prediction_units, system.provider.calls.length];
    };

    it('a draft typed along a suggestion needs a new provider call once the memory behind the suggestion has changed', async () => {
      assert.deepEqual(await ask('Send it', 1), [1, 1]);
      assert.deepEqual(await ask('Send it w', 2), [0, 1]);
      await addFact(system, person, { text: 'Reports to Ada' });
      assert.deepEqual(await ask('Send it wi', 3), [1, 2]);
    });

    it('a draft typed along a suggestion needs a new provider call once the person has connected the app again', async () => {
      assert.deepEqual(await ask('Send it', 1), [1, 1]);
      assert.equal((await connect(system, connecting, person)).connection_id, connection_id);
      assert.deepEqual(await ask('Send it w', 2), [1, 2]);
    });

    it('a draft typed along a suggestion gets no completion once the connection is revoked', async () => {
      assert.deepEqual(await ask('Send it', 1), [1, 1]);
      assert.equal((await revoke(connecting, connection_id)).status, 200);
      assert.deepEqual(await ask('Send it w', 2), [undefined, 1]);
    });
  });
});
