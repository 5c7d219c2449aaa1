import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContextMeta } from '../../shared/schemas/memory-context.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { bySchema } from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { callUntil } from '../support/paced-until.ts';
import { predictReply, proposeReplies } from '../support/replies.ts';
import { useProcesses } from '../support/system.ts';

const CONTEXT = '/api/memory/context/';
/** Too many for the 10 connections of a process, since each read takes a second. */
const PER_SECOND = 30;
const CALLS = 10;
const MEDIAN_MAX_MS = 500;

describe('slow memory reads', () => {
  const system = useProcesses();
  let slow: UserClient;
  before(async () => {
    system.provider.respond(bySchema({ reply: proposeReplies([{ response: 'Blue' }]) }));
    // Makes the database take a second to read a fact with the text 'Takes long'.
    await system.sql(`
      create or replace function fact_holds_v1(f facts) returns boolean language plpgsql as $$
      begin
        if f.text = 'Takes long' then perform pg_sleep(1); end if;
        return true;
      end $$`);
  });
  const withSlowMemory = async () => {
    const person = await signUp(system);
    await person.request('POST', '/api/memory/profile/', { summary: 'Writes short mails' });
    await add(person, 'facts', { text: 'Takes long' });
    return person;
  };
  beforeEach(async () => {
    slow = await withSlowMemory();
  });

  /** Asserts that successive calls of another party are quick in the median while the load runs. */
  const assertQuickDuring = async (load: () => Promise<unknown>, call: () => Promise<{ status: number }>) => {
    const took: number[] = [];
    const calls = (async () => {
      for (let n = 0; n < CALLS; n += 1) {
        await sleep(100);
        const since = performance.now();
        assert.equal((await call()).status, 200);
        took.push(performance.now() - since);
      }
    })();
    await callUntil(PER_SECOND, load, calls);
    took.sort((a, b) => a - b);
    assert.ok((took[CALLS / 2] ?? Number.NaN) < MEDIAN_MAX_MS, `${took.map(Math.round)} ms`);
  };

  it("a connected app's median prediction takes under 0.5 s while 30 reply predictions a second wait for slow memory reads #slow-memory", async () => {
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, await signUp(system));
    await assertQuickDuring(
      () => predictReply(slow),
      () => app.predict(predictionBody({ connection_id })),
    );
  });

  it('memory that is slow to read is left out of a context, which reports the timeout and still has the profile', async () => {
    const { status, body } = await slow.request<{
      profile: { summary: string };
      facts: object[];
      meta: ContextMeta;
    }>('POST', CONTEXT, {});
    assert.equal(status, 200);
    assert.deepEqual([body.profile.summary, body.facts], ['Writes short mails', []]);
    assert.equal(body.meta.timed_out, true);
    assert.deepEqual(body.meta.truncated, { facts: true, episodes: true, raw: true });
    assert.equal(body.meta.revision, 2);
  });

  it('memory that is slow to read is left out of a connected prediction, which still uses the profile #slow-memory', async () => {
    const app: AppClient = await connectingApp(system);
    const { connection_id, profile_revision } = await connect(system, app, slow);
    const { status, body } = await app.predict(predictionBody({ connection_id }));
    assert.deepEqual([status, body.context_truncated], [200, false]);
    assert.equal(body.profile_revision, profile_revision);
    const { known } = system.provider.calls.at(-1)?.record ?? {};
    assert.deepEqual([known?.profile?.summary, known?.facts], ['Writes short mails', []]);
  });
});
