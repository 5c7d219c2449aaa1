import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../../support/account.ts';
import { add } from '../../support/memory.ts';
import { type System, startSystem } from '../../support/system.ts';

const CONTENTS = [
  'Café Größe für den Übergang',
  'The deployment pipeline failed because of a timeout',
  'Bitte 100% der Kosten_stelle\\Nord melden',
  '明日の会議は東京で行います',
  'Nothing of that kind',
];

describe('searching memory', () => {
  let system: System;
  let person: UserClient;
  before(async () => {
    system = await startSystem({ workers: 0 });
    person = await signUp(system);
    const other = await signUp(system);
    for (const one of [person, other])
      await one.request(
        'POST',
        '/api/memory/raw/',
        CONTENTS.map((content) => ({ content, tags: [one.id] })),
      );
    await add(person, 'episodes', { title: 'Größe', summary: 'Café and deployment' });
    await add(person, 'facts', { text: 'Prefers the café to the canteen' });
  });
  after(() => system.stop());

  const found = async (q: string, tier = 'raw', rest = '') => {
    const path = `/api/memory/${tier}/?q=${encodeURIComponent(q)}${rest}`;
    const { status, text, body } = await person.request<{ results: { content: string }[] }>('GET', path);
    assert.equal(status, 200, text);
    return body.results.map(({ content }) => CONTENTS.indexOf(content));
  };

  it('finds words in any order, without regard to case and accents', async () => {
    assert.deepEqual(await found('CAFE grosse'), [0]);
    assert.deepEqual(await found('ubergang café'), [0]);
    assert.deepEqual(await found('timeout deployment'), [1]);
    assert.deepEqual(await found('timeout café'), []);
  });

  it('finds a part of a word, and a word that is nearly this', async () => {
    assert.deepEqual(await found('eploym'), [1]);
    assert.deepEqual(await found('deploymnet'), [1]);
    assert.deepEqual(await found('会議'), [3]);
  });

  it('takes every character for itself', async () => {
    assert.deepEqual(await found('100%'), [2]);
    assert.deepEqual(await found('%'), [2]);
    assert.deepEqual(await found('n_s'), [2]);
    assert.deepEqual(await found('％'), [2]);
    assert.deepEqual(await found('１００％'), [2]);
    assert.deepEqual(await found('\\nord'), [2]);
    assert.deepEqual(await found(`'" or & | ! ( <->`), []);
  });

  it('finds nothing of another account, and narrows with the other filters', async () => {
    assert.deepEqual(await found('café', 'raw', `&tag=${person.id}`), [0]);
    assert.deepEqual(await found('café', 'raw', '&tag=other'), []);
  });

  it('finds episodes by title and summary, and facts', async () => {
    assert.equal((await found('grosse deployment', 'episodes')).length, 1);
    assert.equal((await found('canteen cafe', 'facts')).length, 1);
    assert.equal((await found('deployment', 'facts')).length, 0);
  });
});
