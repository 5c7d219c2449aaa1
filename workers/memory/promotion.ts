import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { persistently } from '../../shared/db/retries.ts';
import { momentNow } from '../../shared/db/stores/memory/rows-to-promote.ts';
import { type Concerned, setAside } from '../../shared/db/stores/memory/set-aside.ts';
import { keepProgress, progressOf } from '../../shared/db/stores/work/progress.ts';
import type { End, JobReport, Steps } from '../../shared/domain/work.ts';
import { PROMOTE_LIMIT, type PromoteInput, type PromoteResult } from '../../shared/schemas/jobs.ts';
import type { promoteEpisodes, promoteFacts } from '../../shared/work/kinds.ts';
import {
  failureOf,
  NO_USAGE,
  type Provider,
  ProviderError,
  type StructuredAnswer,
  type StructuredQuestion,
  type Usage,
} from '../providers/provider.ts';
import type { Allowance, ClaimOf } from '../work/handler.ts';
import { type PieceSteps, promoteEach } from './piece-by-piece.ts';

/** Time left of a job after the last question, to store the answer. */
const STORING_MS = 250;

/** Services of the handlers of promotions. */
export interface PromotionParts {
  em: () => EntityManager;
  providerOf: (model: string) => Provider;
  settings: Pick<WorkerConfig, 'defaultModel' | 'providerTimeoutMs'>;
}

type PromotionKind = typeof promoteEpisodes | typeof promoteFacts;

/** One attempt at a promotion. */
interface Run extends PromotionParts {
  claim: ClaimOf<PromotionKind>;
  allowance: Allowance;
}

/** Progress of a promotion, over all its attempts. */
export interface PromotionProgress extends PromoteResult {
  steps: Steps;
  /** When the first attempt began: `force` takes what was promoted before. */
  begunAt: string;
}

/** Keeps the progress, changed by `advance`, in the transaction that stores what an answer came to. */
export type Keep = (
  tx: EntityManager,
  advance: (progress: PromotionProgress) => Partial<PromotionProgress>,
) => Promise<void>;

/** Steps of a promotion of a kind. */
export interface PromotionSteps<Piece> extends PieceSteps<Piece> {
  find(): Promise<readonly Piece[]>;
  /** Pieces were found that have changed meanwhile: what became of them is looked for again. */
  readonly hasChanged: boolean;
  /** Amount that is set aside, counted to what is left. */
  countSetAside(): Promise<number>;
}

/** A promotion under way: asks the model, and stores each answer in one transaction with the progress. */
export class Promotion {
  readonly model: string;
  /** The rows that it takes. */
  readonly choice: { since: string | undefined; promotedBefore: string | undefined; settledOnly: boolean };
  /** Asks the model; null when it is no language model. */
  readonly ask: (<Answer>(question: StructuredQuestion<Answer>) => Promise<StructuredAnswer<Answer>>) | null;
  readonly #run: Run;
  readonly #limit: number;
  #progress: PromotionProgress;
  #measuredAt = performance.now();

