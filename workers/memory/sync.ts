import type { EntityManager } from '@mikro-orm/postgresql';
import { retryUntil } from '../../shared/db/retries.ts';
import type { Connections } from '../../shared/db/statement.ts';
import {
  countSessionsToSync,
  endOfPage,
  type PreparedPage,
  preparePage,
  readChosenPage,
  readUnsyncedPage,
  SYNC_PAGE_MAX,
  type SyncCursor,
  type SyncPage,
  storeSyncPage,
} from '../../shared/db/stores/memory/sync.ts';
import { settlePredictions } from '../../shared/db/stores/replies/settle.ts';
import { readProgress } from '../../shared/db/stores/work/progress.ts';
import type { Steps } from '../../shared/domain/work.ts';
import type { SyncRequest, SyncResult } from '../../shared/schemas/jobs.ts';
import type { sync } from '../../shared/work/kinds.ts';
import type { Handler } from '../work/handler.ts';

interface SyncProgress extends Omit<SyncResult, 'skipped'> {
  steps: Steps;
  /** Number of events before the latest page. */
  from: number;
  cursor?: SyncCursor;
}

/**
 * Stores each page in one transaction with the progress, so that a later attempt continues where this attempt ended.
 */
export function createSyncHandler({ pool, em }: Connections): Handler<typeof sync> {
  return async (claim, { signal, leftMs }) => {
    const request = claim.input.take();
    // A retry reads the stored progress again, because a crash of the server may have undone the latest page.
    const takeIn = async () => {
      let progress =
        (await readProgress<SyncProgress>(em(), claim)) ??
        initialProgress(await countSessionsToSync(em(), claim.party, request));
      let createdCount = Promise.resolve(progress.created);
      try {
        for await (const preparedPage of readAhead(pagesToSync(em, claim.party, request, progress))) {
          signal.throwIfAborted();
          progress = progressAfter(progress, preparedPage.page);
          const previousCount = createdCount;
          createdCount = storeSyncPage(pool, claim, preparedPage, progress);
          // An error is thrown later, where `createdCount` is awaited.
          createdCount.catch(() => undefined);
          await previousCount;
        }
      } finally {
        await Promise.allSettled([createdCount]);
      }
      return { ...progress, created: await createdCount };
    };
    const progress = await retryUntil(takeIn, performance.now() + leftMs());
    const { steps, scanned, created, last_event_at } = progress;
    if (created > 0) await settlePredictions(em(), claim.party);
    const result = { scanned, created, skipped: scanned - created, last_event_at };
    return { state: 'succeeded', report: { steps: { done: steps.total, total: steps.total }, result } };
  };
}

async function* pagesToSync(
  em: () => EntityManager,
  accountId: string,
  request: SyncRequest,
  { scanned, cursor }: SyncProgress,
): AsyncGenerator<PreparedPage, undefined> {
  const takesAllNew = request.since === undefined && request.session_id === undefined;
  const read = (size: number, after?: SyncCursor) =>
    takesAllNew
      ? readUnsyncedPage(em(), accountId, size, after)
      : readChosenPage(em(), accountId, request, size, after);
  let left = (request.limit ?? Number.POSITIVE_INFINITY) - scanned;
  for (let after = cursor; left > 0; ) {
    const page = await read(Math.min(left, SYNC_PAGE_MAX), after);
    if (page === undefined) return;
    yield preparePage(page);
    left -= page.events.length;
    after = endOfPage(page);
  }
}

/** Reads each item while the caller works on the previous one. */
async function* readAhead<Item>(items: AsyncGenerator<Item, undefined>): AsyncGenerator<Item, undefined> {
  for (let next = items.next(); ; ) {
    const { value } = await next;
    if (value === undefined) return;
    next = items.next();
    // An error is thrown when the caller asks for the item, and ignored if the caller never asks.
    next.catch(() => undefined);
    yield value;
  }
}

function initialProgress(sessions: number): SyncProgress {
  return { steps: { done: 0, total: sessions }, from: 0, scanned: 0, created: 0, last_event_at: null };
}

function progressAfter(
  { steps, scanned, created, last_event_at }: SyncProgress,
  page: SyncPage,
): SyncProgress {
  return {
    steps: { ...steps, done: Math.min(steps.total, steps.done + Number(page.last)) },
    from: scanned,
    scanned: scanned + page.events.length,
    created,
    last_event_at: latestMoment(last_event_at, page.events),
    cursor: endOfPage(page),
  };
}

function latestMoment(before: string | null, events: SyncPage['events']): string | null {
  const moments = events.map(({ occurredMs }) => occurredMs);
  if (before !== null) moments.push(Date.parse(before));
  return moments.length === 0 ? null : new Date(Math.max(...moments)).toISOString();
}
