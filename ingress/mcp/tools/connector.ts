import Type from 'typebox';
import { closedObject, text } from '../../../shared/schemas/build.ts';
import { QUERY_MAX } from '../../../shared/schemas/memory-context.ts';
import { incompleteNote, interleave, rowsOf } from './recall.ts';
import {
  DATA_WARNING,
  openObject,
  READING_HINTS,
  readTypedId,
  type ToolCall,
  TYPED_ID_PATTERN,
  tool,
} from './tool.ts';

const RESULTS_MAX = 10;
const TITLE_CHARS_MAX = 80;

const Id = Type.String();
const FoundRow = openObject({ id: Id, title: Type.String(), url: Type.String() });

/** `search` and `fetch` have the names and shapes that some clients require; these clients know no other tools. */
export const search = tool({
  name: 'search',
  description: 'Like recall, for connectors: titles to fetch.',
  hints: READING_HINTS,
  input: closedObject({ query: text(QUERY_MAX, 1) }),
  output: openObject({ results: Type.Array(FoundRow) }),
  async run({ query }, call) {
    const limits = { max_facts: RESULTS_MAX, max_episodes: RESULTS_MAX, max_raw: RESULTS_MAX };
    const context = await call.account.assembleContext(
      { query, recency_minutes: null, ...limits },
      { signal: call.signal },
    );
    const rows = interleave(rowsOf(context)).slice(0, RESULTS_MAX);
    const results = rows.map(({ id, text }) => ({ id, title: titleOf(text), url: urlOf(id, call) }));
    return { note: DATA_WARNING, results, ...incompleteNote(context) };
  },
});

export const fetchRow = tool({
  name: 'fetch',
  description: 'One row of memory, by the id that recall or search gave.',
  hints: READING_HINTS,
  input: closedObject({ id: Type.String({ pattern: TYPED_ID_PATTERN }) }),
  output: openObject({ id: Id, title: Type.String(), text: Type.String(), url: Type.String() }),
  async run({ id: typed }, call) {
    const { text, ...metadata } = await rowOf(typed, call);
    return { note: DATA_WARNING, id: typed, title: titleOf(text), text, url: urlOf(typed, call), metadata };
  },
});

async function rowOf(typed: string, { account, signal }: ToolCall): Promise<{ text: string }> {
  const { tier, id } = readTypedId(typed);
  if (tier === 'fact') return account.readFact(id, { signal });
  if (tier === 'episode') {
    const { summary, ...rest } = await account.readEpisode(id, { signal });
    return { ...rest, text: summary };
  }
  const { content, ...rest } = await account.readRawMemory(id, { signal });
  return { ...rest, text: content };
}

const TIER_PATHS = { fact: 'facts', episode: 'episodes', raw: 'raw' };

/** Returns an address that a person can open as a citation; the console shows the tier. */
function urlOf(typed: string, { publicUrl }: ToolCall): string {
  const { tier, id } = readTypedId(typed);
  return `${publicUrl}/console/#/memory/${TIER_PATHS[tier]}/${id}`;
}

function titleOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const characters = [...line];
  return characters.length <= TITLE_CHARS_MAX
    ? line
    : `${characters.slice(0, TITLE_CHARS_MAX - 1).join('')}…`;
}
