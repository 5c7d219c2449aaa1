import type { Pool } from 'pg';
import { storedTexts } from '../../test/support/stored-texts.ts';
import { until } from '../../test/support/until.ts';
import { Person, PROMOTIONS } from './person.ts';
import type { Persona } from './personas.ts';
import { seededRandom, seedOf } from './random.ts';
import {
  bundleCounts,
  type Counts,
  factCounts,
  groundingCounts,
  leaksIn,
  mistakesIn,
  repeatCounts,
  sum,
  textsIn,
} from './scoring.ts';
import type { Topic } from './topic.ts';
import { shinglesOnlyIn, type Truth, truthOf } from './truth.ts';

export interface Life {
  remembered: Counts;
  /** Counts of a second sync and promotion, after everything was promoted. */
  again: Counts;
  /** Counts after some sessions were deleted and the rest was promoted. */
  afterDeletion: Counts;
  erased: Counts;
  mistakes: string[];
}

export interface World {
  url: string;
  pool: Pool;
  topics: readonly Topic[];
}

const SESSIONS_PER_DELETION = 10;
const SECOND_MS = 1000;

/** Runs one persona over HTTP, from the first recording to the erasure. Only checks for leftovers read the tables. */
export async function live({ url, pool, topics }: World, persona: Persona): Promise<Life> {
  const person = await Person.signUp(url);
  await person.record(persona.sessions.flatMap(({ events }) => events));
  await person.sync();
  const since = performance.now();
  const promoted = await promoteAll(person);
  const seconds = (performance.now() - since) / SECOND_MS;
  const truth = truthOf(persona.sessions);
  const facts = await person.facts();
  const remembered = sum([
    await score(person, truth, topics),
    repeatCounts(facts, persona.repeated),
    promoted,
    { seconds, lives: 1, failures: person.failures },
  ]);
  const { created } = await person.sync();
  const again = sum([{ created }, await promoteAll(person)]);
  const afterDeletion = await forgetSessions(person, { pool, topics }, persona);
  await person.erase();
  // Waits, because the erasure may be answered before the housekeeping has erased everything.
  await until(async () => (await rowsOf(pool, person.id)) === 0).catch(() => undefined);
  const erased = { rowsLeft: await rowsOf(pool, person.id) };
  return { remembered, again, afterDeletion, erased, mistakes: mistakesIn(facts, truth) };
}

async function promoteAll(person: Person): Promise<Counts> {
  const results = [];
  for (const tier of PROMOTIONS) results.push(...(await person.promote(tier)));
  return sum(results.map(({ created, updated, usage }) => ({ created, updated, ...usage })));
}

async function score(person: Person, truth: Truth, topics: World['topics']): Promise<Counts> {
  const facts = await person.facts();
  const bundles = [await person.context()];
  for (const { goal } of topics) bundles.push(await person.context(goal));
  return sum([
    factCounts(facts, truth),
    groundingCounts(facts, await person.raw()),
    ...bundles.map((texts) => bundleCounts(texts, truth)),
  ]);
}

/** Deletes the rows of some sessions, with their events, and promotes the rest. Counts what the deletion has left. */
async function forgetSessions(
  person: Person,
  { pool, topics }: Omit<World, 'url'>,
  { name, sessions }: Persona,
): Promise<Counts> {
  const deletedSessions = seededRandom(seedOf(name))
    .shuffle(sessions)
    .slice(0, Math.ceil(sessions.length / SESSIONS_PER_DELETION));
  const keptSessions = sessions.filter((session) => !deletedSessions.includes(session));
  for (const { id } of deletedSessions)
    await person.forget(await person.raw(`&session_id=${encodeURIComponent(id)}`));
  const shingles = shinglesOnlyIn(deletedSessions, keptSessions);
  const visibleTexts = textsIn(await person.everything());
  const tableTexts = await Array.fromAsync(storedTexts(pool, person.id));
  await promoteAll(person);
  return sum([
    await score(person, truthOf(keptSessions), topics),
    {
      shingles: shingles.size,
      leaks: new Set([...leaksIn(visibleTexts, shingles), ...leaksIn(tableTexts, shingles)]).size,
    },
  ]);
}

async function rowsOf(pool: Pool, accountId: string): Promise<number> {
  const tables = [
    'recording_events',
    'recording_sessions',
    'raw_memories',
    'episodes',
    'facts',
    'memory_links',
  ];
  const counts = await Promise.all(
    tables.map((table) => pool.query(`select from ${table} where account_id = $1`, [accountId])),
  );
  return counts.reduce((all, { rowCount }) => all + (rowCount ?? 0), 0);
}
