import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../../support/account.ts';
import { add } from '../../support/memory.ts';
import { useSystem } from '../../support/system.ts';

const CONTENTS = [
  'Café Größe für den Übergang',
  'The deployment pipeline failed because of a timeout',
  'Bitte 100% der Kosten_stelle\\Nord melden',
  '明日の会議は東京で行います',
  'Nothing of that kind',
];

describe('memory search', () => {
  const system = useSystem({ workers: 0 });
  let person: UserClient;
  before(async () => {
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
    await add(person, 'facts', { text: 'Uses pnpm as package manager' });
    await add(person, 'facts', { text: 'Uses a trackball' });
  });

  const foundIndexes = async (q: string, tier = 'raw', rest = '') => {
    const path = `/api/memory/${tier}/?q=${encodeURIComponent(q)}${rest}`;
    const { status, text, body } = await person.request<{ results: { content: string }[] }>('GET', path);
    assert.equal(status, 200, text);
    return body.results.map(({ content }) => CONTENTS.indexOf(content));
  };

  it('memory search finds words in any order, ignoring case and accents', async () => {
    assert.deepEqual(await foundIndexes('CAFE grosse'), [0]);
    assert.deepEqual(await foundIndexes('ubergang café'), [0]);
    assert.deepEqual(await foundIndexes('timeout deployment'), [1]);
    assert.deepEqual(await foundIndexes('zeppelin'), []);
  });

  it('memory search for a question finds rows with inflected words of the question, most relevant first', async () => {
    const { body } = await person.request<{ results: { text: string }[] }>(
      'GET',
      `/api/memory/facts/?q=${encodeURIComponent('Which package manager should I be using?')}`,
    );
    const texts = body.results.map(({ text }) => text);
    assert.deepEqual(texts, ['Uses pnpm as package manager', 'Uses a trackball']);
    assert.deepEqual(await foundIndexes('Why did it fail to deploy?'), [1]);
    assert.deepEqual(await foundIndexes('timeout of the deployment, café'), [1, 0]);
  });

  it('paging through a memory search neither skips nor repeats a row, even while rows that do not match are added', async () => {
    const reader = await signUp(system);
    const words = ['alpha beta gamma', 'alpha', 'beta gamma', 'gamma', 'gamma beta alpha', 'alpha beta'];
    await reader.request(
      'POST',
      '/api/memory/raw/',
      words.map((content) => ({ content })),
    );
    const search = `/api/memory/raw/?limit=1&q=${encodeURIComponent('alpha beta gamma')}`;
    const listed: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await reader.request<{ results: { content: string }[]; next: string | null }>(
        'GET',
        `${search}${cursor}`,
      );
      listed.push(...body.results.map(({ content }) => content));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
      await reader.request('POST', '/api/memory/raw/', { content: 'of something else' });
    }
    assert.deepEqual([...listed].sort(), [...words].sort());
    assert.deepEqual(listed.slice(0, 2).sort(), ['alpha beta gamma', 'gamma beta alpha']);
    assert.ok(listed.indexOf('beta gamma') < listed.indexOf('alpha'), listed.join(', '));
  });

  it('memory search refuses the cursor of a different search', async () => {
    const { body } = await person.request<{ next: string }>('GET', '/api/memory/facts/?q=uses&limit=1');
    const status = async (rest: string) =>
      (await person.request('GET', `/api/memory/facts/?limit=1&cursor=${body.next}${rest}`)).status;
    assert.deepEqual([await status('&q=uses'), await status('&q=used'), await status('')], [200, 422, 422]);
  });

  it('memory search finds parts of words and misspelled words', async () => {
    assert.deepEqual(await foundIndexes('eploym'), [1]);
    assert.deepEqual(await foundIndexes('deploymnet'), [1]);
    assert.deepEqual(await foundIndexes('会議'), [3]);
  });

  it('memory search treats wildcards and operators as plain text', async () => {
    assert.deepEqual(await foundIndexes('100%'), [2]);
    assert.deepEqual(await foundIndexes('%'), [2]);
    assert.deepEqual(await foundIndexes('n_s'), [2]);
    assert.deepEqual(await foundIndexes('％'), [2]);
    assert.deepEqual(await foundIndexes('１００％'), [2]);
    assert.deepEqual(await foundIndexes('\\nord'), [2]);
    assert.deepEqual(await foundIndexes(`'" or & | ! ( <->`), []);
  });

  it('memory search finds no rows of other accounts, and can be combined with a tag filter', async () => {
    assert.deepEqual(await foundIndexes('café'), [0]);
    assert.deepEqual(await foundIndexes('café', 'raw', `&tag=${person.id}`), [0]);
    assert.deepEqual(await foundIndexes('café', 'raw', '&tag=other'), []);
  });

  it('memory search finds episodes by title and summary, and facts by text', async () => {
    assert.equal((await foundIndexes('grosse deployment', 'episodes')).length, 1);
    assert.equal((await foundIndexes('canteen cafe', 'facts')).length, 1);
    assert.equal((await foundIndexes('deployment', 'facts')).length, 0);
  });
});
