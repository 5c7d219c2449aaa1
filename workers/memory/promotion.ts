import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { retryUntil } from '../../shared/db/retries.ts';
import { MemoryChanged } from '../../shared/db/stores/memory/change.ts';
import { databaseNowText } from '../../shared/db/stores/memory/rows-to-promote.ts';
import { type AffectedRows, setAside } from '../../shared/db/stores/memory/set-aside.ts';
import { readProgress, storeProgress } from '../../shared/db/stores/work/progress.ts';
import type { End, JobReport, Steps } from '../../shared/domain/work.ts';
import { PROMOTE_LIMIT_DEFAULT, type PromoteInput, type PromoteResult } from '../../shared/schemas/jobs.ts';
import type { promoteEpisodes, promoteFacts } from '../../shared/work/kinds.ts';
import {
  chargeOfAccount,
  NO_USAGE,
  type Provider,
  type ProviderError,
  providerFailureEnd,
  type StructuredAnswer,
  type StructuredQuestion,
  type Usage,
} from '../providers/provider.ts';
import type { ClaimOf, HandlerContext } from '../work/handler.ts';
import { type PieceSteps, promoteEach } from './piece-by-piece.ts';

/** Time reserved at the end of a job to store the last answer. */
const STORING_RESERVE_MS = 250;
/**
 * Maximum number of tries when rows change during the model call. After the last try, such rows are left to the next
 * promotion.
 */
export const TRIES_MAX = 3;

export interface PromotionDependencies {
  em: () => EntityManager;
  providerOf: (model: string) => Provider;
  settings: Pick<WorkerConfig, 'defaultModel' | 'providerTimeoutMs'>;
}

type PromotionKind = typeof promoteEpisodes | typeof promoteFacts;

interface PromotionRun extends PromotionDependencies {
  claim: ClaimOf<PromotionKind>;
  context: HandlerContext;
}

export interface PromotionProgress extends PromoteResult {
  steps: Steps;
  /** Start of the first attempt. With `force`, rows that were promoted before this time are promoted again. */
  begunAt: string;
}

export interface PromotionSteps<Piece> extends PieceSteps<Piece> {
  findPieces(): Promise<readonly Piece[]>;
  /**
   * True if pieces have changed since `findPieces` returned them. `findPieces` is then called again, up to `TRIES_MAX`
   * times in all.
   */
  readonly hasChanged: boolean;
  /** Counts the rows that are set aside, but no more than may still be promoted. */
  countSetAside(): Promise<number>;
}

/** Rolls back a transaction that would store results again. */
class AlreadyStored extends Error {
  override readonly name = 'AlreadyStored';
}

export class Promotion {
  readonly model: string;
  readonly selection: { since: string | undefined; promotedBefore: string | undefined; settledOnly: boolean };
  /** Null if the provider is no language model. */
  readonly ask: (<Answer>(question: StructuredQuestion<Answer>) => Promise<StructuredAnswer<Answer>>) | null;
  readonly #run: PromotionRun;
  readonly #limit: number;
  #progress: PromotionProgress;
  /** The progress that the latest try to store results has stored, if its transaction is committed. */
  #kept: PromotionProgress;
  #measuredAt = performance.now();

