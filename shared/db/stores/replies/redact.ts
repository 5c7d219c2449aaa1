import type { EntityManager } from '@mikro-orm/postgresql';
import { MIB } from '../../../schemas/limits.ts';
import { inPages } from '../../steps.ts';
import { compareWith, type DeletedTexts, findRepeating } from '../memory/repeats.ts';

interface MadeFrom {
  id: string;
  asked: string;
  /** All texts of the answer, and what the person said they replied. */
  answered: string;
}

/** A row of memory and all that is derived from it. */
export async function withDerived(tx: EntityManager, accountId: string, id: string): Promise<string[]> {
  const rows = await tx.execute<{ id: string }[]>(
    `with recursive derived as (
       select ?::uuid as id
       union
       select l.from_id from derived d join memory_links l on l.account_id = ? and l.to_id = d.id
     ) select id from derived`,
    [id, accountId],
  );
  return rows.map((row) => row.id);
}

/** Bytes of derived texts that are read at once. */
const TEXTS_MAX = MIB;

/** The texts of these episodes and facts; undefined if they are too many. */
export async function textsOf(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<{ id: string; text: string }[] | undefined> {
  const named = JSON.stringify(ids);
  const values = [accountId, named, accountId, named];
  const [{ bytes } = { bytes: 0 }] = await tx.execute<{ bytes: number }[]>(
    `select coalesce(sum(octet_length(text)), 0)::float8 as bytes from (${TEXTS}) t`,
    values,
  );
  return bytes > TEXTS_MAX ? undefined : tx.execute<{ id: string; text: string }[]>(TEXTS, values);
}

const TEXTS = `
  select id, title || E'\\n' || summary as text from episodes
   where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)
  union all
  select id, text from facts where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`;

/**
 * Erases the texts of the predictions that were made from these rows of memory and may repeat the deleted texts; undefined
 * for too many of these. Their numbers stay: statistics and calibration do not change. The answers of drafts have the
 * rows as they were sent, so they go in any case.
 */
export async function redactPredictions(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
  texts: readonly string[] | undefined,
): Promise<void> {
  const lost = compareWith(texts);
  for (const some of inPages(ids, SOURCES_AT_ONCE)) await redactMadeFrom(tx, accountId, some, lost);
  await tx.execute(FORGET_DRAFTS, [accountId, JSON.stringify(ids)]);
}

/** An answer is kept for a day at most (`RECOVERY_WINDOW_S`), and seconds. */
const FORGET_DRAFTS = `
  delete from answers a using history h
   where h.party = ? and h.month is null and h.kind = 'draft' and h.ended_at > now() - interval '2 days' and a.id = h.id
     and exists (select from jsonb_path_query(h.report::jsonb, '$.context.*[*]') used
                  where used #>> '{}' in (select json_array_elements_text(?::json)))`;

async function redactMadeFrom(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
  lost: DeletedTexts | undefined,
): Promise<void> {
  for (let after = FIRST; ; ) {
    const rows = await tx.execute<MadeFrom[]>(MADE_FROM, [accountId, JSON.stringify(ids), after, AT_ONCE]);
    await redactRepeating(tx, accountId, rows, lost);
    const last = rows.at(-1);
    if (last === undefined || rows.length < AT_ONCE) return;
    after = last.id;
  }
}

const FIRST = '00000000-0000-0000-0000-000000000000';
/** Predictions that are compared at once: their prompts are long. */
const AT_ONCE = 20;
/** Rows of memory of which predictions are looked for in one statement. */
const SOURCES_AT_ONCE = 1000;

async function redactRepeating(
  tx: EntityManager,
  accountId: string,
  rows: readonly MadeFrom[],
  lost: DeletedTexts | undefined,
): Promise<void> {
  const repeating = async (textOf: (row: MadeFrom) => string) => {
    const derived = rows.map((row) => ({ id: row.id, text: textOf(row) }));
    return JSON.stringify(await findRepeating(tx, accountId, derived, lost));
  };
  await tx.execute(
    `update replies set agent_input = '' where id in (select json_array_elements_text(?::json)::uuid)`,
    [await repeating(({ asked }) => asked)],
  );
  await tx.execute(
    `update replies
        set response = '', reasoning = '', actual_response = null,
            candidates = (
              select coalesce(jsonb_agg(c || '{"response": "", "reasoning": ""}'), '[]') from jsonb_array_elements(candidates) c)
      where id in (select json_array_elements_text(?::json)::uuid)`,
    [await repeating(({ answered }) => answered)],
  );
}

/** Uses the index on what predictions were made from. */
const MADE_FROM = `
  select distinct on (r.id) r.id, r.agent_input as asked,
         concat_ws(E'\\n', r.response, r.reasoning, r.actual_response,
                   jsonb_path_query_array(r.candidates, '$[*].*')) as answered
    from (select ?::uuid as id) a
   cross join json_array_elements_text(?::json) row (id)
   cross join unnest(array['fact_ids', 'episode_ids', 'raw_ids', 'example_ids']) tier
   cross join lateral (
     select * from replies r
      where r.account_id = a.id and r.context @> jsonb_build_object(tier, jsonb_build_array(row.id)) offset 0) r
   where r.id > ?::uuid
   order by r.id limit ?`;
