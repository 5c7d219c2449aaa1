import type { EntityManager } from '@mikro-orm/postgresql';
import { retryUntil } from '../../shared/db/retries.ts';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import { readProgress, storeProgress } from '../../shared/db/stores/work/progress.ts';
import { fitCommon } from '../../shared/domain/replies/material.ts';
import type { BatchBundle, BatchProgress } from '../../shared/domain/replies/work.ts';
import { newIds } from '../../shared/ids.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import type { BatchRequest } from '../../shared/schemas/replies.ts';
import type { predictBatch } from '../../shared/work/kinds.ts';
import type { ClaimOf, Handler, HandlerContext } from '../work/handler.ts';
import { type BasisDependencies, materialOf } from './basis.ts';

/** Maximum length of the text with which the memory is searched, in UTF-16 units. */
const SEARCH_CHARS_MAX = 2000;

/**
 * Creates the handler for a batch. It chooses memory rows that all prompts share, and admits one part (a child job) per
 * prompt. A retry finds the parts that an earlier attempt admitted.
 */
export function createPredictBatchHandler(dependencies: BasisDependencies): Handler<typeof predictBatch> {
  return async (claim, context) => {
    const { ids, begunWithMs } = await begin(dependencies, claim, context);
    await context.parts.waitForEnd(ids);
    const steps = { done: ids.length, total: ids.length };
    const latency_ms = Math.round(begunWithMs - context.leftMs());
    return { state: 'succeeded', report: { steps, result: { ids, latency_ms } } };
  };
}

/** Separate from the handler, so that the prompts can be garbage-collected while the handler waits. */
async function begin(
  dependencies: BasisDependencies,
  claim: ClaimOf<typeof predictBatch>,
  context: HandlerContext,
): Promise<Pick<BatchProgress, 'ids' | 'begunWithMs'>> {
  const until = performance.now() + context.leftMs();
  const { prompts, ...common } = claim.input.take();
  const inputs = prompts.map((prompt) => prompt.agent_input);
  const loadProgress = () =>
    loadOrCreateProgress(dependencies, claim, { inputs, common, leftMs: context.leftMs });
  const { ids, begunWithMs } = await retryUntil(loadProgress, until);
  await context.parts.admit(
    ids.map((id, place) => ({ id, facts: { batch: claim.id }, body: { ...common, ...prompts[place] } })),
  );
  return { ids, begunWithMs };
}

interface BatchPrompts {
  inputs: readonly string[];
  common: Pick<BatchRequest, 'recency_minutes'>;
  leftMs(): number;
}

async function loadOrCreateProgress(
  dependencies: BasisDependencies,
  claim: ClaimOf<typeof predictBatch>,
  prompts: BatchPrompts,
): Promise<BatchProgress> {
  const em: EntityManager = dependencies.em();
  const storedProgress = await readProgress<BatchProgress>(em, claim);
  if (storedProgress !== undefined) return storedProgress;
  const progress = {
    steps: { done: 0, total: prompts.inputs.length },
    ids: newIds(prompts.inputs.length),
    begunWithMs: prompts.leftMs(),
    bundle: await chooseBundle(dependencies, claim.party, prompts),
  };
  await storeProgress(em, claim, progress);
  return progress;
}

async function chooseBundle(
  { em, inTurn, settings }: BasisDependencies,
  accountId: string,
  { inputs, common: { recency_minutes: recencyMinutes } }: BatchPrompts,
): Promise<BatchBundle> {
  const query = { ...CONTEXT_DEFAULTS, query: searchTextOf(inputs), recencyMinutes };
  const reader = { party: accountId, memory: accountId };
  const bundle = await inTurn(reader, () => assembleContext(em(), accountId, query));
  const { profile, facts, episodes, raw, truncated } = fitCommon(
    inputs,
    materialOf(bundle),
    settings.contextBudgetTokens,
  );
  return {
    memoryRevision: bundle.meta.revision,
    profile: {
      summary: (profile?.summary ?? '') !== '',
      data: Object.keys(profile?.data ?? {}).length > 0,
    },
    factIds: idsOf(facts),
    episodeIds: idsOf(episodes),
    rawIds: idsOf(raw),
    truncated: truncated || bundle.meta.timed_out,
  };
}

/**
 * Joins the ends of all prompts, because a prompt usually ends with its question. All ends have the same maximum length.
 * Only the last words of the text are looked up, so the prompts take turns: the last word of each prompt comes last,
 * before these the last but one of each, and so on.
 */
function searchTextOf(inputs: readonly string[]): string {
  const share = Math.floor(SEARCH_CHARS_MAX / inputs.length) - 1;
  const ends = inputs.map((input) => input.slice(-share).toWellFormed().split(/\s+/).filter(Boolean));
  const longest = Math.max(...ends.map((words) => words.length));
  const inTurn = Array.from({ length: longest }, (_, place) =>
    ends.flatMap((words) => words.at(place - longest) ?? []),
  );
  return inTurn.flat().join(' ');
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
