import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Claim, Claimed, Room } from '../../../shared/db/stores/work/claim.ts';
import { createLog } from '../../../shared/log.ts';
import { WorkerPool } from '../../../workers/work/pool.ts';
import { until } from '../../support/until.ts';

const work = (id: string): Claim => ({
  id,
  kind: 'echo',
  party: 'app',
  month: null,
  attempt: 1,
  worker: 'this one',
  connectionId: null,
  input: '',
  facts: {},
  queuedMs: 0,
  leftMs: 1000,
});

const NOTHING: Claimed = { claims: [], more: false, takeable: false };
const CONTENDED: Claimed = { claims: [], more: true, takeable: true };

/** Slots whose claims are answered one after the other by `answers`, the first not before `held`, then find nothing. */
function start(slots: number, answers: Claimed[], held: Promise<void> = setImmediate()) {
  const rooms: Room[] = [];
  const ends: (() => void)[] = [];
  let passedOn = 0;
  const pool = new WorkerPool(slots, {
    async claim(room) {
      rooms.push(room);
      await (rooms.length === 1 ? held : setImmediate());
      return answers.shift() ?? NOTHING;
    },
    mayClaim: () => true,
    attempt: () => new Promise<void>((resolve) => ends.push(resolve)),
    claimLost() {},
    passOn: () => {
      passedOn += 1;
    },
    log: createLog('test', 'silent'),
  });
  return { pool, rooms, ends, passedOn: () => passedOn };
}

