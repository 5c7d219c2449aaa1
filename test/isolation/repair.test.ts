import assert from 'node:assert/strict';
import type { QueuedWork } from '../../shared/db/stores/work/claim.ts';
import type { Completion } from '../../shared/db/stores/work/complete.ts';
import { findOverdueWork, type StrandedWork } from '../../shared/db/stores/work/repair.ts';
import { newId } from '../../shared/ids.ts';
import { createLog } from '../../shared/log.ts';
import { Rest } from '../../shared/timing/rest.ts';
import { Housekeeper, type HousekeeperOptions } from '../../shared/work/housekeeper.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { useDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const LEASE_MS = 1000;
/** One more row than a page has. */
const MANY_PIECES = 1001;

describe('repair', () => {
  const database = useDatabase();
  const judge = newId();
  const locked = newId();
  before(async () => {
    await database.pool.query(
      `insert into processes (id, kind, alive_until, since)
       values ($1, 'web', now() + interval '2 minutes', now() - interval '1 hour')`,
      [judge],
    );
    await addWork('predict', locked, { deadline: '-1 second', count: MANY_PIECES });
  });

  /** Adds running work of a dead worker. */
  async function addWork(kind: string, party: string, { deadline = '1 hour', count = 1 }): Promise<void> {
    await database.pool.query(
      `insert into work (
         id, kind, party, key, queued_at, state, attempt, admission, fingerprint, supersedable, worker, waiters,
         cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       select gen_random_uuid(), $1, $2, gen_random_uuid(), now(), 'running', 1, gen_random_uuid(), '', false,
              gen_random_uuid(), '{}', false, now(), now() + $3::interval, '{}', ''
         from generate_series(1, $4) n`,
      [kind, party, deadline, count],
    );
  }

  function openHousekeeper(options: Partial<HousekeeperOptions> & Pick<HousekeeperOptions, 'process'>) {
    return new Housekeeper({
      ...{ pool: database.pool, kinds, leaseMs: LEASE_MS, recoveryWindowS: 600 },
      rest: new Rest(),
      complete: async () => true,
      addJobs() {},
      eraseAccounts: async () => {},
      log: createLog('test', 'silent'),
      ...options,
    });
  }

  it('each overdue piece of work is found once, even behind 1001 overdue pieces of another party', async () => {
    const others = [newId(), newId()];
    for (const other of others) await addWork('predict', other, { deadline: '-1 second' });
    const found = await foundIn(findOverdueWork(database.pool, ['predict', 'sync'], null));
    assert.equal(new Set(found.map(({ id }) => id)).size, found.length);
    assert.deepEqual(partiesOf(found), [locked, ...others].sort());
  });

  it("while one party's overdue work cannot end, the housekeeping still takes over and ends work of other parties", async () => {
    const [orphaned, overdue, later] = [newId(), newId(), newId()];
    await database.pool.query(
      `insert into processes (id, kind, alive_until) values (gen_random_uuid(), 'worker', now())`,
    );
    await addWork('predict', orphaned, {});
    await addWork('sync', overdue, { deadline: '-1 second' });
    const free = Promise.withResolvers<boolean>();
    const ended = new Set<string>();
    const queued: QueuedWork[] = [];
    const complete = async ({ party }: Completion) => {
      ended.add(party);
      return party === locked ? free.promise : true;
    };
    const housekeeper = openHousekeeper({
      process: judge,
      complete,
      addJobs: (work: readonly QueuedWork[]) => queued.push(...work),
    });
    try {
      await until(() => ended.has(locked) && ended.has(overdue));
      await addWork('predict', later, { deadline: '-1 second' });
      await until(() => ended.has(later));
      const taken = `select from work where party = $1 and state = 'queued' and attempt = 2`;
      await until(async () => (await database.pool.query(taken, [orphaned])).rowCount === 1);
      await until(() => queued.some(({ kind, party }) => kind === 'predict' && party === orphaned));
    } finally {
      free.resolve(true);
      await housekeeper.close();
    }
  });

  it("a dead worker's work is taken over even if nobody could judge when the worker died, for lack of heartbeats", async () => {
    const [late, party] = [newId(), newId()];
    // Heartbeats that begin when the search has long begun.
    await database.pool.query(
      `insert into processes (id, kind, alive_until, since)
       values ($1, 'web', now() + interval '2 minutes', now() + make_interval(secs => 3))`,
      [late],
    );
    await addWork('predict', party, {});
    const housekeeper = openHousekeeper({ process: late });
    try {
      const taken = `select from work where party = $1 and state = 'queued' and attempt = 2`;
      await until(async () => (await database.pool.query(taken, [party])).rowCount === 1);
    } finally {
      await housekeeper.close();
    }
  });
});

async function foundIn(pages: AsyncIterable<StrandedWork[]>): Promise<StrandedWork[]> {
  const found: StrandedWork[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}

function partiesOf(found: readonly StrandedWork[]): string[] {
  return [...new Set(found.map(({ party }) => party))].sort();
}
