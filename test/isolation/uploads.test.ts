import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { p95 } from '../support/flood.ts';
import { callUntil } from '../support/paced-until.ts';
import { countOf, event, post } from '../support/recording.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

/** A trigger adds this time to each upload's statement. */
const SLOW_MS = 200;
/** Advisory lock that each running upload holds, so that running uploads can be counted. */
const UPLOAD_LOCK = 8401;
/** A tenth of the 6 s that 30 uploads take, one after another. */
const EXTRA_LATENCY_MAX_MS = 600;

describe('slow uploads of recorded events', () => {
  const system = useProcesses({ env: { SANDBOX_UNITS: '1000000' } });
  let app: AppClient;
  let user: UserClient;
  before(async () => {
    await system.sql(`
      create function take_time() returns trigger language plpgsql as
        $$ begin
             perform pg_advisory_xact_lock_shared(${UPLOAD_LOCK}), pg_sleep(${SLOW_MS / 1000});
             return null;
           end $$;
      create trigger take_time before insert on recording_events execute function take_time()`);
    app = await system.app();
  });
  beforeEach(async () => {
    user = await signUp(system);
  });

  const uploadsRunning = async () => {
    const rows = await system.sql<{ count: number }>(
      // Unlike pg_stat_activity, this is one snapshot: no upload can end and another begin while it is read.
      `select count(*)::int from pg_locks
        where locktype = 'advisory' and objid = ${UPLOAD_LOCK}
          and database = (select oid from pg_database where datname = current_database())`,
    );
    return rows[0]?.count ?? 0;
  };
  const uploadOne = (signal?: AbortSignal) =>
    user.request<{ accepted: number }>('POST', '/api/recording/events/', [event()], { signal });

  it('90 slow uploads of six people run in turns, at most three at a time, and delay the 95th percentile of predictions by under 0.6 s #uploads', async () => {
    const ask = () => app.predict(predictionBody());
    const before = await callUntil(20, ask, sleep(2000));
    const people = [user, ...(await Promise.all(Array.from({ length: 5 }, () => signUp(system))))];
    const stored: UserClient[] = [];
    const upload = async (person: UserClient) => {
      const reply = await post(person, [event()]);
      stored.push(person);
      return reply;
    };
    const uploads = Promise.all(people.flatMap((person) => Array.from({ length: 15 }, () => upload(person))));
    const running = callUntil(20, uploadsRunning, uploads);
    const beside = await callUntil(20, ask, uploads);

    assert.deepEqual(statusesOf(await uploads), [201]);
    assert.deepEqual(statusesOf(beside), [200]);
    const most = Math.max(...(await running));
    assert.ok(most <= 3, `${most} at once`);
    // Without turns, a third of all uploads would come from the first two people.
    assert.deepEqual(new Set(stored.slice(0, 30)), new Set(people));
    const [alone, together] = [p95(before), p95(beside)];
    assert.ok(together < alone + EXTRA_LATENCY_MAX_MS, `${alone} ms before, ${together} ms beside uploads`);
    for (const person of people) assert.equal((await countOf(system, person)).events, 15);
  });

  it("a person's upload does not wait until all slow uploads of another person have ended #uploads", async () => {
    let stored = 0;
    const uploads = Promise.all(
      Array.from({ length: 12 }, async () => {
        await uploadOne();
        stored += 1;
      }),
    );
    await until(async () => stored > 0);
    const other = await signUp(system);
    assert.equal((await post(other, [event()])).status, 201);
    assert.ok(stored < 12, "all of the first person's uploads came first");
    await uploads;
  });

  it('an upload gets 503 overloaded while a hundred uploads of the same person are queued', async () => {
    const storm = new AbortController();
    const refused = await Promise.any(
      Array.from({ length: 105 }, async () => {
        const reply = await uploadOne(storm.signal);
        assert.equal(reply.code, 'overloaded');
        return reply;
      }),
    );
    storm.abort();
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  });
});

function statusesOf(replies: { status: number }[]): number[] {
  return [...new Set(replies.map(({ status }) => status))];
}
