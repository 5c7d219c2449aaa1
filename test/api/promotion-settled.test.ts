import assert from 'node:assert/strict';
import { piecesToPromote } from '../../workers/memory/promote-episodes.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { say } from '../support/promotion.ts';
import { useSystem } from '../support/system.ts';

const MINUTE = 60_000;
const THREE_TEXTS = ['one', 'two', 'three'];

describe('settled rows', () => {
  const system = useSystem({ workers: 0 });
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
  });

  /** Returns the texts of each cluster to promote. With `settledOnly`, omits clusters that may still grow. */
  const pieces = async (settledOnly: boolean, limit = 100) => {
    const terms = { since: undefined, limit, promotedBefore: undefined, settledOnly };
    const found = await piecesToPromote(system.em(), ann.id, terms);
    return found.map(({ rows }) => rows.map(({ content }) => content));
  };

  it('scheduled promotions take a session after 20 quiet minutes, not after one', async () => {
    await say(ann, THREE_TEXTS, { session_id: 'old', at: Date.now() - 20 * MINUTE });
    await say(ann, ['four', 'five', 'six'], { session_id: 'new', at: Date.now() - MINUTE });
    assert.deepEqual(await pieces(true), [THREE_TEXTS]);
    assert.deepEqual(await pieces(false), [THREE_TEXTS, ['four', 'five', 'six']]);
  });

  it('scheduled promotions take a session of a single row after a day, not after an hour', async () => {
    await say(ann, ['hello'], { session_id: 'today', at: Date.now() - 60 * MINUTE });
    await say(ann, ['bye'], { session_id: 'yesterday', at: Date.now() - 25 * 60 * MINUTE });
    assert.deepEqual(await pieces(true), [['bye']]);
    assert.deepEqual(await pieces(false), [['bye'], ['hello']]);
  });

  it('a promotion takes whole clusters of rows up to `limit`, and splits only a first cluster that exceeds it', async () => {
    await say(ann, THREE_TEXTS, { session_id: 'a', at: Date.now() - 90 * MINUTE });
    await say(ann, ['four', 'five'], { session_id: 'b', at: Date.now() - 80 * MINUTE });
    assert.deepEqual(await pieces(false, 5), [THREE_TEXTS, ['four', 'five']]);
    assert.deepEqual(await pieces(false, 4), [THREE_TEXTS]);
    assert.deepEqual(await pieces(false, 2), [['one', 'two']]);
  });

  it('scheduled promotions take a settled session that comes after hundreds of small sessions of today', async () => {
    const at = (n: number) => new Date(Date.now() - 5 * 60 * MINUTE + n * 1000).toISOString();
    const small = Array.from({ length: 600 }, (_, n) => ({
      kind: 'reply',
      content: `hello ${n}`,
      session_id: `small-${n}`,
      occurred_at: at(n),
    }));
    for (const start of [0, 200, 400])
      assert.equal(
        (await ann.request('POST', '/api/memory/raw/', small.slice(start, start + 200))).status,
        201,
      );
    await say(ann, THREE_TEXTS, { session_id: 'long', at: Date.now() - 20 * MINUTE });
    assert.deepEqual(await pieces(true, 500), [THREE_TEXTS]);
  });

  it('a promotion takes sessions that run at the same time whole, as many as fit into `limit`', async () => {
    const start = Date.now() - 90 * MINUTE;
    await say(ann, ['z1', 'z2'], { session_id: 'z', at: start - 60 * MINUTE });
    for (const n of [0, 1, 2]) {
      await say(ann, [`a${n}`], { session_id: 'a', at: start + n * MINUTE });
      await say(ann, [`b${n}`], { session_id: 'b', at: start + n * MINUTE + 1000 });
    }
    const [z, a, b] = [
      ['z1', 'z2'],
      ['a0', 'a1', 'a2'],
      ['b0', 'b1', 'b2'],
    ];
    assert.deepEqual(await pieces(false, 8), [z, a, b]);
    assert.deepEqual(await pieces(false, 6), [z, a]);
    assert.deepEqual(await pieces(false, 4), [z]);
  });
});
