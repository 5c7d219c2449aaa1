import { setTimeout as sleep } from 'node:timers/promises';
import { persistently } from '../shared/db/persistently.ts';
import type { Admission, Admitted } from '../shared/db/stores/work/admit.ts';
import type { Completion, Subject } from '../shared/db/stores/work/complete.ts';
import { isEnded, type Outcome } from '../shared/domain/work.ts';
import { AppError } from '../shared/errors/app-error.ts';
import type { WakeUps } from '../shared/jobs/wake-ups.ts';
import type { Log } from '../shared/log.ts';
import type { FactsOf, Kind, ReportOf } from '../shared/work/kind.ts';
import { CallersByRequest } from './callers.ts';
import type { LoadMonitor } from './load-monitor.ts';
import type { Place, WaitingRoom } from './waiting-room.ts';

/** How soon the database is asked again whether a deadline is over. */
const CLOCK_GRACE_MS = 50;
/** For how long an ingress tries to say that nobody waits here any more. */
const DETACH_WITHIN_MS = 10_000;
/** How long after its deadline a call gets its answer at the latest. */
const LATEST_MS = 900;

/** The statements and messages that a request's way through the ingress is made of; each shares its round trips. */
export interface WorkSteps {
  admit(admission: Admission, gone: AbortSignal): Promise<Admitted>;
  load(kind: string): Pick<LoadMonitor, 'admitted' | 'look' | 'served' | 'retryAfterS'>;
  dispatch(kind: string, id: string): Promise<void>;
  complete(completion: Completion): Promise<boolean>;
  detach(work: { id: string; party: string }): Promise<Subject | undefined>;
  find(request: Request): Promise<Outcome | undefined>;
  room: WaitingRoom;
  wakeUps: Pick<WakeUps, 'ended'>;
  log: Log;
  /** How long a call of the kind waits, queue included. */
  timeoutMs(kind: string): number;
}

/** A request by the name that its party gave it. */
export type Request = Pick<Admission, 'kind' | 'party' | 'requestId' | 'key'>;

/** A validated request, before anything is known of the load. */
export type Call<Facts> = Omit<Admission<Facts>, 'overloaded' | 'kind'>;

type OutcomeOf<K> = Outcome<FactsOf<K>, ReportOf<K>>;

interface Answered<K> {
  outcome: OutcomeOf<K>;
  /** This call did not start the work. */
  replayed: boolean;
}

/** The way of any kind of work through the ingress: admit, queue, wait; and what a caller may do to what is under way. */
export class WorkService {
  readonly #steps: WorkSteps;
  readonly #callers = new CallersByRequest();

  constructor(steps: WorkSteps) {
    this.#steps = steps;
  }

  /**
   * Runs a request, or joins the run that it repeats, and resolves with its outcome when it has ended. Rejects with the
   * code of whatever refused it; `service_unavailable` when the database says nothing. Takes the input away from `call`:
   * nobody needs it while the caller waits.
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
      const { outcome, replayed } = await Promise.race([this.#inTurn(request, gone), rejection(late)]);
      // The kind that was admitted has its facts, and its handler's report.
      return { outcome: outcome as OutcomeOf<K>, replayed };
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Cancels what still runs; resolves with what has become of the request, cancelled or ended before. Undefined when
   * there is none. `check` may refuse it.
   */
  async cancel<K extends Kind>(
    kind: K,
    party: string,
    named: { requestId: string; key: string },
    check: (facts: FactsOf<K>) => void,
  ): Promise<OutcomeOf<K> | undefined> {
    const request = { kind: kind.name, party, ...named };
    for (;;) {
      const found = (await this.#steps.find(request)) as OutcomeOf<K> | undefined;
      if (found === undefined) return undefined;
      check(found.facts);
      if (isEnded(found)) return found;
      // If somebody else ends it first, the next look sees how.
      await this.#cancelLive({ id: found.id, party: found.party, month: found.month });
    }
  }

  /** Callers of one request enter and leave together with their admission, however late that ends. */
  async #inTurn(
    request: Omit<Admission, 'overloaded'>,
    gone: AbortSignal,
  ): Promise<{ outcome: Outcome; replayed: boolean }> {
    await this.#callers.enter(request.key);
    try {
      return await this.#admitAndWait(request, gone);
    } finally {
      this.#callers.leave(request.key, (id) => this.#detach({ id, party: request.party }));
    }
  }

