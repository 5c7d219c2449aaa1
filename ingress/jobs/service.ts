import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import { Box } from '../../shared/box.ts';
import { createBatcher } from '../../shared/db/batcher.ts';
import type { Job, JobRef } from '../../shared/db/stores/work/find.ts';
import { requireScope, type UserPrincipal } from '../../shared/domain/account.ts';
import { failureOf, type JobReport, type Outcome, type Steps, stepsOf } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { catalogue, type ErrorCode } from '../../shared/errors/catalogue.ts';
import type { Log } from '../../shared/log.ts';
import type { Scope } from '../../shared/schemas/accounts.ts';
import type { JobResponse } from '../../shared/schemas/jobs.ts';
import { sharedPause } from '../../shared/timing/coalesce.ts';
import { ConcurrencyLimiter, type Permit } from '../../shared/timing/concurrency-limiter.ts';
import { jobAdmission } from '../../shared/work/admission.ts';
import { type Kind, kindNamed } from '../../shared/work/kind.ts';
import { jobKinds, type NoFacts, predictBatch } from '../../shared/work/kinds.ts';
import type { ReserveAnswerMemory } from '../guards/budgets.ts';
import type { WorkCall, WorkService } from '../work/service.ts';
import { type JobItem, type JobUpdate, type StreamOptions, streamJob } from './stream.ts';

/** Limits the open streams of an account at this ingress. */
const STREAM_LIMITS = { capacity: Number.POSITIVE_INFINITY, maxPerParty: 20, maxQueued: 0 };
const POLL_EVERY_MS = 500;
/** Time limit of a read: one that hangs would hold back a stream's keep-alives and its end. */
const READ_WITHIN_MS = 2000;
const JOBS_PER_READ_MAX = 100;
const JOB_KIND_NAMES = Object.keys(jobKinds);

export type JobKind<Result extends object = object> = Kind<TSchema, NoFacts, JobReport<Result>>;

interface JobCall<Facts> {
  accountId: string;
  body: Box<object>;
  /** Known beside the request. Not compared when a request is repeated. */
  facts: Facts;
  /** Without a key every request is new. */
  idempotencyKey: string | undefined;
  /** Waits if the same request still runs, instead of failing. */
  wait: boolean;
}

export interface JobAnswer<Result> {
  result: Result;
  /** True if another call started the work. */
  replayed: boolean;
}

/** Reads the progress and results of a kind of job that stores them in tables of its own. */
export interface JobView {
  /** `progressOrResult` is the progress that the job's handler has stored, or after success the result. */
  steps(accountId: string, progressOrResult: unknown): Promise<Steps>;
  /** Returns the items that are ready and not in `shown`. */
  readUpdate(
    accountId: string,
    progressOrResult: unknown,
    shown: ReadonlySet<number>,
  ): Promise<{ steps: Steps; items: JobItem[] }>;
  /** Returns the answer to the job's request, once there is memory for it. */
  result(accountId: string, reported: object, reserve: ReserveAnswerMemory): Promise<object>;
}

export interface JobParts {
  work: Pick<WorkService, 'perform' | 'start' | 'cancel'>;
  /** Views by the name of the kind. A kind without a view stores its progress and its result with the job. */
  views: Readonly<Record<string, JobView>>;
  /** Gives up after `withinMs`. */
  find(refs: JobRef[], kinds: readonly string[], withinMs: number): Promise<(Job | undefined)[]>;
  isErased(accountId: string): Promise<boolean>;
  /** Time after which a connection to which nothing is written is cut off. */
  sendTimeoutMs: number;
  log: Log;
}

/** Serves jobs: work of accounts that runs to its end even if its caller disconnects. */
export class JobService {
  readonly #parts: JobParts;
  readonly #streams = new ConcurrencyLimiter(STREAM_LIMITS);
  readonly #findShared: (ref: JobRef) => Promise<Job | undefined>;
  readonly #pause: () => Promise<void>;

