import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newId } from '../../../shared/ids.ts';
import type { RawMemoryResponse } from '../../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { type AppClient, predictionBody } from '../../support/client.ts';
import { connect, connectingApp } from '../../support/connection.ts';
import { add, addFact, forget } from '../../support/memory.ts';
import { event, post } from '../../support/recording.ts';
import { useSystem } from '../../support/system.ts';
import { whileFrozen } from '../../support/time-travel.ts';
import { until } from '../../support/until.ts';

const SENTENCE = 'Please reconcile the quarterly ledger before lunch';
const DRAFT = 'Please reconcile the quar';
const LONG_AGO = '2020-03-01T10:00:00Z';

describe('phrases', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
  });

  /** Connects the person to an app, and returns a function that completes a draft there in an empty conversation. */
  async function draftCompleter(person: UserClient, app?: AppClient) {
    const client = app ?? (await connectingApp(system));
    const { connection_id } = await connect(system, client, person);
    return async (text = DRAFT) => {
      const draft = { text, revision: 1 };
      const body = predictionBody({ user_id: 'u-1', connection_id, draft, messages: [], artifact: null });
      return (await client.predict(body)).body.completion;
    };
  }

  const addSentence = (person: UserClient, row: object = {}) =>
    add(person, 'raw', { content: SENTENCE, kind: 'reply', occurred_at: LONG_AGO, ...row });

  it('a sentence that a person typed years ago completes their draft in a connected app', async () => {
    const person = await signUp(system);
    const complete = await draftCompleter(person);
    assert.equal(await complete(), '');
    await addSentence(person);
    assert.match(await complete(), /^terly/);
  });

  it('a sentence that a person typed completes their draft in a connected app once its event is synced', async () => {
    const person = await signUp(system);
    const complete = await draftCompleter(person);
    await post(person, [event({ type: 'user.message', text: SENTENCE })]);
    assert.equal((await person.post('/api/memory/sync/', {})).status, 200);
    assert.match(await complete(), /^terly/);
  });

  const unusedRows: [name: string, row: object][] = [
    ['an agent said it', { kind: 'message', agent: 'claude' }],
    ['it was a prediction that they accepted', { origin: 'accepted_prediction' }],
    ['they tagged it private', { tags: ['private'] }],
  ];
  for (const [name, row] of unusedRows)
    it(`a sentence does not complete a person's draft if ${name}`, async () => {
      const person = await signUp(system);
      const complete = await draftCompleter(person);
      await addSentence(person, row);
      assert.equal(await complete(), '');
    });

  it('a word that mixes letters and digits completes a draft only if the request has it, however often it was typed', async () => {
    const person = await signUp(system);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    for (const time of [LONG_AGO, '2020-03-02T10:00:00Z'])
      await addSentence(person, { content: 'Please unlock staging with kdk32xq9 today', occurred_at: time });
    await addFact(system, person, { text: 'Staging opens with kdk32xq9' });
    const complete = async (text: string, messages: object[] = []) => {
      const fields = { user_id: 'u-1', session_id: newId(), connection_id, draft: { text, revision: 1 } };
      return (await app.predict(predictionBody({ ...fields, messages, artifact: null }))).body.completion;
    };
    assert.match(await complete('Please unlock st'), /^aging/);
    const beginnings = ['Please unlock staging with', 'with ', 'with kdk3', 'staging opens with k', 'kdk32x'];
    for (const beginning of beginnings) assert.doesNotMatch(await complete(beginning), /\d/);
    const shown = [{ role: 'user', content: 'Staging has the code kdk32xq9 since today' }];
    assert.match(await complete('the code kdk3', shown), /^2xq9/);
  });

  it('a sentence typed in app A is suggested in app B only after it was also typed outside of A', async () => {
    const person = await signUp(system);
    const complete = await draftCompleter(person);
    const other = await system.app({
      name: 'Ledger Pro',
      redirectUris: ['https://app.example/callback?from=forecue'],
    });
    await draftCompleter(person, other);
    await addSentence(person, { source: 'ledger pro' });
    assert.equal(await complete(), '');
    await addSentence(person, { source: 'terminal' });
    assert.match(await complete(), /^terly/);
  });

  it("a sentence typed in app A is not suggested in app B, even after another account took over A's connection", async () => {
    const [person, successor] = [await signUp(system), await signUp(system)];
    const complete = await draftCompleter(person);
    const other = await system.app({
      name: 'Ledger Max',
      redirectUris: ['https://app.example/callback?from=forecue'],
    });
    for (const account of [person, successor]) await connect(system, other, account);
    await addSentence(person, { source: 'ledger max' });
    assert.equal(await complete(), '');
  });

  it("a sentence completes no draft of another person, and nobody's draft after its raw row was deleted", async () => {
    const person = await signUp(system);
    const complete = await draftCompleter(person);
    const stranger = await draftCompleter(await signUp(system));
    const row = await addSentence(person);
    assert.equal(await stranger(), '');
    await forget(person, 'raw', row);
    assert.equal(await complete(), '');
    assert.deepEqual(await system.sql('select from phrases where raw_id = $1', [row.id]), []);
  });

  it('a sentence does not complete a draft whose connection was revoked while its prediction was queued', async () => {
    const person = await signUp(system);
    const complete = await draftCompleter(person);
    await addSentence(person);
    const { waiting } = await whileFrozen(system.workers, async () => {
      const waiting = complete();
      const queued =
        'select from work where connection_id = (select id from connections where account_id = $1)';
      await until(async () => (await system.sql(queued, [person.id])).length > 0);
      // Leaves the prediction queued, as a revoke does for a moment with predictions beyond its first thousand.
      await system.sql(`update connections set status = 'revoked' where account_id = $1`, [person.id]);
      return { waiting };
    });
    assert.equal(await waiting, '');
  });

  it('a dismissed completion is not suggested again for the same draft and context_revision', async () => {
    const person = await signUp(system);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    await addSentence(person);
    const ask = async (context_revision: string, text = DRAFT) => {
      const fields = {
        user_id: 'u-1',
        session_id: 's-refused',
        connection_id,
        context_revision,
        messages: [],
      };
      const body = predictionBody({ ...fields, draft: { text, revision: ++revision } });
      return (await app.predict(body)).body;
    };
    let revision = 0;
    const { request_id, completion } = await ask('c-1');
    assert.match(completion, /^terly/);
    const event = { event_id: 'e-1', request_id, user_id: 'u-1', kind: 'dismissed' };
    assert.equal((await app.post('/v1/prediction-events', event)).status, 200);
    const assertAbstained = async () => {
      const again = await ask('c-1');
      assert.deepEqual([again.status, again.usage.prediction_units], ['abstained', 0]);
    };
    await assertAbstained();
    assert.match((await ask('c-1', `${DRAFT}t`)).completion, /^erly/);
    await assertAbstained();
    assert.match((await ask('c-2')).completion, /^terly/);
  });

  it('dismissals of suggestions hold back later ones; dismissals reported of abstained predictions do not', async () => {
    const person = await signUp(system);
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    const askAndDismiss = async (text = DRAFT) => {
      const fields = { user_id: 'u-1', session_id: newId(), connection_id, messages: [], artifact: null };
      const { body } = await app.predict(predictionBody({ ...fields, draft: { text, revision: 1 } }));
      const { request_id, status } = body;
      for (let n = 0; n < 80; n += 1) {
        const dismissal = { event_id: newId(), request_id, user_id: 'u-1', kind: 'dismissed' };
        assert.equal((await app.post('/v1/prediction-events', dismissal)).status, 200);
      }
      return status;
    };
    await addSentence(person);
    assert.equal(await askAndDismiss(' '), 'abstained');
    assert.equal(await askAndDismiss(), 'suggested');
    assert.equal(await askAndDismiss(), 'abstained');
  });

  it('deleting raw rows leaves the same phrases and completions as if the rows had never been recorded', async () => {
    const word = fc.constantFrom('run', 'the', 'tests', 'and', 'lint', 'again', 'Please');
    const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ text, gone: fc.boolean() }), { minLength: 1, maxLength: 8 }),
        text,
        async (rows, draft) => {
          const [deleting, never] = [await signUp(system), await signUp(system)];
          const added: { row: RawMemoryResponse; gone: boolean }[] = [];
          for (const { text: content, gone } of rows) {
            added.push({ row: await addSentence(deleting, { content }), gone });
            if (!gone) await addSentence(never, { content });
          }
          for (const { row, gone } of added) if (gone) await forget(deleting, 'raw', row);
          assert.deepEqual(await phrasesOf(deleting), await phrasesOf(never));
          const [one, other] = [await draftCompleter(deleting), await draftCompleter(never)];
          for (const begun of [draft, draft.slice(0, -2), `${draft} `])
            assert.equal(await one(begun), await other(begun));
        },
      ),
      { numRuns: 15 },
    );
  });

  async function phrasesOf({ id }: UserClient): Promise<object[]> {
    const rows = await system.sql(
      'select words, written from phrases where account_id = $1 order by words, written',
      [id],
    );
    return rows;
  }
});
