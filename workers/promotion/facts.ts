import type { EntityManager } from '@mikro-orm/postgresql';
import { persistently } from '../../shared/db/retries.ts';
import {
  countSetAsideSources,
  type FoundSource,
  factSources,
  sourcesOf,
} from '../../shared/db/stores/memory/fact-sources.ts';
import {
  type Distilled,
  SourcesChanged,
  type Stored,
  storeStatements,
} from '../../shared/db/stores/memory/promote-facts.ts';
import { momentNow } from '../../shared/db/stores/memory/rows-to-promote.ts';
import { setAside } from '../../shared/db/stores/memory/set-aside.ts';
import { keepProgress, progressOf } from '../../shared/db/stores/work/progress.ts';
import { PROMOTE_LIMIT, type PromoteInput } from '../../shared/schemas/memory-jobs.ts';
import type { promoteFacts } from '../../shared/work/kinds.ts';
import type { Handler } from '../work/handler.ts';
import { failureOf, promoteEach, type Turns } from './ask.ts';
import { distil } from './distil-facts.ts';
import {
  begun,
  laps,
  NO_USAGE,
  type PromotionParts,
  type PromotionProgress,
  spent,
  succeeded,
} from './promotion.ts';

interface FactsProgress extends PromotionProgress {
  /** When the first attempt began: `force` takes the episodes that were promoted before. */
  begunAt: string;
}

/** Sources of one question at most. */
const AT_ONCE = 8;
/** How often sources are read anew that were changed meanwhile. What changes faster waits for the next promotion. */
const TRIES = 3;

/**
 * Distils facts from episodes, and writes stale facts anew: asks the model once for some of them at a time. What an answer
 * comes to is one transaction with the progress, so that a later attempt goes on where this one ended.
 */
export function createPromoteFacts(parts: PromotionParts): Handler<typeof promoteFacts> {
  const { em, settings, log } = parts;
  return async (claim, allowance) => {
    const { id: workId, party: accountId, attempt, kind } = claim;
    const request = JSON.parse(claim.input) as PromoteInput;
    const { model = settings.defaultModel, limit = PROMOTE_LIMIT, since, force = false } = request;
    const settledOnly = request.settled_only === true;
    const lap = laps();
    const kept = () => progressOf<FactsProgress>(em(), claim);
    let progress = (await kept()) ?? { ...begun(model), begunAt: await momentNow(em()) };
    const charge = { accountId, appId: null, workId, attempt, kind };

    /** Whether it was stored: not when memory has changed meanwhile. */
    const store = async (distilled: Distilled): Promise<boolean> => {
      const before = progress;
      const within = async (tx: EntityManager, stored: Stored) => {
        progress = { ...before, ...advanced(before, distilled.sources.length, stored) };
        await keepProgress(tx, claim, progress);
      };
      const storing = () => storeStatements(em(), accountId, distilled, within);
      try {
        await persistently(storing, performance.now() + allowance.leftMs());
        return true;
      } catch (error) {
        if (!(error instanceof SourcesChanged)) throw error;
        // It may have been stored, and its confirmation lost.
        progress = spent((await kept()) ?? before, NO_USAGE, 0);
        return false;
      }
    };

    const done = new Set<string>();
    const isLeft = ({ id }: FoundSource) => !done.has(id);
    /** Promotes some of these; none when memory has changed meanwhile. Resolves with whether a model was asked. */
    const promoteSome = async (named: readonly FoundSource[]): Promise<boolean> => {
      allowance.signal.throwIfAborted();
      const sources = await sourcesOf(em(), accountId, named);
      for (const { id } of named) if (!sources.some((source) => source.id === id)) done.add(id);
      if (sources.length === 0) return false;
      const { distilled, usage } = await distil(em(), accountId, sources, model, {
        ...parts,
        charge,
        allowance,
      });
      progress = spent(progress, usage, lap());
      if (await store(distilled)) for (const { id } of distilled.sources) done.add(id);
      return usage !== NO_USAGE;
    };
    const turns: Turns<readonly FoundSource[]> = {
      promote: async (piece) => {
        let rest = piece.filter(isLeft);
        let asked = false;
        for (let tries = TRIES; rest.length > 0 && tries > 0; ) {
          const before = rest.length;
          asked = (await promoteSome(rest)) || asked;
          rest = rest.filter(isLeft);
          if (rest.length === before) tries -= 1;
        }
        return asked;
      },
      partsOf: (piece) => piece.filter(isLeft).map((source) => [source]),
      setAside: async (piece, { fault, message }) => {
        const left = piece.filter(isLeft);
        log.warn({ work: workId, fault, reason: message, sources: left.length }, 'set aside');
        const idsOf = (wanted: string) => left.flatMap(({ tier, id }) => (tier === wanted ? id : []));
        const concerned = { episodes: idsOf('episode'), facts: idsOf('fact') };
        const note = () => setAside(em(), accountId, concerned);
        await persistently(note, performance.now() + allowance.leftMs());
      },
    };

    const left = limit - progress.considered;
    const choice = { since, promotedBefore: force ? progress.begunAt : undefined, settledOnly };
    const found = left > 0 ? await factSources(em(), accountId, choice, left) : [];
    progress = { ...progress, steps: { ...progress.steps, total: progress.steps.done + found.length } };
    const failure = await promoteEach(chunksOf(found), turns, allowance, settings.providerTimeoutMs);
    if (failure !== undefined) {
      log.warn({ work: workId, fault: failure.fault, reason: failure.message }, 'provider failed');
      return failureOf(failure);
    }
    const rest = limit - progress.considered;
    return succeeded(
      spent(progress, NO_USAGE, lap()),
      await countSetAsideSources(em(), accountId, choice, rest),
    );
  };
}

/** What a promotion has failed about is asked about by itself: the fault may be another's. */
function chunksOf(found: readonly FoundSource[]): FoundSource[][] {
  const fresh = found.filter(({ hasFailed }) => !hasFailed);
  const chunks = Array.from({ length: Math.ceil(fresh.length / AT_ONCE) }, (_, at) =>
    fresh.slice(at * AT_ONCE, (at + 1) * AT_ONCE),
  );
  return [...chunks, ...found.filter(({ hasFailed }) => hasFailed).map((source) => [source])];
}

/** The counts once some sources are done. A fact counts once, however often it was changed: as created, if it was. */
function advanced(
  { steps, considered, created: before, skipped, ids }: PromotionProgress,
  sources: number,
  stored: Stored,
): Partial<PromotionProgress> {
  const created = before + stored.created;
  const touched = [...new Set([...ids, ...stored.ids])];
  return {
    steps: { ...steps, done: steps.done + sources },
    considered: considered + sources,
    created,
    updated: touched.length - created,
    skipped: skipped + stored.skipped,
    ids: touched,
  };
}
