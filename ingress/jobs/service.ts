import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import { Box } from '../../shared/box.ts';
import { createBatcher } from '../../shared/db/batcher.ts';
import type { Job, JobRef } from '../../shared/db/stores/work/find.ts';
import { failureOf, type JobReport, type Outcome, type Steps, stepsOf } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { catalogue, type ErrorCode } from '../../shared/errors/catalogue.ts';
import type { Log } from '../../shared/log.ts';
import type { JobResponse } from '../../shared/schemas/jobs.ts';
import { sharedPause } from '../../shared/timing/coalesce.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import { jobAdmission } from '../../shared/work/admission.ts';
import { type Kind, kindNamed } from '../../shared/work/kind.ts';
import { jobKinds, type NoFacts } from '../../shared/work/kinds.ts';
import type { ReserveAnswerMemory } from '../guards/budgets.ts';
import type { WorkCall, WorkService } from '../work/service.ts';
import { type JobItem, type JobNews, type StreamSteps, streamJob, streamLimits } from './stream.ts';

/** Limits the streams that an account has open at this ingress: each polls its job twice a second, for minutes. */
const STREAMS = { capacity: Number.POSITIVE_INFINITY, maxPerParty: 20, maxQueued: 0 };
const POLL_EVERY_MS = 500;
/** Time limit of a stream's read: without it, a read that hangs would hold back keep-alives and the stream's end. */
const POLL_WITHIN_MS = 2000;
/** Maximum number of jobs that one statement reads. */
const JOBS_PER_READ_MAX = 100;
const KINDS = Object.keys(jobKinds);

/** A kind whose requests are answered with `Result`. */
export type JobKind<Result extends object = object> = Kind<TSchema, NoFacts, JobReport<Result>>;

/** A request of an account. */
export interface JobRequest {
  accountId: string;
  body: object;
  /** The account's own name for the request; without one every request is new. */
  idempotencyKey: string | undefined;
  /** True to wait if the same request still runs, instead of being refused. */
  wait: boolean;
}

/** The answer to a request that was waited for. */
export interface JobAnswer<Result> {
  result: Result;
  /** True if another call started the work. */
  replayed: boolean;
}

/** Presents jobs whose results are stored in rows of their own. */
export interface JobView {
  /** Counts a job's steps, from the progress that its handler has stored, or the result that it reported. */
  steps(accountId: string, progressOrResult: unknown): Promise<Steps>;
  /** Counts a job's steps, and reads the items that are ready and were not shown before. */
  news(
    accountId: string,
    progressOrResult: unknown,
    shown: ReadonlySet<number>,
  ): Promise<{ steps: Steps; items: JobItem[] }>;
  /** Reads the answer to a job's request, once there is room for it. */
  result(accountId: string, reported: object, reserve: ReserveAnswerMemory): Promise<object>;
}

export interface JobParts {
  work: Pick<WorkService, 'perform' | 'start' | 'cancel'>;
  /** Views by kind. Without a view, a kind's handler stores the steps and reports the answer itself. */
  views: Readonly<Record<string, JobView>>;
  /** Reads jobs, all with one statement. Gives up after `withinMs`. */
  find(refs: JobRef[], kinds: readonly string[], withinMs?: number): Promise<(Job | undefined)[]>;
  isErased(accountId: string): Promise<boolean>;
  /** Time after which a connection to which nothing is written is cut off. */
  sendTimeoutMs: number;
  log: Log;
}

/** Starts, reads and cancels the jobs of accounts: work that runs to its end whether or not its caller waits. */
export class JobService {
  readonly #parts: JobParts;
  readonly #streams = new ConcurrencyLimiter(STREAMS);
  readonly #findShared: (ref: JobRef) => Promise<Job | undefined>;
  readonly #pollShared: (ref: JobRef) => Promise<Job | undefined>;
  readonly #pause: () => Promise<void>;

  constructor(parts: JobParts, pollEveryMs = POLL_EVERY_MS) {
    this.#parts = parts;
    const readShared = (withinMs?: number) =>
      createBatcher((refs: JobRef[]) => parts.find(refs, KINDS, withinMs), { maxItems: JOBS_PER_READ_MAX });
    this.#findShared = readShared();
    this.#pollShared = readShared(POLL_WITHIN_MS);
    this.#pause = sharedPause(pollEveryMs);
  }

