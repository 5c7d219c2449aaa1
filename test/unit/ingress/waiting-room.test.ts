import assert from 'node:assert/strict';
import { WaitingRoom } from '../../../ingress/work/waiting-room.ts';
import type { Fate, Outcome } from '../../../shared/domain/work.ts';
import { createLog } from '../../../shared/log.ts';
import { until } from '../../support/until.ts';

const WORK = { id: 'w', key: 'k' };

describe('caller in the waiting room', () => {
  let room: WaitingRoom;
  let reads: ((fate: Fate) => void)[];
  beforeEach(() => {
    reads = [];
    const readFates = () => {
      const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, Fate>>();
      reads.push((fate) => resolve(new Map([[WORK.key, fate]])));
      return promise;
    };
    room = new WaitingRoom(readFates, createLog('test', 'silent'));
  });
  afterEach(() => room.close());

  it('a caller in the waiting room is answered by a read that began after the caller entered, not by an earlier read', async () => {
    const first = room.enter(WORK);
    room.wake([WORK.id]);
    const second = room.enter(WORK);
    room.wake([WORK.id]);
    reads[0]?.(attempt(1));
    assert.deepEqual(await first.fate, attempt(1));
    await until(() => reads.length === 2);
    reads[1]?.(attempt(2));
    assert.deepEqual(await second.fate, attempt(2));
  });

  it('a caller that enters the waiting room while a read finds the work gone is answered by a later read', async () => {
    const first = room.enter(WORK);
    room.wake([WORK.id]);
    const second = room.enter(WORK);
    reads[0]?.('gone');
    assert.equal(await first.fate, 'gone');
    room.wake([WORK.id]);
    await until(() => reads.length === 2);
    reads[1]?.(attempt(1));
    assert.deepEqual(await second.fate, attempt(1));
  });
});

function attempt(n: number): Fate {
  return { id: WORK.id, attempt: n } as Outcome;
}
