import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Box } from '../../shared/box.ts';
import { createBatcher } from '../../shared/db/batcher.ts';
import { isAnswerLost } from '../../shared/db/faults.ts';
import { retryUntil } from '../../shared/db/retries.ts';
import {
  type Admission,
  type AdmissionResult,
  type Detachment,
  detach,
} from '../../shared/db/stores/work/admit.ts';
import type { WorkRef } from '../../shared/db/stores/work/complete.ts';
import { factsBefore, findRequest, isErased } from '../../shared/db/stores/work/find.ts';
import { isEnded, type Outcome, type TraceFacts } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import { admissions, observeStage, timeStage } from '../../shared/metrics/work.ts';
import { backoffMs } from '../../shared/timing/retry.ts';
import { anySignal, withTimeout } from '../../shared/timing/within.ts';
import { describeSpan, inSpan, isTraced, linkSpan } from '../../shared/tracing/span.ts';
import type { Completer } from '../../shared/work/completion.ts';
import type { FactsOf, Kind, ReportOf } from '../../shared/work/kind.ts';
import type { WakeUps } from '../../shared/work/wake-ups.ts';
import { checkedMs, setWorkId, withTrace } from '../request/scope.ts';
import { CallersByRequest } from './callers.ts';
import type { ServedKind } from './serve-kind.ts';
import type { Waiter, WaitingRoom } from './waiting-room.ts';

/** How long an ingress tries to detach from a request. */
const DETACH_TIMEOUT_MS = 10_000;
/** Share of a kind's deadline after which a call that was refused as overloaded is worth another try. */
const RETRY_DEADLINE_SHARE = 0.1;
const TOKENS_USED_UP =
  'The tokens of today are used up, those of the account or of all accounts; the next begin at 00:00 UTC.';
const DETACHES_PER_STATEMENT = 100;
/** Maximum time from a call's deadline to its answer. */
export const ANSWER_GRACE_MS = 900;
/** Backoff between tries to end overdue work; the database's clock decides whether it is overdue. */
const EXPIRY_BACKOFF = { firstMs: 50, longestMs: 1000 };

export interface WorkServiceParts {
  pool: Pool;
  process: string;
  kinds: ReadonlyMap<string, ServedKind>;
  room: WaitingRoom;
  complete: Completer;
  wakeUps: Pick<WakeUps, 'announceEnded'>;
  log: Log;
}

/** A validated request to admit. Its input is in a box, so that a waiting call does not keep the input in memory. */
export type WorkCall<Facts> = Omit<Admission<Facts>, 'input'> & { input: Box<string> };

type RequestIdentity = Pick<Admission, 'party' | 'key'>;

type OutcomeOf<K> = Outcome<FactsOf<K>, ReportOf<K>>;

interface CallerSignals {
  /** Aborted when the caller has disconnected, or the time for its answer is over. */
  gone: AbortSignal;
  disconnected: AbortSignal;
}

interface AnsweredCall<K> {
  outcome: OutcomeOf<K>;
  /** True if another call started the work. */
  replayed: boolean;
}

/** Admits and queues work of any kind, waits for its end, and cancels it. */
export class WorkService {
  readonly #parts: WorkServiceParts;
  readonly #callers = new CallersByRequest();
  readonly #detach: (detachment: Detachment) => Promise<Omit<WorkRef, 'kind'> | undefined>;

