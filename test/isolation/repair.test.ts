import assert from 'node:assert/strict';
import type { Completion } from '../../shared/db/stores/work/complete.ts';
import { survey } from '../../shared/db/stores/work/repair.ts';
import { newId } from '../../shared/ids.ts';
import { createLog } from '../../shared/log.ts';
import { Housekeeper } from '../../shared/work/housekeeper.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const LEASE_MS = 1000;
/** More than one survey returns. */
const MANY = 1001;

describe('while the work of a locked app cannot be ended', () => {
  let database: TestDatabase;
  const judge = newId();
  const locked = newId();
  before(async () => {
    database = await createDatabase();
    await database.pool.query(
      `insert into processes (id, kind, alive_until, since)
       values ($1, 'web', now() + interval '1 hour', now() - interval '1 hour')`,
      [judge],
    );
    await addWork('predict', locked, { deadline: '-1 second', count: MANY });
  });
  after(() => database.drop());

  /** Work of a dead worker, past its deadline or before it. */
  async function addWork(kind: string, party: string, { deadline = '1 hour', count = 1 }): Promise<void> {
    await database.pool.query(
      `with flow as (insert into flows (kind, party, touched_at) values ($1, $2, now()) on conflict do nothing)
       insert into work (
         id, kind, party, key, priority, state, attempt, admission, fingerprint, supersedable, worker, waiters,
         cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       select gen_random_uuid(), $1, $2, gen_random_uuid(), n, 'running', 1, gen_random_uuid(), '', false,
              gen_random_uuid(), '{}', false, now(), now() + $3::interval, '{}', ''
         from generate_series(1, $4) n`,
      [kind, party, deadline, count],
    );
  }

  it("a survey shows other parties' work, however much of the app's there is", async () => {
    const others = [newId(), newId()];
    for (const other of others) await addWork('predict', other, { deadline: '-1 second' });
    const found = await survey(database.pool, ['predict'], { judge, leaseMs: LEASE_MS });
    const parties = new Set(found.map(({ party }) => party));
    assert.deepEqual([...parties].sort(), [locked, ...others].sort());
  });

  it("other parties' work is taken over and ended, of its own kind and of others, round after round", async () => {
    const [orphaned, overdue, later] = [newId(), newId(), newId()];
    await addWork('predict', orphaned, {});
    await addWork('sync', overdue, { deadline: '-1 second' });
    const free = Promise.withResolvers<boolean>();
    const ended = new Set<string>();
    const complete = async ({ party }: Completion) => {
      ended.add(party);
      return party === locked ? free.promise : true;
    };
    const housekeeper = new Housekeeper({
      ...{ pool: database.pool, kinds, process: judge, leaseMs: LEASE_MS, recoveryWindowS: 600, complete },
      ticket: async () => {},
      eraseAccounts: async () => {},
      log: createLog('test', 'silent'),
    });
    try {
      await until(() => ended.has(locked) && ended.has(overdue));
      await addWork('predict', later, { deadline: '-1 second' });
      await until(() => ended.has(later));
      const taken = `select from work where party = $1 and state = 'queued' and attempt = 2`;
      await until(async () => (await database.pool.query(taken, [orphaned])).rowCount === 1);
    } finally {
      free.resolve(true);
      await housekeeper.close();
    }
  });
});
