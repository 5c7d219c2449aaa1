import assert from 'node:assert/strict';
import { makePersonas } from '../../bench/memory/personas.ts';
import { startScriptedProvider } from '../../bench/memory/scripted-provider.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { comparableMemory } from '../support/comparable-memory.ts';
import { duringSuite } from '../support/during-suite.ts';
import { settleMemory, stormMemory } from '../support/memory-storm.ts';
import { post } from '../support/recording.ts';
import { SCALE } from '../support/scale.ts';
import { useSystem } from '../support/system.ts';

const SESSIONS = 40;
const SERVICE_MS = 100;

for (const model of ['local', 'scripted'])
  describe(`memory races with the model ${model}`, function () {
    this.timeout(120_000 * SCALE);
    const provider = duringSuite(() => startScriptedProvider(SERVICE_MS));
    const system = useSystem(() => ({
      apart: true,
      workers: 2,
      workerEntry: ['workers/main.ts', 'memory'],
      env: {
        LEASE_MS: '2000',
        DEFAULT_MODEL: model,
        ...(model === 'local'
          ? { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' }
          : { OPENAI_BASE_URL: provider.url }),
      },
    }));

    /** Signs up a person whose recordings, except for ids, equal those of every other person of the round. */
    async function someone(seed: number): Promise<UserClient> {
      const person = await signUp(system);
      const [persona] = makePersonas({ seed, prefix: person.id, personas: 1, sessions: SESSIONS });
      const events = persona?.sessions.flatMap((session) => session.events) ?? [];
      const { body } = await post(person, events);
      assert.equal(body.accepted, events.length);
      return person;
    }

    const memoryOf = ({ id }: UserClient) => comparableMemory(system.database.pool, id, id);

    it(`with the model ${model}, concurrent memory jobs produce the same rows as an undisturbed run, even if workers are killed meanwhile #sync-once`, async () => {
      for (let seed = 7; seed < 7 + SCALE; seed += 1) {
        const [quiet, hurried] = [await someone(seed), await someone(seed)];
        await settleMemory(quiet);
        const { replies, kills } = await stormMemory(system, hurried, { callers: 8, killWithinMs: 400 });
        assert.ok(kills > 0);
        assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
        // A promotion may have ended before all rows were synced.
        await settleMemory(hurried);
        const expected = await memoryOf(quiet);
        assert.ok(expected.length > SESSIONS);
        assert.deepEqual(await memoryOf(hurried), expected);
      }
    });
  });
