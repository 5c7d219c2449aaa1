import assert from 'node:assert/strict';
import { newId } from '../../shared/ids.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { add, forget } from '../support/memory.ts';
import { callUntil } from '../support/paced-until.ts';
import { useSystem } from '../support/system.ts';

const SECRET = 'the key hangs behind the boathouse door';
/** A text with as many words as a row can have. */
const LONG_TEXT = Array.from({ length: 4000 }, (_, n) => String.fromCharCode(97 + ((n * n) % 26))).join(' ');
const RAW_ROWS = 1200;
const EPISODES = 40;
const LATENCY_MAX_MS = 1000;

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

describe('large memory', () => {
  const system = useSystem();
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  it('while the deletion of a raw row marks 40 long episodes as stale, every health check takes less than 1 s', async () => {
    const secret = await add(person, 'raw', { content: SECRET, kind: 'reply' });
    await repeatSecret();
    let isDone = false;
    const deletion = forget(person, 'raw', secret).finally(() => {
      isDone = true;
    });
    const waits: number[] = [];
    while (!isDone) {
      const since = performance.now();
      assert.equal((await fetch(`${system.webs[0]?.url}/healthz`)).status, 200);
      waits.push(performance.now() - since);
    }
    assert.deepEqual((await deletion).episodes, { deleted: 0, stale: EPISODES });
    // Without pauses, comparing one episode with its sources would exceed this limit, and all of them a minute.
    assert.ok(Math.max(...waits) < LATENCY_MAX_MS, `${Math.max(...waits)} ms`);
  });

  it('30 concurrent slow searches of one account are 503 overloaded, while calls of others succeed #account-lock', async () => {
    await system.sql(
      `insert into raw_memories (id, account_id, content, kind, origin, source, occurred_at, tags, metadata, created_at)
       select gen_random_uuid(), $1, repeat($3, 4) || n, 'note', 'human', 'test', now(), '{}', '{}', now()
         from generate_series(1, $2::int) n`,
      [person.id, ROWS, CONTENT],
    );
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

  /** Adds episodes that repeat the secret, each derived from all raw rows. */
  async function repeatSecret() {
    const idsOf = (length: number) => Array.from({ length }, newId);
    const { pool } = system.database;
    await pool.query(
      `insert into raw_memories (id, account_id, content, kind, origin, source, occurred_at, tags, metadata, created_at)
       select id, $1, $2, 'note', 'human', 'test', now(), '{}', '{}', now() from unnest($3::uuid[]) id`,
      [person.id, LONG_TEXT, idsOf(RAW_ROWS)],
    );
    await pool.query(
      `insert into episodes (id, account_id, title, summary, origin, started_at, ended_at, tags, created_at, updated_at)
       select id, $1, 'Title', $2, 'human', now(), now(), '{}', now(), now() from unnest($3::uuid[]) id`,
      [person.id, SECRET, idsOf(EPISODES)],
    );
    await pool.query(
      `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier)
       select $1, e.id, r.id, 'derived_from', 'episode', 'raw'
         from episodes e join raw_memories r on r.account_id = e.account_id where e.account_id = $1`,
      [person.id],
    );
  }
});
