import assert from 'node:assert/strict';
import { makePersonas } from '../../bench/memory/personas.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { comparableMemory } from '../support/comparable-memory.ts';
import { settleMemory, stormMemory } from '../support/memory-storm.ts';
import { post } from '../support/recording.ts';
import { useSystem } from '../support/system.ts';

const SESSIONS = 40;

describe('memory races', function () {
  this.timeout(120_000);
  const system = useSystem({
    apart: true,
    workers: 2,
    workerEntry: ['workers/main.ts', 'memory'],
    env: { LEASE_MS: '2000', OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
  });

  /** Signs up a person whose recordings, except for ids, equal those of every other person. */
  async function someone(): Promise<UserClient> {
    const person = await signUp(system);
    const [persona] = makePersonas({ seed: 7, prefix: person.id, personas: 1, sessions: SESSIONS });
    const events = persona?.sessions.flatMap((session) => session.events) ?? [];
    const { body } = await post(person, events);
    assert.equal(body.accepted, events.length);
    return person;
  }

  const memoryOf = ({ id }: UserClient) => comparableMemory(system.database.pool, id, id);

  it('concurrent memory jobs produce the same rows as an undisturbed run, even if workers are killed meanwhile', async () => {
    const [quiet, hurried] = [await someone(), await someone()];
    await settleMemory(quiet);
    const storm = { callers: 8, killWithinMs: 400 };
    const { replies, kills } = await stormMemory(system, hurried, storm);
    assert.ok(kills > 0);
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
    // A promotion may have ended before all rows were synced.
    await settleMemory(hurried);
    const expected = await memoryOf(quiet);
    assert.ok(expected.length > SESSIONS);
    assert.deepEqual(await memoryOf(hurried), expected);
  });
});
