import { persistently } from '../../shared/db/retries.ts';
import type { Admission, Admitted } from '../../shared/db/stores/work/admit.ts';
import type { Subject } from '../../shared/db/stores/work/complete.ts';
import { isEnded, type Outcome } from '../../shared/domain/work.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import { rejectionOf } from '../../shared/rejection.ts';
import type { FactsOf, Kind, ReportOf } from '../../shared/work/kind.ts';
import type { WakeUps } from '../../shared/work/wake-ups.ts';
import { CallersByRequest } from './callers.ts';
import { type EndingSteps, Endings, type Request } from './endings.ts';
import type { LoadMonitor } from './load-monitor.ts';
import { timeLimit } from './time-limit.ts';
import type { Waiter, WaitingRoom } from './waiting-room.ts';

/** How long an ingress tries to report that nobody waits here any more. */
const DETACH_WITHIN_MS = 10_000;
/** How long after its deadline a call gets its answer at the latest. */
const LATEST_MS = 900;

/** Statements and messages that serve a request, sharing round trips with those of others. Wired in `open.ts`. */
export interface WorkSteps extends EndingSteps {
  admit(admission: Admission, gone: AbortSignal): Promise<Admitted>;
  load: Pick<LoadMonitor, 'look' | 'served' | 'mostQueued' | 'retryAfterS'>;
  /** Notifies workers of admitted work. Neither waits nor fails. */
  dispatch(request: Pick<Request, 'kind' | 'party'>, id: string): void;
  detach(work: { id: string; party: string }): Promise<Subject | undefined>;
  room: WaitingRoom;
  wakeUps: Pick<WakeUps, 'ended'>;
  log: Log;
  /** How long a call of the kind waits, queue included. */
  timeoutMs(kind: string): number;
}

/** A validated request, before anything is known of the load. */
export type Call<Facts> = Omit<Admission<Facts>, 'kind'>;

/** An admission that was not refused. */
type Accepted = Pick<Admitted, 'id' | 'attempt' | 'leftMs'> & {
  decision: Extract<Admitted['decision'], 'admitted' | 'attached' | 'ended'>;
};

type OutcomeOf<K> = Outcome<FactsOf<K>, ReportOf<K>>;

interface Answered<K> {
  outcome: OutcomeOf<K>;
  /** This call did not start the work. */
  replayed: boolean;
}

/** Serves requests for any kind of work: admits, queues and waits; and cancels what still runs. */
export class WorkService {
  readonly #steps: WorkSteps;
  readonly #endings: Endings;
  readonly #callers = new CallersByRequest();

  constructor(steps: WorkSteps) {
    this.#steps = steps;
    this.#endings = new Endings(steps);
  }

