import type { Job } from '../../shared/db/stores/work/jobs.ts';
import { type JobReport, type Steps, stepsOf } from '../../shared/domain/jobs.ts';
import { failureOf, type Outcome } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { catalogue, type ErrorCode } from '../../shared/errors/catalogue.ts';
import type { JobResponse } from '../../shared/schemas/jobs.ts';
import { jobAdmission } from '../../shared/work/admission.ts';
import type { Kind } from '../../shared/work/kind.ts';
import { jobKinds, type NoFacts } from '../../shared/work/kinds.ts';
import { ConcurrencyLimiter, type Permit } from '../limits/concurrency-limiter.ts';
import type { Call, WorkService } from '../work/service.ts';

/** Streams that an account may have open at once: each reads its job's row twice a second, for minutes. */
const STREAMS = { atOnce: Number.POSITIVE_INFINITY, each: 20, longest: 0 };

/** A kind whose requests are answered with `Result`. */
export type JobKind<Result extends object = object> = Kind<NoFacts, JobReport<Result>>;

/** What an account asks for. */
export interface JobRequest {
  accountId: string;
  body: object;
  /** The account's own name for the request; without one every request is new. */
  idempotencyKey: string | undefined;
  /** Wait where the same request still runs. */
  wait: boolean;
}

/** The answer to a request that was waited for. */
export interface Finished<Result> {
  result: Result;
  /** This call did not start the work. */
  replayed: boolean;
}

/** A part of a job's result that is ready before the rest. */
export interface JobItem {
  index: number;
}

/** How a job shows that is made of other rows. */
export interface JobView {
  /** How far it has come, by what its handler has kept. */
  steps(accountId: string, kept: unknown): Promise<Steps>;
  /** What is ready, but for what was shown before. */
  items(accountId: string, kept: unknown, shown: ReadonlySet<number>): Promise<JobItem[]>;
  /** What its request is answered with. */
  result(accountId: string, reported: object): Promise<object>;
}

export interface JobParts {
  work: Pick<WorkService, 'perform' | 'start' | 'cancel'>;
  /** By kind. A kind without one reports its answer, and keeps its steps. */
  views: Readonly<Record<string, JobView>>;
  find(named: { party: string; key: string; kinds: readonly string[] }): Promise<Job | undefined>;
}

/** An account's jobs: kinds of work that run to their end whether or not their callers wait. */
export class JobService {
  readonly #parts: JobParts;
  readonly #streams = new ConcurrencyLimiter(STREAMS);

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  /** Runs a request, or joins the run that it repeats, and resolves when that has ended. Throws what it ended with. */
  async perform<Reported extends object, Result extends object = Reported>(
    kind: JobKind<Reported>,
    call: Call<NoFacts>,
    gone: AbortSignal,
  ): Promise<Finished<Result>> {
    const { outcome, replayed } = await this.#parts.work.perform(kind, call, gone);
    if (outcome.report === null) throw refusalOf(outcome);
    // The kind's answer, made by its view where it has one.
    const result = (await this.#resultOf(kind.name, call.party, outcome.report.result)) as Result;
    return { result, replayed };
  }

  /** Admits a request, or finds the one that it repeats. Resolves with the job's id. */
  async start(
    kind: JobKind,
    call: Call<NoFacts>,
    gone: AbortSignal,
  ): Promise<{ id: string; replayed: boolean }> {
    const { replayed } = await this.#parts.work.start(kind, call, gone);
    return { id: call.key, replayed };
  }

  /** Held while a stream is open. Throws `overloaded` when the account has too many. */
  openStream(accountId: string): Promise<Permit> {
    return this.#streams.acquire({ party: accountId });
  }

  /** The account's job. Throws `not_found`, also for one that ended more than 24 hours ago. */
  async read(accountId: string, id: string): Promise<JobResponse> {
    const job = await this.#find(accountId, id);
    const report = reportOf(job);
    return {
      ...presentJob(job),
      progress: report?.steps ?? (await this.#stepsOf(accountId, job)),
      result: report && (await this.#resultOf(job.kind, accountId, report.result)),
    };
  }

  /** The parts of its result that are ready, but for those that were shown before. */
  async items(
    { name }: JobKind,
    accountId: string,
    id: string,
    shown: ReadonlySet<number>,
  ): Promise<JobItem[]> {
    const view = this.#parts.views[name];
    if (view === undefined) return [];
    const job = await this.#find(accountId, id);
    return view.items(accountId, reportOf(job)?.result ?? job.progress, shown);
  }

  /** Cancels a job that still runs; what it has stored stays. Resolves with the job. Throws `not_found`. */
  async cancel(accountId: string, id: string): Promise<JobResponse> {
    const { kind } = await this.#find(accountId, id);
    // A job is only ever named by its key.
    await this.#parts.work.cancel(kindOf(kind), accountId, { requestId: '', key: id }, () => {});
    return this.read(accountId, id);
  }

  async #resultOf(kind: string, accountId: string, reported: object): Promise<object> {
    return this.#parts.views[kind]?.result(accountId, reported) ?? reported;
  }

  async #stepsOf(accountId: string, { kind, progress }: Job): Promise<Steps> {
    return this.#parts.views[kind]?.steps(accountId, progress) ?? stepsOf(progress);
  }

  async #find(accountId: string, id: string): Promise<Job> {
    const job = await this.#parts.find({ party: accountId, key: id, kinds: Object.keys(jobKinds) });
    if (job === undefined) throw new AppError('not_found');
    return job;
  }
}

function kindOf(name: string): JobKind {
  const kind = Object.values(jobKinds).find((known) => known.name === name);
  if (kind === undefined) throw new Error(`not a job: ${name}`);
  return kind;
}

/** An account's request as work of a kind. Without an idempotency key every request is new. */
export function callOf(
  kind: Pick<Kind, 'name'>,
  { accountId, body, idempotencyKey, wait }: JobRequest,
): Call<NoFacts> {
  return jobAdmission(kind, { accountId, body, requestId: idempotencyKey, wait });
}

/** What work that has failed or was cancelled is answered with. */
export function refusalOf(outcome: Outcome): AppError {
  return failureOf(endingOf(outcome.code), outcome);
}

/** Work that outlives its callers is never abandoned. */
function endingOf(code: Outcome['code']): ErrorCode {
  return code === null || code === 'abandoned' ? 'internal_error' : code;
}

/** What its handler wrote; work that failed may have a report, too, of when to try again. */
function reportOf({ state, report }: Job): JobReport | null {
  return state === 'succeeded' ? (report as JobReport) : null;
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
    error: code === null ? null : { code: endingOf(code), message: catalogue[endingOf(code)].message },
    created_at: new Date(admittedMs).toISOString(),
    finished_at: endedMs === null ? null : new Date(endedMs).toISOString(),
  };
}
