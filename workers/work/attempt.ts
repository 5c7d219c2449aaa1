import { Box } from '../../shared/box.ts';
import { isTransient } from '../../shared/db/faults.ts';
import { retryUntil } from '../../shared/db/retries.ts';
import type { Claim } from '../../shared/db/stores/work/claim.ts';
import { ClaimLost } from '../../shared/db/stores/work/progress.ts';
import { type End, isEnded, type TraceFacts } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import { attempts, observeStage, timeStage } from '../../shared/metrics/work.ts';
import { WORKER_MARGIN_MS } from '../../shared/schemas/limits.ts';
import { compile, type Validator } from '../../shared/schemas/validator.ts';
import { rejectOnAbort } from '../../shared/timing/within.ts';
import {
  addPastSpan,
  describeSpan,
  failSpan,
  inSpan,
  type TraceHeaders,
  traceId,
} from '../../shared/tracing/span.ts';
import type { Completer } from '../../shared/work/completion.ts';
import type { AddJobs } from '../../shared/work/jobs.ts';
import { type Kind, type Kinds, kindNamed } from '../../shared/work/kind.ts';
import type { Handler, Handlers } from './handler.ts';
import type { RunningAttempts } from './running.ts';

export interface AttemptDependencies {
  /** The kinds of work that this process performs. */
  kinds: Kinds;
  handlers: Handlers<Kinds>;
  complete: Completer;
  running: RunningAttempts;
  addJobs: AddJobs;
  log: Log;
}

const DEFECT: End = { state: 'failed', code: 'internal_error', source: 'worker' };

class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

export class AttemptRunner {
  readonly #dependencies: AttemptDependencies;
  readonly #inputValidators: ReadonlyMap<string, Validator<unknown>>;

  constructor(dependencies: AttemptDependencies) {
    this.#dependencies = dependencies;
    this.#inputValidators = new Map(
      Object.values(dependencies.kinds).map(({ name, input }) => [name, compile(input)] as const),
    );
  }

  /** Performs one attempt, and completes its row unless its parts will; never rejects. */
  perform(claim: Claim): Promise<void> {
    return inAttemptSpan(claim, () => this.#perform(claim));
  }

  async #perform(claim: Claim): Promise<void> {
    const { running } = this.#dependencies;
    const { requestId } = (claim.facts as TraceFacts).trace ?? {};
    const log = this.#dependencies.log.child({
      work: claim.id,
      kind: claim.kind,
      requestId,
      traceId: traceId(),
    });
    const controller = running.begin(claim);
    const until = performance.now() + claim.leftMs;
    const budgetMs = claim.leftMs - WORKER_MARGIN_MS;
    const timer = setTimeout(() => controller.abort(new OutOfTime()), Math.max(0, budgetMs));
    try {
      observeStage(claim.kind, 'queue', claim.queuedMs);
      const performed = this.#runHandler(claim, controller.signal, until, log);
      const end = await timeStage(claim.kind, 'handler', performed);
      const how = end?.code ?? end?.state ?? 'taken_away';
      attempts.inc({ kind: claim.kind, end: how });
      describeSpan({ 'forecue.work.end': how });
      if (end?.state === 'failed') failSpan(how);
      if (end !== undefined && isEnded(end))
        await timeStage(claim.kind, 'commit', this.#store(claim, end, until, log));
    } catch (error) {
      log.warn({ err: error }, 'could not store a result: the housekeeping ends or retries the work');
    } finally {
      clearTimeout(timer);
      running.finish(claim.id, controller.signal);
    }
  }

  /** Resolves with how the work ended, or with undefined if this attempt has lost the work. */
  async #runHandler(claim: Claim, signal: AbortSignal, until: number, log: Log): Promise<End | undefined> {
    const { kinds, handlers, addJobs } = this.#dependencies;
    const kind = kindNamed(kinds, claim.kind);
    const leftMs = () => until - WORKER_MARGIN_MS - performance.now();
    try {
      // The cast is safe: the type `Handlers` requires a handler for each kind.
      const handler = handlers[kind.name] as Handler<Kind>;
      const input = new Box(this.#inputOf(claim));
      const endPromise = handler({ ...claim, input }, { signal, leftMs, log, addJobs });
      // Does not wait for a handler that ignores its signal.
      return await rejectOnAbort(signal, endPromise);
    } catch (error) {
      if (signal.reason instanceof OutOfTime) return { state: 'failed', code: kind.codes.timeout };
      if (signal.aborted || error instanceof ClaimLost) return undefined;
      if (error instanceof AppError) {
        const { code, retryAfterS } = error;
        const retryAfterMs = retryAfterS && 1000 * retryAfterS;
        return { state: 'failed', code, source: 'worker', retryAfterMs };
      }
      if (isTransient(error)) {
        log.warn({ err: error }, 'the database failed the handler');
        return { state: 'failed', code: 'service_unavailable', source: 'worker' };
      }
      log.error({ err: error }, 'handler failed unexpectedly');
      return DEFECT;
    }
  }

  #inputOf({ kind, input }: Claim): unknown {
    const checked = this.#inputValidators.get(kind)?.(JSON.parse(input.take()));
    if (checked?.ok) return checked.value;
    const places = checked?.faults.map(({ loc, type }) => `${loc.join('.')} ${type}`);
    throw new Error(`the input does not suit its kind: ${places}`);
  }

  /**
   * Retries during a short database outage, since the provider's answer has been paid for. If the database refuses the
   * result, ends the work with `DEFECT`.
   */
  async #store({ id, kind, party, month, attempt, worker }: Claim, end: End, until: number, log: Log) {
    const { complete } = this.#dependencies;
    const own = { id, kind, party, month, guard: 'attempt', attempt, worker } as const;
    const storeAs = (how: End) => retryUntil(() => complete({ ...own, ...how }), until);
    const isStored = await storeAs(end).catch((error: unknown) => {
      if (isTransient(error)) throw error;
      log.error({ err: error }, 'a result cannot be stored');
      return storeAs(DEFECT);
    });
    if (!isStored) log.info({ attempt }, 'result discarded: the row no longer belongs to this attempt');
  }
}

function inAttemptSpan(claim: Claim, perform: () => Promise<void>): Promise<void> {
  const { id, kind, attempt, queuedMs } = claim;
  const parent: TraceHeaders = (claim.facts as TraceFacts).trace ?? {};
  const attributes = { 'forecue.work.id': id, 'forecue.work.kind': kind, 'forecue.work.attempt': attempt };
  if (parent.traceparent !== undefined)
    addPastSpan(`queue ${kind}`, { kind: 'INTERNAL', attributes, parent }, queuedMs);
  return inSpan(`process ${kind}`, { kind: 'CONSUMER', attributes, parent }, perform);
}