  async #admitAndWait(
    request: Omit<Admission, 'overloaded'>,
    gone: AbortSignal,
  ): Promise<{ outcome: Outcome; replayed: boolean }> {
    const retryAfterS = await this.#retryAfterS(request);
    const admission = { ...request, overloaded: retryAfterS !== undefined };
    const { outcome: decision, ...admitted } = await this.#steps.admit(admission, gone);
    request.input = '';
    admission.input = '';
    this.#steps.wakeUps.ended(admitted.superseded);
    switch (decision) {
      case 'ended':
        return { outcome: await this.#find(request), replayed: true };
      case 'attached':
        return { outcome: await this.#wait(request, admitted, gone), replayed: true };
      case 'admitted':
        return { outcome: await this.#run(request, admitted, gone), replayed: false };
      case 'overloaded':
        throw new AppError(decision, { retryAfterS: retryAfterS ?? 1 });
      default:
        throw new AppError(decision);
    }
  }

  /** Seconds after which new work could be answered in time; a refusal rests on a look of this moment. */
  async #retryAfterS({ kind, party }: Request): Promise<number | undefined> {
    const load = this.#steps.load(kind);
    if (load.retryAfterS(party) === undefined) return undefined;
    await load.look();
    return load.retryAfterS(party);
  }

  async #run(
    request: Request,
    admitted: Pick<Admitted, 'id' | 'attempt' | 'leftMs'>,
    gone: AbortSignal,
  ): Promise<Outcome> {
    const waiting = this.#wait(request, admitted, gone);
    const load = this.#steps.load(request.kind);
    const since = performance.now();
    load.admitted(request.party);
    void this.#queue(request, admitted);
    const outcome = await waiting;
    // Only a handler that had its say shows how long the work takes.
    if (outcome.report !== null) load.served(performance.now() - since - (outcome.queueMs ?? 0));
    return outcome;
  }

  /** The outcome, as soon as there is one; at the deadline by ending it. A caller who is gone leaves word. */
  async #wait(
    request: Request,
    { id, leftMs }: Pick<Admitted, 'id' | 'leftMs'>,
    gone: AbortSignal,
  ): Promise<Outcome> {
    const place = this.#steps.room.enter({ id, key: request.key });
    const deadline = setTimeout(() => void this.#expire(place, request), Math.max(0, leftMs));
    const leave = () => place.fail(new AppError('prediction_cancelled', { cause: 'the caller is gone' }));
    gone.addEventListener('abort', leave);
    if (gone.aborted) leave();
    let ended = false;
    try {
      const outcome = await place.ended;
      ended = true;
      return outcome;
    } finally {
      clearTimeout(deadline);
      gone.removeEventListener('abort', leave);
      place.leave();
      if (!ended) this.#callers.giveUp(request.key, id);
    }
  }

  /** The deadline is over: ends the work, unless somebody ended it before, and answers how it ended. */
  async #expire(place: Place, request: Request): Promise<void> {
    try {
      for (let found = await this.#find(request); ; found = await this.#find(request)) {
        if (isEnded(found)) return place.tell(found);
        const end = { guard: 'overdue', state: 'failed', code: 'prediction_timeout' } as const;
        // The database's clock decides; by ours it may still have a moment.
        if (!(await this.#steps.complete({ ...subjectOf(found), ...end }))) await sleep(CLOCK_GRACE_MS);
      }
    } catch (error) {
      place.fail(error);
    }
  }

  /** A queue that takes no ticket ends the work now, instead of letting its caller wait for the deadline. */
  async #queue(request: Request, { id, attempt }: Pick<Admitted, 'id' | 'attempt'>): Promise<void> {
    try {
      await this.#steps.dispatch(request.kind, id);
    } catch (error) {
      this.#steps.log.warn({ err: error, work: id }, 'queue unreachable');
      await this.#refuse(request, attempt);
    }
  }

  async #refuse(request: Request, attempt: number): Promise<void> {
    try {
      const found = await this.#find(request);
      const end = { guard: 'queued', attempt, state: 'failed', code: 'service_unavailable' } as const;
      if (!isEnded(found)) await this.#steps.complete({ ...subjectOf(found), ...end });
    } catch (error) {
      this.#steps.log.warn({ err: error, work: request.key }, 'left to the leader, which queues or ends it');
    }
  }

  async #detach(work: { id: string; party: string }): Promise<void> {
    try {
      const until = performance.now() + DETACH_WITHIN_MS;
      const unwanted = await persistently(() => this.#steps.detach(work), until);
      if (unwanted !== undefined) await this.#cancelLive(unwanted);
    } catch (error) {
      this.#steps.log.warn({ err: error, work: work.id }, 'could not detach');
    }
  }

  async #cancelLive(live: Subject): Promise<void> {
    const end = { guard: 'live', state: 'cancelled', code: 'prediction_cancelled' } as const;
    await this.#steps.complete({ ...subjectOf(live), ...end });
  }

  async #find(request: Request): Promise<Outcome> {
    const found = await this.#steps.find(request);
    // A failover may lose the latest commits, and this row with them.
    if (found === undefined) throw new AppError('service_unavailable');
    return found;
  }
}

function subjectOf({ id, party, month }: Subject): Subject {
  return { id, party, month };
}

/** A signal that aborts with `service_unavailable` when the database never answers. */
function timeLimit(ms: number): { signal: AbortSignal; timer: NodeJS.Timeout } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new AppError('service_unavailable')), ms);
  return { signal: controller.signal, timer };
}

function rejection(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}
