import assert from 'node:assert/strict';
import { type Rows, WaitingRoom } from '../../../ingress/work/waiting-room.ts';
import type { Fate, Outcome } from '../../../shared/domain/work.ts';
import { createLog } from '../../../shared/log.ts';

const WORK = { id: 'w', key: 'k' };

describe('caller in the waiting room', () => {
  let room: WaitingRoom;
  let looks: PromiseWithResolvers<Fate | undefined>[];
  let polls: PromiseWithResolvers<ReadonlyMap<string, Fate>>[];
  let polled: PromiseWithResolvers<void>;
  beforeEach(() => {
    looks = [];
    polls = [];
    polled = Promise.withResolvers();
    const rows: Rows = {
      look: () => begun(looks),
      poll: () => {
        polled.resolve();
        return begun(polls);
      },
    };
    room = new WaitingRoom(rows, createLog('test', 'silent'));
  });
  afterEach(() => room.close());

  it('a caller in the waiting room is answered by a look that began after it came, not by one that still finds the attempt before', async () => {
    const first = room.enter(WORK);
    room.wake([WORK.id]);
    const second = room.enter(WORK);
    looks[0]?.resolve(attempt(1));
    assert.deepEqual(await first.ended, attempt(1));
    room.wake([WORK.id]);
    looks[1]?.resolve(attempt(2));
    assert.deepEqual(await second.ended, attempt(2));
  });

  it('a caller in the waiting room is not answered by a poll that began before it came', async () => {
    const first = room.enter(WORK);
    await polled.promise;
    const second = room.enter(WORK);
    polls[0]?.resolve(new Map([[WORK.key, attempt(1)]]));
    assert.deepEqual(await first.ended, attempt(1));
    room.wake([WORK.id]);
    looks[0]?.resolve(attempt(2));
    assert.deepEqual(await second.ended, attempt(2));
  });

  it('a caller in the waiting room is not told that the work is gone by a look that began before it came', async () => {
    const first = room.enter(WORK);
    room.wake([WORK.id]);
    const second = room.enter(WORK);
    looks[0]?.resolve('gone');
    assert.equal(await first.ended, 'gone');
    second.resolve(attempt(1));
    assert.deepEqual(await second.ended, attempt(1));
  });
});

/** A read that ends when the test says so. */
function begun<T>(reads: PromiseWithResolvers<T>[]): Promise<T> {
  const read = Promise.withResolvers<T>();
  reads.push(read);
  return read.promise;
}

function attempt(n: number): Fate {
  return { id: WORK.id, attempt: n } as Outcome;
}