  constructor(parts: WorkServiceParts) {
    this.#parts = parts;
    const detachAll = (detachments: Detachment[]) => detach(parts.pool, detachments, parts.process);
    this.#detach = createBatcher(detachAll, {
      maxItems: DETACHES_PER_STATEMENT,
      partyOf: ({ party }) => party,
    });
  }

  /**
   * Runs a request, or joins the run of the same request, and resolves with its outcome when it has ended. Rejects
   * with the code of a refusal, or with `service_unavailable` if the database does not answer in time, which includes
   * the time that the request's checks took.
   */
  async perform<K extends Kind>(
    kind: K,
    call: WorkCall<FactsOf<K>>,
    disconnected: AbortSignal,
  ): Promise<AnsweredCall<K>> {
    const servedKind = this.#servedKind(kind);
    const { outcome, replayed } = await withTimeout(
      servedKind.timeoutMs + ANSWER_GRACE_MS - checkedMs(),
      (late) => {
        const caller = { gone: anySignal(disconnected, late), disconnected };
        return this.#countCaller(servedKind, call, () => this.#admitAndWait(servedKind, call, caller));
      },
      () => new AppError('service_unavailable'),
    );
    return { outcome: outcome as OutcomeOf<K>, replayed };
  }

  /**
   * Admits a request, or finds the same one, and resolves with its id without waiting for its end. Only for a kind
   * whose work outlives its callers. Rejects with the code of a refusal. Has no time limit but that of the statement.
   */
  async start<K extends Kind>(
    kind: K,
    call: WorkCall<FactsOf<K>>,
    disconnected: AbortSignal,
  ): Promise<{ id: string; replayed: boolean; outcome: Outcome | undefined }> {
    const servedKind = this.#servedKind(kind);
    return this.#countCaller(servedKind, call, async () => {
      const caller = { gone: disconnected, disconnected };
      const { id, decision, outcome } = await this.#admit(servedKind, call, caller);
      if (decision !== 'ended') this.#callers.stopWaiting(call.key, 'answered');
      return { id, replayed: decision !== 'admitted', outcome };
    });
  }

  /**
   * Cancels a request's work if it still runs. Resolves with the outcome of the work, or undefined when there is no
   * such request. `check` may throw to refuse.
   */
  async cancel<K extends Kind>(
    kind: K,
    key: string,
    check: (facts: FactsOf<K>) => void,
  ): Promise<OutcomeOf<K> | undefined> {
    for (;;) {
      const outcome = (await findRequest(this.#parts.pool, key)) as OutcomeOf<K> | undefined;
      if (outcome === undefined) return undefined;
      check(outcome.facts);
      if (isEnded(outcome)) return outcome;
      // If another process ends the work first, the next turn of the loop finds its outcome.
      const end = { guard: 'live', state: 'cancelled', code: kind.codes.cancelled } as const;
      await this.#parts.complete({ ...workRefOf(kind, outcome), ...end });
    }
  }

  #servedKind({ name }: Pick<Kind, 'name'>): ServedKind {
    const servedKind = this.#parts.kinds.get(name);
    if (servedKind === undefined) throw new Error(`no such kind of work: ${name}`);
    return servedKind;
  }

  /** Counts a caller until `work` settles, which may be long after the caller got a time-out. */
  async #countCaller<Result>(
    { kind }: ServedKind,
    { key, party }: RequestIdentity,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await this.#callers.enter(key);
    try {
      return await work();
    } finally {
      this.#callers.leave(key, (disconnected) => this.#leave(kind, { key, party, disconnected }));
    }
  }

  async #admitAndWait(
    servedKind: ServedKind,
    call: WorkCall<unknown>,
    caller: CallerSignals,
  ): Promise<{ outcome: Outcome; replayed: boolean }> {
    const result = await timeStage(servedKind.kind.name, 'admission', this.#admit(servedKind, call, caller));
    if (result.decision === 'ended') {
      const outcome = result.outcome ?? (await this.#throwMissing(call));
      linkToWork(outcome.facts);
      return { outcome, replayed: true };
    }
    const waiting = this.#wait(servedKind, call, result, caller);
    const since = performance.now();
    const outcome = await waiting;
    const replayed = result.decision === 'attached';
    if (replayed) linkToWork(outcome.facts);
    // Work that ended without a report does not show how long a handler takes.
    if (!replayed && outcome.report !== null)
      observeStage(servedKind.kind.name, 'wait', performance.now() - since);
    return { outcome, replayed };
  }

  async #admit(
    servedKind: ServedKind,
    call: WorkCall<unknown>,
    { gone, disconnected }: CallerSignals,
  ): Promise<AdmissionResult> {
    const { name } = servedKind.kind;
    // The row of the work refers to this span, and the worker's spans continue it.
    const result = await inSpan(`admit ${name}`, { kind: 'PRODUCER' }, () =>
      this.#decide(servedKind, call, gone),
    ).catch((error: unknown) => {
      // The admission may be committed. Then this ingress counts as waiting for the work, and must detach from it.
      if (isAnswerLost(error)) this.#callers.stopWaiting(call.key, leaveReasonOf(disconnected));
      throw error;
    });
    const { decision, superseded } = result;
    admissions.inc({ kind: name, decision });
    this.#parts.wakeUps.announceEnded(superseded);
    if (decision === 'admitted' || decision === 'attached' || decision === 'ended') {
      setWorkId(result.id);
      return result;
    }
    if (decision === 'quota_exceeded')
      throw new AppError(decision, { retryAfterS: result.leftMs / 1000, explanation: TOKENS_USED_UP });
    if (decision !== 'overloaded') throw new AppError(decision);
    throw new AppError(decision, {
      retryAfterS: Math.ceil((RETRY_DEADLINE_SHARE * servedKind.timeoutMs) / 1000),
    });
  }

  async #decide(
    servedKind: ServedKind,
    call: WorkCall<unknown>,
    gone: AbortSignal,
  ): Promise<AdmissionResult> {
    const admission = { ...call, facts: withTrace(call.facts), input: call.input.take() };
    const result = await servedKind.admit(admission, gone);
    describeAdmission(servedKind.kind.name, result);
    if (result.attempt > 1 && result.decision === 'admitted' && isTraced())
      linkToWork(await factsBefore(this.#parts.pool, call.key, result.attempt).catch(() => undefined));
    return result;
  }

  /** Resolves with the outcome, and ends the work at its deadline. Rejects when the caller leaves. */
  async #wait(
    { kind }: ServedKind,
    request: RequestIdentity,
    { id, leftMs }: Pick<AdmissionResult, 'id' | 'leftMs'>,
    { gone, disconnected }: CallerSignals,
  ): Promise<Outcome> {
    const waiter = this.#parts.room.enter({ id, key: request.key });
    const callerLeft = new AbortController();
    const expire = () => void this.#expire(kind, request, waiter, callerLeft.signal);
    const deadline = setTimeout(expire, Math.max(0, leftMs));
    const leave = () => waiter.reject(new AppError(kind.codes.cancelled, { cause: 'the caller is gone' }));
    gone.addEventListener('abort', leave);
    if (gone.aborted) leave();
    let hasEnded = false;
    try {
      const fate = await waiter.fate;
      hasEnded = true;
      return fate === 'gone' ? await this.#throwMissing(request) : fate;
    } finally {
      clearTimeout(deadline);
      // The default reason is an error, which would record the stack.
      callerLeft.abort('left');
      gone.removeEventListener('abort', leave);
      waiter.leave();
      if (!hasEnded) this.#callers.stopWaiting(request.key, leaveReasonOf(disconnected));
    }
  }

  /**
   * Ends overdue work. Retries until the caller has left, because the database's clock decides whether work is overdue,
   * and may be behind ours.
   */
  async #expire(
    kind: Kind,
    request: RequestIdentity,
    waiter: Waiter,
    callerLeft: AbortSignal,
  ): Promise<void> {
    try {
      const outcome =
        (await findRequest(this.#parts.pool, request.key)) ?? (await this.#throwMissing(request));
      const end = { guard: 'overdue', state: 'failed', code: kind.codes.timeout } as const;
      for (let tries = 1; !callerLeft.aborted; tries += 1) {
        if (isEnded(outcome) || !(await this.#parts.complete({ ...workRefOf(kind, outcome), ...end })))
          this.#parts.room.wake([outcome.id]);
        await sleep(backoffMs(tries, EXPIRY_BACKOFF), undefined, { signal: callerLeft }).catch(() => {});
      }
    } catch (error) {
      waiter.reject(error);
    }
  }

  /**
   * Detaches this ingress from a request. Cancels the work if no ingress waits for it any more, the caller that
   * stopped waiting last had disconnected, and the latest admission asked to cancel on disconnect.
   */
  async #leave(kind: Kind, detachment: Detachment): Promise<void> {
    try {
      const until = performance.now() + DETACH_TIMEOUT_MS;
      const unwantedWork = await retryUntil(() => this.#detach(detachment), until);
      if (unwantedWork === undefined) return;
      // Another ingress may have attached a caller meanwhile.
      const end = { guard: 'detached', state: 'cancelled', code: kind.codes.cancelled } as const;
      await retryUntil(() => this.#parts.complete({ ...workRefOf(kind, unwantedWork), ...end }), until);
    } catch (error) {
      this.#parts.log.warn({ err: error, key: detachment.key }, 'could not detach');
    }
  }

  /** Throws the reason why an admitted request is in no table: an erased account, or a failover that lost commits. */
  async #throwMissing({ party }: Pick<RequestIdentity, 'party'>): Promise<never> {
    const code = (await isErased(this.#parts.pool, party)) ? 'not_authenticated' : 'service_unavailable';
    throw new AppError(code);
  }
}

function describeAdmission(kind: string, { decision, id, attempt, superseded }: AdmissionResult): void {
  describeSpan({
    'forecue.admission': decision,
    'forecue.work.id': id,
    'forecue.work.kind': kind,
    'forecue.work.attempt': attempt,
    'forecue.work.superseded': superseded,
  });
}

function linkToWork(facts: unknown): void {
  linkSpan((facts as TraceFacts | undefined)?.trace ?? {});
}

function workRefOf({ name: kind }: Kind, { id, party, month }: Omit<WorkRef, 'kind'>): WorkRef {
  return { id, kind, party, month };
}

function leaveReasonOf(disconnected: AbortSignal): 'answered' | 'disconnected' {
  return disconnected.aborted ? 'disconnected' : 'answered';
}
