import type { EntityManager } from '@mikro-orm/postgresql';
import type { BatchReport, ReplyReport } from '../../../domain/replies/work.ts';
import type { JobReport } from '../../../domain/work.ts';
import { idsOf } from '../../../ids.ts';
import { jobRows, withJobKeys } from '../jobs.ts';
import { findLiveIds } from '../work/claim.ts';
import type { KindRows } from '../work/rows.ts';
import { replyRows } from './outcome.ts';

const TIMED_OUT = { state: 'failed', code: 'prediction_timeout' } as const;
const CANCELLED = { state: 'cancelled', code: 'prediction_cancelled' } as const;

/**
 * Once its predictions are queued, no worker runs a batch: its last prediction ends it, and at its deadline it succeeds
 * with what is done. However it ends, predictions that are left end with it.
 */
export const batchRows: KindRows<JobReport<BatchReport>> = {
  async ending(tx, ending) {
    const batch = await withJobKeys(tx, ending);
    const overdue = batch.filter(({ guard }) => guard === 'overdue');
    const begun = new Map((await readBegun(tx, idsOf(overdue))).map((one) => [one.id, one]));
    return batch.map(({ code, ...one }) => {
      const found = begun.get(one.id);
      return { ...one, ...(found ? successOf(found) : code && { code }) };
    });
  },

  async ended(tx, ended) {
    await jobRows.ended(tx, ended);
    const ends = new Map(ended.map(({ id, state }) => [id, state === 'succeeded' ? TIMED_OUT : CANCELLED]));
    const party = ended[0]?.party ?? '';
    const parts = await tx.execute<{ id: string; batch: string }[]>(
      `select id, facts::json ->> 'batch' as batch from work
        where kind = 'batch_reply' and party = ? and (facts::json ->> 'batch')::uuid = any (?::uuid[])`,
      [party, uuids(idsOf(ended))],
    );
    return parts.map(({ id, batch }) => ({
      id,
      kind: 'batch_reply',
      party,
      month: null,
      guard: 'live',
      ...(ends.get(batch) ?? CANCELLED),
    }));
  },
};

/** Rows of the predictions of batches. */
export const partRows: KindRows<ReplyReport> = {
  ...replyRows,

  /** Locks the batches first, so that of predictions that end at the same time the last one finds no other left. */
  async ending(tx, batch) {
    const rows = await tx.execute<{ id: string; parent: string }[]>(
      `select p.id, b.id as parent from work p join work b on b.id = (p.facts::json ->> 'batch')::uuid
        where p.id = any (?::uuid[]) order by b.id for update of b`,
      [uuids(idsOf(batch))],
    );
    const parents = new Map(rows.map(({ id, parent }) => [id, parent]));
    return batch.map((one) => {
      const parent = parents.get(one.id);
      return parent === undefined ? one : { ...one, parent };
    });
  },

  async ended(tx, ended) {
    await replyRows.ended(tx, ended);
    const begun = await readBegun(tx, [...new Set(ended.flatMap(({ parent }) => parent ?? []))]);
    const ids = begun.flatMap((one) => one.ids);
    const live = new Set(await findLiveIds(tx, ids));
    return begun
      .filter((one) => !one.ids.some((id) => live.has(id)))
      .map((one) => ({
        id: one.id,
        kind: 'predict_batch',
        party: one.party,
        month: null,
        guard: 'live',
        ...successOf(one),
      }));
  },
};

interface BegunBatch extends BatchReport {
  id: string;
  party: string;
}

/** Reads those batches whose predictions are queued. */
async function readBegun(tx: EntityManager, ids: readonly string[]): Promise<BegunBatch[]> {
  if (ids.length === 0) return [];
  return tx.execute<BegunBatch[]>(
    `select id, party, progress::json -> 'ids' as ids,
            round(extract(epoch from clock_timestamp() - started_at) * 1000)::float8 as latency_ms
       from work where id = any (?::uuid[]) and progress is not null`,
    [uuids(ids)],
  );
}

function successOf({ ids, latency_ms }: BegunBatch) {
  const steps = { done: ids.length, total: ids.length };
  return { state: 'succeeded', report: { steps, result: { ids, latency_ms } } };
}

const uuids = (ids: readonly string[]) => `{${ids.join()}}`;