  constructor(parts: JobParts, pollEveryMs = POLL_EVERY_MS) {
    this.#parts = parts;
    this.#findShared = createBatcher((refs: JobRef[]) => parts.find(refs, JOB_KIND_NAMES, READ_WITHIN_MS), {
      maxItems: JOBS_PER_READ_MAX,
    });
    this.#pause = sharedPause(pollEveryMs);
  }

  /** Throws the error with which the job ends, and `overloaded` when there is no memory for the result. */
  async perform<Reported extends object, Result extends object = Reported>(
    kind: JobKind<Reported>,
    call: WorkCall<NoFacts>,
    gone: AbortSignal,
    reserve: ReserveAnswerMemory,
  ): Promise<JobAnswer<Result>> {
    const { outcome, replayed } = await this.#parts.work.perform(kind, call, gone);
    if (outcome.report === null) throw refusalOf(outcome);
    // The cast is safe: `#resultOf` returns what the client of this kind of job gets.
    const { result: reported } = outcome.report;
    const result = (await this.#resultOf(kind.name, call.party, reported, reserve)) as Result;
    return { result, replayed };
  }

  /** Returns the job's id without waiting for its end. */
  async start(
    kind: JobKind,
    call: WorkCall<NoFacts>,
    gone: AbortSignal,
  ): Promise<{ id: string; replayed: boolean }> {
    const { replayed, outcome } = await this.#parts.work.start(kind, call, gone);
    if (outcome?.state === 'cancelled') throw refusalOf(outcome);
    return { id: call.key, replayed };
  }

  /** Returns the permit to hold while a stream is open. Throws `overloaded` when the account has too many streams. */
  openStream(accountId: string): Promise<Permit> {
    return this.#streams.acquire({ party: accountId });
  }

  stream(
    accountId: string,
    from: Pick<StreamOptions, 'receipt' | 'lastEventId'>,
    { gone, reserve }: { gone: AbortSignal; reserve: ReserveAnswerMemory },
  ): Readable {
    const poll = (shown: ReadonlySet<number>) =>
      this.#readUpdate(accountId, from.receipt.job_id, shown, reserve);
    const { sendTimeoutMs, log } = this.#parts;
    return streamJob({ ...from, sendTimeoutMs, poll, pause: this.#pause, log }, gone);
  }

  /** Throws as `read` does, if the account has no such job, or the caller's key may not read it. */
  async requireJob(user: UserPrincipal, id: string): Promise<void> {
    requireScope(user, ['read', scopeToStart(await this.#find({ party: user.id, key: id }))]);
  }

  /**
   * Throws `not_found`, also for a job that ended more than 24 hours ago, `not_authenticated` when the account was
   * erased, `access_denied` for a key that may neither read nor start it, and `overloaded` when there is no memory for
   * the result.
   */
  async read(user: UserPrincipal, id: string, reserve: ReserveAnswerMemory): Promise<JobResponse> {
    const job = await this.#find({ party: user.id, key: id });
    requireScope(user, ['read', scopeToStart(job)]);
    const steps = await this.#parts.views[job.kind]?.steps(user.id, progressOrResultOf(job));
    return this.#present(user.id, job, steps, reserve);
  }

  async #readUpdate(
    accountId: string,
    id: string,
    shown: ReadonlySet<number>,
    reserve: ReserveAnswerMemory,
  ): Promise<JobUpdate> {
    const job = await this.#find({ party: accountId, key: id });
    const update = await this.#parts.views[job.kind]?.readUpdate(accountId, progressOrResultOf(job), shown);
    return { job: await this.#present(accountId, job, update?.steps, reserve), items: update?.items ?? [] };
  }

  /** Keeps what the job has stored. Throws as `read` does. */
  async cancel(user: UserPrincipal, id: string, reserve: ReserveAnswerMemory): Promise<JobResponse> {
    const job = await this.#find({ party: user.id, key: id });
    requireScope(user, [scopeToStart(job)]);
    await this.#parts.work.cancel(kindNamed(jobKinds, job.kind), id, () => {});
    return this.read(user, id, reserve);
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

  async #find(ref: JobRef): Promise<Job> {
    const job = await this.#findShared(ref);
    if (job !== undefined) return job;
    throw new AppError((await this.#parts.isErased(ref.party)) ? 'not_authenticated' : 'not_found');
  }
}

function scopeToStart({ kind }: Job): Scope {
  return kind === predictBatch.name ? 'predict' : 'write';
}

export function callOf<Facts>(
  kind: Pick<Kind, 'name'>,
  { accountId, body, facts, idempotencyKey, wait }: JobCall<Facts>,
): WorkCall<Facts> {
  const request = { accountId, body: body.take(), facts, requestId: idempotencyKey, wait };
  const { input, ...call } = jobAdmission(kind, request);
  return { ...call, input: new Box(input) };
}

/** Returns the error to throw for work that failed or was cancelled. */
export function refusalOf(outcome: Outcome): AppError {
  return failureOf(errorCodeOf(outcome.code), outcome);
}

/** `abandoned` cannot occur: jobs and replies outlive their callers, and drafts are cancelled when callers leave. */
function errorCodeOf(code: Outcome['code']): ErrorCode {
  return code === null || code === 'abandoned' ? 'internal_error' : code;
}

/** Ignores the report of a failed job, which only says when to retry. */
function reportOf({ state, report }: Job): JobReport | null {
  return state === 'succeeded' ? (report as JobReport) : null;
}

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
