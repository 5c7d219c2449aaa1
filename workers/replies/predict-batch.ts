import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { retryUntil } from '../../shared/db/retries.ts';
import { repeatableTransaction } from '../../shared/db/statement.ts';
import { assembleContext } from '../../shared/db/stores/memory/context.ts';
import type { Admission, AdmissionDecision, AdmissionTerms } from '../../shared/db/stores/work/admit.ts';
import { storeProgress } from '../../shared/db/stores/work/progress.ts';
import { inProject } from '../../shared/domain/project.ts';
import { fitCommon } from '../../shared/domain/replies/material.ts';
import type { AskerTerms, BatchBundle, BatchProgress } from '../../shared/domain/replies/work.ts';
import type { TraceFacts } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { idsOf, newIds } from '../../shared/ids.ts';
import { CONTEXT_DEFAULTS } from '../../shared/schemas/limits.ts';
import type { BatchInput } from '../../shared/schemas/replies.ts';
import { traceHeaders } from '../../shared/tracing/span.ts';
import { admissionTerms, admitWithin, jobAdmission } from '../../shared/work/admission.ts';
import { batchReply, type predictBatch } from '../../shared/work/kinds.ts';
import type { ClaimOf, Handler } from '../work/handler.ts';
import { type BasisDependencies, materialOf } from './basis.ts';

/** Maximum length of the text with which the memory is searched, in UTF-16 units. */
const SEARCH_CHARS_MAX = 2000;

interface PredictBatchDependencies extends BasisDependencies {
  settings: Pick<WorkerConfig, 'contextBudgetTokens' | 'recoveryWindowS'>;
}

/**
 * Creates the handler for a batch. It chooses memory rows that all prompts share, queues one part per prompt, and leaves
 * the batch to them.
 */
export function createPredictBatchHandler(
  dependencies: PredictBatchDependencies,
): Handler<typeof predictBatch> {
  return async (claim, { leftMs, addJobs }) => {
    const until = performance.now() + leftMs();
    const { prompts, ...common } = claim.input.take();
    const inputs = prompts.map((prompt) => prompt.agent_input);
    const bundle = await retryUntil(() => chooseBundle(dependencies, claim.party, { inputs, common }), until);
    const ids = newIds(prompts.length);
    const progress: BatchProgress = { steps: { done: 0, total: ids.length }, ids, bundle };
    const facts = { ...claim.facts, ...newTrace(claim.facts), batch: claim.id };
    const parts = ids.map((id, place) =>
      jobAdmission(batchReply, { id, accountId: claim.party, body: { ...common, ...prompts[place] }, facts }),
    );
    await retryUntil(() => {
      const terms = { process: claim.worker, recoveryWindowS: dependencies.settings.recoveryWindowS };
      const timeoutMs = Math.max(1, Math.floor(leftMs()));
      return leaveToParts(dependencies.em(), claim, progress, parts, { ...terms, timeoutMs });
    }, until);
    addJobs(ids.map((id) => ({ id, kind: batchReply.name, party: claim.party })));
    return { state: 'running' };
  };
}

/** Admits all parts, or none if the batch has ended or its account is being erased. */
function leaveToParts(
  em: EntityManager,
  claim: ClaimOf<typeof predictBatch>,
  progress: BatchProgress,
  parts: readonly Admission[],
  terms: Pick<AdmissionTerms, 'process' | 'recoveryWindowS' | 'timeoutMs'>,
): Promise<void> {
  return repeatableTransaction(em, async (tx) => {
    // The lock on the party's admissions comes before that on the batch.
    const admitted = await admitWithin(tx, batchReply, parts, admissionTerms(batchReply, terms));
    for (const { decision } of admitted) if (decision !== 'admitted') throw refusal(decision);
    await storeProgress(tx, claim, progress, null);
  });
}

function refusal(decision: Exclude<AdmissionDecision, 'admitted'>): Error {
  return decision === 'attached' || decision === 'ended'
    ? new Error(`a new prediction was ${decision}`)
    : new AppError(decision);
}

function newTrace({ trace }: AskerTerms & TraceFacts): TraceFacts {
  return trace === undefined ? {} : { trace: { ...trace, ...traceHeaders() } };
}

interface BatchPrompts {
  inputs: readonly string[];
  common: Pick<BatchInput, 'recency_minutes' | 'project'>;
}

async function chooseBundle(
  { em, inTurn, settings }: BasisDependencies,
  accountId: string,
  { inputs, common: { recency_minutes: recencyMinutes, project } }: BatchPrompts,
): Promise<BatchBundle> {
  const query = { ...CONTEXT_DEFAULTS, query: searchTextOf(inputs), recencyMinutes, ...inProject(project) };
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