  /**
   * Runs a request, or joins the run that it repeats, and resolves with its outcome when it has ended. Rejects with the
   * code of whatever refused it, and with `service_unavailable` if the database never answers. Clears `call.input`, so
   * that it is not held while the caller waits.
   */
  async perform<K extends Kind>(
    kind: K,
    call: Call<FactsOf<K>>,
    disconnected: AbortSignal,
  ): Promise<Answered<K>> {
    const request = { ...call, kind: kind.name };
    call.input = '';
    const { signal: late, timer } = timeLimit(this.#steps.timeoutMs(kind.name) + LATEST_MS);
    const gone = AbortSignal.any([disconnected, late]);
    try {
      const { outcome, replayed } = await Promise.race([
        this.#inTurn(request, () => this.#admitAndWait(request, gone)),
        rejectionOf(late),
      ]);
      // The kind that was admitted has its facts, and its handler's report.
      return { outcome: outcome as OutcomeOf<K>, replayed };
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Admits a request, or finds the one that it repeats, and resolves with its id without waiting for its end. For a kind
   * that outlives its callers. Rejects as `perform` does.
   */
  async start<K extends Kind>(
    kind: K,
    call: Call<FactsOf<K>>,
    disconnected: AbortSignal,
  ): Promise<{ id: string; replayed: boolean }> {
    const request = { ...call, kind: kind.name };
    return this.#inTurn(request, async () => {
      const { decision, ...admitted } = await this.#admit(request, disconnected);
      if (decision !== 'ended') this.#steps.dispatch(request, admitted.id);
      if (decision !== 'ended') this.#callers.giveUp(request.key, admitted.id);
      return { id: admitted.id, replayed: decision !== 'admitted' };
    });
  }

  /**
   * Cancels what still runs; resolves with the request's outcome, whether it was cancelled now or had ended before.
   * Undefined when there is no such request. `check` may throw to refuse.
   */
  async cancel<K extends Kind>(
    kind: K,
    key: string,
    check: (facts: FactsOf<K>) => void,
  ): Promise<OutcomeOf<K> | undefined> {
    for (;;) {
      const found = (await this.#steps.find(key)) as OutcomeOf<K> | undefined;
      if (found === undefined) return undefined;
      check(found.facts);
      if (isEnded(found)) return found;
      // If somebody else ends it first, the next look sees how.
      await this.#endings.cancel(kind.name, found);
    }
  }

  /** Counts a caller until its admission has ended, however long that takes. */
  async #inTurn<Result>(request: Request, work: () => Promise<Result>): Promise<Result> {
    await this.#callers.enter(request.key);
    try {
      return await work();
    } finally {
      this.#callers.leave(request.key, (id) => this.#detach(request, id));
    }
  }

  async #admitAndWait(
    request: Admission,
    gone: AbortSignal,
  ): Promise<{ outcome: Outcome; replayed: boolean }> {
    const { decision, ...admitted } = await this.#admit(request, gone);
    if (decision === 'ended') return { outcome: await this.#endings.find(request), replayed: true };
    if (decision === 'attached') {
      // It may have waited in the queue for somebody to come back.
      this.#steps.dispatch(request, admitted.id);
      return { outcome: await this.#wait(request, admitted, gone), replayed: true };
    }
    return { outcome: await this.#run(request, admitted, gone), replayed: false };
  }

  /** Throws the code of a refusal. */
  async #admit(request: Admission, gone: AbortSignal): Promise<Accepted> {
    const { decision, superseded, queued, ...admitted } = await this.#admitOrLookAgain(request, gone);
    request.input = '';
    this.#steps.wakeUps.ended(superseded);
    switch (decision) {
      case 'ended':
      case 'attached':
      case 'admitted':
        return { decision, ...admitted };
      case 'overloaded':
        throw new AppError(decision, {
          retryAfterS: this.#steps.load.retryAfterS(request.kind, queued ?? 0),
        });
      default:
        throw new AppError(decision);
    }
  }

  /** Sheds load only by what the queue is now: it may have drained since the load was read. */
  async #admitOrLookAgain(request: Admission, gone: AbortSignal): Promise<Admitted> {
    const { admit, load } = this.#steps;
    const admitted = await admit(request, gone);
    if (admitted.decision !== 'overloaded') return admitted;
    await load.look();
    return load.mostQueued(request.kind) > (admitted.queued ?? 0) ? admit(request, gone) : admitted;
  }

  async #run(
    request: Request,
    admitted: Pick<Admitted, 'id' | 'attempt' | 'leftMs'>,
    gone: AbortSignal,
  ): Promise<Outcome> {
    const waiting = this.#wait(request, admitted, gone);
    const since = performance.now();
    this.#steps.dispatch(request, admitted.id);
    const outcome = await waiting;
    // Only work that a handler has ended shows how long the work takes.
    if (outcome.report !== null)
      this.#steps.load.served(request.kind, performance.now() - since, outcome.queueMs ?? 0);
    return outcome;
  }

  /** Resolves with the outcome as soon as there is one; ends the work at its deadline. Rejects when the caller is gone. */
  async #wait(
    request: Request,
    { id, leftMs }: Pick<Admitted, 'id' | 'leftMs'>,
    gone: AbortSignal,
  ): Promise<Outcome> {
    const waiter = this.#steps.room.enter({ id, key: request.key });
    const left = new AbortController();
    const deadline = setTimeout(() => void this.#expire(waiter, request, left.signal), Math.max(0, leftMs));
    const leave = () =>
      waiter.reject(new AppError(this.#steps.codes(request.kind).cancelled, { cause: 'the caller is gone' }));
    gone.addEventListener('abort', leave);
    if (gone.aborted) leave();
    let ended = false;
    try {
      const fate = await waiter.ended;
      ended = true;
      return fate === 'gone' ? await this.#endings.lost(request) : fate;
    } finally {
      clearTimeout(deadline);
      left.abort();
      gone.removeEventListener('abort', leave);
      waiter.leave();
      if (!ended) this.#callers.giveUp(request.key, id);
    }
  }

  async #expire(waiter: Waiter, request: Request, left: AbortSignal): Promise<void> {
    try {
      await this.#endings.expire(request, left);
    } catch (error) {
      waiter.reject(error);
    }
  }

  /** Reports that the last caller here is gone, and cancels the work if nobody wants it any more. */
  async #detach({ kind, party }: Request, id: string): Promise<void> {
    try {
      const until = performance.now() + DETACH_WITHIN_MS;
      const unwanted = await persistently(() => this.#steps.detach({ id, party }), until);
      if (unwanted !== undefined) await this.#endings.cancel(kind, unwanted);
    } catch (error) {
      this.#steps.log.warn({ err: error, work: id }, 'could not detach');
    }
  }
}
