import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { idsOf, LOWEST_ID } from '../../../ids.ts';
import { MIB } from '../../../schemas/limits.ts';
import { Reply } from '../../entities/reply.ts';
import { oneRow } from '../../rows.ts';
import { inPages, ROWS_AT_ONCE } from '../../steps.ts';
import { type DeletedTexts, findRepeating, prepareComparison } from '../memory/repeats.ts';

interface PredictionTexts {
  id: string;
  asked: string;
  /** All texts of the answer, and the reply that the person reported. */
  answered: string;
}

export async function findRowAndDerivedIds(
  tx: EntityManager,
  accountId: string,
  id: string,
): Promise<string[]> {
  const rows = await tx.execute<{ id: string }[]>(
    `with recursive derived as (
       select ?::uuid as id
       union
       select l.from_id from derived d join memory_links l on l.account_id = ? and l.to_id = d.id
     ) select id from derived`,
    [id, accountId],
  );
  return idsOf(rows);
}

/** Maximum total size of derived texts that are read at once, in bytes. */
const DERIVED_BYTES_MAX = MIB;

/** Reads the texts of these episodes and facts; undefined if they have more than `DERIVED_BYTES_MAX` bytes in total. */
export async function readMemoryTexts(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<{ id: string; text: string }[] | undefined> {
  const values = [accountId, ids, accountId, ids];
  const sum = `select coalesce(sum(octet_length(text)), 0)::float8 as bytes from (${SELECT_TEXTS}) t`;
  const { bytes } = await oneRow(tx.execute<{ bytes: number }[]>(sum, values));
  return bytes > DERIVED_BYTES_MAX
    ? undefined
    : tx.execute<{ id: string; text: string }[]>(SELECT_TEXTS, values);
}

const SELECT_TEXTS = `
  select id, title || E'\\n' || summary as text from episodes
   where account_id = ? and id = any (array[?]::uuid[])
  union all
  select id, text from facts where account_id = ? and id = any (array[?]::uuid[])`;

/**
 * Erases those texts of predictions made from these rows that may repeat the deleted `texts`; erases all their texts if
 * `texts` is undefined. Keeps the predictions' numbers, so that statistics and calibration do not change. Deletes the
 * stored answers of drafts made from these rows, because they contain the rows' texts.
 */
export async function redactPredictions(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
  { texts, timeUp }: { texts: readonly string[] | undefined; timeUp: AbortSignal },
): Promise<void> {
  const deletedTexts = prepareComparison(texts, timeUp, { ofFewWords: true });
  for (const page of inPages(ids, SOURCES_AT_ONCE))
    await redactPredictionsMadeFrom(tx, accountId, page, deletedTexts);
  await tx.execute(`${DELETE_DRAFT_ANSWERS} and ${IS_MADE_FROM_ROWS}`, [accountId, ids]);
}

/** Deletes the answers of drafts that were made from the profile, because the answers contain the profile. */
export async function redactProfile(tx: EntityManager, accountId: string): Promise<void> {
  await tx.execute(`${DELETE_DRAFT_ANSWERS} and h.report::json #>> '{context,profile}' = 'true'`, [
    accountId,
  ]);
}

/** Looks back only two days, because answers are kept for at most a day (`RECOVERY_WINDOW_S`) and some seconds. */
const DELETE_DRAFT_ANSWERS = `
  delete from answers a using history h
   where h.party = ? and h.month is null and h.ended_at > now() - interval '2 days' and a.id = h.id`;

const IS_MADE_FROM_ROWS = `
  exists (select from jsonb_path_query(h.report::jsonb, '$.context.*[*]') used
           where used #>> '{}' = any (array[?]::text[]))`;

async function redactPredictionsMadeFrom(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
  deletedTexts: DeletedTexts | undefined,
): Promise<void> {
  for (let after = LOWEST_ID; ; ) {
    const values = [accountId, ids, after, ROWS_AT_ONCE];
    const found = idsOf(await tx.execute<{ id: string }[]>(PREDICTIONS_MADE_FROM, values));
    for (const page of inPages(found, PREDICTIONS_AT_ONCE)) {
      const rows = await tx.execute<PredictionTexts[]>(PREDICTION_TEXTS, [page]);
      await redactRepeating(tx, accountId, rows, deletedTexts);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < ROWS_AT_ONCE) return;
    after = last;
  }
}

/** Maximum number of predictions that are read and compared at once: their prompts are long. */
const PREDICTIONS_AT_ONCE = 50;
const SOURCES_AT_ONCE = 1000;

async function redactRepeating(
  tx: EntityManager,
  accountId: string,
  rows: readonly PredictionTexts[],
  deletedTexts: DeletedTexts | undefined,
): Promise<void> {
  for (const [textOf, erased] of ERASURES) {
    const derived = rows.map((row) => ({ id: row.id, text: textOf(row) }));
    const repeating = await findRepeating(tx, accountId, derived, deletedTexts);
    if (repeating.length > 0) await tx.nativeUpdate(Reply, { id: { $in: repeating } }, erased);
  }
}

/** Texts of a prediction that are erased together, and the values that replace them. */
const ERASURES = [
  [({ asked }: PredictionTexts) => asked, { agentInput: '' }],
  [
    ({ answered }: PredictionTexts) => answered,
    {
      response: '',
      reasoning: '',
      actualResponse: null,
      candidates: raw(
        `(select coalesce(jsonb_agg(c || '{"response": "", "reasoning": ""}'), '[]') from jsonb_array_elements(candidates) c)`,
      ),
    },
  ],
] as const;

/** Finds the predictions made from these rows, by the index on `context`. */
const PREDICTIONS_MADE_FROM = `
  select distinct r.id
    from (select ?::uuid as id) a
   cross join unnest(array[?]::text[]) row (id)
   cross join unnest(array['fact_ids', 'episode_ids', 'raw_ids', 'example_ids']) tier
   cross join lateral (
     select r.id from replies r
      where r.account_id = a.id and r.context @> jsonb_build_object(tier, jsonb_build_array(row.id)) offset 0) r
   where r.id > ?::uuid
   order by r.id limit ?`;

const PREDICTION_TEXTS = `
  select r.id, r.agent_input as asked,
         concat_ws(E'\\n', r.response, r.reasoning, r.actual_response,
                   jsonb_path_query_array(r.candidates, '$[*].*')) as answered
    from replies r where r.id = any (array[?]::uuid[])`;