  private constructor(run: PromotionRun, request: PromoteInput, progress: PromotionProgress) {
    const { model = run.settings.defaultModel, limit = PROMOTE_LIMIT_DEFAULT, since } = request;
    const promotedBefore = request.force === true ? progress.begunAt : undefined;
    const { ask } = run.providerOf(model);
    this.model = model;
    this.selection = { since, promotedBefore, settledOnly: request.settled_only === true };
    this.ask = ask && ((question) => ask(question, this.#callOptions()));
    this.#run = run;
    this.#limit = limit;
    this.#progress = progress;
    this.#kept = progress;
  }

  /** Continues where an earlier attempt ended. */
  static async open(run: PromotionRun): Promise<Promotion> {
    const { em, claim, settings } = run;
    const request = claim.input.take();
    const storedProgress = await readProgress<PromotionProgress>(em(), claim);
    const progress =
      storedProgress ?? initialProgress(request.model ?? settings.defaultModel, await databaseNowText(em()));
    return new Promotion(run, request, progress);
  }

  /** Promotes all pieces that the steps find. Results that are stored before a failure are kept. */
  async perform<Piece>(
    kind: PromotionKind,
    steps: PromotionSteps<Piece>,
  ): Promise<End<JobReport<PromoteResult>>> {
    try {
      for (let tries = TRIES_MAX; tries > 0; tries -= 1) {
        await promoteEach(await steps.findPieces(), steps, () => this.#answerTimeoutMs());
        if (!steps.hasChanged) break;
      }
    } catch (error) {
      return providerFailureEnd(error, kind, this.#run.context.log);
    }
    this.#addUsage(NO_USAGE);
    return successOf(this.#progress, await steps.countSetAside());
  }

  em(): EntityManager {
    return this.#run.em();
  }

  get accountId(): string {
    return this.#run.claim.party;
  }

  /** Number of rows that may still be promoted. */
  get left(): number {
    return Math.max(0, this.#limit - this.#progress.considered);
  }

  expectSteps(steps: number): void {
    const { done } = this.#progress.steps;
    this.#progress = { ...this.#progress, steps: { done, total: done + steps } };
  }

  /**
   * Stores the results of an answer once, even if `work` is retried. `work` opens a transaction that locks the account,
   * and begins and ends it with `begin` and `keep`. Resolves with whether the results are stored: not if memory has
   * changed since it was read.
   */
  async store(usage: Usage, work: () => Promise<void>): Promise<boolean> {
    const { claim, context } = this.#run;
    context.signal.throwIfAborted();
    this.#addUsage(usage);
    try {
      await this.#retry(work);
      this.#progress = this.#kept;
      return true;
    } catch (error) {
      if (!(error instanceof AlreadyStored || error instanceof MemoryChanged)) throw error;
    }
    // The results may have been stored, and only the confirmation lost.
    const storedProgress = await readProgress<PromotionProgress>(this.em(), claim);
    const { usage: spent, latency_ms } = this.#progress;
    const isStored = hasAdvanced(storedProgress, this.#progress);
    this.#progress = { ...this.#progress, ...storedProgress, usage: spent, latency_ms };
    return isStored;
  }

  /** Returns the progress before the results. Throws if an earlier try has stored them, which locked the account too. */
  async begin(tx: EntityManager): Promise<PromotionProgress> {
    const storedProgress = await readProgress<PromotionProgress>(tx, this.#run.claim);
    if (hasAdvanced(storedProgress, this.#progress)) throw new AlreadyStored();
    return this.#progress;
  }

  /** Stores the progress after the results, in their transaction. */
  async keep(tx: EntityManager, after: Partial<PromotionProgress>): Promise<void> {
    this.#kept = { ...this.#progress, ...after };
    await storeProgress(tx, this.#run.claim, this.#kept);
  }

  async setAside(affectedRows: AffectedRows, { fault, message }: ProviderError): Promise<void> {
    const rows = Object.values(affectedRows).flat().length;
    this.#run.context.log.warn({ fault, reason: message, rows }, 'set aside');
    await this.#retry(() => setAside(this.em(), this.accountId, affectedRows));
  }

  #answerTimeoutMs(): number {
    return Math.min(this.#run.settings.providerTimeoutMs, this.#run.context.leftMs() - STORING_RESERVE_MS);
  }

  #callOptions() {
    return {
      model: this.model,
      charge: chargeOfAccount(this.#run.claim),
      signal: this.#run.context.signal,
      timeoutMs: this.#answerTimeoutMs(),
    };
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    return retryUntil(work, performance.now() + this.#run.context.leftMs());
  }

  /** Adds the usage of an answer, and the time since `#addUsage` was last called. */
  #addUsage({ inputTokens, outputTokens }: Usage): void {
    const { usage, latency_ms } = this.#progress;
    const since = this.#measuredAt;
    this.#measuredAt = performance.now();
    this.#progress = {
      ...this.#progress,
      usage: {
        input_tokens: usage.input_tokens + inputTokens,
        output_tokens: usage.output_tokens + outputTokens,
      },
      latency_ms: latency_ms + Math.round(this.#measuredAt - since),
    };
  }
}

/** Compares `considered`, which grows with each stored answer, since an answer covers at least one row. */
function hasAdvanced(storedProgress: PromotionProgress | undefined, before: PromotionProgress): boolean {
  return storedProgress !== undefined && storedProgress.considered > before.considered;
}

function initialProgress(model: string, begunAt: string): PromotionProgress {
  const counts = { created: 0, updated: 0, skipped: 0, considered: 0, ids: [] };
  const usage = { input_tokens: 0, output_tokens: 0 };
  return { steps: { done: 0, total: 0 }, ...counts, model, usage, latency_ms: 0, begunAt };
}

function successOf(
  { steps, begunAt, ...result }: PromotionProgress,
  setAside: number,
): End<JobReport<PromoteResult>> {
  const counts = { skipped: result.skipped + setAside, considered: result.considered + setAside };
  const report = { steps: { done: steps.total, total: steps.total }, result: { ...result, ...counts } };
  return { state: 'succeeded', report };
}
