import type { EntityManager } from '@mikro-orm/postgresql';
import { retryUntil } from '../../shared/db/retries.ts';
import {
  readChosenPage,
  readUnsyncedPage,
  SYNC_PAGE_MAX,
  type SyncCursor,
  type SyncPage,
  sessionsToSync,
  storeSyncPage,
} from '../../shared/db/stores/memory/sync.ts';
import { readProgress, storeProgress } from '../../shared/db/stores/work/progress.ts';
import type { Steps } from '../../shared/domain/work.ts';
import type { SyncRequest, SyncResult } from '../../shared/schemas/jobs.ts';
import type { sync } from '../../shared/work/kinds.ts';
import type { Handler } from '../work/handler.ts';

/** Progress of a sync. */
interface SyncProgress extends SyncResult {
  steps: Steps;
  cursor?: SyncCursor;
}

/** Reads the next page, of at most `size` events. */
type NextPage = (accountId: string, progress: SyncProgress, size: number) => Promise<SyncPage | undefined>;

/**
 * Takes recorded events into an account's memory, page by page. Each page is stored in one transaction with the
 * progress, so that a later attempt continues where this one ended.
 */
export function createSync(em: () => EntityManager): Handler<typeof sync> {
  return async (claim, { signal, leftMs }) => {
    const { party: accountId } = claim;
    const request = claim.input.take();
    const next = pagesOf(em, request);
    let progress =
      (await readProgress<SyncProgress>(em(), claim)) ??
      initialProgress(await sessionsToSync(em(), accountId, request));
    for (;;) {
      signal.throwIfAborted();
      const left = (request.limit ?? Number.POSITIVE_INFINITY) - progress.scanned;
      if (left === 0) break;
      const page = await next(accountId, progress, Math.min(left, SYNC_PAGE_MAX));
      if (page === undefined) break;
      const before = progress;
      const keep = async (tx: EntityManager, created: number) => {
        progress = progressAfter(before, page, created);
        await storeProgress(tx, claim, progress);
      };
      await retryUntil(() => storeSyncPage(em(), accountId, page, keep), performance.now() + leftMs());
    }
    const { steps, scanned, created, skipped, last_event_at } = progress;
    const result = { scanned, created, skipped, last_event_at };
    return { state: 'succeeded', report: { steps: { done: steps.total, total: steps.total }, result } };
  };
}

function pagesOf(em: () => EntityManager, request: SyncRequest): NextPage {
  return request.since === undefined && request.session_id === undefined
    ? (accountId, _, size) => readUnsyncedPage(em(), accountId, size)
    : (accountId, { cursor }, size) => readChosenPage(em(), accountId, request, cursor, size);
}

function initialProgress(sessions: number): SyncProgress {
  return { steps: { done: 0, total: sessions }, scanned: 0, created: 0, skipped: 0, last_event_at: null };
}

function progressAfter(
  { steps, scanned, created: before, skipped, last_event_at }: SyncProgress,
  { session, events, last }: SyncPage,
  created: number,
): SyncProgress {
  return {
    steps: { ...steps, done: Math.min(steps.total, steps.done + Number(last)) },
    scanned: scanned + events.length,
    created: before + created,
    skipped: skipped + events.length - created,
    last_event_at: latestMoment(last_event_at, events),
    cursor: { session, arrival: events.at(-1)?.arrival ?? 0 },
  };
}

function latestMoment(before: string | null, events: SyncPage['events']): string | null {
  const moments = events.map(({ occurredMs }) => occurredMs);
  if (before !== null) moments.push(Date.parse(before));
  return moments.length === 0 ? null : new Date(Math.max(...moments)).toISOString();
}
