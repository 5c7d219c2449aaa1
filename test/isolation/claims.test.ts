import assert from 'node:assert/strict';
import { claim } from '../../shared/db/stores/work/claim.ts';
import { roomOf } from '../../shared/domain/share.ts';
import { openServed, queueWork } from '../support/common-path.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const SLOTS = 8;

describe('one claim for all slots of an idle worker', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  /** Queues as much of each of that many parties, then claims: how many pieces of each party were taken. */
  async function claimedOf(parties: number): Promise<number[]> {
    const { pool } = database;
    const served = await Promise.all(Array.from({ length: parties }, () => openServed(pool)));
    for (const one of served) await queueWork(pool, one, SLOTS);
    const room = { slots: SLOTS, ofServed: new Map(), ofOthers: roomOf(0, SLOTS, SLOTS) };
    const worker = served[0]?.process ?? '';
    const { claims, more, takeable } = await claim(
      pool,
      { names: ['predict'], oneAtATime: [] },
      worker,
      room,
    );
    assert.ok(more);
    assert.equal(takeable, parties > 1);
    return served.map(({ party }) => claims.filter((one) => one.party === party).length);
  }

  it('takes all that a party may have that is alone', async () => {
    assert.deepEqual(await claimedOf(1), [7]);
  });

  it('leaves half of the slots when two wait, so that what each then holds counts for the rest', async () => {
    assert.deepEqual(await claimedOf(2), [2, 2]);
  });
});
