import { parseArgs } from 'node:util';
import { install, startProduct } from '../installation.ts';
import { Person } from '../memory/person.ts';
import { seededRandom, seedOf } from '../memory/random.ts';
import type { FactAnswer, NumberedFact, NumberedRow } from '../memory/scripted-model.ts';
import { startScriptedProvider } from '../memory/scripted-provider.ts';
import { openPostgres } from '../stores.ts';
import {
  type ChangedValue,
  HELD_OUT,
  IN_FOUR_LANGUAGES,
  IN_TWO_LANGUAGES,
  OF_OTHER_TOPICS,
  TUNING,
} from './changed-values.ts';
import { readConversations } from './conversations.ts';

/**
 * Measures whether the newest value comes first. A person says each value 60 to 90 days ago, and its successor 10 to 18
 * days ago, in a session of its own among lines of chat; then the question is asked. Three people do so: one whose memory
 * has raw rows alone, one with the facts of a scripted model, one with facts that are found without a model.
 */
const { values: options } = parseArgs({
  allowPositionals: true,
  options: {
    /** Uses the values that rules may be tuned on, and lists the mistakes. */
    tuning: { type: 'boolean', default: false },
    /** Uses other values that no rule is tuned on. */
    'other-topics': { type: 'boolean', default: false },
    /** Uses others, half of them German. */
    'two-languages': { type: 'boolean', default: false },
    /** Uses others: eight English, eight German, eight French, eight Spanish. */
    'four-languages': { type: 'boolean', default: false },
    /** Conversations in LoCoMo's format, whose turns are the lines of chat; by default they are generated. */
    folder: { type: 'string' },
    lines: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
  },
});

const DAY_MS = 86_400_000;
const CUTS = [1, 3, 10];
const ROWS_PER_CALL = 200;
/** Share of the facts of which the scripted model forgets the slot, or overlooks the known fact. */
const FORGETS_SLOT = 0.1;
const OVERLOOKS_KNOWN = 0.2;

function chosenChanges(): ChangedValue[] {
  if (options.tuning) return TUNING;
  if (options['two-languages']) return IN_TWO_LANGUAGES;
  if (options['four-languages']) return IN_FOUR_LANGUAGES;
  return options['other-topics'] ? OF_OTHER_TOPICS : HELD_OUT;
}
const CHANGES = chosenChanges();
const random = seededRandom(Number(options.seed));

interface Row {
  content: string;
  kind: string;
  origin: string;
  role: string;
  agent?: string;
  session_id: string;
  occurred_at: string;
}

function rowAt(content: string, daysAgo: number, session: string, isOwn = true): Row {
  const occurred_at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const author = isOwn
    ? { origin: 'human', role: 'human' }
    : { origin: 'agent', role: 'agent', agent: 'coder' };
  return { content, kind: 'message', ...author, session_id: session, occurred_at };
}

function statementRows(): Row[] {
  return CHANGES.flatMap(([slot, , before, , now]) => [
    rowAt(before, 60 + random.below(30), `before ${slot}`),
    rowAt(now, 10 + random.below(8), `now ${slot}`),
  ]).sort((a, b) => (a.occurred_at < b.occurred_at ? -1 : 1));
}

const listOf = (words: string) => words.trim().split(/\s*\|\s*|\s*\n\s*/);
const WHO =
  listOf(`I|I|I|we|we|you|they|he|she|it|someone|my brother|the client|a friend|Ana|the neighbours|nobody|Luis
  |the kids|people`);
const DID =
  listOf(`saw|fixed|forgot|found|wanted|wrote about|paid for|looked at|lost|liked|waited for|tested|opened|closed
  |deleted|mentioned|broke|cleaned|moved|hated|missed|dreamt of|laughed about|read about|asked for|needed|noticed|drew
  |borrowed|sold|made|heard about|talked about|painted|finished|started|ignored|counted|checked|hid`);
const WHAT =
  listOf(`manager|database|bus|rent|browser|phone|school|report|gym bag|coffee machine|server|editor|piano|team photo
  |deadline|dentist|car|doctor|dog|office|test|laptop|flat|insurance|haircut|project|price|train|street|book|song|film
  |window|garden|bread|river|ticket|lamp|door|letter|joke|storm|recipe|shirt|boat|mountain|picture|branch|loop|cable
  |keyboard|message|log|cat|wall|bridge|market|soup|tree|island|hotel|museum|game|ball|chair|table|bottle|knife|cake
  |magazine|radio|camera|bag|coat|glove|clock|mirror|stone|beach|forest|cloud|star|farm|horse|bird|fish|boot|hat|pen
  |map|parcel|bill|receipt|puzzle|drum|guitar|lesson|class|exam|degree|party|wedding|holiday|flight|airport|station
  |bank|account|password|budget|language|week|shoe|lawyer|router|mentor|subscription|shell|zone|choir|bean`);
const HOW = listOf(
  'old|new|red|strange|other|small|big|broken|cheap|nice|boring|second|wet|quiet|loud|empty',
);
const WHERE =
  listOf(`|||in town|next door|on the way|at lunch|in the film|for a friend|on television|at the party|by mistake
  |on Monday|last night|again|for an hour|and laughed|as always|in the rain|without a word|lol|I think|to be honest`);

const chatLine = () =>
  `${random.pick(WHO)} ${random.pick(DID)} the ${random.pick(HOW)} ${random.pick(WHAT)} ${random.pick(WHERE)}`.trim();

