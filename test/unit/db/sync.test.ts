import assert from 'node:assert/strict';
import {
  endOfPage,
  preparePage,
  readChosenPage,
  readUnsyncedPage,
  storeSyncPage,
} from '../../../shared/db/stores/memory/sync.ts';
import { newId } from '../../../shared/ids.ts';
import { signUp } from '../../support/account.ts';
import { untilLocked } from '../../support/row-lock.ts';
import { countRowsRead } from '../../support/rows-read.ts';
import { useSystem } from '../../support/system.ts';

const EVENTS_PER_SESSION = 20;

describe('pages of a sync', () => {
  const system = useSystem({ workers: 0 });
  let account: string;
  beforeEach(async () => {
    account = (await signUp(system)).id;
  });

  async function record(sessions: number): Promise<void> {
    await system.database.pool.query(
      `with recorded as (
         insert into recording_events (account_id, id, session_id, type, occurred_at, received_at, body)
         select $1::uuid, id, session, 'note', now(), now(),
                json_build_object('type', 'note', 'id', id, 'session_id', session, 'source', 'test',
                                  'occurred_at', now(), 'text', 'We meet on Monday')
           from generate_series(0, $2::int * $3::int - 1) n
          cross join lateral (select gen_random_uuid()::text as id, format('%s-%s', now(), n / $3::int) as session) i
         returning session_id, arrival)
       insert into recording_sessions (id, account_id, started_at, source, created_at, last_arrival)
       select session_id, $1::uuid, now(), 'test', now(), max(arrival) from recorded group by session_id`,
      [account, sessions, EVENTS_PER_SESSION],
    );
  }

  /** Inserts a sync that runs, as if a worker had claimed it. */
  async function claimSync() {
    const claim = { id: newId(), attempt: 1, worker: newId(), party: account };
    await system.database.pool.query(
      `insert into work (
         id, kind, party, key, state, worker, queued_at, attempt, admission, fingerprint, supersedable, waiters,
         cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       values ($1, 'sync', $2, gen_random_uuid(), 'running', $3, now(), 1, gen_random_uuid(), '', false, '{}', false,
               now(), now() + interval '10 minutes', '{}', '')`,
      [claim.id, account, claim.worker],
    );
    return claim;
  }

  async function nextPage() {
    const page = await readUnsyncedPage(system.em(), account, 200);
    assert.ok(page);
    return preparePage(page);
  }

  it('a page of a sync that is stored twice counts its rows once', async () => {
    await record(1);
    const [claim, page] = [await claimSync(), await nextPage()];
    const store = () =>
      storeSyncPage(system.database.pool, claim, page, { from: 0, scanned: page.page.events.length });
    assert.equal(await store(), page.page.events.length);
    assert.equal(await store(), page.page.events.length);
  });

  it('a page of a sync is refused if a crash of PostgreSQL has undone the page before it', async () => {
    await record(2);
    const { pool } = system.database;
    const [claim, first] = [await claimSync(), await nextPage()];
    const size = first.page.events.length;
    const [before, after] = [
      { from: 0, scanned: size },
      { from: size, scanned: 2 * size },
    ];
    await storeSyncPage(pool, claim, first, before);
    const second = await nextPage();
    await pool.query('update work set progress = null where id = $1', [claim.id]);
    await assert.rejects(storeSyncPage(pool, claim, second, after), /the page before this one is not stored/);
    await storeSyncPage(pool, claim, first, before);
    assert.equal(await storeSyncPage(pool, claim, second, after), size);
  });

  it('concurrently stored pages of a sync take effect in page order, even if the later page is sent first', async () => {
    await record(2);
    const { pool } = system.database;
    const claim = await claimSync();
    const first = await readUnsyncedPage(system.em(), account, 200);
    assert.ok(first);
    const second = await readUnsyncedPage(system.em(), account, 200, endOfPage(first));
    assert.ok(second);
    const size = EVENTS_PER_SESSION;
    // Opens both connections: the later page waits only for a page whose statement has begun, and is retried briefly.
    await Promise.all([pool.query('select pg_sleep(0.05)'), pool.query('select pg_sleep(0.05)')]);
    const created = await Promise.all([
      storeSyncPage(pool, claim, preparePage(second), { from: size, scanned: 2 * size }),
      storeSyncPage(pool, claim, preparePage(first), { from: 0, scanned: size }),
    ]);
    assert.deepEqual(created, [2 * size, size]);
  });

  it('an event whose row is deleted while its page of a sync is stored leaves no row and no phrase', async () => {
    await record(1);
    const { pool } = system.database;
    const [claim, page] = [await claimSync(), await nextPage()];
    const event = JSON.parse(page.page.events[0]?.body ?? '').id;
    const deletion = await pool.connect();
    try {
      await deletion.query('begin');
      await deletion.query('update accounts set memory_revision = memory_revision + 1 where id = $1', [
        account,
      ]);
      const size = page.page.events.length;
      const stored = storeSyncPage(pool, claim, page, { from: 0, scanned: size });
      await untilLocked(system);
      await deletion.query('insert into memory_tombstones values ($1, event_hash($1, $2))', [account, event]);
      await deletion.query('commit');
      assert.equal(await stored, size - 1);
    } finally {
      deletion.release(true);
    }
    const left = `select from phrases p where not exists (select from raw_memories r where r.id = p.raw_id)
                  union all select from raw_memories where event_id = $1`;
    assert.deepEqual((await pool.query(left, [event])).rows, []);
  });

  it('reading a page of 20 events for a sync reads fewer than 100 rows of an account with 40,000 events', async () => {
    // PostgreSQL has no statistics of the tables yet.
    await record(2000);
    const read = await countRowsRead(system, (em) => readUnsyncedPage(em, account, 200));
    assert.ok(read < 5 * EVENTS_PER_SESSION, `${read} rows`);
  });

  it('a sync with a `since` later than all events reads fewer than three rows per session', async () => {
    const sessions = 500;
    await record(sessions);
    const since = new Date(Date.now() + 60_000).toISOString();
    const read = await countRowsRead(system, (em) => readChosenPage(em, account, { since }, 200));
    assert.ok(read < 3 * sessions, `${read} rows`);
  });
});
