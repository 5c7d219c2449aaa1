import type { EntityManager } from '@mikro-orm/postgresql';
import { createBatcher } from '../../shared/db/batcher.ts';
import type { ListedReply } from '../../shared/db/entities/reply.ts';
import { findEndedIds, findEndedReplies, measureReplies } from '../../shared/db/stores/replies/rows.ts';
import type { BatchProgress, BatchReport } from '../../shared/domain/replies/work.ts';
import type { BatchItem, BatchResponse } from '../../shared/schemas/replies.ts';
import type { JobView } from '../jobs/service.ts';
import { presentAnswer } from './present.ts';

const BATCHES_PER_READ_MAX = 100;

/** A batch stores only its latency and the ids of its predictions; their rows have the results and the usage. */
export function batchView(em: () => EntityManager): JobView {
  const rowsOf = async (accountId: string, ids: readonly string[]) => {
    const rows = ids.length === 0 ? [] : await findEndedReplies(em(), accountId, ids);
    return new Map(rows.map((row) => [row.id, row]));
  };
  const readEnded = async (batches: string[][]) => {
    const ended = await findEndedIds(em(), batches.flat());
    return batches.map((ids) => ids.filter((id) => ended.has(id)));
  };
  const selectEnded = createBatcher(readEnded, { maxItems: BATCHES_PER_READ_MAX });
  return {
    async steps(_, progressOrResult) {
      const ids = idsIn(progressOrResult);
      return { done: (await selectEnded(ids)).length, total: ids.length };
    },

    async readUpdate(accountId, progressOrResult, shown) {
      const ids = idsIn(progressOrResult);
      const endedIds = await selectEnded(ids.filter((_, index) => !shown.has(index)));
      const rows = await rowsOf(accountId, endedIds);
      const items = ids.flatMap((id, index) => (rows.has(id) ? itemOf(index, rows.get(id)) : []));
      return { steps: { done: shown.size + endedIds.length, total: ids.length }, items };
    },

    async result(accountId, reported, reserve): Promise<BatchResponse> {
      // The worker's batch handler wrote this report.
      const { ids, latency_ms } = reported as BatchReport;
      await reserve(await measureReplies(em(), accountId, ids));
      const rows = await rowsOf(accountId, ids);
      const results = ids.map((id, index) => itemOf(index, rows.get(id)));
      const succeeded = results.filter((item) => 'prediction' in item).length;
      const sum = (tokensOf: (row: ListedReply) => number) =>
        [...rows.values()].reduce((all, row) => all + tokensOf(row), 0);
      return {
        results,
        succeeded,
        failed: results.length - succeeded,
        usage: {
          input_tokens: sum(({ inputTokens }) => inputTokens),
          output_tokens: sum(({ outputTokens }) => outputTokens),
        },
        latency_ms,
      };
    },
  };
}

/** Returns no ids before the batch has begun. */
function idsIn(progressOrResult: unknown): string[] {
  return (progressOrResult as BatchProgress | BatchReport | null)?.ids ?? [];
}

/** `row` is undefined if a failover of the database lost it. */
function itemOf(index: number, row: ListedReply | undefined): BatchItem {
  if (row === undefined || row.error != null)
    return { index, error: { code: row?.error ?? 'internal_error' } };
  return { index, prediction: presentAnswer(row) };
}
