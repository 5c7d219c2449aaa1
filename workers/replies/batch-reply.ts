import { retryUntil } from '../../shared/db/retries.ts';
import { readBatchBundle, readBatchMemory } from '../../shared/db/stores/replies/basis.ts';
import { fitBesideCommon } from '../../shared/domain/replies/material.ts';
import type { BatchBundle } from '../../shared/domain/replies/work.ts';
import type { ReplyRequest } from '../../shared/schemas/replies.ts';
import type { batchReply } from '../../shared/work/kinds.ts';
import type { AttemptContext, Handler } from '../work/handler.ts';
import { type Basis, EXAMPLES_MAX, readHistory } from './basis.ts';
import { createReplyPredictor, type ReplyDependencies } from './reply.ts';
import { type ScreenedMaterial, screenExamples, screenMaterial } from './screen.ts';

interface SharedBasis extends Awaited<ReturnType<typeof readHistory>> {
  screened: ScreenedMaterial;
  memoryRevision: number;
}

/**
 * Creates the handler for a reply of a batch. Concurrent replies of one batch in this process read the memory only
 * once. A reply is cancelled if its batch has ended.
 */
export function createBatchReplyHandler(
  dependencies: ReplyDependencies,
): Handler<typeof batchReply, AttemptContext> {
  const { em, inTurn, settings } = dependencies;
  const predict = createReplyPredictor(dependencies);
  const sharedBases = new SharedWhileUsed<SharedBasis>();
  return async (claim, context) => {
    const { batch } = claim.facts;
    const request = claim.input.take();
    const limitedContext = limitTime(settings.replyTimeoutMs, context);
    const until = performance.now() + limitedContext.leftMs();
    const batchBundle = await retryUntil(() => readBatchBundle(em(), batch), until);
    if (batchBundle === undefined) return { state: 'cancelled', code: 'prediction_cancelled' };
    // Omits `gone`: other replies may wait for this read, so it must continue if this reply is aborted.
    const reader = { party: claim.party, memory: claim.party };
    const read = () =>
      inTurn(reader, () => readSharedBasis(dependencies, claim.party, request.project, batchBundle.bundle));
    // The key contains the memory's revision, so that a changed memory is read again, and no deleted row is used.
    return sharedBases.use(`${batch} ${batchBundle.revision}`, read, (common) =>
      predict(claim, request, limitedContext, async () => basisOf(await common(), request, settings)),
    );
  };
}

function limitTime(ms: number, context: AttemptContext): AttemptContext {
  const until = performance.now() + ms;
  return { ...context, leftMs: () => Math.min(context.leftMs(), until - performance.now()) };
}

async function readSharedBasis(
  { em }: ReplyDependencies,
  accountId: string,
  project: string | undefined,
  bundle: BatchBundle,
): Promise<SharedBasis> {
  const { profile, ...rows } = await readBatchMemory(em(), accountId, bundle);
  const fittedProfile = profile && {
    summary: bundle.profile.summary ? profile.summary : '',
    data: bundle.profile.data ? profile.data : {},
  };
  const { memoryRevision, truncated } = bundle;
  const material = { ...rows, profile: fittedProfile, examples: [], prompt: '', truncated };
  const history = await readHistory(em(), accountId, project);
  return { ...history, screened: await screenMaterial([], material), memoryRevision };
}

function basisOf(
  { screened, voteOn, pairs, precedents, calibrator, memoryRevision }: SharedBasis,
  { agent, agent_input: prompt }: ReplyRequest,
  { contextBudgetTokens }: ReplyDependencies['settings'],
): Basis {
  const vote = voteOn(prompt);
  const examples = vote.neighbours.slice(0, EXAMPLES_MAX);
  const fitted = fitBesideCommon(prompt, screened.material, examples, contextBudgetTokens);
  return {
    screened: screenExamples([prompt, agent], fitted, screened),
    vote,
    pairs,
    supportOf: precedents.supportFor(prompt),
    calibrator,
    memoryRevision,
  };
}

/** Makes one value for all callers that use the same key at the same time. */
class SharedWhileUsed<Value> {
  readonly #values = new Map<string, { promise: Promise<Value> | undefined; users: number }>();

  async use<Result>(
    key: string,
    make: () => Promise<Value>,
    work: (value: () => Promise<Value>) => Promise<Result>,
  ): Promise<Result> {
    const entry = this.#values.get(key) ?? { promise: undefined, users: 0 };
    this.#values.set(key, entry);
    entry.users += 1;
    const value = () =>
      (entry.promise ??= make().catch((error: unknown) => {
        entry.promise = undefined;
        throw error;
      }));
    try {
      return await work(value);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.#values.delete(key);
    }
  }
}
