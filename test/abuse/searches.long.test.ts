import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { callUntil } from '../support/paced-until.ts';
import { useSystem } from '../support/system.ts';

const ROWS = 600;
const SEARCHES = 30;
const FILLER = 'lorem ipsum dolor sit amet consetetur';

/**
 * Words in each row and in the search. Each row also has the scattered trigrams of the last word, so that it passes
 * the trigram index and fails only at that word.
 */
const WORDS = Array.from({ length: 19 }, (_, n) => `zq${String.fromCharCode(97 + n)}xjkvw`);
const LAST_WORD = 'mwqpxgb';
const SCATTERED_TRIGRAMS = Array.from(
  { length: LAST_WORD.length - 2 },
  (_, at) => `y${LAST_WORD.slice(at, at + 3)}y`,
);
const CONTENT = [...WORDS, `${LAST_WORD[0]}yy`, ...SCATTERED_TRIGRAMS]
  .map((part) => `${part} ${FILLER}`)
  .join(' ');
const SLOW_SEARCH = `/api/memory/raw/?q=${encodeURIComponent([...WORDS, LAST_WORD].join(' '))}`;

describe('searches of a large memory', () => {
  const system = useSystem();
  let person: UserClient;
  before(async () => {
    person = await signUp(system);
    await system.database.pool.query(
      `insert into raw_memories (id, account_id, content, kind, origin, source, occurred_at, tags, metadata, created_at)
       select gen_random_uuid(), $1, repeat($3, 4) || n, 'note', 'human', 'test', now(), '{}', '{}', now()
         from generate_series(1, $2::int) n`,
      [person.id, ROWS, CONTENT],
    );
  });

  it('30 concurrent slow searches of one account are 503 overloaded, while calls of others succeed', async () => {
    const app = await system.app();
    const other = await signUp(system);
    const searches = Promise.all(Array.from({ length: SEARCHES }, () => person.request('GET', SLOW_SEARCH)));
    const calls = await callUntil(
      5,
      async () => {
        const { status } = await app.predict(predictionBody());
        const found = await other.request('GET', '/api/memory/raw/?q=any');
        return `${status} ${found.status}`;
      },
      searches,
    );
    for (const { status, code } of await searches) assert.equal(`${status} ${code}`, '503 overloaded');
    assert.deepEqual(
      calls,
      calls.map(() => '200 200'),
    );
    assert.equal((await person.request('GET', '/api/memory/raw/?q=lorem&limit=1')).status, 200);
  });
});
