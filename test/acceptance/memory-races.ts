import { parseArgs } from 'node:util';
import { makePersonas } from '../../bench/memory/personas.ts';
import { startScriptedProvider } from '../../bench/memory/scripted-provider.ts';
import { setUp } from '../setup.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { comparableMemory } from '../support/comparable-memory.ts';
import type { HostedPart } from '../support/hosted.ts';
import { settleMemory, stormMemory } from '../support/memory-storm.ts';
import { post } from '../support/recording.ts';
import { type System, startSystem } from '../support/system.ts';

/**
 * By hand: eight syncs and eight promotions of each tier run at once for one account while workers are killed at random
 * (kill -9); with a scripted model and without one. Exits with 1 if the rows differ from those of a quiet run,
 * or a call was not answered with 200.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    sessions: { type: 'string', default: '40' },
    callers: { type: 'string', default: '8' },
    kill: { type: 'string', default: '500' },
  },
});

const SERVICE_MS = 100;

await using _ = await setUp();
await using provider = await startScriptedProvider(SERVICE_MS);
const ways = {
  scripted: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: provider.url, DEFAULT_MODEL: 'scripted' },
  local: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
};
let broken = false;
for (const [way, env] of Object.entries(ways)) {
  await using system = await startSystem({
    apart: true,
    workers: 3,
    workerEntry: ['workers/main.ts', 'memory'],
    env: { ...env, LEASE_MS: '2000', LOG_LEVEL: 'warn' },
  });
  for (let round = 1; round <= Number(options.rounds); round += 1) {
    const result = await race(system, round);
    broken ||= result.differences.length > 0 || result.statuses.some((status) => status !== 200);
    process.stdout.write(`${JSON.stringify({ way, round, ...result }, undefined, 2)}\n`);
  }
}
process.exitCode = broken ? 1 : 0;

async function race(system: System<HostedPart>, seed: number) {
  const [quiet, hurried] = [
    await signUpWithRecordings(system, seed),
    await signUpWithRecordings(system, seed),
  ];
  await settleMemory(quiet);
  const expected = await memoryOf(system, quiet);
  const storm = {
    callers: Number(options.callers),
    killWithinMs: Number(options.kill),
  };
  const { replies, kills } = await stormMemory(system, hurried, storm);
  // Finishes what the storm has left: a promotion may have ended before there was anything to promote.
  await settleMemory(hurried);
  const found = await memoryOf(system, hurried);
  return {
    kills,
    rows: expected.length,
    statuses: [...new Set(replies.map(({ status }) => status))],
    differences: [...new Set(expected).symmetricDifference(new Set(found))],
  };
}

/** Signs up a person whose recordings, except for ids, equal those of every other person with this seed. */
async function signUpWithRecordings(system: System<HostedPart>, seed: number): Promise<UserClient> {
  const person = await signUp(system);
  const sessions = Number(options.sessions);
  const [persona] = makePersonas({ seed, prefix: person.id, personas: 1, sessions });
  await post(person, persona?.sessions.flatMap(({ events }) => events) ?? []);
  return person;
}

function memoryOf({ database }: System<HostedPart>, { id }: UserClient): Promise<string[]> {
  return comparableMemory(database.pool, id, id);
}
