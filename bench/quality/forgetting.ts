import { parseArgs } from 'node:util';
import { install, startProduct } from '../installation.ts';
import { HELD_OUT } from '../memory/held-out.ts';
import { Person } from '../memory/person.ts';
import { type Random, seededRandom } from '../memory/random.ts';
import { startScriptedProvider } from '../memory/scripted-provider.ts';
import { keyOf, type Statement, statementsIn } from '../memory/statements.ts';
import type { Topic } from '../memory/topic.ts';
import { TOPICS } from '../memory/topics.ts';
import { openPostgres } from '../stores.ts';

/**
 * Measures whether what a person forgets or corrects stays so. People state things in three wordings: in rows that are
 * promoted, in rows that are not yet considered, and in a file that is imported later. In between they delete or correct
 * facts. A twin of each says all but what the person forgets: that is what should be known in the end.
 */
const { values: options } = parseArgs({
  options: {
    provider: { type: 'string', default: 'local' },
    people: { type: 'string', default: '4' },
    seeds: { type: 'string', default: '1,2,3' },
    /** Prints what came back and what is missing. */
    show: { type: 'boolean', default: false },
  },
});

const HOUR_MS = 3_600_000;
const DAYS = { promoted: 5, waiting: 9, imported: 20, other: 25 };

interface Told extends Statement {
  topic: Topic;
  /** Value with which the person corrects the statement, or which they stated long before they deleted it. */
  other: string;
  fate: 'deleted' | 'corrected' | 'kept';
}

const COUNTED = [
  'facts',
  'decided',
  'uptake',
  'resurrected',
  'expected',
  'lost',
  'repeated',
  'again',
] as const;
type Counts = Record<(typeof COUNTED)[number], number>;

const sayingOf = ({ topic, value }: Told, wording: number) => topic.told[wording]?.replace('{}', value) ?? '';

function tellings(topics: readonly Topic[], random: Random): Told[] {
  return random.shuffle([...topics]).map((topic, place) => {
    const [value = '', other = ''] = random.shuffle([...topic.values]);
    const fate = (['deleted', 'corrected', 'kept'] as const)[place % 3] ?? 'kept';
    return { topic, slot: topic.slot, value, other, fate };
  });
}

/** Each text is a session of its own, so that a person and their twin are asked about the same rows. */
async function say(person: Person, texts: readonly string[], daysAgo: number): Promise<void> {
  const events = texts.map((text, place) => {
    const at = new Date(Date.now() - daysAgo * 24 * HOUR_MS + place * HOUR_MS).toISOString();
    const id = `${person.id}-${daysAgo}-${place}`;
    return { id, session_id: id, type: 'user.message', source: 'bench', text, occurred_at: at };
  });
  if (events.length > 0) await person.record(events);
  await person.sync();
}

const promote = async (person: Person) => {
  await person.promote('episodes');
  await person.promote('facts');
};
const keysIn = (texts: readonly string[]) => texts.flatMap(statementsIn).map(keyOf);
const known = async (person: Person) => keysIn((await person.facts()).map(({ text }) => text));

/** Says everything in three wordings, and decides after the first is promoted and the second is synchronized. */
async function live(
  url: string,
  told: readonly Told[],
  others: readonly Told[],
  decide?: (person: Person) => Promise<void>,
) {
  const person = await Person.signUp(url);
  const sayings = (wording: number) => told.map((one) => sayingOf(one, wording));
  await say(person, sayings(0), DAYS.promoted);
  await promote(person);
  await say(person, sayings(1), DAYS.waiting);
  await decide?.(person);
  await promote(person);
  for (const tier of ['episodes', 'facts'])
    await person.request('POST', `/api/memory/promote/${tier}/`, { limit: 500, force: true });
  await say(person, sayings(2), DAYS.imported);
  await say(
    person,
    others.map((one) => sayingOf({ ...one, value: one.other }, 0)),
    DAYS.other,
  );
  await promote(person);
  return person;
}