async function chatRows(): Promise<Row[]> {
  const count = Number(options.lines);
  const turns =
    options.folder === undefined
      ? []
      : (await readConversations(options.folder)).flatMap((one) => one.turns.map(({ text }) => text));
  return Array.from({ length: count }, (_, n) => {
    const text = turns.length > 0 ? random.pick(turns) : chatLine();
    return rowAt(text, (95 * (count - n)) / count, `chat ${Math.floor(n / 20)}`, n % 2 === 0);
  });
}

async function add(person: Person, rows: readonly Row[]): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_PER_CALL)
    await person.request('POST', '/api/memory/raw/', rows.slice(at, at + ROWS_PER_CALL));
}

interface Bundle {
  raw: { content: string }[];
  facts: { text: string }[];
}

/** Finds the texts that a context with room for `most` rows of the tier has. */
async function textsFor(
  person: Person,
  tier: 'raw' | 'facts',
  query: string,
  most: number,
): Promise<string[]> {
  const body = { query, recency_minutes: null, max_raw: most, max_facts: most };
  const { raw, facts } = await person.request<Bundle>('POST', '/api/memory/context/', body);
  return tier === 'raw' ? raw.map(({ content }) => content) : facts.map(({ text }) => text);
}

const has = (texts: readonly string[], value: string) => texts.some((text) => text.includes(value));

async function measureOrder(name: string, person: Person, tier: 'raw' | 'facts'): Promise<void> {
  for (const most of CUTS) {
    let [newest, oldest] = [0, 0];
    for (const change of CHANGES) {
      const [, question, before, valueBefore, now, valueNow] = change;
      const texts = await textsFor(person, tier, question, most);
      const [isNewest, isOldest] =
        tier === 'raw'
          ? [texts.includes(now), texts.includes(before)]
          : [has(texts, valueNow), has(texts, valueBefore)];
      newest += Number(isNewest);
      oldest += Number(isOldest);
      if (options.tuning && most === 1 && !isNewest) console.log(`  ${question} -> ${texts[0]}`);
    }
    console.log(`| ${name} | ${most} | ${newest} | ${oldest} | ${CHANGES.length} |`);
  }
}

interface StoredFact {
  text: string;
  superseded_by: string | null;
  valid_to: string | null;
}

async function measureStale(person: Person): Promise<void> {
  const { results } = await person.request<{ results: StoredFact[] }>(
    'GET',
    '/api/memory/facts/?limit=200',
    undefined,
  );
  const current = results
    .filter(({ superseded_by, valid_to }) => superseded_by === null && valid_to === null)
    .map(({ text }) => text);
  const stale = CHANGES.filter(([, , before]) => has(current, before.replace(/\.$/, '')));
  if (options.tuning) for (const { text } of results) console.log(`  fact: ${text}`);
  for (const [, , before] of options.tuning ? stale : []) console.log(`  stale: ${before}`);
  console.log(`without a model: ${results.length} facts, ${stale.length} of them stale and active`);
}

const nameOf = ([slot]: ChangedValue) => slot.slice(slot.indexOf('.') + 1).replaceAll('_', ' ');
const textOf = (change: ChangedValue, isNow: boolean) =>
  `The person's ${nameOf(change)} is ${isNow ? change[5] : change[3]}`;

/** Answers as a model would that errs sometimes. Equal rows always get equal answers. */
function factAnswers(rows: readonly NumberedRow[], known: readonly NumberedFact[]): FactAnswer[] {
  return rows.flatMap(({ n, text }) => {
    const change = CHANGES.find(([, , before, , now]) => text === before || text === now);
    if (change === undefined) return [];
    const mistakes = seededRandom(seedOf(text));
    const about = known.find((fact) => fact.text.startsWith(textOf(change, true).replace(change[5], '')));
    const isTold = about !== undefined && mistakes.next() >= OVERLOOKS_KNOWN;
    return {
      text: textOf(change, text === change[4]),
      kind: 'other',
      slot: mistakes.next() < FORGETS_SLOT ? null : change[0],
      valid_from: null,
      valid_to: null,
      evidence: [{ source: n, quote: text }],
      relation: isTold ? 'supersedes' : 'new',
      target: isTold ? about.n : null,
      salience: 4,
    };
  });
}

async function run(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(await openPostgres());
  const { databaseUrl } = resources.use(await install(postgres.url, 'bench'));
  const provider = resources.use(await startScriptedProvider(0, { factAnswers }));
  const models = { DEFAULT_MODEL: 'scripted', SUPPORTED_MODELS: 'scripted,local' };
  const env = { DATABASE_URL: databaseUrl, OPENAI_BASE_URL: provider.url, ...models };
  const { web } = await startProduct(resources, {
    name: 'updates',
    providerUrl: 'http://127.0.0.1:9',
    queuePrefix: 'bench',
    pool: 'memory',
    env: { web: env, worker: env },
  });
  const statements = statementRows();
  const chat = await chatRows();
  console.log('| rows | among the first | newest | oldest | of |');
  console.log('|---|--:|--:|--:|--:|');
  const plain = await Person.signUp(web.url);
  await add(plain, statements);
  await measureOrder('raw rows alone, without chat', plain, 'raw');
  await add(plain, chat);
  await measureOrder('raw rows alone', plain, 'raw');
  for (const model of ['scripted', 'local']) {
    const person = await Person.signUp(web.url);
    await add(person, statements);
    for (const tier of ['episodes', 'facts'])
      await person.request('POST', `/api/memory/promote/${tier}/`, { model, limit: 500 });
    if (model === 'local') await measureStale(person);
    else await measureOrder('facts of a scripted model', person, 'facts');
  }
}

await run();
