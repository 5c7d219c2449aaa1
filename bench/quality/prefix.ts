import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { fitContext, questionOf } from '../../shared/domain/context-envelope.ts';
import { newId } from '../../shared/ids.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import { predictionQuestion } from '../../workers/predictions/prompt.ts';
import { openMemory } from '../memory/database.ts';
import { QUESTIONS, REPLIES, REPORTS, TASKS } from '../memory/talk.ts';

/**
 * Measures how much of its beginning a prompt shares with the prompt of the previous key, which a provider may have in
 * its cache. A person with a memory of a certain size types several tasks key by key; nothing is random.
 */
const BUDGET_TOKENS = 6000;
const SUBJECTS = [
  'the parser',
  'the invoice job',
  'a login page',
  'search',
  'the export',
  'our queue',
  'a cache',
];
const ROWS = { facts: 200, episodes: 60, raw: 1000 };
/** Numbers of turns before the draft: 6 turns fit the budget, 80 do not. */
const TURNS = [6, 80];

const fillIn = (patterns: readonly string[], n: number) =>
  (patterns[n % patterns.length] ?? '').replace('{}', SUBJECTS[n % SUBJECTS.length] ?? '');

async function storeMemory(pool: Pool): Promise<string> {
  const account = newId();
  const texts = (count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, n) => fillIn([...TASKS, ...REPLIES], n)));
  await pool.query(
    `insert into accounts (id, email, email_key, password_hash, created_at, updated_at)
     values ($1::uuid, $1::uuid::text, $1::uuid::text, '', now(), now())`,
    [account],
  );
  const rows = (table: string, columns: string, values: string, count: number) =>
    pool.query(
      `insert into ${table} (id, account_id, tags, created_at, ${columns})
       select gen_random_uuid(), $1::uuid, '{}', now(), ${values}
         from json_array_elements_text($2) with ordinality t (text, n)`,
      [account, texts(count)],
    );
  const at = `now() - make_interval(hours => n::int)`;
  await rows('facts', 'text, updated_at', `text || ' (' || n || ')', now()`, ROWS.facts);
  await rows(
    'episodes',
    'title, summary, started_at, ended_at, updated_at, status, origin',
    `'Work', text || n, ${at}, ${at}, now(), 'final', 'user'`,
    ROWS.episodes,
  );
  await rows(
    'raw_memories',
    'content, kind, role, origin, source, occurred_at, metadata',
    `text || n, 'message', 'human', 'human', 'bench', ${at}, '{}'`,
    ROWS.raw,
  );
  return account;
}

function sessionOf(turns: number) {
  return Array.from({ length: turns }, (_, n) =>
    n % 2 === 0
      ? ({ role: 'user', origin: 'human', content: fillIn(TASKS, n) } as const)
      : ({
          role: 'assistant',
          origin: 'agent',
          content: `${fillIn(REPORTS, n)} `.repeat(6) + fillIn(QUESTIONS, n),
        } as const),
  );
}

async function promptFor(em: EntityManager, account: string, turns: number, text: string): Promise<string> {
  const request = {
    mode: 'complete_draft',
    draft: { text, revision: 1 },
    messages: sessionOf(turns),
    artifact: null,
    language: 'auto',
    user_preferences: '',
  } as const;
  const query = {
    ...CONTEXT_DEFAULTS,
    query: questionOf({ ...request, messages: [...request.messages] }),
    recencyMinutes: null,
    ownFirst: true,
  };
  const bundle = await assembleContext(em, account, query);
  const { task } = fitContext({ ...request, messages: [...request.messages] }, BUDGET_TOKENS, bundle);
  return predictionQuestion(task)
    .messages.map(({ content }) => content)
    .join('\n');
}

function commonLength(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

await using resources = new AsyncDisposableStack();
const { em, filler } = await openMemory(resources);
const account = await storeMemory(filler);
for (const turns of TURNS) {
  const keys = { all: 0, unchanged: 0, beforeRecalled: 0, share: 0 };
  for (const draft of SUBJECTS.map((_, n) => fillIn(TASKS, n))) {
    let last = await promptFor(em(), account, turns, draft.slice(0, 1));
    for (let typed = 2; typed <= draft.length; typed += 1) {
      const prompt = await promptFor(em(), account, turns, draft.slice(0, typed));
      const common = commonLength(last, prompt);
      keys.all += 1;
      keys.unchanged += Number(common >= prompt.lastIndexOf('"draft":'));
      keys.beforeRecalled += Number(common >= prompt.indexOf('"recalled":'));
      keys.share += common / prompt.length;
      last = prompt;
    }
  }
  const percent = (count: number) => `${((100 * count) / keys.all).toFixed(1)} %`;
  process.stdout.write(
    `${turns} messages, ${keys.all} keys: all before the draft is the same at ${percent(keys.unchanged)}, ` +
      `all before what is recalled at ${percent(keys.beforeRecalled)}; ${percent(keys.share)} of a prompt's characters\n`,
  );
}
