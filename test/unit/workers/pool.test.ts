import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { Box } from '../../../shared/box.ts';
import type { Claim, ClaimResult, ClaimTerms, Flow } from '../../../shared/db/stores/work/claim.ts';
import { createLog } from '../../../shared/log.ts';
import { kindsOfPool } from '../../../shared/work/kind.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { WorkerPool } from '../../../workers/work/pool.ts';
import { until } from '../../support/until.ts';

const flow = (party: string): Flow => ({ kind: 'predict', party });
const A = flow('a');
const B = flow('b');

const work = (id: string, party = 'a'): Claim => ({
  ...{ id, ...flow(party), month: null, attempt: 1, worker: 'this one', connectionId: null },
  ...{ input: new Box(''), facts: {}, queuedMs: 0, leftMs: 1000, queuedAtMs: 0, latest: null },
});
/** Makes work of party `a` with these ids. */
const works = (...ids: string[]) => ids.map((id) => work(id));

const NOTHING: ClaimResult = { claims: [], left: [] };
const someLeft = (claims: Claim[]): ClaimResult => ({ claims, left: [A] });
const noneLeft = (claims: Claim[]): ClaimResult => ({ claims, left: [] });

type Answer = ClaimResult | Error;

/** Makes a pool whose claims get `answers` in turn (the first after `held` resolves), and later find nothing. */
function start(slots: number, answers: Answer[], held: Promise<void> = setImmediate()) {
  const claims: ClaimTerms[] = [];
  const ends: (() => void)[] = [];
  const parked: (() => void)[] = [];
  const may = { claim: true };
  let lost = 0;
  const pool = new WorkerPool(slots, kindsOfPool(kinds, 'predict'), {
    terms: { worker: 'this one', oneAtATime: [], reachMs: 1000 },
    async claim(terms) {
      claims.push(terms);
      await (claims.length === 1 ? held : setImmediate());
      const answer = answers.shift() ?? NOTHING;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    mayClaim: () => may.claim,
    attempt(_, freeSlot) {
      parked.push(freeSlot);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    claimLost() {
      lost += 1;
    },
    log: createLog('test', 'silent'),
  });
  return { pool, claims, ends, parked, may, lost: () => lost };
}

describe('worker pool', () => {
  it('a worker pool claims once when several slots become free in one turn of the event loop', async () => {
    const { pool, claims, ends } = start(2, [someLeft(works('1', '2'))]);
    pool.noteQueued([A]);
    await until(() => ends.length === 2);
    for (const end of ends) end();
    await until(() => claims.length === 2);
    await pool.close();
    assert.deepEqual(
      claims.map(({ slots }) => slots),
      [2, 2],
      'the second claim has both slots',
    );
  });

  it('a worker pool claims announced work at once, or as soon as a slot is free, but nothing after it has closed', async () => {
    const { pool, claims, ends } = start(1, [noneLeft(works('1')), noneLeft([work('2', 'b')])]);
    pool.noteQueued([A]);
    await until(() => ends.length === 1);
    assert.equal(pool.isBusy, false);
    pool.noteQueued([B]);
    await setImmediate();
    assert.equal(claims.length, 1);
    assert.equal(pool.isBusy, true);
    ends[0]?.();
    await until(() => ends.length === 2);
    assert.equal(pool.claimed, 2);
    ends[1]?.();
    await pool.close();
    pool.noteQueued([A]);
    await setImmediate();
    assert.equal(claims.length, 2);
  });

  it('a worker pool claims once more for all work announced during a claim', async () => {
    const { pool, claims } = start(1, []);
    pool.noteQueued([A]);
    assert.equal(claims.length, 1, 'the claim is in flight');
    for (let n = 0; n < 5; n += 1) pool.noteQueued([A, B]);
    await until(() => claims.length === 2);
    await pool.close();
    assert.equal(claims.length, 2);
    assert.deepEqual(
      claims[1]?.asks.map(({ party }) => party),
      ['b', 'a'],
    );
  });

  it('a worker pool remembers work that is announced during a claim, and claims the work once a slot is free', async () => {
    const { promise: held, resolve } = Promise.withResolvers<void>();
    const { pool, claims, ends } = start(1, [noneLeft(works('1')), noneLeft(works('2'))], held);
    pool.noteQueued([A]);
    await until(() => claims.length === 1);
    pool.noteQueued([A]);
    resolve();
    await until(() => ends.length === 1);
    ends[0]?.();
    await until(() => ends.length === 2);
    await pool.close();
  });

  it('a worker pool skips an app that has its full share of slots, but no other app, until a slot is freed', async () => {
    const ids = ['1', '2', '3', '4', '5', '6', '7'];
    const { pool, claims, ends } = start(8, [someLeft(works(...ids)), noneLeft([])]);
    pool.noteQueued([A]);
    await until(() => ends.length === 7);
    pool.noteQueued([A]);
    await setImmediate();
    assert.equal(claims.length, 1);
    pool.noteQueued([B]);
    await until(() => claims.length === 2);
    assert.deepEqual(
      claims[1]?.asks.map(({ party }) => party),
      ['b'],
    );
    ends[0]?.();
    await until(() => claims.length === 3);
    await pool.close();
  });

  it('a worker pool claims nothing while claims are not allowed, and claims announced work as soon as they are', async () => {
    const { pool, claims, may } = start(1, []);
    may.claim = false;
    pool.noteQueued([A]);
    await setImmediate();
    assert.equal(claims.length, 0);
    may.claim = true;
    await until(() => claims.length === 1);
    await pool.close();
  });

  it('a worker pool repeats a claim within a second if other workers had locked the work', async () => {
    const { pool, claims, ends } = start(4, [someLeft([]), noneLeft(works('1'))]);
    pool.noteQueued([A]);
    await until(() => ends.length === 1, 1000);
    assert.equal(claims.length, 2);
    await pool.close();
  });

  it('a worker pool reports a failed claim, because it may have taken effect, and claims again later', async () => {
    const { pool, claims, ends, lost } = start(4, [new Error('gone'), noneLeft(works('1'))]);
    pool.noteQueued([A]);
    await until(() => lost() === 1);
    await until(() => ends.length === 1);
    assert.deepEqual(
      claims.map(({ slots }) => slots),
      [3, 3],
      'a failed claim holds no slot',
    );
    await pool.close();
  });

  it('work that a worker pool claims twice under one attempt number holds one slot, until its latest run ends', async () => {
    const { pool, ends } = start(2, [someLeft(works('1')), noneLeft(works('1'))]);
    pool.noteQueued([A]);
    await until(() => ends.length === 2);
    assert.equal(pool.free, 1);
    ends[0]?.();
    await setImmediate();
    assert.equal(pool.free, 1);
    ends[1]?.();
    await until(() => pool.free === 2);
    await pool.close();
  });

  describe('claim when attempts end', () => {
    const share = works('1', '2', '3', '4', '5', '6', '7');

    /** Makes a pool of eight slots whose party has its full share, and more work queued. */
    async function poolAtFullShare(answers: Answer[] = []) {
      const started = start(8, [someLeft(share), ...answers]);
      started.pool.noteQueued([A]);
      await until(() => started.ends.length === 7);
      await setImmediate();
      return started;
    }

    it('a completion of three attempts carries a claim for three slots, and the worker pool makes no other claim', async () => {
      const { pool, claims, ends } = await poolAtFullShare();
      const next = pool.nextAfter(share.slice(0, 3));
      assert.equal(next?.slots, 3);
      assert.deepEqual(
        next?.asks.map(({ party, count }) => [party, count]),
        [['a', 3]],
      );
      next?.onClaimed(someLeft(works('8', '9', '10')));
      assert.equal(ends.length, 10);
      for (const end of ends.slice(0, 3)) end();
      await setImmediate();
      await setImmediate();
      assert.equal(claims.length, 1, 'no other claim is made');
      assert.equal(pool.nextAfter(share.slice(3, 4))?.slots, 1);
      await pool.close();
    });

    it('a worker pool makes another claim if the claim in a completion leaves a slot free', async () => {
      const { pool, claims, ends } = await poolAtFullShare([noneLeft(works('9'))]);
      pool.nextAfter(share.slice(0, 2))?.onClaimed(someLeft(works('8')));
      await until(() => ends.length === 9);
      assert.deepEqual(
        claims.map(({ slots }) => slots),
        [7, 1],
      );
      await pool.close();
    });

    it('a completion carries no claim if no work waits, no slot is freed, a claim is running, or the pool is closed', async () => {
      const quiet = start(8, [noneLeft(share)]);
      quiet.pool.noteQueued([A]);
      await until(() => quiet.ends.length === 7);
      assert.equal(quiet.pool.nextAfter(share), undefined);
      await quiet.pool.close();

      const { pool, may } = await poolAtFullShare();
      assert.equal(pool.nextAfter([work('unknown'), { id: '1', attempt: 2 }]), undefined);
      pool.noteQueued([B]);
      assert.equal(pool.nextAfter(share), undefined);
      await setImmediate();
      await setImmediate();
      may.claim = false;
      assert.equal(pool.nextAfter(share), undefined);
      may.claim = true;
      assert.notEqual(pool.nextAfter(share), undefined);
      await pool.close();
      assert.equal(pool.nextAfter(share), undefined);
    });

    it('a worker pool claims work that was announced while a completion with a claim was running', async () => {
      const { pool, ends } = await poolAtFullShare([noneLeft(works('8'))]);
      const next = pool.nextAfter(share.slice(0, 1));
      pool.noteQueued([A]);
      next?.onClaimed(NOTHING);
      await until(() => ends.length === 8);
      await pool.close();
    });

    it('a worker pool makes another claim if a completion with a claim may be lost', async () => {
      const { pool, ends, lost } = await poolAtFullShare([noneLeft(works('8'))]);
      pool.nextAfter(share.slice(0, 1))?.onLost();
      assert.equal(lost(), 1);
      await until(() => ends.length === 8);
      await pool.close();
    });

    it('a worker pool claims other work once an attempt has released its slot, even before the attempt ends', async () => {
      const { pool, parked } = start(1, [someLeft(works('1')), someLeft(works('2'))]);
      pool.noteQueued([A]);
      await until(() => parked.length === 1);
      parked[0]?.();
      await until(() => parked.length === 2);
      assert.equal(pool.nextAfter(works('1')), undefined);
      assert.notEqual(pool.nextAfter(works('2')), undefined);
      await pool.close();
    });
  });
});