  private constructor(run: Run, request: PromoteInput, progress: PromotionProgress) {
    const { model = run.settings.defaultModel, limit = PROMOTE_LIMIT, since } = request;
    const promotedBefore = request.force === true ? progress.begunAt : undefined;
    const { ask } = run.providerOf(model);
    this.model = model;
    this.choice = { since, promotedBefore, settledOnly: request.settled_only === true };
    this.ask = ask && ((question) => ask(question, this.#call()));
    this.#run = run;
    this.#limit = limit;
    this.#progress = progress;
  }

  /** Goes on where an earlier attempt ended. */
  static async open(run: Run): Promise<Promotion> {
    const { em, claim, settings } = run;
    const request = claim.input.take();
    const kept = await progressOf<PromotionProgress>(em(), claim);
    const progress = kept ?? begun(request.model ?? settings.defaultModel, await momentNow(em()));
    return new Promotion(run, request, progress);
  }

  /** Promotes whatever the steps find. What is stored when the provider fails stays. */
  async perform<Piece>(
    kind: PromotionKind,
    steps: PromotionSteps<Piece>,
  ): Promise<End<JobReport<PromoteResult>>> {
    try {
      do await promoteEach(await steps.find(), steps, () => this.#answerMs());
      while (steps.hasChanged);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      const { fault, message } = error;
      this.#run.allowance.log.warn({ fault, reason: message }, 'provider failed');
      return failureOf(error, kind);
    }
    this.#spend(NO_USAGE);
    return succeeded(this.#progress, await steps.countSetAside());
  }

  em(): EntityManager {
    return this.#run.em();
  }

  get accountId(): string {
    return this.#run.claim.party;
  }

  /** Rows that it may still look at. None once an episode was written anew, as a whole, that has more than were left. */
  get left(): number {
    return Math.max(0, this.#limit - this.#progress.considered);
  }

  /** So many steps are still to be done. */
  expect(steps: number): void {
    const { done } = this.#progress.steps;
    this.#progress = { ...this.#progress, steps: { done, total: done + steps } };
  }

  /**
   * Stores what an answer came to; `work` keeps the progress in its transaction, and resolves with false when memory has
   * changed since it was read. Safe to repeat.
   */
  async store(usage: Usage, work: (keep: Keep) => Promise<boolean>): Promise<boolean> {
    const { claim, allowance } = this.#run;
    allowance.signal.throwIfAborted();
    this.#spend(usage);
    const before = this.#progress;
    const isStored = await this.#persistently(() =>
      work(async (tx, advance) => {
        this.#progress = { ...before, ...advance(before) };
        await keepProgress(tx, claim, this.#progress);
      }),
    );
    if (isStored) return true;
    // It may have been stored, and its confirmation lost.
    const kept = await progressOf<PromotionProgress>(this.em(), claim);
    this.#progress = { ...before, ...kept, usage: before.usage, latency_ms: before.latency_ms };
    return false;
  }

  /** Leaves rows alone for a while, about which the model fails. */
  async setAside(concerned: Concerned, { fault, message }: ProviderError): Promise<void> {
    const rows = Object.values(concerned).flat().length;
    this.#run.allowance.log.warn({ fault, reason: message, rows }, 'set aside');
    await this.#persistently(() => setAside(this.em(), this.accountId, concerned));
  }

  /** Time that a model may take for an answer: as long as the provider may, but that the job has time to store it. */
  #answerMs(): number {
    return Math.min(this.#run.settings.providerTimeoutMs, this.#run.allowance.leftMs() - STORING_MS);
  }

  #call() {
    const { id: workId, attempt, kind } = this.#run.claim;
    const charge = { accountId: this.accountId, appId: null, workId, attempt, kind };
    return { model: this.model, charge, signal: this.#run.allowance.signal, timeoutMs: this.#answerMs() };
  }

  #persistently<T>(work: () => Promise<T>): Promise<T> {
    return persistently(work, performance.now() + this.#run.allowance.leftMs());
  }

  /** Adds the usage of an answer, and the time since the one before. */
  #spend({ inputTokens, outputTokens }: Usage): void {
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

function begun(model: string, begunAt: string): PromotionProgress {
  const counts = { created: 0, updated: 0, skipped: 0, considered: 0, ids: [] };
  const usage = { input_tokens: 0, output_tokens: 0 };
  return { steps: { done: 0, total: 0 }, ...counts, model, usage, latency_ms: 0, begunAt };
}

/** The end of a promotion that has nothing left to do but what is set aside: so many rows. */
function succeeded(
  { steps, begunAt, ...result }: PromotionProgress,
  setAside: number,
): End<JobReport<PromoteResult>> {
  const counts = { skipped: result.skipped + setAside, considered: result.considered + setAside };
  const report = { steps: { done: steps.total, total: steps.total }, result: { ...result, ...counts } };
  return { state: 'succeeded', report };
}
