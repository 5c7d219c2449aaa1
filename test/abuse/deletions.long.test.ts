import assert from 'node:assert/strict';
import { newId } from '../../shared/ids.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { add, forget } from '../support/memory.ts';
import { useSystem } from '../support/system.ts';

const SECRET = 'the key hangs behind the boathouse door';
/** A text with as many words as a row can have. */
const LONG_TEXT = Array.from({ length: 4000 }, (_, n) => String.fromCharCode(97 + ((n * n) % 26))).join(' ');
const RAW_ROWS = 1200;
const EPISODES = 40;
const LATENCY_MAX_MS = 1000;

describe('large deletions', () => {
  const system = useSystem({ workers: 0 });
  let person: UserClient;
  before(async () => {
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
  }).timeout(30_000);

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
