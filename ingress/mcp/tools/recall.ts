import Type from 'typebox';
import type { ContextResponse } from '../../../client/src/generated/schemas.ts';
import { closedObject, text, withDefault } from '../../../shared/schemas/build.ts';
import { ContextRequest, QUERY_MAX } from '../../../shared/schemas/memory-context.ts';
import { excerptOf } from './excerpt.ts';
import { DATA_WARNING, openObject, project, READING_HINTS, tool, typedId } from './tool.ts';

/** A fact, an episode or a raw row. */
export interface RememberedRow {
  id: string;
  text: string;
  at: string;
  /** Ids of the rows that an episode or fact comes from; for a raw row, its session or else its `source`. */
  sources: string[];
}

const { query, goal, tags, recency_minutes } = ContextRequest.properties;
const SOURCES_SHOWN = 3;

const Row = openObject({ id: Type.String(), text: Type.String(), sources: Type.Array(Type.String()) });

export const recall = tool({
  name: 'recall',
  description:
    'Search all that is remembered of the person for a question: what they prefer, decided, said. Best first, with sources. Long texts are cut: fetch has the whole, by its id. forget takes an id too.',
  hints: READING_HINTS,
  input: closedObject({
    query: text(QUERY_MAX, 1),
    limit: withDefault(Type.Integer({ minimum: 1, maximum: 50 }), 8),
    project,
    detail: Type.Optional(Type.Boolean()),
  }),
  output: openObject({ results: Type.Array(Row) }),
  async run({ query, limit, project, detail }, { account, signal }) {
    const context = await account.assembleContext(
      { query, recency_minutes: null, max_facts: limit, max_episodes: limit, max_raw: limit },
      { signal, project },
    );
    const rows = interleave(rowsOf(context)).slice(0, limit);
    const results = detail
      ? rows
      : rows.map((row) => ({
          ...row,
          text: excerptOf(row.text, query),
          sources: row.sources.slice(0, SOURCES_SHOWN),
        }));
    return { note: DATA_WARNING, results, ...incompleteNote(context) };
  },
});

/** Maximum rows of each tier in a short answer. */
const SHORT_ANSWER_LIMITS = { max_facts: 10, max_episodes: 3, max_raw: 10 };

export const getContext = tool({
  name: 'get_context',
  description:
    'What to know of the person before a task: profile, facts, and what happened lately. detail: all that is stored of each row.',
  hints: READING_HINTS,
  input: closedObject({ query, goal, tags, recency_minutes, project, detail: Type.Optional(Type.Boolean()) }),
  output: openObject({ facts: Type.Array(Type.Unknown()), meta: Type.Object({}) }),
  async run({ detail, project, ...contextQuery }, { account, signal }) {
    const context = await account.assembleContext(
      detail ? contextQuery : { ...contextQuery, ...SHORT_ANSWER_LIMITS },
      { signal, project },
    );
    if (detail) return { note: DATA_WARNING, ...context };
    const { profile, meta } = context;
    const about = contextQuery.query ?? contextQuery.goal ?? '';
    const [facts, episodes, raw] = rowsOf(context).map((rows) =>
      rows.map(({ text }) => excerptOf(text, about)),
    );
    const { truncated, token_estimate } = meta;
    return {
      note: DATA_WARNING,
      profile: profile?.summary ?? null,
      facts,
      episodes,
      raw,
      meta: { truncated, token_estimate },
      ...incompleteNote(context),
    };
  },
});

export function incompleteNote({ meta }: ContextResponse): { incomplete?: string } {
  return meta.timed_out ? { incomplete: 'Reading took too long: call again.' } : {};
}

/** Returns the facts, episodes and raw rows, in this order. */
export function rowsOf({
  facts,
  episodes,
  raw,
}: ContextResponse): [RememberedRow[], RememberedRow[], RememberedRow[]] {
  return [
    facts.map(({ id, text, episode_ids, recorded_at }) => ({
      id: typedId('fact', id),
      text,
      at: recorded_at,
      sources: episode_ids.map((one) => typedId('episode', one)),
    })),
    episodes.map(({ id, title, summary, raw_ids, started_at }) => ({
      id: typedId('episode', id),
      text: `${title}: ${summary}`,
      at: started_at,
      sources: raw_ids.map((one) => typedId('raw', one)),
    })),
    raw.map(({ id, content, occurred_at, session_id, source }) => ({
      id: typedId('raw', id),
      text: content,
      at: occurred_at,
      sources: [session_id === null ? source : `session:${session_id}`],
    })),
  ];
}

/** Takes the first of each list, then the second of each, and so on: ranks of different lists cannot be compared. */
export function interleave<T>(lists: readonly T[][]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}
