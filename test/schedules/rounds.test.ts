import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createAccount } from '../../shared/db/stores/accounts.ts';
import { newId } from '../../shared/ids.ts';
import type { FactResponse } from '../../shared/schemas/memory.ts';
import { signUp, someEmail, type UserClient } from '../support/account.ts';
import { adminResult } from '../support/admin.ts';
import { add, quote } from '../support/memory.ts';
import { event, post } from '../support/recording.ts';
import { lockRow } from '../support/row-lock.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const EACH_SECOND = '* * * * * *';
/** Number of accounts: more than two pages. */
const PEOPLE = 45;
/** Number of accounts on a page. */
const PAGE = 20;

describe('scheduled promotion and sync', () => {
  let system: System;
  beforeEach(async () => {
    const env = { DEFAULT_MODEL: 'local' };
    system = await startSystem({ workerEntry: ['workers/main.ts', 'all'], workers: 0, env });
  });
  afterEach(() => system?.stop());

  const select = <Row extends object>(text: string, ...values: unknown[]) => system.sql<Row>(text, values);
  const note = () => event({ session_id: randomUUID(), type: 'note', text: 'x' });
  const memoryOf = async (person: UserClient) =>
    (await person.get<{ results: object[] }>('/api/memory/raw/')).body.results.length;
  const someone = async () => {
    const { id } = await createAccount(system.em(), { email: someEmail(), name: '', passwordHash: '-' });
    return id;
  };
  const say = (account: string) =>
    select(
      `insert into raw_memories (id, account_id, content, kind, role, origin, source, occurred_at, tags, metadata, created_at)
       values ($1, $2, 'I like tea', 'reply', 'human', 'human', 'test', now() - interval '2 days', '{}', '{}', now())`,
      newId(),
      account,
    );
  const jobsOf = (kind: string, account: string) =>
    select<{ admitted_at: Date; ended_at: Date | null }>(
      `select admitted_at, ended_at from history where kind = $1 and party = $2
       union all select admitted_at, null from work where kind = $1 and party = $2 order by admitted_at`,
      kind,
      account,
    );
  const ticks = async (name: string) =>
    (
      await select<{ last: number | null }>(
        `select extract(epoch from last_tick)::float8 as last from schedules where name = $1`,
        name,
      )
    ).at(0)?.last ?? 0;
  /** Waits until three more ticks of scheduled promotion have fired. */
  const threeTicks = async () => {
    const since = await ticks('promotion');
    await until(async () => (await ticks('promotion')) >= since + 3);
  };

  it('scheduled promotion reaches all 45 active accounts with new memory, in several pages, and no other account', async () => {
    const people = await Promise.all(Array.from({ length: PEOPLE }, someone));
    const [silent, disabled] = [await someone(), await someone()];
    for (const account of [...people, disabled]) await say(account);
    await select('update accounts set active = false where id = $1', disabled);
    await system.startWorker({ PROMOTE_EVERY: EACH_SECOND });
    await until(async () => {
      const [{ count } = { count: 0 }] = await select<{ count: number }>(
        `select count(distinct party)::int as count from history where kind = 'promote_episodes' and state = 'succeeded'`,
      );
      return count === PEOPLE;
    }, 30_000);
    for (const account of [silent, disabled]) assert.deepEqual(await jobsOf('promote_episodes', account), []);
  });

  it("scheduled promotion of an account's facts starts after the promotion of its episodes has ended", async () => {
    const account = await someone();
    await say(account);
    await select(
      `insert into episodes (id, account_id, title, summary, started_at, ended_at, status, origin, tags, salience, created_at, updated_at)
       values ($1, $2, 'Tea', 'About tea', now() - interval '2 days', now() - interval '2 days', 'final', 'human', '{}', 0.5, now(), now())`,
      newId(),
      account,
    );
    await system.startWorker({ PROMOTE_EVERY: EACH_SECOND });
    const [facts] = await until(async () => {
      const jobs = await jobsOf('promote_facts', account);
      return jobs.length > 0 && jobs;
    }, 30_000);
    const [episodes] = await jobsOf('promote_episodes', account);
    assert.ok(facts && episodes?.ended_at && episodes.ended_at <= facts.admitted_at);
  });

  it('scheduled promotion rewrites stale facts of an account without new episodes, but not facts that are set aside', async () => {
    const [person, other] = [await signUp(system), await signUp(system)];
    const staleFact = async (owner: UserClient) => {
      const source = await add(owner, 'raw', { content: 'I live in Bergen.', kind: 'reply' });
      const fact = await add(owner, 'facts', { text: 'Lives in Oslo' });
      await quote(system, owner, fact, source);
      await select(`update facts set text = '', stale_at = now() where id = $1`, fact.id);
      return fact;
    };
    const fact = await staleFact(person);
    const { id } = await staleFact(other);
    await select(`update facts set failures = 1, retry_at = now() + interval '1 hour' where id = $1`, id);
    await system.startWorker({ PROMOTE_EVERY: EACH_SECOND });
    await until(async () => {
      const path = `/api/memory/facts/${fact.id}/`;
      const { body } = await person.request<FactResponse>('GET', path);
      return body.text !== '' && body.stale_at === null;
    });
    await threeTicks();
    assert.deepEqual(await jobsOf('promote_facts', other.id), []);
  });

  const ONE_SLOT = { PROMOTE_EVERY: EACH_SECOND, SYNC_EVERY: 'off', MEMORY_CONCURRENCY: '1' };
  const count = async (state: 'queued' | 'running', kind: string) =>
    (await select('select from work where state = $1 and kind = $2', state, kind)).length;

  it('scheduled promotion queues no more jobs while jobs of 20 accounts wait, and goes on when they have run', async () => {
    const people = await Promise.all(Array.from({ length: 4 * PAGE }, someone));
    for (const account of people) await say(account);
    const [first = assert.fail()] = people.toSorted();
    const lock = await lockRow(system, 'accounts', 'id = $1', [first]);
    await system.startWorker(ONE_SLOT);
    await until(async () => (await count('queued', 'promote_episodes')) >= PAGE);
    await threeTicks();
    // A page may begin while jobs of 19 accounts wait.
    assert.ok((await count('queued', 'promote_episodes')) < 2 * PAGE);
    await lock.release();
    for (const account of people)
      await until(async () => (await jobsOf('promote_episodes', account))[0]?.ended_at);
  });

  it('scheduled promotion queues no job while requests of 20 people wait for the memory pool', async () => {
    const [ann = assert.fail(), ...others] = await Promise.all(
      Array.from({ length: PAGE + 1 }, () => signUp(system)),
    );
    await post(ann, [note()]);
    const lock = await lockRow(system, 'accounts', 'id = $1', [ann.id]);
    await system.startWorker(ONE_SLOT);
    const headers = { prefer: 'respond-async' };
    const requestSync = async (person: UserClient) =>
      assert.equal((await person.request('POST', '/api/memory/sync/', {}, { headers })).status, 202);
    await requestSync(ann);
    await until(async () => (await count('running', 'sync')) === 1);
    for (const person of others) await requestSync(person);
    const account = await someone();
    await say(account);
    await threeTicks();
    assert.deepEqual(await jobsOf('promote_episodes', account), []);
    await lock.release();
    await until(async () => (await jobsOf('promote_episodes', account))[0]?.ended_at);
  });

  it('scheduled sync skips an account that has an unfinished sync job, and every account while the memory pool is paused', async () => {
    const ann = await signUp(system);
    await system.startWorker({ SYNC_EVERY: EACH_SECOND });
    await adminResult(['queue', 'pause', 'memory'], system.env);
    await post(ann, [note()]);
    const pausedAt = await ticks('sync');
    await until(async () => (await ticks('sync')) >= pausedAt + 3, 20_000);
    assert.deepEqual(await jobsOf('sync', ann.id), []);
    const lock = await lockRow(system, 'accounts', 'id = $1', [ann.id]);
    await adminResult(['queue', 'resume', 'memory'], system.env);
    await until(async () => (await jobsOf('sync', ann.id)).length === 1, 20_000);
    const lockedAt = await ticks('sync');
    await until(async () => (await ticks('sync')) >= lockedAt + 3, 20_000);
    assert.equal((await jobsOf('sync', ann.id)).length, 1);
    await lock.release();
    await until(async () => (await jobsOf('sync', ann.id))[0]?.ended_at, 20_000);
  });

  it('scheduled sync takes each new event into memory by exactly one job, even if two workers run the scheduler #ticks', async () => {
    const [ann] = await Promise.all([
      signUp(system),
      system.startWorker({ SYNC_EVERY: EACH_SECOND }),
      system.startWorker({ SYNC_EVERY: EACH_SECOND }),
    ]);
    for (const rows of [1, 2]) {
      await post(ann, [note()]);
      await until(async () => (await memoryOf(ann)) === rows, 20_000);
      assert.equal((await jobsOf('sync', ann.id)).length, rows);
    }
  });

  it('scheduled sync starts no job if SYNC_EVERY is off', async () => {
    await system.startWorker({ SYNC_EVERY: EACH_SECOND });
    await until(() => ticks('sync'));
    await system.workers.pop()?.stop();
    await system.startWorker({ SYNC_EVERY: 'off', PROMOTE_EVERY: EACH_SECOND });
    const before = await ticks('sync');
    const ann = await signUp(system);
    await post(ann, [note()]);
    await threeTicks();
    assert.deepEqual(
      [await memoryOf(ann), await jobsOf('sync', ann.id), await ticks('sync')],
      [0, [], before],
    );
  });
});
