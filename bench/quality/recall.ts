import { parseArgs } from 'node:util';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { newId } from '../../shared/ids.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import { percentile } from '../../test/support/keep-alive-client.ts';
import { openMemory } from '../memory/database.ts';
import { type Conversation, readConversations } from './conversations.ts';

/**
 * Measures evidence recall: of the turns that answer a question, the share that is among the raw rows of its context.
 * Public conversations from a folder are stored in separate accounts, with their turns spread over the last week as raw
 * rows; nothing is promoted.
 */
const { values: options } = parseArgs({
  options: { folder: { type: 'string' }, from: { type: 'string', default: '0' }, to: { type: 'string' } },
});

const CUTS = [5, 10, 20];
const SPREAD_MS = 6.9 * 86_400_000;

async function store(pool: Pool, { owner, turns }: Conversation): Promise<string> {
  const account = newId();
  await pool.query(
    `insert into accounts (id, email, email_key, password_hash, created_at, updated_at)
     values ($1::uuid, $1::uuid::text, $1::uuid::text, '', now(), now())`,
    [account],
  );
  const moment = (place: number) => new Date(Date.now() - SPREAD_MS * (1 - place / turns.length));
  await pool.query(
    `insert into raw_memories (id, account_id, content, kind, role, origin, agent, session_id, source, occurred_at, tags,
                               metadata, created_at)
     select gen_random_uuid(), $1::uuid, t.text, 'message', t.who, t.who, t.agent, t.session, t.id, t.at, '{}', '{}', t.at
       from json_to_recordset($2) t (id text, session text, who text, agent text, text text, at timestamptz)`,
    [
      account,
      JSON.stringify(turns.map((turn, place) => ({ ...turn, ...authorOf(turn, owner), at: moment(place) }))),
    ],
  );
  return account;
}

/** The API knows names of others (agents) only. */
const authorOf = ({ speaker }: { speaker: string }, owner: string) =>
  speaker === owner ? { who: 'human', agent: null } : { who: 'agent', agent: speaker };

/** Returns the recall of each question, for each cut, and adds the time that each context took to `ms`. */
async function recallOf(em: () => EntityManager, account: string, { questions }: Conversation, ms: number[]) {
  const recalls = CUTS.map(() => [] as number[]);
  for (const { text: query, evidence } of questions)
    for (const [place, maxRaw] of CUTS.entries()) {
      const since = performance.now();
      const { raw } = await assembleContext(em(), account, {
        ...CONTEXT_DEFAULTS,
        recencyMinutes: null,
        query,
        maxRaw,
      });
      ms.push(performance.now() - since);
      const found = new Set(raw.map(({ source }) => source));
      recalls[place]?.push(evidence.filter((id) => found.has(id)).length / evidence.length);
    }
  return recalls;
}

const mean = (values: number[]) => (100 * values.reduce((a, b) => a + b, 0)) / values.length;
const line = (name: string, count: string | number, recalls: (string | number)[]) =>
  `${name.padEnd(44)}${String(count).padStart(10)}${recalls.map((one) => (typeof one === 'number' ? one.toFixed(1) : one).padStart(8)).join('')}\n`;

async function run(folder: string): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { em, filler } = await openMemory(resources);
  const all: number[][] = CUTS.map(() => []);
  const ms: number[] = [];
  const chosen = (await readConversations(folder)).slice(
    Number(options.from),
    Number(options.to ?? Infinity),
  );
  process.stdout.write(
    line(
      'conversation',
      'questions',
      CUTS.map((cut) => `@${cut}`),
    ),
  );
  for (const conversation of chosen) {
    const recalls = await recallOf(em, await store(filler, conversation), conversation, ms);
    for (const [place, values] of recalls.entries()) all[place]?.push(...values);
    process.stdout.write(line(conversation.name, conversation.questions.length, recalls.map(mean)));
  }
  process.stdout.write(line('all', all[0]?.length ?? 0, all.map(mean)));
  const [p50, p95] = [0.5, 0.95].map((at) => percentile(ms, at).toFixed(1));
  process.stdout.write(`milliseconds a context: p50 ${p50}, p95 ${p95}\n`);
}

if (options.folder === undefined) process.stderr.write('--folder: a folder of conversations as JSON\n');
else await run(options.folder);