/** Deletes and corrects facts, and asks at once. Returns what is forgotten. */
async function decideOn(person: Person, told: readonly Told[], counts: Counts): Promise<Told[]> {
  const facts = await person.facts();
  counts.facts += facts.length;
  const decided: Told[] = [];
  for (const one of told.filter(({ fate }) => fate !== 'kept')) {
    const [first, ...rest] = facts.filter(({ text }) => keysIn([text]).includes(keyOf(one)));
    if (first === undefined) continue;
    decided.push(one);
    const isCorrected = one.fate === 'corrected';
    const change = isCorrected ? { text: one.topic.fact.replace('{}', one.other) } : undefined;
    await person.request(isCorrected ? 'PATCH' : 'DELETE', `/api/memory/facts/${first.id}/`, change);
    for (const { id } of rest) await person.request('DELETE', `/api/memory/facts/${id}/`);
    const answer = keysIn(await person.context(one.topic.goal));
    const isTaken = !isCorrected || answer.includes(keyOf({ ...one, value: one.other }));
    counts.uptake += Number(isTaken && !answer.includes(keyOf(one)));
  }
  counts.decided += decided.length;
  return decided;
}

async function compare(url: string, topics: readonly Topic[], seed: number, counts: Counts): Promise<void> {
  const told = tellings(topics, seededRandom(seed));
  const deleted = told.filter(({ fate }) => fate === 'deleted');
  let decided: Told[] = [];
  const person = await live(url, told, deleted, async (one) => {
    decided = await decideOn(one, told, counts);
  });
  const twin = await live(
    url,
    told.filter((one) => !decided.includes(one)),
    deleted,
  );
  const [left, ideal] = [await known(person), await known(twin)];
  const back = decided.map(keyOf).filter((key) => left.includes(key));
  const missing = ideal.filter((key) => !left.includes(key));
  if (options.show) console.error({ back, missing, facts: (await person.facts()).map(({ text }) => text) });
  counts.resurrected += back.length;
  counts.expected += ideal.length;
  counts.lost += missing.length;
  const repeated = decided.filter(({ fate }) => fate === 'deleted');
  await say(
    person,
    repeated.map((one) => sayingOf(one, 0)),
    0,
  );
  await promote(person);
  const now = await known(person);
  counts.repeated += repeated.length;
  counts.again += repeated.filter((one) => now.includes(keyOf(one))).length;
}

async function run(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(await openPostgres());
  const { databaseUrl } = resources.use(await install(postgres.url, 'bench'));
  const isScripted = options.provider === 'scripted';
  const provider = isScripted ? resources.use(await startScriptedProvider()) : undefined;
  const model: Record<string, string> = provider
    ? { OPENAI_BASE_URL: provider.url, DEFAULT_MODEL: 'scripted' }
    : { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' };
  const env = { DATABASE_URL: databaseUrl, ...model };
  const { web } = await startProduct(resources, {
    name: 'memory',
    providerUrl: 'http://127.0.0.1:9',
    queuePrefix: 'bench',
    pool: 'memory',
    env: { web: env, worker: env },
  });
  console.log('| seed | facts | uptake | resurrected | false application | learnt when said again |');
  console.log('|--:|--:|--:|--:|--:|--:|');
  for (const seed of options.seeds.split(',')) {
    const counts = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Counts;
    for (let nth = 0; nth < Number(options.people); nth += 1)
      await compare(
        web.url,
        isScripted ? [...TOPICS, ...HELD_OUT] : TOPICS,
        Number(seed) * 1000 + nth,
        counts,
      );
    const { facts, decided, uptake, resurrected, expected, lost, repeated, again } = counts;
    console.log(
      `| ${seed} | ${facts} | ${uptake} of ${decided} | ${resurrected} of ${decided} | ${lost} of ${expected} | ${again} of ${repeated} |`,
    );
  }
}

await run();
