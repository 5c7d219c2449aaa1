import type { EntityManager } from '@mikro-orm/postgresql';
import { persistently } from '../../shared/db/retries.ts';
import { concernedBy, type Piece, storePiece } from '../../shared/db/stores/memory/promote-episodes.ts';
import { countSetAside, momentNow } from '../../shared/db/stores/memory/rows-to-promote.ts';
import { setAside } from '../../shared/db/stores/memory/set-aside.ts';
import { keepProgress, progressOf } from '../../shared/db/stores/work/progress.ts';
import { PROMOTE_LIMIT, type PromoteInput } from '../../shared/schemas/memory-jobs.ts';
import type { promoteEpisodes } from '../../shared/work/kinds.ts';
import type { Handler } from '../work/handler.ts';
import { failureOf, promoteEach, type Turns } from './ask.ts';
import { piecesToPromote } from './pieces.ts';
import {
  begun,
  laps,
  NO_USAGE,
  type PromotionParts,
  type PromotionProgress,
  spent,
  succeeded,
} from './promotion.ts';
import { writeEpisode } from './write-episode.ts';

interface EpisodesProgress extends PromotionProgress {
  /** When the first attempt began: `force` takes the rows that were promoted before. */
  begunAt: string;
}

/**
 * Summarises raw rows in episodes: cuts them into clusters, and asks the model once for each. Each episode is one
 * transaction with the progress, so that a later attempt goes on where this one ended.
 */
export function createPromoteEpisodes(parts: PromotionParts): Handler<typeof promoteEpisodes> {
  const { em, settings, log } = parts;
  return async (claim, allowance) => {
    const { id: workId, party: accountId, attempt, kind } = claim;
    const request = JSON.parse(claim.input) as PromoteInput;
    const { model = settings.defaultModel, limit = PROMOTE_LIMIT, since } = request;
    const lap = laps();
    const kept = () => progressOf<EpisodesProgress>(em(), claim);
    let progress = (await kept()) ?? { ...begun(model), begunAt: await momentNow(em()) };
    const promotedBefore = request.force === true ? progress.begunAt : undefined;
    const charge = { accountId, appId: null, workId, attempt, kind };

    /** Whether it was stored: not what somebody changed meanwhile. */
    const promote = async (piece: Piece, total: number): Promise<boolean> => {
      allowance.signal.throwIfAborted();
      const { draft, usage } = await writeEpisode(piece, model, parts, charge, allowance);
      const before = spent(progress, usage, lap());
      const within = async (tx: EntityManager, id: string | undefined) => {
        progress = { ...before, ...advanced(before, piece, id, total) };
        await keepProgress(tx, claim, progress);
      };
      const store = () => storePiece(em(), accountId, piece, draft, { promotedBefore, within });
      const isStored = await persistently(store, performance.now() + allowance.leftMs());
      // It may have been stored, and its confirmation lost.
      if (!isStored) progress = spent((await kept()) ?? progress, usage, lap());
      return isStored;
    };

    /** None once an episode was written anew, as a whole, that has more rows than were left. */
    const rowsLeft = () => Math.max(0, limit - progress.considered);

    for (;;) {
      const left = rowsLeft();
      const terms = { since, limit: left, promotedBefore, settledOnly: request.settled_only === true };
      const pieces = left > 0 ? await piecesToPromote(em(), accountId, terms) : [];
      const total = progress.steps.done + pieces.length;
      let changed = false;
      const turns: Turns<Piece> = {
        promote: async (piece) => {
          if (!(await promote(piece, total))) changed = true;
          return piece.kind !== 'summarised';
        },
        partsOf,
        setAside: async (piece, { fault, message }) => {
          log.warn({ work: workId, fault, reason: message, rows: piece.rows.length }, 'set aside');
          const note = () => setAside(em(), accountId, concernedBy(piece));
          await persistently(note, performance.now() + allowance.leftMs());
        },
      };
      const failure = await promoteEach(pieces, turns, allowance, settings.providerTimeoutMs);
      if (failure !== undefined) {
        log.warn({ work: workId, fault: failure.fault, reason: failure.message }, 'provider failed');
        return failureOf(failure);
      }
      if (changed) continue;
      const rest = { since, limit: rowsLeft(), promotedBefore };
      return succeeded(spent(progress, NO_USAGE, lap()), await countSetAside(em(), accountId, rest));
    }
  };
}

/** The halves of a cluster; an episode is written anew as a whole. */
function partsOf(piece: Piece): Piece[] {
  if (piece.kind !== 'new' || piece.rows.length === 1) return [piece];
  const middle = Math.floor(piece.rows.length / 2);
  return [piece.rows.slice(0, middle), piece.rows.slice(middle)].map((rows) => ({ kind: 'new', rows }));
}

/** The counts once a piece is stored, as the episode of that id, or as none. */
function advanced(
  { steps, considered, created, updated, skipped, ids }: PromotionProgress,
  { rows, kind }: Piece,
  id: string | undefined,
  total: number,
): Partial<PromotionProgress> {
  return {
    // Parts of a cluster that failed count each.
    steps: { done: steps.done + 1, total: Math.max(total, steps.done + 1) },
    considered: considered + rows.length,
    created: created + Number(id !== undefined && kind === 'new'),
    updated: updated + Number(id !== undefined && kind === 'again'),
    skipped: skipped + (id === undefined ? rows.length : 0),
    ids: id === undefined ? ids : [...ids, id],
  };
}