  /**
   * Runs a request, or joins the run of the request that it repeats, and resolves with the result when that run has
   * ended. Throws the error with which it ended, and `overloaded` when there is no room for the result.
   */
  async perform<Reported extends object, Result extends object = Reported>(
    kind: JobKind<Reported>,
    call: WorkCall<NoFacts>,
    gone: AbortSignal,
    reserve: ReserveAnswerMemory,
  ): Promise<JobAnswer<Result>> {
    const { outcome, replayed } = await this.#parts.work.perform(kind, call, gone);
    if (outcome.report === null) throw refusalOf(outcome);
    // `Result` is what the kind's view makes; without a view, what the handler reported.
    const { result: reported } = outcome.report;
    const result = (await this.#resultOf(kind.name, call.party, reported, reserve)) as Result;
    return { result, replayed };
  }

  /** Admits a request, or finds the one that it repeats. Resolves with the job's id. */
  async start(
    kind: JobKind,
    call: WorkCall<NoFacts>,
    gone: AbortSignal,
  ): Promise<{ id: string; replayed: boolean }> {
    const { replayed, outcome } = await this.#parts.work.start(kind, call, gone);
    if (outcome?.state === 'cancelled') throw refusalOf(outcome);
    return { id: call.key, replayed };
  }

  /** Acquires the permit to hold while a stream is open. Throws `overloaded` when the account has too many streams. */
  openStream(accountId: string): Promise<Permit> {
    return this.#streams.acquire({ party: accountId });
  }

  /** Streams a job's events until it has ended or its caller is gone. */
  stream(
    accountId: string,
    from: Pick<StreamSteps, 'receipt' | 'lastEventId'>,
    { gone, reserve }: { gone: AbortSignal; reserve: ReserveAnswerMemory },
  ): Readable {
    const poll = (shown: ReadonlySet<number>) => this.#news(accountId, from.receipt.job_id, shown, reserve);
    const { sendTimeoutMs, log } = this.#parts;
    return streamJob({ ...from, ...streamLimits(sendTimeoutMs), poll, pause: this.#pause, log }, gone);
  }

  /** Throws `not_found` or `not_authenticated`, as `read` does, if the account has no such job. */
  async check(accountId: string, id: string): Promise<void> {
    await this.#find({ party: accountId, key: id });
  }

  /**
   * Reads a job of the account. Throws `not_found`, also for a job that ended more than 24 hours ago,
   * `not_authenticated` when the account was erased, and `overloaded` when there is no room for the result.
   */
  async read(accountId: string, id: string, reserve: ReserveAnswerMemory): Promise<JobResponse> {
    const job = await this.#find({ party: accountId, key: id });
    const steps = await this.#parts.views[job.kind]?.steps(accountId, progressOrResultOf(job));
    return this.#present(accountId, job, steps, reserve);
  }

  async #news(
    accountId: string,
    id: string,
    shown: ReadonlySet<number>,
    reserve: ReserveAnswerMemory,
  ): Promise<JobNews> {
    const job = await this.#find({ party: accountId, key: id }, this.#pollShared);
    const news = await this.#parts.views[job.kind]?.news(accountId, progressOrResultOf(job), shown);
    return { job: await this.#present(accountId, job, news?.steps, reserve), items: news?.items ?? [] };
  }

  /** Cancels a job if it still runs; keeps what it has stored. Resolves with the job. Throws as `read` does. */
  async cancel(accountId: string, id: string, reserve: ReserveAnswerMemory): Promise<JobResponse> {
    const { kind } = await this.#find({ party: accountId, key: id });
    await this.#parts.work.cancel(kindNamed(jobKinds, kind), id, () => {});
    return this.read(accountId, id, reserve);
  }

  async #resultOf(
    kind: string,
    accountId: string,
    reported: object,
    reserve: ReserveAnswerMemory,
  ): Promise<object> {
    return this.#parts.views[kind]?.result(accountId, reported, reserve) ?? reported;
  }

  async #present(
    accountId: string,
    job: Job,
    steps: Steps | undefined,
    reserve: ReserveAnswerMemory,
  ): Promise<JobResponse> {
    const report = reportOf(job);
    return {
      ...presentJob(job),
      progress: report?.steps ?? steps ?? stepsOf(job.progress),
      result: report && (await this.#resultOf(job.kind, accountId, report.result, reserve)),
    };
  }

  async #find(ref: JobRef, find = this.#findShared): Promise<Job> {
    const job = await find(ref);
    if (job !== undefined) return job;
    throw new AppError((await this.#parts.isErased(ref.party)) ? 'not_authenticated' : 'not_found');
  }
}

/** Returns the call that asks for work of a kind for an account. Without an idempotency key every request is new. */
export function callOf(
  kind: Pick<Kind, 'name'>,
  { accountId, body, idempotencyKey, wait }: JobRequest,
): WorkCall<NoFacts> {
  const { input, ...job } = jobAdmission(kind, { accountId, body, requestId: idempotencyKey, wait });
  return { ...job, input: new Box(input) };
}

/** Returns the error with which to answer a request whose work has failed or was cancelled. */
export function refusalOf(outcome: Outcome): AppError {
  return failureOf(errorCodeOf(outcome.code), outcome);
}

/**
 * Returns the error code that describes an end without a result. `abandoned` would be a defect: jobs and replies
 * outlive their callers, and a draft that has lost its caller is cancelled instead.
 */
function errorCodeOf(code: Outcome['code']): ErrorCode {
  return code === null || code === 'abandoned' ? 'internal_error' : code;
}

/** Returns the report of a job that succeeded. A failed job may also have one, which only says when to try again. */
function reportOf({ state, report }: Job): JobReport | null {
  return state === 'succeeded' ? (report as JobReport) : null;
}

/** Returns the progress that a job's handler has stored, or, after success, the result that it reported. */
function progressOrResultOf(job: Job): unknown {
  return reportOf(job)?.result ?? job.progress;
}

const STATES = ['queued', 'running', 'succeeded', 'cancelled'] as const;

function presentJob({
  key,
  kind,
  state,
  code,
  admittedMs,
  endedMs,
}: Job): Omit<JobResponse, 'progress' | 'result'> {
  return {
    id: key,
    kind,
    state: STATES.find((known) => known === state) ?? 'failed',
    error: code === null ? null : { code: errorCodeOf(code), message: catalogue[errorCodeOf(code)].message },
    created_at: new Date(admittedMs).toISOString(),
    finished_at: endedMs === null ? null : new Date(endedMs).toISOString(),
  };
}
