import assert from 'node:assert/strict';
import fc from 'fast-check';
import { makePersonas, type Persona } from '../../bench/memory/personas.ts';
import { leaksIn } from '../../bench/memory/scoring.ts';
import { shinglesOnlyIn } from '../../bench/memory/truth.ts';
import type { MemoryStats, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { add, forget, quote } from '../support/memory.ts';
import { promote as promoteOnce } from '../support/promotion.ts';
import { post } from '../support/recording.ts';
import { storedTexts } from '../support/stored-texts.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const SESSIONS = 8;
const RUNS = 3;

describe('memory erasure', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' },
  });

  async function remember(
    person: UserClient,
    { sessions }: Persona,
  ): Promise<Map<string, RawMemoryResponse[]>> {
    await post(
      person,
      sessions.flatMap(({ events }) => events),
    );
    const { status, text } = await person.request('POST', '/api/memory/sync/', {});
    assert.equal(status, 200, text);
    const { body } = await person.request<{ results: RawMemoryResponse[] }>(
      'GET',
      '/api/memory/raw/?limit=200',
    );
    return Map.groupBy(body.results.toReversed(), ({ session_id }) => session_id ?? '');
  }

  /** Adds episodes and facts that repeat their sources word for word, from one session or from two. */
  async function addDerivedRows(person: UserClient, rows: RawMemoryResponse[][]): Promise<void> {
    const neighbours = rows.map((own, place) => [...own, ...(rows[place + 1] ?? [])]);
    for (const sources of [...rows, ...neighbours]) {
      const [first] = sources;
      if (first === undefined) continue;
      const episode = await add(person, 'episodes', {
        title: first.content.slice(0, 200),
        summary: sources.map(({ content }) => content).join(' '),
        raw_ids: sources.map(({ id }) => id),
      });
      const said = sources.filter(({ role, origin }) => role === 'human' && origin === 'human');
      for (const source of said.slice(0, 2)) {
        const fact = await add(person, 'facts', { text: source.content, episode_ids: [episode.id] });
        await quote(system, person, fact, source);
      }
    }
  }

  it('after raw rows are deleted, no table contains a five-word sequence that only those rows had #memory-erasure', () =>
    leavesNothing(addDerivedRows));

  it('after promoted raw rows are deleted, no table contains a five-word sequence that only those rows had #memory-erasure', () =>
    leavesNothing(async (person, rows) => {
      assert.equal((await person.post('/api/memory/sync/', {})).status, 200);
      for (const tier of ['episodes', 'facts'] as const)
        await until(async () => (await promoteOnce(person, tier)).body.considered === 0);
      const { body } = await person.request<MemoryStats>('GET', '/api/memory/stats/');
      assert.ok(body.facts.count > 0 && body.episodes.count >= rows.length);
    }));

  async function leavesNothing(
    promote: (person: UserClient, rows: RawMemoryResponse[][]) => Promise<void>,
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2 ** 20 }),
        fc.uniqueArray(fc.nat(SESSIONS - 1), { minLength: 1, maxLength: 4 }),
        async (seed, chosen) => {
          const person = await signUp(system);
          const [persona] = makePersonas({ seed, prefix: person.id, personas: 1, sessions: SESSIONS });
          assert.ok(persona);
          const rows = await remember(person, persona);
          await promote(person, [...rows.values()]);
          const gone = persona.sessions.filter((_, place) => chosen.includes(place));
          const kept = persona.sessions.filter((session) => !gone.includes(session));
          const shingles = shinglesOnlyIn(gone, kept);
          assert.notDeepEqual(
            leaksIn(await texts(person), shingles),
            [],
            'the sessions to delete were remembered',
          );
          for (const row of gone.flatMap(({ id }) => rows.get(id) ?? []))
            await forget(person, 'raw', row, '?purge_event=true');
          const left = await texts(person);
          assert.deepEqual(leaksIn(left, shingles), []);
          assert.notDeepEqual(
            leaksIn(left, shinglesOnlyIn(kept, gone)),
            [],
            'the kept sessions are still there',
          );
        },
      ),
      { numRuns: RUNS },
    );
  }

  const texts = (person: UserClient) => Array.fromAsync(storedTexts(system.database.pool, person.id));
});
