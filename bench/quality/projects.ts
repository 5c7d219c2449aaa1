import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { inProject } from '../../shared/domain/project.ts';
import { phrasesIn } from '../../shared/domain/said-elsewhere.ts';
import { newId } from '../../shared/ids.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import { draftEndOf } from '../../shared/text/phrases.ts';
import { LocalProvider } from '../../workers/providers/local.ts';
import { openMemory } from '../memory/database.ts';
import { conversationBefore, type History, looksTyped, readHistories } from './typing/histories.ts';
import { total, typeOut } from './typing/type-out.ts';
import { WrittenPhrases } from './typing/written.ts';

/**
 * Puts the histories of several projects, a folder each, into one account. Types the later messages of each project, and
 * asks memory with them, with the project's history alone, with all of them, and with all of them in the project.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { messages: { type: 'string', default: '40' } },
});

const MIN_CONFIDENCE = 0.3;
const SHOWN_ROWS = 10;
const LIMITS = { model: 'local', timeoutMs: 10_000, signal: new AbortController().signal };
const CALL = { ...LIMITS, charge: { accountId: null, appId: null, workId: '', attempt: 1, kind: 'bench' } };
const predictor = new LocalProvider();

type Knowledge = 'alone' | 'all' | 'in the project';

/** Returns the places of the messages to type: the later ones, evenly spread. */
function placesIn({ messages }: History): number[] {
  const typable = messages.flatMap((message, at) => (looksTyped(message) ? [at] : []));
  const later = typable.slice(Math.floor(typable.length / 2));
  const count = Math.min(Number(values.messages), later.length);
  return Array.from({ length: count }, (_, n) => later[Math.floor((n * later.length) / count)] ?? 0);
}

async function charactersSaved(history: History, others: readonly History[], knows: Knowledge) {
  const own = new WrittenPhrases();
  const mixed = new WrittenPhrases();
  const elsewhere = others.map(({ person, messages }) => {
    const written = new WrittenPhrases();
    for (const { text, session } of messages) for (const one of [written, mixed]) one.add(text, session);
    return { project: person, written };
  });
  const recall = (tails: readonly string[]) => {
    if (knows !== 'in the project') return (knows === 'all' ? mixed : own).recall(tails);
    const placed = [{ project: history.person, written: own }, ...elsewhere].flatMap(({ project, written }) =>
      written.recall(tails).map((phrase) => ({ ...phrase, project, source: `${project} ${phrase.source}` })),
    );
    return phrasesIn(history.person, placed, { begun: tails[0] !== '' });
  };
  const typed = [];
  let known = 0;
  for (const at of placesIn(history)) {
    for (; known < at; known += 1)
      for (const one of [own, mixed])
        one.add(history.messages[known]?.text ?? '', history.messages[known]?.session ?? '');
    const messages = conversationBefore(history.messages, at);
    const complete = async (draft: string) => {
      const phrases = recall(draftEndOf(draft).tails);
      const local = { phrases, minConfidence: MIN_CONFIDENCE, taken: 0, dismissed: 0 };
      const nothing = { artifact: null, language: 'auto', preferences: '', memory: null };
      const task = { mode: 'complete_draft' as const, draft, draftHead: '', messages, ...nothing, local };
      const { completion, confidence } = await predictor.predict(task, CALL);
      return confidence >= MIN_CONFIDENCE && completion !== '' ? [completion] : [];
    };
    typed.push(await typeOut(history.messages[at]?.text ?? '', complete));
  }
  const { saved, characters } = total(typed);
  return saved / characters;
}

async function store(pool: Pool, histories: readonly History[]): Promise<string> {
  const account = newId();
  await pool.query(
    `insert into accounts (id, email, email_key, password_hash, created_at, updated_at)
     values ($1::uuid, $1::uuid::text, $1::uuid::text, '', now(), now())`,
    [account],
  );
  const rows = histories.flatMap(({ person, messages }) =>
    messages.map(({ text, session }) => ({ content: text.slice(0, 8000), project: person, session })),
  );
  await pool.query(
    `insert into raw_memories (id, account_id, content, kind, role, origin, project, session_id, source, occurred_at, tags,
                               metadata, created_at)
     select gen_random_uuid(), $1::uuid, t.content, 'message', 'human', 'human', t.project, t.project || t.session, 'bench',
            now() - random() * interval '30 days', '{}', '{}', now()
       from json_to_recordset($2) t (content text, project text, session text)`,
    [account, JSON.stringify(rows)],
  );
  return account;
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

async function run(folder: string): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { em, filler } = await openMemory(resources);
  const histories = await readHistories(folder);
  const account = await store(filler, histories);
  console.log(
    '| project | messages | saved, alone | all | in the project | foreign rows, all | in the project |',
  );
  console.log('|---|--:|--:|--:|--:|--:|--:|');
  for (const history of histories) {
    const others = histories.filter((one) => one !== history);
    const saved = [];
    for (const knows of ['alone', 'all', 'in the project'] as const)
      saved.push(percent(await charactersSaved(history, others, knows)));
    const foreign = [];
    for (const project of [undefined, history.person]) {
      let rows = 0;
      for (const at of placesIn(history)) {
        const query = history.messages[at]?.text ?? '';
        const limits = { ...CONTEXT_DEFAULTS, recencyMinutes: null, maxRaw: SHOWN_ROWS };
        const { raw } = await assembleContext(em(), account, { ...limits, query, ...inProject(project) });
        rows += raw.filter((row) => row.project !== history.person).length;
      }
      foreign.push(rows);
    }
    console.log(`| ${[history.person, placesIn(history).length, ...saved, ...foreign].join(' | ')} |`);
  }
}

const [folder] = positionals;
if (folder === undefined)
  process.stderr.write('Name a folder with a folder of SpecStory histories for each project.\n');
else await run(folder);