describe('the slots of a pool', () => {
  it('claim once when several become free in one turn of the event loop', async () => {
    const both = { claims: [work('a'), work('b')], more: true, takeable: false };
    const { pool, rooms, ends } = start(4, [both]);
    void pool.take();
    await until(() => ends.length === 2);
    for (const end of ends) end();
    await until(() => rooms.length === 2);
    await pool.close();
    assert.deepEqual(
      rooms.map(({ ofServed }) => ofServed.size),
      [0, 0],
      'the second claim knows that both are free',
    );
  });

  it('claim at once when they are woken, and one that is taken as soon as it is free', async () => {
    const one = (id: string) => ({ claims: [work(id)], more: false, takeable: false });
    const { pool, rooms, ends } = start(1, [one('a'), one('b')]);
    pool.wake(['app']);
    await until(() => ends.length === 1);
    pool.wake(['app']);
    await setImmediate();
    assert.equal(rooms.length, 1);
    ends[0]?.();
    await until(() => ends.length === 2);
    ends[1]?.();
    await pool.close();
    pool.wake(['app']);
    await setImmediate();
    assert.equal(rooms.length, 2);
  });

  it('claim once more for those who woke them while they claimed', async () => {
    const { pool, rooms } = start(1, []);
    pool.wake(['app']);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    assert.equal(rooms.length, 1, 'the claim is under way');
    for (let n = 0; n < 5; n += 1) pool.wake(['app']);
    await until(() => rooms.length === 2);
    await pool.close();
    assert.equal(rooms.length, 2);
  });

  it('pass a ticket on when they cannot take it all, but not what others were claiming', async () => {
    const full = start(1, [{ claims: [work('a')], more: true, takeable: true }]);
    void full.pool.take();
    await until(() => full.passedOn() === 1);
    await full.pool.close();

    const late = start(1, [CONTENDED]);
    void late.pool.take();
    await until(() => late.rooms.length === 2);
    await late.pool.close();
    assert.equal(late.passedOn(), 0);
  });

  it('remember who woke them during the claim that filled the last slot', async () => {
    const one = (id: string) => ({ claims: [work(id)], more: false, takeable: false });
    const { pool, rooms, ends } = start(1, [one('a'), one('b')]);
    pool.wake(['app']);
    await until(() => rooms.length === 1);
    pool.wake(['app']);
    await until(() => ends.length === 1);
    ends[0]?.();
    await until(() => ends.length === 2);
    ends[1]?.();
    await pool.close();
  });

  it('are not woken for a party that has its full share, until it frees one', async () => {
    const share = { claims: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(work), more: false, takeable: false };
    const { pool, rooms, ends } = start(8, [share]);
    pool.wake(['app']);
    await until(() => ends.length === 7);
    pool.wake(['app']);
    await setImmediate();
    assert.equal(rooms.length, 1);
    pool.wake(['app', 'another']);
    await until(() => rooms.length === 2);
    pool.wake(['app']);
    ends[0]?.();
    await until(() => rooms.length === 3);
    await pool.close();
  });

  it('do not claim again for a party that got its full share while it woke them', async () => {
    const { promise: held, resolve } = Promise.withResolvers<void>();
    const share = { claims: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(work), more: true, takeable: false };
    const { pool, rooms, ends } = start(8, [share], held);
    pool.wake(['app']);
    await until(() => rooms.length === 1);
    pool.wake(['app']);
    resolve();
    await until(() => ends.length === 7);
    await setImmediate();
    assert.equal(rooms.length, 1);
    await pool.close();
  });

  it('do not claim again for a ticket that came before the latest claim', async () => {
    const { promise: held, resolve } = Promise.withResolvers<void>();
    const some = { claims: ['a', 'b', 'c'].map(work), more: true, takeable: true };
    const rest = { claims: ['d', 'e', 'f', 'g'].map(work), more: true, takeable: false };
    const { pool, rooms, ends } = start(8, [some, rest], held);
    pool.wake(['app']);
    await until(() => rooms.length === 1);
    void pool.take();
    resolve();
    await until(() => ends.length === 7);
    await setImmediate();
    assert.equal(rooms.length, 2);
    await pool.close();
  });

  describe('in the statement that ends attempts', () => {
    const share = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(work);

    /** Eight slots whose party has its full share, while more waits. */
    async function behind(answers: Claimed[] = []) {
      const started = start(8, [{ claims: share, more: true, takeable: false }, ...answers]);
      void started.pool.take();
      await until(() => started.ends.length === 7);
      await setImmediate();
      return started;
    }

    it('claim as many as end, and know that these are free', async () => {
      const { pool, rooms, ends } = await behind();
      const next = pool.nextAfter(share.slice(0, 3));
      assert.equal(next?.room.slots, 3);
      assert.equal(next?.room.ofServed.get('app'), 3);
      next?.took({ claims: ['h', 'i', 'j'].map(work), more: true, takeable: false });
      assert.equal(ends.length, 10);
      for (const end of ends.slice(0, 3)) end();
      await setImmediate();
      await setImmediate();
      assert.equal(rooms.length, 1, 'no slot is left that asks for a claim');
      assert.equal(pool.nextAfter(share.slice(3, 4))?.room.ofServed.get('app'), 1);
      await pool.close();
    });

    it('claim themselves for what it left free', async () => {
      const { pool, rooms, ends } = await behind([{ claims: [work('i')], more: false, takeable: false }]);
      pool.nextAfter(share.slice(0, 2))?.took({ claims: [work('h')], more: true, takeable: true });
      await until(() => ends.length === 9);
      assert.deepEqual(
        rooms.map(({ slots }) => slots),
        [8, 2],
      );
      await pool.close();
    });

    it('claim nothing while nothing waits, a claim is in flight, or no slot becomes free, nor when they close', async () => {
      const quiet = start(8, [{ claims: share, more: false, takeable: false }]);
      void quiet.pool.take();
      await until(() => quiet.ends.length === 7);
      assert.equal(quiet.pool.nextAfter(share), undefined);
      await quiet.pool.close();

      const { pool } = await behind();
      assert.equal(pool.nextAfter([work('unknown'), { id: 'a', attempt: 2 }]), undefined);
      pool.wake(['another']);
      assert.equal(pool.nextAfter(share), undefined);
      await setImmediate();
      pool.wake(['app']);
      await setImmediate();
      assert.notEqual(pool.nextAfter(share), undefined);
      await pool.close();
      assert.equal(pool.nextAfter(share), undefined);
    });

    it('remember what they heard of meanwhile', async () => {
      const { pool, ends } = await behind([{ claims: [work('h')], more: false, takeable: false }]);
      const next = pool.nextAfter(share.slice(0, 1));
      pool.wake(['app']);
      next?.took(NOTHING);
      assert.ok(pool.isBehind);
      ends[1]?.();
      await until(() => ends.length === 8);
      await pool.close();
    });

    it('hold no slot for an attempt that waits for its parts', async () => {
      const parked: (() => void)[] = [];
      const pool = new WorkerPool(1, {
        claim: async () => ({ claims: parked.length === 0 ? [work('a')] : [], more: true, takeable: false }),
        mayClaim: () => true,
        attempt: (_, freeSlot) => new Promise(() => parked.push(freeSlot)),
        claimLost() {},
        passOn() {},
        log: createLog('test', 'silent'),
      });
      void pool.take();
      await until(() => parked.length === 1);
      await setImmediate();
      assert.notEqual(pool.nextAfter([work('a')]), undefined);
      parked[0]?.();
      await until(() => pool.nextAfter([]) === undefined);
      assert.equal(pool.nextAfter([work('a')]), undefined);
      await pool.close();
    });
  });

  it('claim soon again what was locked, and later what nobody may take yet', async () => {
    const early = start(4, [{ claims: [], more: true, takeable: false }]);
    const locked = start(4, [CONTENDED]);
    for (const { pool } of [early, locked]) void pool.take();
    await until(() => locked.rooms.length === 2);
    assert.equal(early.rooms.length, 1);
    for (const { pool } of [early, locked]) await pool.close();
  });
});
