import assert from 'node:assert/strict';
import type { Claim, Room } from '../../../shared/db/stores/work/claim.ts';
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
  leftMs: 1000,
});

describe('the slots of a pool', () => {
  it('claim once when several become free in one turn of the event loop', async () => {
    const rooms: Room[] = [];
    const ends: (() => void)[] = [];
    const slots = new WorkerPool(4, {
      async claim(room) {
        rooms.push(room);
        return rooms.length === 1
          ? { claims: [work('a'), work('b')], more: true, takeable: false }
          : { claims: [], more: false, takeable: false };
      },
      mayClaim: () => true,
      attempt: () => new Promise<void>((resolve) => ends.push(resolve)),
      claimLost() {},
      passOn() {},
      log: createLog('test', 'silent'),
    });
    const taken = slots.take();
    await until(() => ends.length === 2);
    for (const end of ends) end();
    await taken;
    await slots.close();
    assert.deepEqual(
      rooms.map(({ ofServed }) => ofServed.size),
      [0, 0],
      'the second claim knows that both are free',
    );
  });
});
